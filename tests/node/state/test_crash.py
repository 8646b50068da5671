"""A store killed at any instant loses nothing that it acknowledged (spec: OUT-9, IN-2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from node.errors import Crashed
from node.views import Post
from pflab.faults.fault import Crash
from pflab.simulation.simulator import Simulator
from tests.support.post_office import PostOffice
from tests.support.topologies import LATE_STORE_AND_SHORT_TOMBSTONES, THREE_STORES_AND_CONTACT
from topology.file.load import topology_from_text
from traces.events import MailSubmitted
from traces.labtime import HOUR_US


@pytest.mark.parametrize(("point", "kept"), [("before commit", 0), ("after commit", 1)])
def test_a_post_is_there_after_a_crash_exactly_if_it_was_committed(point: str, kept: int) -> None:
    """A change takes its number in its own transaction: a crash keeps all of it or nothing (spec: CN-2)."""
    office = PostOffice()
    office["A"].crash_at = point
    with pytest.raises(Crashed):
        office["A"].post(office.at(1), "Projects", subject="x")
    office["A"].abandon()
    office["A"].reopen(office.at(2))
    assert len(office["A"].messages("Projects")) == kept
    office["A"].post(office.at(3), "Projects", subject="y")
    office.run(office.at(15))
    assert len(office["B"].messages("Projects")) == kept + 1
    numbers = [message.number for message in office["B"].messages("Projects")]
    assert sorted(numbers) == [f"A-{index + 1}" for index in range(kept + 1)]


@pytest.mark.parametrize("point", ["before commit", "after commit"])
def test_a_cycle_cut_by_a_crash_sends_each_change_at_least_once(point: str) -> None:
    """State and mail commit together: after a crash in a cycle the mail is queued, or the change still waits (spec: OUT-9)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="x")
    office["A"].crash_at = point
    with pytest.raises(Crashed):
        office["A"].tick(office.at(15))
    office["A"].abandon()
    office["A"].reopen(office.at(16))
    office.run(office.at(16))
    assert [message.subject for message in office["B"].messages("Projects")] == ["x"]


@pytest.mark.parametrize(("point", "kept"), [("before commit", 0), ("after commit", 1)])
def test_an_immediate_broadcast_is_there_exactly_if_its_change_is(point: str, kept: int) -> None:
    """With immediate replication a change and its mail commit in one transaction, and no cycle is left to do."""
    # spec: OUT-1, OUT-9
    office = PostOffice(THREE_STORES_AND_CONTACT + "settings: {Replication Always Interval: 0}\n")
    office["A"].crash_at = point
    with pytest.raises(Crashed):
        office["A"].post_batch(office.at(1), "Projects", [Post("one"), Post("two")])
    office["A"].abandon()
    office["A"].reopen(office.at(1))
    assert len(office["A"].messages("Projects")) == 2 * kept
    assert len(office["A"].queue()) == 2 * kept
    office.run(office.at(1))
    assert [len(office[name].messages("Projects")) for name in ("B", "C")] == [2 * kept] * 2
    sent = [event for event in office.events if isinstance(event, MailSubmitted) and event.message_type == 4]
    assert len(sent) == kept


@pytest.mark.parametrize("point", ["before commit", "after commit"])
def test_a_mail_taken_in_a_crash_comes_again_and_changes_nothing_twice(point: str) -> None:
    """A mail is accepted only once it is durable; the sender's second try is harmless (spec: IN-2, IN-3)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="x")
    mails = [mail for mail in office.cycle("A", office.at(15)) if mail[1].next_hop == "B"]
    office["B"].crash_at = point
    with pytest.raises(Crashed):
        office.deliver(mails[0], office.at(15))
    office["B"].abandon()
    office["B"].reopen(office.at(16))
    office.deliver(mails[0], office.at(16))
    assert len(office["B"].messages("Projects")) == 1
    assert office["B"].knowledge("Projects").numbers == office["A"].knowledge("Projects").numbers


def test_events_are_there_exactly_for_what_happened() -> None:
    """Events are rows of their stimulus's transaction, so sequence numbers have no gap after a crash (spec: section 16)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="x")
    office["A"].crash_at = "before commit"
    with pytest.raises(Crashed):
        office["A"].post(office.at(2), "Projects", subject="never happened")
    office["A"].abandon()
    office["A"].reopen(office.at(3))
    office["A"].post(office.at(4), "Projects", subject="z")
    mine = [event for event in office.events if event.node == "A"]
    assert [event.seq for event in mine] == list(range(1, len(mine) + 1))
    assert [event.incarnation for event in mine] == sorted(event.incarnation for event in mine)


def test_a_database_on_disk_survives_a_kill(tmp_path: Path) -> None:
    """What the store acknowledged is in the file after the process is killed (spec: IN-2)."""
    office = PostOffice(database_folder=tmp_path)
    office["A"].post(office.at(1), "Projects", subject="x")
    office["A"].abandon()
    office["A"].reopen(office.at(2))
    assert [message.subject for message in office["A"].messages("Projects")] == ["x"]
    for name in "ABC":
        office[name].close(office.at(3))


async def test_a_store_that_crashes_while_it_is_told_of_a_join_is_told_again() -> None:
    """A store that is killed while it learns of a new store learns of it at its next start (spec: RP-3)."""
    topology = topology_from_text(LATE_STORE_AND_SHORT_TOMBSTONES)
    lab = Simulator(topology)
    await lab.up()
    lab.faults.inject(Crash(server="B"))
    await lab.start("E")
    await lab.advance(topology.start_at + 24 * HOUR_US)
    assert lab.read("B", lambda node: node.bad_mail()) == []
    await lab.close()
