"""One suite for all drivers: whatever holds of a simulated lab holds of a live one. Here time, stimuli, mail and faults.

The nodes are the real ones; see `test_drivers_life`, `test_drivers_record` and `test_drivers_restless` for the rest.
"""

from __future__ import annotations

import pytest

from node.errors import FolderUnknown
from pflab.errors import LabError
from pflab.faults.fault import FaultKind, Mails
from pflab.oracle.convergence_bound import bound_of
from tests.drivers.conftest import LabFactory
from tests.support.lab_actions import ALWAYS_US, START_AT, TWO_SITES, post, subjects, told
from traces.events import (
    EntryMade,
    HopDropped,
    HopFailed,
    HopReceived,
    HopSent,
    MailBad,
    RequestSent,
    VersionApplied,
)
from traces.labtime import DAY_US, HOUR_US, MINUTE_US

# --- the clock


async def test_a_lab_starts_at_the_topologys_start(make_lab: LabFactory) -> None:
    """The lab's clock begins at the topology's start and stands there until it is moved."""  # spec: TM-1
    async with make_lab() as lab:
        assert lab.now == START_AT
        await lab.settle()
        assert lab.now == START_AT


async def test_advance_stops_exactly_at_the_target(make_lab: LabFactory) -> None:
    """The clock stands at the target afterwards, whether anything was due there or not."""
    async with make_lab() as lab:
        await lab.advance(START_AT + 3 * HOUR_US + 1)
        assert lab.now == START_AT + 3 * HOUR_US + 1
        await lab.advance(lab.now)
        assert lab.now == START_AT + 3 * HOUR_US + 1


async def test_the_clock_does_not_go_back(make_lab: LabFactory) -> None:
    """A target in the past is refused in words, by advance and by until."""  # spec: TM-1
    async with make_lab() as lab:
        await lab.advance(START_AT + HOUR_US)
        with pytest.raises(LabError, match="only goes forward"):
            await lab.advance(START_AT)
        with pytest.raises(LabError, match="only goes forward"):
            await lab.until(lambda: True, START_AT)
        assert lab.now == START_AT + HOUR_US


async def test_until_stops_at_the_first_instant_at_which_it_holds(make_lab: LabFactory) -> None:
    """The clock stands where the predicate first held, which is when the mail arrived."""
    async with make_lab() as lab:
        await post(lab, "A")
        assert await lab.until(lambda: bool(subjects(lab, "B")), START_AT + DAY_US)
        assert lab.now == START_AT + ALWAYS_US


async def test_until_gives_up_at_its_limit(make_lab: LabFactory) -> None:
    """A predicate that never holds ends the wait at the limit, and the clock stands there."""
    async with make_lab() as lab:
        assert not await lab.until(lambda: False, START_AT + 2 * HOUR_US)
        assert lab.now == START_AT + 2 * HOUR_US


async def test_until_asks_before_it_moves(make_lab: LabFactory) -> None:
    """What holds already is found without moving the clock."""
    async with make_lab() as lab:
        assert await lab.until(lambda: True, START_AT + DAY_US)
        assert lab.now == START_AT


# --- stimuli and mail


async def test_a_post_is_seen_elsewhere_after_the_next_cycle(make_lab: LabFactory) -> None:
    """A message posted on A is on B and C after the "always" interval, and not before."""  # spec: OUT-1
    async with make_lab() as lab:
        await lab.advance(START_AT + MINUTE_US)
        await post(lab, "A")
        await lab.advance(START_AT + ALWAYS_US - 1)
        assert subjects(lab, "A") == ["Hello"]
        assert subjects(lab, "B") == subjects(lab, "C") == []
        await lab.advance(START_AT + ALWAYS_US)
        assert subjects(lab, "B") == subjects(lab, "C") == ["Hello"]


async def test_a_stimulus_runs_at_the_present_lab_time(make_lab: LabFactory) -> None:
    """What `do` runs is given the lab's time, and its result comes back."""
    async with make_lab() as lab:
        await lab.advance(START_AT + HOUR_US)
        assert await lab.do("A", lambda _, now: now) == START_AT + HOUR_US


async def test_a_nodes_refusal_comes_through(make_lab: LabFactory) -> None:
    """An error of the node reaches whoever asked, and the lab goes on."""
    async with make_lab() as lab:
        with pytest.raises(FolderUnknown):
            await lab.do("A", lambda node, now: node.post(now, "Nowhere", subject="Hello"))
        await post(lab, "A")
        await lab.advance(START_AT + ALWAYS_US)
        assert subjects(lab, "C") == ["Hello"]


async def test_an_unknown_server_is_named_with_those_there_are(make_lab: LabFactory) -> None:
    """A server that the topology does not have is a LabError that lists the servers."""
    async with make_lab() as lab:
        with pytest.raises(LabError, match=r"no server 'X'.*A, B, C"):
            await lab.do("X", lambda _, now: now)
        with pytest.raises(LabError, match="no server 'X'"):
            lab.running("X")


async def test_one_copy_crosses_the_connector(make_lab: LabFactory) -> None:
    """A mail for two servers of another site crosses the connector once, and the bridgehead relays it."""  # spec: RT-1
    async with make_lab(TWO_SITES) as lab:
        await post(lab, "A")
        await lab.advance(START_AT + ALWAYS_US + MINUTE_US)
        assert [subjects(lab, server) for server in lab.names] == [["Hello"]] * 4
        content = next(event for event in told(lab, HopSent, "A") if event.connector is not None)
        assert content.next_hop == "C"
        assert len(content.recipients) == 2
        assert content.at == START_AT + ALWAYS_US + 80_000


async def test_the_same_mail_has_both_its_ends_in_the_trace(make_lab: LabFactory) -> None:
    """Every hop that a sender says it made is a hop that a receiver says it got, by message id."""
    async with make_lab(TWO_SITES) as lab:
        await post(lab, "A")
        await lab.advance(START_AT + 2 * ALWAYS_US)
        sent = [(event.mail, event.next_hop) for event in told(lab, HopSent)]
        received = [(event.mail, event.node) for event in told(lab, HopReceived)]
        assert sorted(sent) == sorted(received)
        assert sent


# --- faults


async def test_a_lost_mail_comes_back_by_backfill(make_lab: LabFactory) -> None:
    """A content mail lost on arrival is dropped without a trace but its event; a status tells of it, and
    backfill brings it within the bound."""  # spec: BF-1, BF-2, ST-1
    async with make_lab() as lab:
        fault = lab.faults.inject(FaultKind.LOSE, Mails("A", "B", "content"), count=1)
        await post(lab, "A")
        await lab.advance(START_AT + ALWAYS_US)
        assert subjects(lab, "B") == []
        assert subjects(lab, "C") == ["Hello"]
        assert [event.fault for event in told(lab, HopDropped, "B")] == [fault]
        limit_at = lab.now + bound_of(lab).total_us
        assert await lab.until(lambda: subjects(lab, "B") == ["Hello"], limit_at)
        assert told(lab, EntryMade, "B")
        assert told(lab, RequestSent, "B")
        assert lab.now >= START_AT + DAY_US


async def test_a_cut_link_heals(make_lab: LabFactory) -> None:
    """Over a cut link every attempt fails; after healing the queue's retry brings the mail."""  # spec: RT-2
    async with make_lab() as lab:
        fault = lab.faults.cut(("A", "B"))
        await post(lab, "A")
        await lab.advance(START_AT + HOUR_US)
        assert subjects(lab, "B") == []
        assert subjects(lab, "C") == ["Hello"]
        assert all(fault in event.reason for event in told(lab, HopFailed))
        lab.faults.heal(fault)
        await lab.advance(lab.now + HOUR_US)
        assert subjects(lab, "B") == ["Hello"]


async def test_a_delayed_mail_waits_in_its_queue(make_lab: LabFactory) -> None:
    """A delayed mail arrives so much later, and others are not held up."""
    async with make_lab() as lab:
        lab.faults.inject(FaultKind.DELAY, Mails("A", "B"), by_us=2 * HOUR_US, count=1)
        await post(lab, "A")
        await lab.advance(START_AT + ALWAYS_US + 2 * HOUR_US - 1)
        assert subjects(lab, "B") == []
        assert subjects(lab, "C") == ["Hello"]
        await lab.advance(lab.now + 1)
        assert subjects(lab, "B") == ["Hello"]


async def test_reordered_mails_arrive_the_other_way_round(make_lab: LabFactory) -> None:
    """Of two mails the second arrives first, and in the end both are there."""  # spec: IN-3
    async with make_lab() as lab:
        lab.faults.inject(FaultKind.REORDER, Mails("A", "B", "content"), count=1)
        await post(lab, "A", "first")
        await lab.advance(START_AT + ALWAYS_US)
        await post(lab, "A", "second")
        await lab.advance(START_AT + 2 * ALWAYS_US)
        assert subjects(lab, "B") == ["second"]
        await lab.advance(START_AT + HOUR_US)
        assert subjects(lab, "B") == ["first", "second"]


async def test_an_altered_mail_is_bad_mail_and_its_change_comes_by_backfill(make_lab: LabFactory) -> None:
    """What somebody altered on its way is kept aside, and the change is missed and asked for."""  # spec: ML-6, BF-2
    async with make_lab() as lab:
        lab.faults.inject(FaultKind.ALTER, Mails("A", "B", "content"), count=1)
        await post(lab, "A")
        await lab.advance(START_AT + HOUR_US)
        (bad,) = told(lab, MailBad, "B")
        assert bad.reason == "the signature is not that of store A"
        assert (subjects(lab, "B"), subjects(lab, "C")) == ([], ["Hello"])
        await lab.advance(START_AT + 2 * DAY_US)
        assert subjects(lab, "B") == ["Hello"]


async def test_a_duplicate_changes_nothing(make_lab: LabFactory) -> None:
    """A mail that is sent twice arrives twice and is applied once."""  # spec: IN-3
    async with make_lab() as lab:
        lab.faults.inject(FaultKind.DUPLICATE, Mails("A", "B", "content"), count=1)
        await post(lab, "A")
        await lab.advance(START_AT + HOUR_US)
        copies = [event.mail for event in told(lab, HopReceived, "B") if event.peer == "A"]
        assert len(copies) == 2
        assert len(set(copies)) == 1
        assert len(told(lab, VersionApplied, "B")) == 1
        assert subjects(lab, "B") == ["Hello"]
