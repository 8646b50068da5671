"""Faults that only a simulated lab has, on tiny labs: clogged links, altered mails, silent servers, wrong clocks."""

from __future__ import annotations

from typing import Any

import pytest

from node.errors import NotRunning
from pflab.faults.fault import Alter, Hold, Skew, Stall
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
from traces.labtime import DAY_US, HOUR_US, MINUTE_US, format_duration

TOPOLOGY = topology_from_text("servers: {A: , B: }\nfolders: {Projects: {replicas: [A, B]}}\n", "two stores")


async def post(lab: Simulator, on: str = "A") -> str:
    return await lab.do(on, lambda node, now: node.post(now, "Projects", subject=f"by {on}").id)


def still_bad(lab: Simulator) -> bool:
    return not lab.environment.undisturbed


def shown_on(lab: Simulator, store: str) -> int:
    return len(lab.read(store, lambda node: node.messages("Projects")))


@pytest.mark.parametrize("how", ["flip", "cut", "noise"])
async def test_an_altered_mail_is_bad_mail(how: Any) -> None:
    """A mail with altered bytes is set aside and changes nothing; the message arrives by backfill (IN-5)."""
    async with Simulator(TOPOLOGY) as lab:
        lab.faults.inject(Alter(from_="A", to="B", type="content", count=1, how=how))
        await post(lab)
        await lab.advance(lab.now + ALWAYS_US)
        assert len(lab.read("B", lambda node: node.bad_mail())) == 1
        assert shown_on(lab, "B") == 0
        (bad,) = [event for event in lab.events() if isinstance(event, MailBad)]
        assert bad.node == "B"
        await post(lab)
        await lab.advance(lab.now + 12 * HOUR_US)
        assert shown_on(lab, "B") == 2
        assert [event.fault for event in lab.events() if isinstance(event, FaultHealed)] == ["F1"]


async def test_an_item_that_was_packed_broken_is_set_aside_alone() -> None:
    """Of an intact mail the item that cannot be decoded stays missing; the others are applied at once (IN-5, CN-7)."""
    async with Simulator(TOPOLOGY) as lab:
        lab.faults.inject(Alter(from_="A", to="B", count=1, how="item"))
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
            lab.faults.inject(Alter(from_="A", to="B", count=1, how="item"))
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
        lab.faults.inject(Hold(from_="A", to="B", lasts="5 h"))
        await post(lab, "A")
        await post(lab, "B")
        await lab.advance(lab.now + 5 * HOUR_US - 1)
        assert (shown_on(lab, "A"), shown_on(lab, "B")) == (2, 1)
        await lab.advance(lab.now + 1)
        assert shown_on(lab, "B") == 2


async def test_a_silent_server_does_and_answers_nothing() -> None:
    """A server whose commits hang accepts no mail and no request until the fault is over; its peers try again (RT-2)."""
    async with Simulator(TOPOLOGY) as lab:
        lab.faults.inject(Stall(server="B", lasts="1 h"))
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
        lab.faults.inject(Stall(server="B", lasts="1 h", commits=True))
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
        lab.faults.inject(Skew(server="A", by=format_duration(by_us)))
        await lab.advance(lab.now + 3 * HOUR_US)
        await post(lab, "A")
        (made,) = [event for event in lab.events() if event.node == "A" and type(event).__name__ == "ChangeMade"]
        assert made.at == max(start_at, start_at + 3 * HOUR_US + by_us)
        lab.faults.heal()
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
            lab.faults.inject(Alter(count=3, how="flip")),
            lab.faults.inject(Hold(from_="A", to="B", lasts=format_duration(1))),
            lab.faults.inject(Stall(server="A", lasts=format_duration(1))),
            lab.faults.inject(Skew(server="B", by=format_duration(5))),
        ]
        lab.faults.heal(ids[1])
        assert still_bad(lab)
        lab.faults.heal()
        assert not still_bad(lab)
        injected = [(event.fault, event.kind) for event in lab.events() if isinstance(event, FaultInjected)]
        assert injected == list(zip(ids, ("alter", "hold", "stall", "skew"), strict=True))
        healed = [event.fault for event in lab.events() if isinstance(event, FaultHealed)]
        assert sorted(healed) == sorted(ids)


async def test_a_fault_for_others_leaves_a_mail_alone() -> None:
    """A corruption for another sender, type or recipient alters nothing."""
    async with Simulator(TOPOLOGY) as lab:
        lab.faults.inject(Alter(from_="B", how="flip"))
        lab.faults.inject(Alter(type="status", how="flip"))
        lab.faults.inject(Alter(to="A", how="flip"))
        await post(lab)
        await lab.advance(lab.now + ALWAYS_US)
        assert shown_on(lab, "B") == 1
        assert [event for event in lab.events() if isinstance(event, MailReceived)]
