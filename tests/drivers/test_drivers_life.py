"""Whichever driver runs a lab: how its servers stop, die, start, join and come back."""

from __future__ import annotations

import pytest

from node.errors import NotRunning
from pflab.errors import LabError
from tests.drivers.conftest import LabFactory
from tests.support.lab_actions import ALWAYS_US, START_AT, TWO_SITES, WITH_A_LATE_STORE, post, subjects, told
from traces.events import (
    FaultHealed,
    FaultInjected,
    HopFailed,
    MailSubmitted,
    NodeStarted,
    NodeStopped,
    StoreDeleted,
)
from traces.labtime import DAY_US, HOUR_US


async def test_a_stopped_server_is_told_of_later(make_lab: LabFactory) -> None:
    """Mail for a stopped server is refused and tried again; once it is started it catches up."""  # spec: OUT-9, RT-2
    async with make_lab() as lab:
        await lab.stop("B")
        assert not lab.running("B")
        await post(lab, "A")
        await lab.advance(START_AT + ALWAYS_US)
        assert told(lab, HopFailed, "A")
        await lab.start("B")
        await lab.advance(START_AT + 2 * HOUR_US)
        assert subjects(lab, "B") == ["Hello"]


async def test_what_was_acknowledged_outlives_a_stop(make_lab: LabFactory) -> None:
    """A server that is stopped and started has what it had, and its mail goes out."""  # spec: OUT-9
    async with make_lab() as lab:
        await post(lab, "A")
        await lab.stop("A")
        assert [event.how for event in told(lab, NodeStopped, "A")] == ["stop"]
        await lab.start("A")
        assert [event.reason for event in told(lab, NodeStarted, "A")] == ["first", "restart"]
        assert subjects(lab, "A") == ["Hello"]
        await lab.advance(START_AT + HOUR_US)
        assert subjects(lab, "B") == ["Hello"]


async def test_what_was_acknowledged_outlives_a_kill(make_lab: LabFactory) -> None:
    """A server that is killed right after it acknowledged a post still has it, and still sends it."""  # spec: OUT-9
    async with make_lab() as lab:
        await post(lab, "A")
        await lab.kill("A")
        with pytest.raises(NotRunning):
            lab.read("A", lambda node: node.folders())
        await lab.advance(START_AT + HOUR_US)
        await lab.start("A")
        await lab.advance(START_AT + 2 * HOUR_US)
        assert subjects(lab, "A") == subjects(lab, "B") == ["Hello"]
        kinds = [(event.kind, event.details) for event in told(lab, FaultInjected)]
        assert kinds == [("kill", {"server": "A"})]
        assert len(told(lab, FaultHealed)) == 1


async def test_a_stopped_server_takes_no_stimulus(make_lab: LabFactory) -> None:
    """Asking a stopped server anything, or stopping it again, is NotRunning; starting a running one is refused."""
    async with make_lab() as lab:
        await lab.stop("B")
        with pytest.raises(NotRunning, match="B is stopped"):
            await post(lab, "B")
        with pytest.raises(NotRunning):
            await lab.stop("B")
        with pytest.raises(NotRunning):
            await lab.kill("B")
        with pytest.raises(LabError, match="running already"):
            await lab.start("A")


async def test_a_store_that_joins_later_gets_the_hierarchy(make_lab: LabFactory) -> None:
    """A late store is not there at first; started, the others are told, and it comes to know the folders."""
    # spec: RP-3
    async with make_lab(WITH_A_LATE_STORE) as lab:
        assert [name for name in lab.names if lab.running(name)] == ["A", "B"]
        await lab.advance(START_AT + HOUR_US)
        await lab.start("C")
        assert [event.reason for event in told(lab, NodeStarted, "C")] == ["first"]
        await lab.advance(lab.now + DAY_US)
        assert [folder.path for folder in lab.read("C", lambda node: node.folders())] == ["Projects"]


ONE_TO_GO = """
servers: {A: , B: , Z: , E: {joins: later}}
folders:
  Projects: {replicas: [A, B, Z]}
"""


async def test_who_did_not_hear_of_a_deletion_hears_of_it_at_its_start(make_lab: LabFactory) -> None:
    """RP-6: a store that is stopped while another is deleted, one that goes back to a backup from before, and one that joins
    afterwards know of it once they run; the deleted one does not start again."""
    async with make_lab(ONE_TO_GO) as lab:
        backup = await lab.backup("B")
        await lab.stop("B")
        await lab.stop("Z")
        await lab.delete_store("Z", on="A", force=True)
        assert told(lab, StoreDeleted, "B") == []
        await lab.start("B")
        await lab.restore("B", backup)
        # Only now: what B hears of E before it goes back, which is chance, it would forget again.
        await lab.start("E")
        assert sorted(event.node for event in told(lab, StoreDeleted) if event.store == "Z") == ["A", "B", "B", "E"]
        with pytest.raises(LabError, match="server Z does not start: its store was deleted"):
            await lab.start("Z")
        with pytest.raises(LabError, match="was deleted before"):
            await lab.delete_store("Z", on="A")
        await lab.advance(START_AT + HOUR_US)
        await post(lab, "A", "to B alone")
        await lab.advance(START_AT + 2 * HOUR_US)
        assert subjects(lab, "B") == ["to B alone"]
        for name in "ABE":
            assert {row.store for row in lab.read(name, lambda node: node.state("1-1")).rows} == {"A", "B", "E"}
        (mail,) = [event for event in told(lab, MailSubmitted, "A") if event.at > START_AT + HOUR_US]
        assert mail.recipients == ("B-IS@contoso.test",)


async def test_a_stopped_server_is_told_of_a_join_when_it_starts(make_lab: LabFactory) -> None:
    """A server that was stopped when a store joined hears of it at its start, and sends it the hierarchy."""
    async with make_lab(WITH_A_LATE_STORE) as lab:
        await lab.stop("B")
        await lab.start("C")
        await lab.start("B")
        await lab.stop("A")
        await lab.do("B", lambda node, now: node.create_folder(now, "News", replicas=["B", "C"]))
        assert await lab.until(
            lambda: "News" in [folder.path for folder in lab.read("C", lambda node: node.folders())],
            lab.now + HOUR_US,
        )


async def test_a_restored_store_comes_back_under_a_new_guid(make_lab: LabFactory) -> None:
    """A restored store asks around, gets back what others have, and goes on under a new replica GUID."""  # spec: RP-4
    async with make_lab(TWO_SITES) as lab:
        await post(lab, "A", "before")
        await lab.advance(lab.now + ALWAYS_US)
        backup = await lab.backup("A")
        await post(lab, "A", "after")
        await lab.advance(lab.now + ALWAYS_US)
        await lab.restore("A", backup)
        assert subjects(lab, "A") == ["before"]
        await lab.advance(lab.now + 7 * HOUR_US)
        assert subjects(lab, "A") == ["after", "before"]
        with pytest.raises(LabError, match="no backup of B"):
            await lab.restore("B", backup)
