"""The invariant of slots reports an entry that is passed over, or waits while a slot is free, and nothing else (BF-6)."""

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
    """A uses both of its slots; entry 3 waits since the first minute, and entry 4 is due in the second."""
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
    """One free slot belongs to the entry that has been due longer; of two free slots the other entry may take one (BF-6)."""
    trace = full()
    ends(trace, 1)
    is_due(trace, 4)
    assert asks(trace, 4) == ["A asks for its entry 4, but entry 3 was due earlier and waits for the slot"]
    both = full()
    ends(both, 1, 2)
    is_due(both, 4)
    assert asks(both, 4) == []
    assert asks(both, 3) == []


def test_slots_in_order_of_due_times_are_no_violation() -> None:
    """Entries that get slots in order of their due times violate nothing (BF-6)."""
    trace = full()
    ends(trace, 1)
    assert asks(trace, 3) == []
    is_due(trace, 4)
    assert defers(trace, 4) == []


def test_an_entry_whose_items_expired_at_the_source_is_due_at_once() -> None:
    """An entry that asks before its time-out ends is due from then on, before those that come due later (BF-6, DL-3)."""
    trace = full()
    trace.array("A", entry(id=3, due_at=SECOND_AT, waiting_for_slot=True), entry(id=4, due_at=SECOND_AT + MINUTE_US))
    ends(trace, 1)
    trace.at = FIRST_AT
    assert asks(trace, 4) == []


def test_no_entry_waits_for_a_free_slot() -> None:
    """An entry may wait only if all slots are taken, or other entries wait for them (BF-6)."""
    trace = full()
    ends(trace, 1)
    is_due(trace, 4)
    assert defers(trace, 4) == [], "the slot is entry 3's"
    ends(trace, 2)
    assert asks(trace, 3) == []
    assert defers(trace, 4) == [
        "A lets its entry 4 wait for a slot, but a slot is free: outstanding 1, waiting 0, limit 2"
    ]


def test_suspended_content_waits_for_no_slot() -> None:
    """Entries of suspended content take no slot from others (RP-5)."""
    trace = full()
    ends(trace, 1)
    trace.add(ContentSuspended, "A")
    trace.add(RequestDeferred, "A", folder="1-1", entry=4)
    (witness,) = trace.witnesses()
    assert "a slot is free" in witness


def test_after_a_start_the_order_is_unknown_until_the_array_is_read() -> None:
    """Events do not show the order of entries that came due while the store was stopped."""
    trace = full()
    ends(trace, 1)
    trace.add(NodeStarted, "A", version="2003", replica_guid="aa" * 16, reason="restart")
    is_due(trace, 4)
    assert asks(trace, 4) == []
