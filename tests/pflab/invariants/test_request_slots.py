"""The invariant of slots fires when an entry is passed over, or waits though a slot is free, and not otherwise (BF-6)."""

from __future__ import annotations

from pflab.invariants.backfill_array import SlotsGoToTheLongestDue
from tests.support.clock import START_AT
from tests.support.invariant_builders import FOLDER, Trace, entry
from traces.events import (
    ContentSuspended,
    EntryTimedOut,
    NodeStarted,
    RequestDeferred,
    RequestEnded,
    RequestSent,
    SourcesConsidered,
)
from traces.labtime import MINUTE_US

FIRST_AT, SECOND_AT = START_AT + MINUTE_US, START_AT + 2 * MINUTE_US


def full() -> Trace:
    """Both slots of A are taken, entry 3 waits since the first minute, and entry 4 is due in the second."""
    trace = Trace(SlotsGoToTheLongestDue)
    for each in (1, 2):
        asks(trace, each)
    waits = entry(id=3, due_at=FIRST_AT, waiting_for_slot=True)
    trace.array("A", waits, entry(id=4, due_at=SECOND_AT))
    return trace


def asks(trace: Trace, entry_id: int) -> list[str]:
    considered = {"folder": FOLDER, "entry": entry_id, "candidates": (), "chosen": ("B",)}
    trace.add(SourcesConsidered, "A", **considered)
    sent = {"folder": FOLDER, "entry": entry_id, "source": "B", "cnset": "", "cnset_fai": "", "retry_at": START_AT}
    trace.add(RequestSent, "A", **sent)
    return trace.witnesses()


def is_due(trace: Trace, entry_id: int) -> None:
    trace.at = SECOND_AT
    trace.add(EntryTimedOut, "A", folder=FOLDER, entry=entry_id, attempt=1)


def ends(trace: Trace, *entries: int) -> None:
    for each in entries:
        trace.add(RequestEnded, "A", folder=FOLDER, entry=each, source="B", how="satisfied")


def defers(trace: Trace, entry_id: int) -> list[str]:
    trace.add(RequestDeferred, "A", folder=FOLDER, entry=entry_id)
    return trace.witnesses()


def test_a_slot_that_another_waits_for_is_not_taken() -> None:
    """Of one free slot the entry longer due is the owner; of two the other may have one (BF-6)."""
    trace = full()
    ends(trace, 1)
    is_due(trace, 4)
    assert asks(trace, 4) == ["A asks for its entry 4, but entry 3 was due earlier and waits for the slot"]
    both = full()
    ends(both, 1, 2)
    is_due(both, 4)
    assert asks(both, 4) == []
    assert asks(both, 3) == []


def test_the_longest_due_gets_it_and_the_next_waits() -> None:
    """In order of their due times there is nothing to tell (BF-6)."""
    trace = full()
    ends(trace, 1)
    assert asks(trace, 3) == []
    is_due(trace, 4)
    assert defers(trace, 4) == []


def test_nobody_waits_for_a_slot_that_is_free() -> None:
    """An entry waits only when the slots are taken, or others wait for them (BF-6)."""
    trace = full()
    ends(trace, 1)
    is_due(trace, 4)
    assert defers(trace, 4) == [], "the slot is entry 3's"
    ends(trace, 2)
    assert asks(trace, 3) == []
    assert defers(trace, 4) == [
        "A lets its entry 4 wait for a slot, but one is free: outstanding 1, waiting 0, limit 2"
    ]


def test_content_that_stands_still_waits_for_nothing() -> None:
    """While content is suspended its entries are in nobody's way (RP-5)."""
    trace = full()
    ends(trace, 1)
    trace.add(ContentSuspended, "A")
    trace.add(RequestDeferred, "A", folder="1-1", entry=4)
    (witness,) = trace.witnesses()
    assert "one is free" in witness


def test_of_a_store_that_has_started_nothing_is_known_until_its_array_is_read() -> None:
    """What was due while a store did not run has an order that its events do not tell."""
    trace = full()
    ends(trace, 1)
    trace.add(NodeStarted, "A", version="2003", replica_guid="aa" * 16, reason="restart")
    is_due(trace, 4)
    assert asks(trace, 4) == []
