"""Invariants of rows and the backfill array: a row is the latest row that its store sent, a store closes the holes in its own
numbers, and an entry has only numbers that some store claims.
"""

from __future__ import annotations

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.evidence.knowledge import folders_of
from pflab.invariants.invariant import Invariant, RowsReading, Witnesses
from pflab.terms.event_handlers import event_handler
from pflab.terms.mail_types import BROADCASTS, Mark, mail_name
from traces.events import (
    AddressLacking,
    ChangeMade,
    MailSubmitted,
    ReplicaAdded,
    ReplicaDropped,
    RowReplaced,
    TreeLacking,
    VersionApplied,
)


class RowsAreTheLatestSent(Invariant):
    id = "rows are the latest sent"
    rules = ("RST-4",)
    says = "Of all mails that arrived from another store, a store keeps the row of the mail that was sent last."

    def remember(self) -> None:
        self._fresh: dict[tuple[str, str], dict[str, RowReplaced]] = self.facts.backups.follow({})

    @event_handler
    def _replaced(self, event: RowReplaced) -> None:
        self._fresh.setdefault((event.node, event.folder), {})[event.store] = event

    @event_handler
    def _dropped(self, event: ReplicaDropped) -> None:
        self._fresh.pop((event.node, event.folder), None)

    def on_rows(self, reading: RowsReading) -> Witnesses:
        fresh = self._fresh.pop((reading.store, reading.folder), {})
        for row in reading.rows:
            mail = fresh.get(row.store)
            if mail is None or row.is_local or row.heard_at is None:
                continue
            for text, sent_text in ((row.cnset, mail.cnset), (row.cnset_fai, mail.cnset_fai)):
                numbers, latest = bits.parse(text), bits.parse(sent_text)
                if numbers != latest:
                    row_words = f"{reading.store}'s row for {row.store} in {self.facts.folder(reading.folder)}"
                    yield f"{row_words} is {self.facts.words(numbers)}, but {row.store} last sent {self.facts.words(latest)}"


class EntriesAreClaimed(Invariant):
    id = "entries are claimed"
    rules = ("RST-4", "BF-2")
    says = "While the lab is quiet, a backfill array has only changes that a row or a leaving store claims."

    def on_rows(self, reading: RowsReading) -> Witnesses:
        entries = [entry for entry in reading.entries if entry.folder == reading.folder]
        if not entries:
            return
        rows = [row for row in reading.rows if not row.is_local]
        place = (reading.store, reading.folder)
        leavers = (claims for key, claims in self.facts.known.leavers.items() if key[:2] == place)
        claims = bits.union((*(bits.by_kind(row.cnset, row.cnset_fai) for row in rows), *leavers))
        for entry in entries:
            entry_numbers = bits.by_kind(entry.cnset, entry.cnset_fai)
            gap = bits.minus(entry_numbers, claims)
            if gap:
                subject = f"{reading.store}'s entry {entry.id} of {self.facts.folder(reading.folder)}"
                yield f"{subject} waits for {self.facts.words(gap)}, which no store claims"


class OwnHolesAreClosed(Invariant):
    id = "own holes are closed"
    rules = ("CN-6",)
    says = (
        "A broadcast closes the holes in its sender's range. The range begins after the last own number that was "
        "broadcast for the folder, or after the counter at which the replica began. It ends at the highest own "
        "number in the mail. The row of a delete-pending request closes them too."
    )

    def remember(self) -> None:
        self._last: dict[tuple[str, str, bool], dict[str, int]] = self.facts.backups.follow({})
        self._began: dict[tuple[str, str], dict[str, int]] = self.facts.backups.follow({})
        self._counter: dict[str, int] = {}

    @event_handler
    def _folder_changed(self, event: ChangeMade | VersionApplied) -> None:
        """If a store becomes the only holder, count its earlier changes as broadcast (RST-1)."""
        if isinstance(event, ChangeMade):
            self._made(event)
        place = (event.node, event.object)
        if event.kind == "folder" and not self.facts.known.others(*place):
            self._count_as_broadcast(place)

    @event_handler
    def _unreached(self, event: AddressLacking | TreeLacking) -> None:
        """If no other holder can be reached, count the changes as broadcast (ML-1, ML-8)."""
        for folder in folders_of(event) if event.message_type in BROADCASTS else ():
            if not self.facts.known.reached(event.node, folder):
                self._count_as_broadcast((event.node, folder))

    def _count_as_broadcast(self, place: tuple[str, str]) -> None:
        for change in self.facts.own_changes.get(place, ()):
            guid, counter = bits.split(change.number)
            last = self._last.setdefault((*place, change.kind == "fai"), {})
            last[guid] = max(counter, last.get(guid, 0))

    def _made(self, event: ChangeMade) -> None:
        guid, counter = bits.split(event.number)
        self._counter[guid] = max(counter, self._counter.get(guid, 0))
        if not self.facts.known.others(event.node, event.folder):
            # If there is no other holder, the change counts as broadcast at the cycle, without a mail (RST-1).
            self._last.setdefault((event.node, event.folder, event.kind == "fai"), {})[guid] = counter

    @event_handler
    def _added(self, event: ReplicaAdded) -> None:
        guid = self.facts.guid_of.get(event.node, "")
        self._began[event.node, event.folder] = {guid: self._counter.get(guid, 0)}
        for fai in (False, True):
            self._last.pop((event.node, event.folder, fai), None)

    @event_handler
    def _submitted(self, event: MailSubmitted) -> Witnesses:
        # While content is suspended, a leaving store sends only the request (RP-5).
        leaves = Mark.DELETE_PENDING in event.marks
        if event.message_type not in BROADCASTS and not leaves:
            return
        for section in event.folders:
            sets = (section.row, section.row_fai) if leaves else (section.cnset, section.cnset_fai)
            for text, fai in zip(sets, (False, True), strict=True):
                yield from self._broadcast(event, section.folder, bits.parse(text), fai)

    def _broadcast(self, event: MailSubmitted, folder: str, claims: bits.Bits, fai: bool) -> Witnesses:
        guid = self.facts.guid_of[event.node]
        own_claims = claims.get(guid, 0)
        top = own_claims.bit_length() - 1
        last = self._last.setdefault((event.node, folder, fai), {})
        bottom = max(last.get(guid, 0), self._began.get((event.node, folder), {}).get(guid, 0))
        if top <= bottom:
            return
        last[guid] = top
        holes = bits.span(bottom + 1, top) & ~own_claims
        # A change that was edited before it was sent is in the mail with the edit.
        for change in self.facts.own_changes.get((event.node, folder), ()) if holes else ():
            owner, counter = bits.split(change.number)
            if owner == guid and (change.kind == "fai") == fai:
                holes &= ~(1 << counter)
        if holes:
            words = self.facts.words({guid: holes})
            subject = f"{event.node}'s {mail_name(event.message_type)} for {self.facts.folder(folder)}"
            yield f"{subject} names numbers up to {event.node}-{top}, but does not close the holes {words}"


ROWS: tuple[type[Invariant], ...] = (RowsAreTheLatestSent, EntriesAreClaimed, OwnHolesAreClosed)
