"""The order of a run's events in which each event comes after its causes.

Events of nodes are sorted by lab time and Lamport number. The lab numbers its own events separately, so for these the Lamport
number says nothing. But six types of the lab's events need a certain place, because they say or change what a store knows
(spec: RP-4, RP-7, RP-8, RT-6):

- `run.started` comes before all events of its instant.
- `backup.made` comes after the last event in the copy (`through`), and before the next event of that store.
- `backup.restored`, `backup.elsewhere` and `store.created` come before the start of the store for which they are used.
- `organization.changed` comes before each `organization.read` of its revision, before the first start of a server that it
  adds, which is the first one since an earlier server of that name was removed, and before the next change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from traces.events import (
    BackupElsewhere,
    BackupMade,
    BackupRestored,
    Event,
    NodeStarted,
    OrganizationChanged,
    OrganizationRead,
    RunStarted,
    StoreCreated,
)

_Place = tuple[int, int, str, int, int]
"""A sort key. Its last number is 0 for an event of a node, -1 for the place before this event, and 1 for the place after it."""


def in_causal_order(events: Iterable[Event]) -> list[Event]:
    """Return the events in an order in which each event comes after its causes."""
    unordered = list(events)
    places = {(event.node, event.seq): place for event, place in _moved(unordered)}
    # Two of the lab's events may have one place; then they are in the order in which the lab recorded them.
    return sorted(unordered, key=lambda event: (places.get((event.node, event.seq)) or _place(event), event.seq))


def _moved(events: Sequence[Event]) -> Iterator[tuple[Event, _Place]]:
    """Yield each event of a backup, restore, creation or change of the organization that must be moved, with its place."""
    for event in events:
        if isinstance(event, RunStarted):
            yield event, (event.at, -1, "", -1, 0)
    yield from _before_effects(events)
    backups = [event for event in events if isinstance(event, BackupMade)]
    restores = sorted(
        (event for event in events if isinstance(event, BackupRestored | BackupElsewhere | StoreCreated)),
        key=lambda event: event.seq,
    )
    if not backups and not restores:
        return
    events_of = {(event.node, event.seq): event for event in events}
    for backup in backups:
        place = _after_copy(backup, events_of)
        if place is not None:
            yield backup, place
    for store in {event.store for event in restores}:
        starts = [event for event in events if isinstance(event, NodeStarted) and event.node == store]
        yield from _before_starts([event for event in restores if event.store == store], starts)


def _after_copy(backup: BackupMade, events_of: Mapping[tuple[str, int], Event]) -> _Place | None:
    """Return the place of `backup.made`; None if the trace does not have the last event in the copy."""
    last = events_of.get((backup.store, backup.through))
    if last is None:
        return None
    place = max(_place(last, 1), (backup.at, -1, "", 0, 0))
    following = events_of.get((backup.store, backup.through + 1))
    return place if following is None else min(place, _place(following, -1))


def _before_starts(
    restored: Sequence[BackupRestored | BackupElsewhere | StoreCreated], starts: Sequence[NodeStarted]
) -> Iterator[tuple[Event, _Place]]:
    """Yield the restores and creations of one store, each with the place before the start that uses it.

    If the start after a restore failed, another restore follows without a start between them.
    """
    using = sorted((start for start in starts if start.incarnation > 1 and start.reason != "restart"), key=_place)
    for index, event in enumerate(restored):
        if not using:
            return
        yield event, _place(using[0], -1)
        later = restored[index + 1 :]
        if not later or len(later) < len(using) or later[0].at > using[0].at:
            del using[0]


def _before_effects(events: Sequence[Event]) -> Iterator[tuple[Event, _Place]]:
    """Yield the changes of the organization, each with its place before the stores read it and an added server starts."""
    changes = sorted(
        (event for event in events if isinstance(event, OrganizationChanged)), key=lambda event: -event.revision
    )
    first_read: dict[int, _Place] = {}
    starts: dict[str, list[_Place]] = {}
    for event in events:
        place = _place(event, -1)
        if isinstance(event, OrganizationRead):
            first_read[event.revision] = min(place, first_read.get(event.revision, place))
        elif isinstance(event, NodeStarted):
            starts.setdefault(event.node, []).append(place)
    next_place: _Place | None = None
    for change in changes:
        added = change.added_server
        earlier = [other for other in changes if other.removed_server == added and other.revision < change.revision]
        removed_at = max((other.at for other in earlier), default=0)
        first_start = min((place for place in starts.get(added or "", ()) if place[0] >= removed_at), default=None)
        effects = (first_read.get(change.revision), first_start, next_place)
        next_place = min(place for place in (_place(change), *effects) if place is not None)
        yield change, next_place


def _place(event: Event, beside: int = 0) -> _Place:
    return (event.at, event.lamport, event.node, event.seq, beside)
