"""Invariants of what is missing: a mail brings what it names, and what is known to be missing is in the array."""

from __future__ import annotations

from pflab import invariants_sets as bits
from pflab.invariants import Hears, Invariant, RowsReading, Witnesses
from pflab.invariants_facts import HIERARCHY, Facts
from pflab.mailkinds import UPDATES
from traces.events import (
    ChangeMade,
    Event,
    ExpiredEverywhere,
    HopDropped,
    HopReceived,
    MailReceived,
    NodeStarted,
    RowReplaced,
    VersionApplied,
    VersionDropped,
    VersionFailed,
    VersionHeld,
    VersionIgnored,
)


class MailsBringWhatTheyName(Invariant):
    id = "mails bring what they name"
    rules = ("CN-7", "CN-6", "BF-5")
    says = "Each change that the set of a mail names is brought by that mail, or was here before, or closes as a hole."

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._brought: dict[tuple[str, str, bool], dict[str, int]] = {}
        self._gone: dict[tuple[str, str, bool], dict[str, int]] = {}
        facts.backups.follow(self._gone)
        self._open: dict[str, MailReceived] = {}
        self._held_here: set[tuple[str, str]] = set()

    def hears(self) -> Hears:
        return {
            ChangeMade: self._made,
            VersionApplied: self._version,
            VersionIgnored: self._version,
            VersionHeld: self._version,
            VersionFailed: self._failed,
            RowReplaced: self._row,
            MailReceived: self._received,
            ExpiredEverywhere: self._everywhere,
            HopReceived: self._next,
            HopDropped: self._next,
            NodeStarted: self._next,
        }

    def _made(self, event: ChangeMade) -> Witnesses:
        place = (event.node, event.folder, event.kind == "fai")
        bits.add_number(self._brought.setdefault(place, {}), event.number)
        return self._next(event)

    def _version(self, event: VersionApplied | VersionIgnored | VersionHeld) -> Witnesses:
        brought = self._brought.setdefault((event.node, event.folder, event.kind == "fai"), {})
        for text in (event.stands_for, event.pcl):
            bits.add(brought, bits.parse(text))
        bits.add_number(brought, event.number)
        return iter(())

    def _failed(self, event: VersionFailed) -> Witnesses:
        self._open.pop(event.node, None)  # some of its items could not be read, and which is not told for sure
        return iter(())

    def _row(self, event: RowReplaced) -> Witnesses:
        mail = self._open.get(event.node)
        if mail is not None and mail.mail == event.mail:
            self._held_here.add((event.node, event.folder))
        return iter(())

    def _received(self, event: MailReceived) -> Witnesses:
        yield from self._next(event)
        if event.message_type in UPDATES:
            self._open[event.node] = event

    def _next(self, event: Event) -> Witnesses:
        """Another stimulus of the node begins: the mail before has brought all that it will."""
        mail = self._open.pop(event.node, None)
        held_here = {folder for node, folder in self._held_here if node == event.node}
        self._held_here = {place for place in self._held_here if place[0] != event.node}
        if mail is None:
            return
        for section in mail.folders:
            if section.folder in held_here:  # without a replica here the mail waits whole
                for text, fai in ((section.cnset, False), (section.cnset_fai, True)):
                    if text:
                        # What the sender accounts for since all have said that it expired it has, and cannot bring.
                        gone = self._gone.get((mail.sender, section.folder, fai), bits.EMPTY)
                        yield from self._section(event.node, section.folder, fai, bits.minus(bits.parse(text), gone))

    def _everywhere(self, event: ExpiredEverywhere) -> Witnesses:
        for text, fai in ((event.cnset, False), (event.cnset_fai, True)):
            bits.add(self._gone.setdefault((event.node, event.folder, fai), {}), bits.parse(text))
        return iter(())

    def _section(self, store: str, folder: str, fai: bool, named: bits.Bits) -> Witnesses:
        brought = self._brought.get((store, folder, fai), bits.EMPTY)
        for change in self.facts.of_folder.get(folder, ()):
            unbrought = (change.kind == "fai") == fai and bits.has(named, change.number)
            # What expired before it was sent is named as a hole, or nobody could stop waiting for it (spec: DL-3, CN-6).
            may_lack = self.facts.may_be_a_hole(change) or (change.node, change.object) in self.facts.expired_at
            if unbrought and not bits.has(brought, change.number) and not may_lack:
                yield f"a mail to {store} names {self.facts.what(change)}, and neither it nor a mail before brought that"


class NothingMissingIsForgotten(Invariant):
    id = "nothing missing is forgotten"
    rules = ("BF-1", "BF-2", "ST-5", "HI-4")
    says = "While the lab is quiet, what a row claims and this store lacks is in its array, or waits in its queue."

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._waits: dict[str, list[frozenset[str]]] = {}
        """By store the numbers of each update that waits; the same one may wait in several, for a later one names it too."""
        facts.backups.follow(self._waits)

    def hears(self) -> Hears:
        return {VersionHeld: self._held, VersionDropped: self._dropped}

    def _held(self, event: VersionHeld) -> Witnesses:
        self._waits.setdefault(event.node, []).append(self._numbers(event))
        return iter(())

    def _dropped(self, event: VersionDropped) -> Witnesses:
        waits, numbers = self._waits.get(event.node, []), self._numbers(event)
        if numbers in waits:
            waits.remove(numbers)
        return iter(())

    def _numbers(self, event: VersionHeld | VersionDropped) -> frozenset[str]:
        return frozenset({*bits.numbers(bits.parse(event.stands_for)), event.number})

    def on_rows(self, reading: RowsReading) -> Witnesses:
        own = [row for row in reading.rows if row.is_local]
        others = [row for row in reading.rows if not row.is_local]
        if all((row.cnset, row.cnset_fai) == (own[0].cnset, own[0].cnset_fai) for row in others):
            return
        entries = [entry for entry in reading.entries if entry.folder == reading.folder]
        waits: dict[str, int] = {}
        if reading.folder == HIERARCHY:
            for number in {each for numbers in self._waits.get(reading.store, ()) for each in numbers}:
                bits.add_number(waits, number)
        # What a store made itself and has not broadcast yet is not missing (RST-1).
        mine = {self.facts.guid_of.get(reading.store, ""): bits.span(1, bits.HIGHEST)}
        for kind, texts in (
            ("", ([row.cnset for row in others], [row.cnset for row in own], [each.cnset for each in entries])),
            (
                " (associated)",
                ([row.cnset_fai for row in others], [row.cnset_fai for row in own], [e.cnset_fai for e in entries]),
            ),
        ):
            claimed, here, listed = (bits.union(map(bits.parse, each)) for each in texts)
            rest = bits.minus(claimed, bits.union((here, listed, waits, mine)))
            if rest:
                folder, words = self.facts.folder(reading.folder), self.facts.words(rest)
                yield f"{reading.store} knows by a row that it lacks {words}{kind} of {folder}, and no entry says so"


MISSING: tuple[type[Invariant], ...] = (MailsBringWhatTheyName, NothingMissingIsForgotten)
