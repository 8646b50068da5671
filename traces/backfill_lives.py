"""The life of an entry of the backfill array, and the life of a backfill request, as data (spec: BF-2 to BF-6).

ENTRY_MOVES and REQUEST_MOVES have, for each state, the events that may happen in it, and the state after each event.
`node.backfill` moves entries and requests by these tables, so what a table does not permit raises an exception. The invariant
"entries live by the table" follows the events of a trace through the same table, and compares the states with those that the
stores show. `docs/explanation/replication.md` has the tables for readers (`make rules`).

An entry begins as WAITING. A part of an entry that gets its own entry begins in the state of the whole. A request begins
as SILENT.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, TypeVar


class EntryState(StrEnum):
    WAITING = "waiting"
    DUE = "due"
    REQUESTED = "requested"
    DEFERRED = "deferred"
    SATISFIED = "satisfied"
    PRUNED = "pruned"


class EntryEvent(StrEnum):
    TIMED_OUT = "its time-out ends"
    CHOSEN = "its sources are chosen"
    ASKED = "a source is asked"
    NO_SLOT = "the limit of requests is reached"
    ARRIVED = "its last numbers arrive"
    UNCLAIMED = "its last numbers are not claimed any more, or the replica ends"


class RequestState(StrEnum):
    SILENT = "silent"
    ANSWERED = "answered"
    RECALLED = "recalled"
    ENDED = "ended"


class RequestEvent(StrEnum):
    """What happens to a request. The last five end it, and are what the event request.ended says."""

    ANSWER = "answer"
    PART = "part"
    RECALL = "recall"
    SATISFIED = "satisfied"
    EMPTY = "empty"
    EXPIRED = "expired"
    RETRY = "retry"
    PRUNED = "pruned"


ENTRY_STATES: Final[Mapping[EntryState, str]] = {
    EntryState.WAITING: "nothing was requested yet; the first time-out runs",
    EntryState.DUE: "a time-out has ended; the same stimulus goes on, so no store shows this state",
    EntryState.REQUESTED: "the retry time-out of this round of requests runs",
    EntryState.DEFERRED: "due, but all slots for requests are taken",
    EntryState.SATISFIED: "all its numbers arrived; the entry is deleted",
    EntryState.PRUNED: "nobody claims its numbers any more, or the replica ended; the entry is deleted",
}
REQUEST_STATES: Final[Mapping[RequestState, str]] = {
    RequestState.SILENT: "its source has sent nothing; if the retry time-out ends now, the source is marked down",
    RequestState.ANSWERED: "its source has sent something",
    RequestState.RECALLED: "it ends when its entry is due, and its source is not marked down",
    RequestState.ENDED: "deleted; its slot is free",
}
REQUEST_EVENTS: Final[Mapping[RequestEvent, str]] = {
    RequestEvent.ANSWER: "its source answers",
    RequestEvent.PART: "some of its numbers arrive",
    RequestEvent.RECALL: "its entry becomes due before the retry time-out",
    RequestEvent.SATISFIED: "its last numbers arrive",
    RequestEvent.EMPTY: "its source has none of its numbers",
    RequestEvent.EXPIRED: "its items expired at the source",
    RequestEvent.RETRY: "its retry time-out ends",
    RequestEvent.PRUNED: "its entry is pruned, or its source is deleted",
}

_GONE: Final = {EntryEvent.ARRIVED: EntryState.SATISFIED, EntryEvent.UNCLAIMED: EntryState.PRUNED}
_OVER: Final = dict.fromkeys(
    (
        RequestEvent.SATISFIED,
        RequestEvent.EMPTY,
        RequestEvent.EXPIRED,
        RequestEvent.RETRY,
        RequestEvent.PRUNED,
    ),
    RequestState.ENDED,
)

ENTRY_MOVES: Final[Mapping[EntryState, Mapping[EntryEvent, EntryState]]] = {
    EntryState.WAITING: {EntryEvent.TIMED_OUT: EntryState.DUE, **_GONE},
    EntryState.DUE: {EntryEvent.CHOSEN: EntryState.REQUESTED},
    EntryState.REQUESTED: {
        EntryEvent.ASKED: EntryState.REQUESTED,
        EntryEvent.NO_SLOT: EntryState.DEFERRED,
        EntryEvent.CHOSEN: EntryState.REQUESTED,  # a source has nothing, or it expired there: another one is asked at once
        EntryEvent.TIMED_OUT: EntryState.DUE,
        **_GONE,
    },
    EntryState.DEFERRED: {EntryEvent.CHOSEN: EntryState.REQUESTED, **_GONE},
    EntryState.SATISFIED: {},
    EntryState.PRUNED: {},
}
REQUEST_MOVES: Final[Mapping[RequestState, Mapping[RequestEvent, RequestState]]] = {
    RequestState.SILENT: {
        RequestEvent.ANSWER: RequestState.ANSWERED,
        RequestEvent.PART: RequestState.ANSWERED,
        RequestEvent.RECALL: RequestState.RECALLED,
        **_OVER,
    },
    RequestState.ANSWERED: {
        RequestEvent.ANSWER: RequestState.ANSWERED,
        RequestEvent.PART: RequestState.ANSWERED,
        RequestEvent.RECALL: RequestState.RECALLED,
        **_OVER,
    },
    RequestState.RECALLED: {
        RequestEvent.ANSWER: RequestState.RECALLED,
        RequestEvent.PART: RequestState.ANSWERED,
        RequestEvent.RECALL: RequestState.RECALLED,
        **_OVER,
    },
    RequestState.ENDED: {},
}

State = TypeVar("State", bound=StrEnum)
Event = TypeVar("Event", bound=StrEnum)


class IllegalMove(Exception):
    """A bug of pflab: something happened to an entry or a request that cannot happen in its state."""


def next_state(moves: Mapping[State, Mapping[Event, State]], state: State, event: Event, subject: str) -> State:
    """Return the state after an event. Raise IllegalMove if the event cannot happen in this state.

    `subject`: the entry or the request, for the error.
    """
    after = moves[state].get(event)
    if after is None:
        possible = ", ".join(repr(move.value) for move in moves[state]) or "nothing"
        raise IllegalMove(f"{subject} is {state.value}, and then {event.value!r} cannot happen; {possible} can")
    return after
