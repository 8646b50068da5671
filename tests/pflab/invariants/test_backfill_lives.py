"""The invariant follows entries and requests through the table of states, and reports each step aside (BF-2, BF-3, BF-6)."""

from __future__ import annotations

from typing import Any

import pytest

from node.views import RequestView
from pflab.invariants.backfill_array import EntriesLiveByTheTable
from tests.support.clock import START_AT
from tests.support.invariant_builders import FOLDER, Trace, entry
from traces.events import (
    BackupMade,
    BackupRestored,
    EntryMade,
    EntryPruned,
    EntrySatisfied,
    EntryTimedOut,
    Event,
    NodeStarted,
    RequestDeferred,
    RequestEnded,
    RequestSent,
    SourcesConsidered,
)

SETS = {"cnset": "", "cnset_fai": ""}
FIELDS: dict[type[Event], dict[str, Any]] = {
    EntryMade: {**SETS, "local": False, "due_at": START_AT},
    EntryTimedOut: {"attempt": 1},
    SourcesConsidered: {"candidates": (), "chosen": ("B",)},
    RequestSent: {**SETS, "source": "B", "retry_at": START_AT},
    RequestEnded: {"source": "B", "how": "satisfied"},
    EntryPruned: {**SETS, "reason": "planted"},
}
TO_B = (RequestView("B", "", START_AT, START_AT),)


def trace_of(*events: type[Event], entry_id: int = 1) -> Trace:
    """The trace in which these happen to an entry of A."""
    trace = Trace(EntriesLiveByTheTable)
    for kind in events:
        trace.add(kind, "A", folder=FOLDER, entry=entry_id, **FIELDS.get(kind, {}))
    return trace


def test_a_whole_life_is_no_violation() -> None:
    """An entry that waits, asks, is deferred, asks again and is satisfied breaks nothing, nor do readings in between."""
    trace = trace_of(EntryMade)
    trace.array("A", entry(id=1, attempts=0))
    for kind in (EntryTimedOut, SourcesConsidered, RequestDeferred):
        trace.add(kind, "A", folder=FOLDER, entry=1, **FIELDS.get(kind, {}))
    trace.array("A", entry(id=1, attempts=0, waiting_for_slot=True))
    for kind in (SourcesConsidered, RequestSent):
        trace.add(kind, "A", folder=FOLDER, entry=1, **FIELDS[kind])
    trace.array("A", entry(id=1, attempts=1, requests=TO_B))
    for kind in (RequestEnded, EntrySatisfied):
        trace.add(kind, "A", folder=FOLDER, entry=1, **FIELDS.get(kind, {}))
    trace.array("A")
    assert trace.witnesses() == []


@pytest.mark.parametrize(
    ("events", "witness"),
    [
        ((EntryMade, RequestSent), "entry 1 of A is waiting, and then 'a source is asked' cannot happen"),
        ((EntryMade, EntryTimedOut, EntryTimedOut), "entry 1 of A is due, and then 'its time-out ends' cannot happen"),
        ((EntryMade, EntrySatisfied, EntryTimedOut), "A has no entry 1, so 'its time-out ends' cannot happen to it"),
        ((EntryTimedOut,), "A has no entry 1"),
        ((EntryMade, EntryMade), "A makes an entry 1, but has one with this id"),
        ((EntryMade, RequestEnded), "A ends a request of its entry 1 to B, but none is outstanding"),
    ],
)
def test_what_cannot_happen_is_reported(events: tuple[type[Event], ...], witness: str) -> None:
    """An event that the table does not permit in the state of the entry is a violation."""
    (found,) = trace_of(*events).witnesses()
    assert found.startswith(witness)


@pytest.mark.parametrize(
    ("shown", "witness"),
    [
        (entry(id=1, attempts=0), "the entry 1 of A is waiting, but should be requested"),
        (entry(id=1, attempts=1, waiting_for_slot=True, requests=TO_B), "is deferred, but should be requested"),
        (entry(id=2, attempts=1), "the entry 1 of A is gone, but no event says so"),
        (entry(id=1, attempts=1), "has 0 requests to B, but 1 were sent and have not ended"),
    ],
)
def test_what_the_events_do_not_say_is_reported(shown: Any, witness: str) -> None:
    """The array must show each entry in the state that the events led to, with its requests."""
    trace = trace_of(EntryMade, EntryTimedOut, SourcesConsidered, RequestSent)
    trace.array("A", shown)
    assert any(witness in found for found in trace.witnesses()), trace.witnesses()


def test_an_entry_may_go_when_it_is_pruned() -> None:
    """After entry.pruned an entry may be gone or not, and its id may be given again."""
    for shown in ((), (entry(id=1, attempts=0),)):
        trace = trace_of(EntryMade, EntryPruned)
        trace.array("A", *shown)
        assert trace.witnesses() == []
    assert trace_of(EntryMade, EntryPruned, EntryMade).witnesses() == []


def test_a_part_has_the_state_of_the_whole() -> None:
    """An entry that gets a part of another begins in the state of that one (BF-2)."""
    trace = trace_of(EntryMade, EntryTimedOut, SourcesConsidered)
    trace.add(EntryMade, "A", folder=FOLDER, entry=2, parent=1, **FIELDS[EntryMade])
    trace.array("A", entry(id=1, attempts=1), entry(id=2, attempts=1))
    assert trace.witnesses() == []


def test_a_restore_puts_the_states_back() -> None:
    """After a restore the entries have the states that they had in the backup (RP-4)."""
    trace = trace_of(EntryMade)
    trace.add(BackupMade, "lab", store="A", backup="backup-1")
    for kind in (EntryTimedOut, SourcesConsidered):
        trace.add(kind, "A", folder=FOLDER, entry=1, **FIELDS[kind])
    trace.add(BackupRestored, "lab", store="A", backup="backup-1")
    trace.add(NodeStarted, "A", version="2003", replica_guid="ab" * 16, reason="restored")
    trace.array("A", entry(id=1, attempts=0))
    assert trace.witnesses() == []
