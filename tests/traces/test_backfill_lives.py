"""The tables of the states of an entry and of a request are complete, and permit nothing else."""

from __future__ import annotations

from typing import get_args, get_type_hints

import pytest

from node.errors import NodeError
from traces.backfill_lives import (
    ENTRY_MOVES,
    ENTRY_STATES,
    REQUEST_EVENTS,
    REQUEST_MOVES,
    REQUEST_STATES,
    EntryEvent,
    EntryState,
    IllegalMove,
    RequestEvent,
    RequestState,
    next_state,
)
from traces.events import RequestEnded


def test_each_state_has_a_meaning_and_each_event_a_place() -> None:
    """No state is left out of a table, and no event is in none."""
    assert list(ENTRY_STATES) == list(ENTRY_MOVES) == list(EntryState)
    assert list(REQUEST_STATES) == list(REQUEST_MOVES) == list(RequestState)
    assert {event for events in ENTRY_MOVES.values() for event in events} == set(EntryEvent)
    assert {event for events in REQUEST_MOVES.values() for event in events} == set(RequestEvent) == set(REQUEST_EVENTS)


def test_the_ends_of_a_request_are_those_of_its_event() -> None:
    """The events that end a request are exactly what request.ended can say."""
    ends = {event.value for event, after in REQUEST_MOVES[RequestState.SILENT].items() if after is RequestState.ENDED}
    assert ends == set(get_args(get_type_hints(RequestEnded)["how"]))


@pytest.mark.parametrize("state", EntryState)
def test_from_each_state_the_end_is_reached(state: EntryState) -> None:
    """No entry can get into states from which it never ends."""
    reached, left = {state}, [state]
    while left:
        for after in ENTRY_MOVES[left.pop()].values():
            if after not in reached:
                reached.add(after)
                left.append(after)
    assert reached & {EntryState.SATISFIED, EntryState.PRUNED}


def test_what_a_table_does_not_permit_is_a_bug() -> None:
    """An event that cannot happen in a state raises an error that names both, and that nobody takes for a refusal."""
    with pytest.raises(IllegalMove, match="entry 7 is waiting, and then 'a source is asked' cannot happen") as raised:
        next_state(ENTRY_MOVES, EntryState.WAITING, EntryEvent.ASKED, "entry 7")
    assert not isinstance(raised.value, NodeError)
    with pytest.raises(IllegalMove, match="nothing can"):
        next_state(REQUEST_MOVES, RequestState.ENDED, RequestEvent.ANSWER, "request 1 to B")
