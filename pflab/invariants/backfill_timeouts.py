"""Invariants of the time-outs of backfill entries.

The settings, the rows and the sites decide how long a new entry waits (BF-2). When a time-out ends or a source has nothing,
another request follows, and a source that did not answer is marked down (BF-3, BF-4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.invariant import ArrayReading, Invariant, Witnesses
from pflab.terms.event_handlers import event_handler
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.mail_types import RESPONSES, Mark
from traces.events import (
    ChangeMade,
    EntryMade,
    EntryTimedOut,
    MailFolder,
    MailReceived,
    NodeStarted,
    ReplicaAdded,
    ReplicaDropped,
    RequestDeferred,
    RequestEnded,
    RequestSent,
    RowReplaced,
    SourceDown,
    VersionApplied,
)
from traces.labtime import LabTime, format_instant

if TYPE_CHECKING:
    from node.views import EntryView


class EntriesWaitAsConfigured(Invariant):
    id = "entries wait as configured"
    rules = ("BF-2", "BF-1")
    says = (
        "A new entry waits for the first time-out. The local time-out applies to the changes that stores of the same site "
        "have, or get later. These stores must be on the replica list or be leaving it. A new replica of 5.5 asks at once."
    )

    def remember(self) -> None:
        self._rows: dict[tuple[str, str, str], bits.Bits] = self.facts.backups.follow({})
        self._entries: dict[tuple[str, int], EntryMade] = self.facts.backups.follow({})
        self._near_at: dict[tuple[str, int], LabTime] = self.facts.backups.follow({})
        """By entry: when the site first claimed some of the numbers that the entry had when it was made or divided."""
        self._called_local: dict[tuple[str, int], bool] = self.facts.backups.follow({})
        """The entries that were checked when they became local."""
        self._new: dict[tuple[str, str], bool] = self.facts.backups.follow({})
        """New replicas that have not received a backfill response yet. A 5.5 server requests their changes at once."""

    @event_handler
    def _started(self, event: NodeStarted) -> None:
        if event.reason == "first" and not self.facts.known.began_with_folders(event.node):
            self._new[event.node, HIERARCHY] = True

    @event_handler
    def _added(self, event: ReplicaAdded) -> None:
        if event.store == event.node:
            self._new[event.node, event.folder] = True

    @event_handler
    def _received(self, event: MailReceived) -> None:
        if event.message_type in RESPONSES:
            self._responded(event.node, event.folders)
        for section in event.folders if Mark.DELETE_PENDING in event.marks else ():
            self._claims(event, section.folder, event.sender)

    def _responded(self, store: str, sections: Sequence[MailFolder]) -> None:
        """Note that a response has begun to fill a new replica. Entries made from now on wait for the first time-out."""
        for section in sections:
            if section.updates or section.cnset or section.cnset_fai or section.expired or section.expired_fai:
                self._new.pop((store, section.folder), None)

    @event_handler
    def _list(self, event: ChangeMade | VersionApplied) -> None:
        """Drop the rows of stores that left the replica list (RST-4)."""
        if event.kind == "folder":
            holders = self.facts.known.others(event.node, event.object) or frozenset()
            for key in [key for key in self._rows if key[:2] == (event.node, event.object) and key[2] not in holders]:
                del self._rows[key]

    @event_handler
    def _dropped(self, event: ReplicaDropped) -> None:
        for key in [key for key in self._rows if key[:2] == (event.node, event.folder)]:
            del self._rows[key]

    @event_handler
    def _row(self, event: RowReplaced) -> None:
        self._rows[event.node, event.folder, event.store] = bits.by_kind(event.cnset, event.cnset_fai)
        mail = self.facts.mails.get(event.mail or "")
        if mail is not None and mail.message_type in RESPONSES:
            # A response can wait for the replica (spec: IN-5). Then it is applied after its mail was received.
            self._responded(event.node, [section for section in mail.folders if section.folder == event.folder])
        self._claims(event, event.folder, event.store)

    def _claims(self, event: RowReplaced | MailReceived, folder: str, store: str) -> None:
        """Note each entry of which a store of the site now claims all numbers."""
        if self._same_site(event.node, store):
            for key, entry in self._entries.items():
                if key[0] == event.node and entry.folder == folder and self._in_the_site(entry, event.node):
                    self._near_at.setdefault(key, event.at)

    def _same_site(self, store: str, other: str) -> bool:
        servers = self.facts.topology.servers
        return servers[store].site == servers[other].site

    def _in_the_site(self, entry: EntryMade | EntryView, asker: str) -> bits.Bits:
        """Return the numbers of an entry that stores of the asker's site claim."""
        knowledge = self.facts.known
        holders = knowledge.holders(asker, entry.folder)
        claims = []
        for place in {*self._rows, *knowledge.leavers}:
            node, folder, store = place
            if node == asker and folder == entry.folder and self._same_site(asker, store):
                row = self._rows.get(place) if store in holders else None
                claims.append(knowledge.leavers.get(place, bits.EMPTY) if row is None else row)
        return bits.common(bits.by_kind(entry.cnset, entry.cnset_fai), bits.union(claims))

    def _first_us(self, store: str, *, local: bool) -> int:
        return self.facts.topology.servers[store].settings.backfill_wait_us(local=local, requests_sent=0)

    @event_handler
    def _entry(self, event: EntryMade) -> Witnesses:
        key = event.node, event.entry
        self._entries[key] = event
        numbers = bits.by_kind(event.cnset, event.cnset_fai)
        near = self._in_the_site(event, event.node)
        subject = f"{event.node}'s entry {event.entry} of {self.facts.folder(event.folder)}"
        wrong = bits.minus(numbers, near) if event.local else near
        if wrong:
            claimants = "no store in its site has" if event.local else "its site has"
            yield f"{subject} counts as {'local' if event.local else 'remote'}, but {claimants} {self.facts.words(wrong)}"
        if event.local:
            self._called_local[key] = True
        due_at = self._due_at(event)
        if due_at is not None and event.due_at != due_at:
            yield f"{subject} is due at {format_instant(event.due_at)}, but the settings give {format_instant(due_at)}"

    def _due_at(self, event: EntryMade) -> LabTime | None:
        """Return the end of the first time-out of a new entry; None if a suspension may have moved it."""
        if not event.parent:
            asks_at_once = str(self.facts.topology.servers[event.node].version) == "5.5"
            at_once = asks_at_once and self._new.get((event.node, event.folder), False)
            return event.at + (0 if at_once else self._first_us(event.node, local=event.local))
        parent = self._entries.get((event.node, event.parent))
        if parent is None or self.facts.was_suspended(event.node, event.folder, parent.at):
            return None
        self._near_at.pop((event.node, event.parent), None)
        return max(event.at, min(parent.due_at, parent.at + self._first_us(event.node, local=True)))

    def on_array(self, reading: ArrayReading) -> Witnesses:
        present = {entry.id: entry for entry in reading.entries}
        for key in [key for key in self._entries if key[0] == reading.store]:
            entry = present.get(key[1])
            if entry is None:
                for mapping in (self._entries, self._near_at, self._called_local):
                    mapping.pop(key, None)
            else:
                yield from self._rightly_local(reading.store, entry)
                yield from self._soon_enough(reading.store, entry)

    def _rightly_local(self, store: str, entry: EntryView) -> Witnesses:
        key = store, entry.id
        if not entry.local or key in self._called_local:
            return
        self._called_local[key] = True
        wrong = bits.minus(bits.by_kind(entry.cnset, entry.cnset_fai), self._in_the_site(entry, store))
        if wrong:
            subject = f"{store}'s entry {entry.id} of {entry.path}"
            yield f"{subject} counts as local, but no store of the site has {self.facts.words(wrong)}"

    def _soon_enough(self, store: str, entry: EntryView) -> Witnesses:
        near_at = self._near_at.get((store, entry.id))
        if near_at is None or entry.attempts or entry.waiting_for_slot or entry.requests:
            return
        if self.facts.was_suspended(store, entry.folder, entry.made_at):
            return
        near = self._in_the_site(entry, store)
        latest_at = max(entry.made_at + self._first_us(store, local=True), near_at)
        if near and entry.due_at > latest_at:
            subject = f"{store}'s entry {entry.id} of {entry.path}, of which its site has {self.facts.words(near)},"
            yield f"{subject} is due at {format_instant(entry.due_at)}, but should be due by {format_instant(latest_at)}"


TIMEOUTS: tuple[type[Invariant], ...] = (EntriesWaitAsConfigured,)


class TimeoutsSendRequests(Invariant):
    id = "time-outs send requests"
    rules = ("BF-3", "BF-4", "BF-5", "BF-6")
    says = (
        "When a time-out of an entry ends, or its only source answers with nothing, a request goes to a store that claims a "
        "change of the entry."
    )

    def remember(self) -> None:
        self._timed_out: dict[tuple[str, int], EntryTimedOut | RequestEnded] = self.facts.backups.follow({})

    @event_handler
    def _ended(self, event: EntryTimedOut) -> None:
        self._timed_out[event.node, event.entry] = event

    @event_handler
    def _in_vain(self, event: RequestEnded) -> None:
        """Note an empty answer. Content that is suspended waits until it is resumed (RP-5)."""
        is_suspended = event.node in self.facts.suspended and event.folder != HIERARCHY
        if event.how == "empty" and not is_suspended:
            self._timed_out[event.node, event.entry] = event

    @event_handler
    def _asked(self, event: RequestSent | RequestDeferred) -> None:
        self._timed_out.pop((event.node, event.entry), None)

    @event_handler
    def _row(self, event: RowReplaced) -> None:
        # If a row arrives after the time-out, the store uses it at the next time-out.
        for key in [
            key for key, timeout in self._timed_out.items() if key[0] == event.node and timeout.folder == event.folder
        ]:
            del self._timed_out[key]

    def on_array(self, reading: ArrayReading) -> Witnesses:
        for entry in reading.entries if reading.quiet else ():
            event = self._timed_out.pop((reading.store, entry.id), None)
            if event is None or entry.requests or entry.waiting_for_slot:
                continue
            gap = bits.by_kind(entry.cnset, entry.cnset_fai)
            # A leaving store claims what it had when it left. After an answer with nothing only others can be asked (BF-5).
            answerer = event.source if isinstance(event, RequestEnded) else None
            sources = [
                store
                for store in self._sources(event)
                if store != answerer and bits.common(gap, self._claims(event, store))
            ]
            if sources:
                subject = f"{reading.store}'s entry {entry.id} ({self.facts.words(gap)} of {entry.path})"
                if isinstance(event, EntryTimedOut):
                    after = f"reached its time-out {event.attempt}"
                else:
                    after = f"got nothing from {event.source}"
                yield f"{subject} {after}, but no request went to {' or '.join(sources)}"

    def _sources(self, event: EntryTimedOut | RequestEnded) -> Iterator[str]:
        knowledge = self.facts.known
        leavers = {store for node, folder, store in knowledge.leavers if (node, folder) == (event.node, event.folder)}
        sources = (knowledge.holders(event.node, event.folder) | leavers) & knowledge.recipients(
            event.node, event.folder
        )
        yield from sorted(sources - {event.node})

    def _claims(self, event: EntryTimedOut | RequestEnded, store: str) -> bits.Bits:
        place = (event.node, event.folder, store)
        knowledge = self.facts.known
        is_holder = store in knowledge.holders(event.node, event.folder)
        row = self.facts.rows.get(place) if is_holder else None
        if row is None:
            row = knowledge.leavers.get(place, bits.EMPTY)
        return bits.minus(row, self.facts.reported_expired.get(place, bits.EMPTY))


class SilentSourcesGoDown(Invariant):
    id = "silent sources go down"
    rules = ("BF-4",)
    says = "A source that has sent nothing since it was asked is marked down when the retry time-out ends."

    def remember(self) -> None:
        self._requests: dict[tuple[str, int, str], RequestSent] = self.facts.backups.follow({})
        self._down: dict[tuple[str, str], bool] = self.facts.backups.follow({})

    @event_handler
    def _sent(self, event: RequestSent) -> None:
        self._requests[event.node, event.entry, event.source] = event
        self._down.pop((event.node, event.source), None)

    @event_handler
    def _received(self, event: MailReceived) -> None:
        """Forget requests to the sender, which is up, and requests for the mail's folders, which the mail may answer (BF-2)."""
        folders = {section.folder for section in event.folders}
        for key, request in list(self._requests.items()):
            if key[0] == event.node and (request.source == event.sender or request.folder in folders):
                del self._requests[key]

    @event_handler
    def _marked(self, event: SourceDown) -> None:
        self._down[event.node, event.store] = True

    @event_handler
    def _ended(self, event: RequestEnded) -> Witnesses:
        request = self._requests.pop((event.node, event.entry, event.source), None)
        if request is None or event.how != "retry" or event.at < request.retry_at:
            return
        if not self._down.get((event.node, event.source)):
            folder = self.facts.folder(event.folder)
            yield f"{event.node} got no mail from {event.source} since it asked for {folder}, but does not mark it down"


RETRIES: tuple[type[Invariant], ...] = (TimeoutsSendRequests, SilentSourcesGoDown)
