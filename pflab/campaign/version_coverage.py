"""Branches that only one server version takes, recognized from events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from topology import Topology
from traces import events as ev
from traces.events import Event

VERSION_BRANCHES: tuple[str, ...] = (
    "two holders asked",
    "a new replica of 5.5 asks at once",
    "a 5.5 replica dropped at midnight",
    "six groups: the first that has all",
    "six groups: parts one at a time",
    "six groups: a near older server passed over",
    "sorted list: the cheapest asked before a newer",
    "preferred source asked",
    "six steps list responders",
    "the oldest replica listed",
    "item expired",
    "expired at every holder",
)
"""Branches that a long campaign of mixed organizations must have seen."""

THE_OLDEST = 7


def version_branches(event: Event, topology: Topology) -> Iterator[str]:
    """Yield the branches that an event shows."""
    handler = _HANDLERS.get(type(event))
    if handler is not None:
        yield from handler(event, str(topology.servers[event.node].version))


def _sources(event: ev.SourcesConsidered, version: str) -> Iterator[str]:
    del version
    asked = [each for each in event.candidates if each.store in event.chosen]
    if any(each.preferred for each in asked):
        yield "preferred source asked"
    if event.method == "two holders" and len(asked) > 1:
        yield "two holders asked"
    elif event.method == "six groups" and asked:
        yield "six groups: parts one at a time" if event.one_by_one else "six groups: the first that has all"
        near_older = any(each.near and each.version == "5.5" and each.has_all for each in event.candidates)
        if near_older and not asked[0].near:
            yield "six groups: a near older server passed over"
    elif event.method == "sorted list" and asked:
        newer = any(each.has and each.version > asked[0].version for each in event.candidates)
        if newer and asked[0].near:
            yield "sorted list: the cheapest asked before a newer"


def _entry(event: ev.EntryMade, version: str) -> Iterator[str]:
    if version == "5.5" and event.due_at == event.at:
        yield "a new replica of 5.5 asks at once"


def _dropped(event: ev.ReplicaDropped, version: str) -> Iterator[str]:
    del event
    if version == "5.5":
        yield "a 5.5 replica dropped at midnight"


def _responders(event: ev.RespondersConsidered, version: str) -> Iterator[str]:
    del version
    if event.method == "six steps":
        yield "six steps list responders"
        if any(each.group == THE_OLDEST for each in event.candidates):
            yield "the oldest replica listed"


_HANDLERS: Mapping[type[Event], Callable[[Any, str], Iterator[str]]] = {
    ev.SourcesConsidered: _sources,
    ev.EntryMade: _entry,
    ev.ReplicaDropped: _dropped,
    ev.RespondersConsidered: _responders,
}
