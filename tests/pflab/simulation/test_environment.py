"""Faults that only a simulated lab has, on tiny labs: clogged links, altered mails, silent servers, wrong clocks."""

from __future__ import annotations

import pytest

from node.errors import NotRunning
from pflab.errors import LabError
from pflab.simulation.environment import Alteration
from pflab.simulation.simulator import Simulator
from tests.support.clock import ALWAYS_US
from topology.file.load import topology_from_text
from traces.events import (
    FaultHealed,
    FaultInjected,
    HopFailed,
    HopReceived,
    MailBad,
    MailReceived,
    VersionApplied,
    VersionFailed,
)
from traces.labtime import DAY_US, HOUR_US, MINUTE_US

TOPOLOGY = topology_from_text("servers: {A: , B: }\nfolders: {Projects: {replicas: [A, B]}}\n", "two stores")


async def post(lab: Simulator, on: str = "A") -> str:
    return await lab.do(on, lambda node, now: node.post(now, "Projects", subject=f"by {on}").id)


def still_bad(lab: Simulator) -> bool:
    return not lab.environment.undisturbed


def shown_on(lab: Simulator, store: str) -> int:
    return len(lab.read(store, lambda node: node.messages("Projects")))


@pytest.mark.parametrize("how", [how for how in Alteration if how is not Alteration.ITEM])
async def test_an_altered_mail_is_bad_mail(how: Alteration) -> None:
    """A mail with altered bytes is set aside and changes nothing; the message arrives by backfill (IN-5)."""
    async with Simulator(TOPOLOGY) as lab:
        lab.environment.corrupt("A", "B", "content", 1, how=how)
        await post(lab)
        await lab.advance(lab.now + ALWAYS_US)
        assert len(lab.read("B", lambda node: node.bad_mail())) == 1
        assert shown_on(lab, "B") == 0
        (bad,) = [event for event in lab.events() if isinstance(event, MailBad)]
        assert bad.node == "B"
        await post(lab)
        await lab.advance(lab.now + 12 * HOUR_US)
        assert shown_on(lab, "B") == 2
        assert [event.fault for event in lab.events() if isinstance(event, FaultHealed)] == ["W1"]


async def test_an_item_that_was_packed_broken_is_set_aside_alone() -> None:
    """Of an intact mail the item that cannot be decoded stays missing; the others are applied at once (IN-5, CN-7)."""
    async with Simulator(TOPOLOGY) as lab:
        lab.environment.corrupt("A", "B", None, 1, how=Alteration.ITEM)
        for _ in range(3):
            await post(lab)
        await lab.advance(lab.now + ALWAYS_US)
        (failed,) = [event for event in lab.events() if isinstance(event, VersionFailed)]
        assert (failed.node, shown_on(lab, "B")) == ("B", 2)
        assert not [event for event in lab.events() if isinstance(event, MailBad)]
        await lab.advance(lab.now + 7 * HOUR_US)
        assert shown_on(lab, "B") == 3


async def test_an_item_is_broken_in_one_mail_only_once() -> None:
    """If two such faults meet, the second waits for another mail, and the first is still reported (IN-5)."""
    async with Simulator(TOPOLOGY) as lab:
        for _ in range(2):
            lab.environment.corrupt("A", "B", None, 1, how=Alteration.ITEM)
        for _ in range(3):
            await post(lab)
        await lab.advance(lab.now + ALWAYS_US)
        assert len([event for event in lab.events() if isinstance(event, VersionFailed)]) == 1
        assert shown_on(lab, "B") == 2
        await lab.advance(lab.now + 2 * DAY_US)
        assert shown_on(lab, "B") == 3


async def test_a_clogged_link_holds_what_goes_over_it() -> None:
    """All mail from one server to another waits until the clog is over; the other direction is free."""
    async with Simulator(TOPOLOGY) as lab:
        lab.environment.clog(("A", "B"), lab.now + 5 * HOUR_US)
        await post(lab, "A")
        await post(lab, "B")
        await lab.advance(lab.now + 5 * HOUR_US - 1)
        assert (shown_on(lab, "A"), shown_on(lab, "B")) == (2, 1)
        await lab.advance(lab.now + 1)
        assert shown_on(lab, "B") == 2


async def test_a_silent_server_does_and_answers_nothing() -> None:
    """A server whose commits hang accepts no mail and no request until the fault is over; its peers try again (RT-2)."""
    async with Simulator(TOPOLOGY) as lab:
        lab.environment.silence("B", lab.now + HOUR_US)
        before = len(lab.events())
        await post(lab, "A")
        with pytest.raises(NotRunning, match="B does not answer"):
            await post(lab, "B")
        await lab.advance(lab.now + HOUR_US - 1)
        assert not [event for event in lab.events(before) if event.node == "B"]
        assert [event for event in lab.events() if isinstance(event, HopFailed)]
        await lab.advance(lab.now + 20 * MINUTE_US)
        assert shown_on(lab, "B") == 1


async def test_a_commit_whose_answer_is_late() -> None:
    """A mail that a slow server committed is sent again, because its answer came too late, and changes nothing (IN-3)."""
    async with Simulator(TOPOLOGY) as lab:
        lab.environment.silence("B", lab.now + HOUR_US, commits=True)
        await post(lab, "A")
        await lab.advance(lab.now + 2 * HOUR_US)
        arrived = [event for event in lab.events() if isinstance(event, HopReceived) and event.node == "B"]
        assert len(arrived) > 1
        assert len({event.mail for event in arrived}) == 1
        assert shown_on(lab, "B") == 1


@pytest.mark.parametrize("by_us", [-2 * HOUR_US, 3 * HOUR_US])
async def test_a_wrong_clock(by_us: int) -> None:
    """A server uses its skewed clock; once healed, its time still never goes back (TM-1)."""
    async with Simulator(TOPOLOGY) as lab:
        start_at = lab.now
        lab.environment.skew("A", by_us)
        await lab.advance(lab.now + 3 * HOUR_US)
        await post(lab, "A")
        (made,) = [event for event in lab.events() if event.node == "A" and type(event).__name__ == "ChangeMade"]
        assert made.at == max(start_at, start_at + 3 * HOUR_US + by_us)
        lab.environment.heal()
        await lab.advance(lab.now + 4 * HOUR_US)
        assert shown_on(lab, "B") == 1
        times = [event.at for event in lab.events() if event.node == "A"]
        assert times == sorted(times)
        applied = [event.at for event in lab.events() if isinstance(event, VersionApplied)]
        assert all(start_at <= at <= lab.now for at in applied)


async def test_faults_are_events_and_end_once() -> None:
    """Each fault has one event at its begin and one at its end, by a heal or because its count is used up."""
    async with Simulator(TOPOLOGY) as lab:
        ids = [
            lab.environment.corrupt(count=3),
            lab.environment.clog(("A", "B"), lab.now + 1),
            lab.environment.silence("A", lab.now + 1),
            lab.environment.skew("B", 5),
        ]
        lab.environment.heal(ids[1])
        lab.environment.heal(ids[1])
        assert still_bad(lab)
        lab.environment.heal()
        assert not still_bad(lab)
        injected = [(event.fault, event.kind) for event in lab.events() if isinstance(event, FaultInjected)]
        assert injected == list(zip(ids, ("corrupt", "clog", "silence", "skew"), strict=True))
        healed = [event.fault for event in lab.events() if isinstance(event, FaultHealed)]
        assert sorted(healed) == sorted(ids)


async def test_names_are_checked() -> None:
    """A fault for an unknown server or message type is refused."""
    async with Simulator(TOPOLOGY) as lab:
        with pytest.raises(LabError, match="there is no server 'Z'; the servers are A, B"):
            lab.environment.clog(("A", "Z"), 1)
        with pytest.raises(LabError, match="there is no server 'Z'"):
            lab.environment.corrupt("Z")
        with pytest.raises(LabError, match="'letter' is not a message type"):
            lab.environment.corrupt(type="letter")
        assert lab.environment.undisturbed


async def test_a_fault_for_others_leaves_a_mail_alone() -> None:
    """A corruption for another sender, type or recipient alters nothing."""
    async with Simulator(TOPOLOGY) as lab:
        lab.environment.corrupt(from_="B")
        lab.environment.corrupt(type="status")
        lab.environment.corrupt(to="A")
        await post(lab)
        await lab.advance(lab.now + ALWAYS_US)
        assert shown_on(lab, "B") == 1
        assert [event for event in lab.events() if isinstance(event, MailReceived)]
