"""Invariants of missing changes and of request slots.

Missing changes: a mail contains the changes that its set names, and a backfill array has each change that the store misses.
Request slots (BF-6): no store has more requests than the limit, the earliest due entry comes first, and no slot stays free
while an entry waits.
Lives: what happens to an entry and its requests can happen in their state (`traces.backfill_lives`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.evidence.facts import Facts
from pflab.invariants.invariant import ArrayReading, Invariant, RowsReading, Witnesses
from pflab.terms.event_handlers import event_handler
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.mail_types import UPDATES
from traces.backfill_lives import ENTRY_MOVES, EntryEvent, EntryState, IllegalMove, next_state
from traces.events import (
    ChangeMade,
    ContentResumed,
    EntryMade,
    EntryPruned,
    EntrySatisfied,
    EntryTimedOut,
    ExpiredEverywhere,
    HopDropped,
    HopReceived,
    MailReceived,
    NodeStarted,
    ReplicaDropped,
    RequestDeferred,
    RequestEnded,
    RequestSent,
    RowReplaced,
    SourcesConsidered,
    VersionApplied,
    VersionDropped,
    VersionFailed,
    VersionHeld,
    VersionIgnored,
)
from traces.labtime import LabTime

if TYPE_CHECKING:
    from node.views import EntryView


class MailsBringWhatTheyName(Invariant):
    id = "mails bring what they name"
    rules = ("CN-7", "CN-6", "BF-5")
    says = (
        "If a mail names a change, then the mail brings the change, or the receiver already had it, or its number is "
        "closed as a hole, or its item has expired at the sender, which has forgotten it (DL-3)."
    )

    def remember(self) -> None:
        self._brought: dict[tuple[str, str, bool], dict[str, int]] = {}
        self._expired_numbers: dict[tuple[str, str, bool], dict[str, int]] = self.facts.backups.follow({})
        self._open: dict[str, MailReceived] = {}
        self._held_here: set[tuple[str, str]] = set()

    @event_handler
    def _made(self, event: ChangeMade) -> Witnesses:
        place = (event.node, event.folder, event.kind == "fai")
        bits.add_number(self._brought.setdefault(place, {}), event.number)
        return self._check_last(event.node)

    @event_handler
    def _version(self, event: VersionApplied | VersionIgnored | VersionHeld) -> None:
        numbers = self._brought.setdefault((event.node, event.folder, event.kind == "fai"), {})
        for text in (event.stands_for, event.pcl):
            bits.add(numbers, bits.parse(text))
        bits.add_number(numbers, event.number)

    @event_handler
    def _failed(self, event: VersionFailed) -> None:
        self._open.pop(event.node, None)  # some items could not be read, and the event does not say which

    @event_handler
    def _row(self, event: RowReplaced) -> None:
        mail = self._open.get(event.node)
        if mail is not None and mail.mail == event.mail:
            self._held_here.add((event.node, event.folder))

    @event_handler
    def _received(self, event: MailReceived) -> Witnesses:
        yield from self._check_last(event.node)
        if event.message_type in UPDATES:
            self._open[event.node] = event

    @event_handler
    def _next(self, event: HopReceived | HopDropped | NodeStarted) -> Witnesses:
        return self._check_last(event.node)

    def _check_last(self, store: str) -> Witnesses:
        """Check the last mail of a store, because another stimulus has begun."""
        mail = self._open.pop(store, None)
        held_here = {folder for node, folder in self._held_here if node == store}
        self._held_here = {place for place in self._held_here if place[0] != store}
        if mail is None:
            return
        for section in mail.folders:
            if section.folder in held_here:  # if there is no replica here yet, the whole mail waits
                for text, fai in ((section.cnset, False), (section.cnset_fai, True)):
                    if text:
                        # The sender accounts for changes that expired at all holders, but cannot send them.
                        expired_numbers = self._expired_numbers.get((mail.sender, section.folder, fai), bits.EMPTY)
                        yield from self._section(
                            store, mail, section.folder, fai, bits.minus(bits.parse(text), expired_numbers)
                        )

    @event_handler
    def _everywhere(self, event: ExpiredEverywhere) -> None:
        for text, fai in ((event.cnset, False), (event.cnset_fai, True)):
            bits.add(self._expired_numbers.setdefault((event.node, event.folder, fai), {}), bits.parse(text))

    def _section(self, store: str, mail: MailReceived, folder: str, fai: bool, claims: bits.Bits) -> Witnesses:
        arrivals = self._brought.get((store, folder, fai), bits.EMPTY)
        for change in self.facts.of_folder.get(folder, ()):
            unbrought = (change.kind == "fai") == fai and bits.has(claims, change.number)
            # If an expired change was never sent, its number is closed as a hole. Others would wait for it (spec: DL-3, CN-6).
            may_lack = self.facts.may_be_a_hole(change) or (change.node, change.object) in self.facts.expired_at
            if unbrought and not bits.has(arrivals, change.number) and not may_lack and not self._forgot(mail, change):
                yield f"a mail to {store} names {self.facts.what(change)}, which neither it nor an earlier mail brought"

    def _forgot(self, mail: MailReceived, change: ChangeMade) -> bool:
        """Return whether the item has expired at the sender, and so long ago that it may claim the number only (spec: DL-3)."""
        age_us = self.facts.topology.servers[mail.sender].settings.tombstone_age_us
        return (mail.sender, change.object) in self.facts.expired_at and change.modified_at + age_us <= mail.at


class NothingMissingIsForgotten(Invariant):
    id = "nothing missing is forgotten"
    rules = ("BF-1", "BF-2", "ST-5", "HI-4")
    says = (
        "If a store lacks a change that another store's row claims, the change is in the store's backfill array or "
        "held in its queue. This is checked while the lab is quiet."
    )

    def remember(self) -> None:
        self._waits: dict[str, list[frozenset[str]]] = self.facts.backups.follow({})
        """By store: the numbers of each held update. A later update can name the same numbers again."""

    @event_handler
    def _held(self, event: VersionHeld) -> None:
        self._waits.setdefault(event.node, []).append(self._numbers(event))

    @event_handler
    def _dropped(self, event: VersionDropped) -> None:
        waits, numbers = self._waits.get(event.node, []), self._numbers(event)
        if numbers in waits:
            waits.remove(numbers)

    def _numbers(self, event: VersionHeld | VersionDropped) -> frozenset[str]:
        return frozenset({*bits.numbers(bits.parse(event.stands_for)), event.number})

    def on_rows(self, reading: RowsReading) -> Witnesses:
        own_rows = [row for row in reading.rows if row.is_local]
        other_rows = [row for row in reading.rows if not row.is_local]
        if all((row.cnset, row.cnset_fai) == (own_rows[0].cnset, own_rows[0].cnset_fai) for row in other_rows):
            return
        entries = [entry for entry in reading.entries if entry.folder == reading.folder]
        waits: dict[str, int] = {}
        if reading.folder == HIERARCHY:
            for number in {texts for numbers in self._waits.get(reading.store, ()) for texts in numbers}:
                bits.add_number(waits, number)
        # A store's own changes are not missing before it has broadcast them (RST-1).
        own_numbers = {self.facts.guid_of.get(reading.store, ""): bits.span(1, bits.HIGHEST)}
        for kind, texts in (
            (
                "",
                (
                    [row.cnset for row in other_rows],
                    [row.cnset for row in own_rows],
                    [entry.cnset for entry in entries],
                ),
            ),
            (
                " (associated)",
                (
                    [row.cnset_fai for row in other_rows],
                    [row.cnset_fai for row in own_rows],
                    [e.cnset_fai for e in entries],
                ),
            ),
        ):
            claims, present, entry_numbers = (bits.union(map(bits.parse, sets)) for sets in texts)
            gap = bits.minus(claims, bits.union((present, entry_numbers, waits, own_numbers)))
            if gap:
                folder, words = self.facts.folder(reading.folder), self.facts.words(gap)
                witness = f"{reading.store} knows from a row that it lacks {words}{kind} of {folder}"
                yield f"{witness}, but its backfill array has no entry for this"


MISSING: tuple[type[Invariant], ...] = (MailsBringWhatTheyName, NothingMissingIsForgotten)


class RequestsWithinTheLimit(Invariant):
    id = "requests within the limit"
    rules = ("BF-6",)
    says = "A store never has more backfill requests outstanding than its limit."

    @event_handler
    def _sent(self, event: RequestSent) -> Witnesses:
        out, limit = self.facts.outstanding[event.node], _limit(self.facts, event.node)
        if out > limit:
            yield f"{event.node} has {out} requests outstanding, but its limit is {limit}"


class SlotsGoToTheLongestDue(Invariant):
    """Checks the order of requests. Its inputs are the last reading of each array and the events since then.

    These inputs do not show exactly which entries wait for a slot. So the invariant keeps two sets for each store: entries that
    certainly wait, and entries that perhaps wait. It reports only violations that are certain, whichever of these entries wait.
    """

    id = "slots go to the longest due"
    rules = ("BF-6", "RP-5")
    says = (
        "A free slot goes to the entry that has been due longest. No request waits while a slot is free. "
        "Suspended content takes no slot."
    )

    def remember(self) -> None:
        self._due_at: dict[str, dict[int, LabTime]] = {}
        self._stale_entries: set[tuple[str, int]] = set()
        """Entries whose due time is no longer known, because a request was sent since it was read. A request changes it."""
        self._certain: dict[str, dict[int, str]] = {}
        """By store: entries that certainly wait for a slot, and their folders."""
        self._possible: dict[str, dict[int, str]] = {}

    def on_array(self, reading: ArrayReading) -> Witnesses:
        waiting_entries = {entry.id: entry.folder for entry in reading.entries if entry.waiting_for_slot}
        self._due_at[reading.store] = {entry.id: entry.due_at for entry in reading.entries}
        self._certain[reading.store], self._possible[reading.store] = waiting_entries, dict(waiting_entries)
        self._stale_entries -= {place for place in self._stale_entries if place[0] == reading.store}
        return iter(())

    @event_handler
    def _unknown(self, event: NodeStarted | ContentResumed) -> None:
        """Forget a store's array.

        After a start the array may come from a backup. A suspension of content moves the due times of entries.
        """
        for table in (self._due_at, self._certain, self._possible):
            table.pop(event.node, None)

    @event_handler
    def _timed_out(self, event: EntryTimedOut) -> None:
        place = (event.node, event.entry)
        due_at = self._due_at.get(event.node, {})
        before = event.at if place in self._stale_entries else due_at.get(event.entry)
        self._stale_entries.discard(place)
        if before is not None and event.node in self._due_at:
            due_at[event.entry] = min(before, event.at)

    @event_handler
    def _considered(self, event: SourcesConsidered) -> None:
        due_at = self._due_at.get(event.node, {})
        if (event.node, event.entry) in self._stale_entries:
            due_at.pop(event.entry, None)
        elif event.entry in due_at:  # if a source says that the items expired there, the entry asks before its time
            due_at[event.entry] = min(due_at[event.entry], event.at)
        self._certain.get(event.node, {}).pop(event.entry, None)

    @event_handler
    def _gone(self, event: EntrySatisfied | EntryPruned) -> None:
        self._certain.get(event.node, {}).pop(event.entry, None)

    @event_handler
    def _dropped(self, event: ReplicaDropped) -> None:
        waiting_entries = self._certain.get(event.node, {})
        for entry in [entry for entry, folder in waiting_entries.items() if folder == event.folder]:
            del waiting_entries[entry]

    @event_handler
    def _sent(self, event: RequestSent) -> Witnesses:
        due_at = self._due_at.get(event.node, {})
        own_due_at = due_at.get(event.entry)
        first = [
            entry
            for entry in self._queue(event, self._certain)
            if own_due_at is not None and (due_at[entry], entry) < (own_due_at, event.entry)
        ]
        if first and self.facts.outstanding[event.node] + len(first) > _limit(self.facts, event.node):
            yield f"{event.node} asks for its entry {event.entry}, but entry {first[0]} was due earlier and waits for the slot"
        self._possible.get(event.node, {}).pop(event.entry, None)
        self._stale_entries.add((event.node, event.entry))

    @event_handler
    def _deferred(self, event: RequestDeferred) -> Witnesses:
        is_known = event.node in self._possible
        queue_length = len(self._queue(event, self._possible))
        out, limit = self.facts.outstanding[event.node], _limit(self.facts, event.node)
        if is_known and out + queue_length < limit:
            slots = f"outstanding {out}, waiting {queue_length}, limit {limit}"
            yield f"{event.node} lets its entry {event.entry} wait for a slot, but a slot is free: {slots}"
        if is_known:
            self._possible[event.node][event.entry] = event.folder
            if event.entry in self._due_at[event.node] and (event.node, event.entry) not in self._stale_entries:
                self._certain[event.node][event.entry] = event.folder

    def _queue(self, event: RequestSent | RequestDeferred, entries: dict[str, dict[int, str]]) -> list[int]:
        """Return the other entries that wait for a slot. Entries of suspended content do not wait."""
        is_suspended = event.node in self.facts.suspended
        candidates = entries.get(event.node, {}).items()
        return [
            entry for entry, folder in candidates if entry != event.entry and not (is_suspended and folder != HIERARCHY)
        ]


def _limit(facts: Facts, store: str) -> int:
    return facts.topology.servers[store].settings.outstanding_backfill_limit


SLOTS: tuple[type[Invariant], ...] = (RequestsWithinTheLimit, SlotsGoToTheLongestDue)


class EntriesLiveByTheTable(Invariant):
    """Follows each entry through the table of its states, and compares the result with the arrays that the stores show.

    The event entry.pruned does not say whether numbers are left. So an entry of which something was pruned is perhaps gone,
    until the next reading of the array shows it or does not.
    """

    id = "entries live by the table"
    rules = ("BF-2", "BF-3", "BF-6")
    says = (
        "Nothing happens to an entry of a backfill array that cannot happen in its state. The store shows the entry in the "
        "state that the events led to, with the requests that were sent and have not ended."
    )

    def remember(self) -> None:
        self._states: dict[tuple[str, int], EntryState] = self.facts.backups.follow({})
        self._perhaps_gone: dict[tuple[str, int], bool] = self.facts.backups.follow({})
        self._outstanding: dict[tuple[str, int, str], int] = self.facts.backups.follow({})
        """By store, entry and source: how many requests were sent and have not ended."""

    @event_handler
    def _made(self, event: EntryMade) -> Witnesses:
        place = (event.node, event.entry)
        if place in self._states and not self._perhaps_gone.pop(place, False):
            yield f"{event.node} makes an entry {event.entry}, but has one with this id"
        self._states[place] = self._states.get((event.node, event.parent), EntryState.WAITING)

    @event_handler
    def _timed_out(self, event: EntryTimedOut) -> Witnesses:
        return self._move(event.node, event.entry, EntryEvent.TIMED_OUT)

    @event_handler
    def _considered(self, event: SourcesConsidered) -> Witnesses:
        return self._move(event.node, event.entry, EntryEvent.CHOSEN)

    @event_handler
    def _sent(self, event: RequestSent) -> Witnesses:
        request = (event.node, event.entry, event.source)
        self._outstanding[request] = self._outstanding.get(request, 0) + 1
        return self._move(event.node, event.entry, EntryEvent.ASKED)

    @event_handler
    def _deferred(self, event: RequestDeferred) -> Witnesses:
        return self._move(event.node, event.entry, EntryEvent.NO_SLOT)

    @event_handler
    def _satisfied(self, event: EntrySatisfied) -> Witnesses:
        return self._move(event.node, event.entry, EntryEvent.ARRIVED)

    @event_handler
    def _pruned(self, event: EntryPruned) -> None:
        self._perhaps_gone[event.node, event.entry] = True

    @event_handler
    def _ended(self, event: RequestEnded) -> Witnesses:
        request = (event.node, event.entry, event.source)
        if not self._outstanding.get(request):
            yield f"{event.node} ends a request of its entry {event.entry} to {event.source}, but none is outstanding"
        elif self._outstanding[request] == 1:
            del self._outstanding[request]
        else:
            self._outstanding[request] -= 1

    def _move(self, store: str, entry: int, event: EntryEvent) -> Witnesses:
        state = self._states.get((store, entry))
        if state is None:
            yield f"{store} has no entry {entry}, so {event.value!r} cannot happen to it"
            return
        try:
            after = next_state(ENTRY_MOVES, state, event, f"entry {entry} of {store}")
        except IllegalMove as illegal:
            yield str(illegal)
            return
        if ENTRY_MOVES[after]:
            self._states[store, entry] = after
        else:
            del self._states[store, entry]

    def on_array(self, reading: ArrayReading) -> Witnesses:
        store = reading.store
        entries = {entry.id: entry for entry in reading.entries}
        for place in [place for place in self._states if place[0] == store and place[1] not in entries]:
            if not self._perhaps_gone.pop(place, False):
                yield f"the entry {place[1]} of {store} is gone, but no event says so"
            del self._states[place]
        for entry in reading.entries:
            self._perhaps_gone.pop((store, entry.id), None)
            table_state, state = self._states.get((store, entry.id)), _state_of(entry)
            if state is not table_state:
                should = f"should be {table_state.value}" if table_state is not None else "was never made"
                yield f"the entry {entry.id} of {store} is {state.value}, but {should}"
        request_counts = Counter((entry.id, request.source) for entry in reading.entries for request in entry.requests)
        open_counts = Counter({place[1:]: count for place, count in self._outstanding.items() if place[0] == store})
        for entry_id, source in sorted({*request_counts - open_counts, *open_counts - request_counts}):
            shown_count, sent_count = request_counts[entry_id, source], open_counts[entry_id, source]
            witness = f"{shown_count} requests to {source}, but {sent_count} were sent and have not ended"
            yield f"the entry {entry_id} of {store} has {witness}"


def _state_of(entry: EntryView) -> EntryState:
    if entry.waiting_for_slot:
        return EntryState.DEFERRED
    return EntryState.REQUESTED if entry.attempts else EntryState.WAITING


LIVES: tuple[type[Invariant], ...] = (EntriesLiveByTheTable,)
