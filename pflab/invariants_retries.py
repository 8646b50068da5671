"""Invariants of requests that nobody answered: another follows, and the silent source is marked down (BF-3, BF-4)."""

from __future__ import annotations

from collections.abc import Iterator

from pflab import invariants_sets as bits
from pflab.invariants import ArrayReading, Hears, Invariant, Witnesses
from pflab.invariants_facts import Facts
from traces.events import (
    EntryTimedOut,
    MailReceived,
    ReplicaDropped,
    RequestDeferred,
    RequestEnded,
    RequestSent,
    RowReplaced,
    SourceDown,
)


class SomebodyIsAsked(Invariant):
    id = "somebody is asked"
    rules = ("BF-3", "BF-4", "BF-6")
    says = "When an entry's time-out has ended, the first or a later one, a store that claims some of it is asked for that."

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._timed_out: dict[tuple[str, int], EntryTimedOut] = {}
        self._rows: dict[tuple[str, str, str], bits.Bits] = {}
        for mapping in (self._timed_out, self._rows):
            facts.backups.follow(mapping)

    def hears(self) -> Hears:
        return {
            EntryTimedOut: self._ended,
            RequestSent: self._asked,
            RequestDeferred: self._asked,
            RowReplaced: self._row,
            ReplicaDropped: self._dropped,
        }

    def _ended(self, event: EntryTimedOut) -> Witnesses:
        self._timed_out[event.node, event.entry] = event
        return iter(())

    def _asked(self, event: RequestSent | RequestDeferred) -> Witnesses:
        self._timed_out.pop((event.node, event.entry), None)
        return iter(())

    def _row(self, event: RowReplaced) -> Witnesses:
        # A row that came after the time-out will be asked at the next one.
        for key in [
            key for key, each in self._timed_out.items() if key[0] == event.node and each.folder == event.folder
        ]:
            del self._timed_out[key]
        self._rows[event.node, event.folder, event.store] = bits.by_kind(event.cnset, event.cnset_fai)
        return iter(())

    def _dropped(self, event: ReplicaDropped) -> Witnesses:
        for key in [key for key in self._rows if key[:2] == (event.node, event.folder)]:
            del self._rows[key]
        return iter(())

    def on_array(self, reading: ArrayReading) -> Witnesses:
        for entry in reading.entries if reading.quiet else ():
            event = self._timed_out.pop((reading.store, entry.id), None)
            if event is None or entry.requests:
                continue
            missing = bits.by_kind(entry.cnset, entry.cnset_fai)
            sources = [store for store in self._sources(event) if bits.common(missing, self._claims(event, store))]
            if sources:
                what = f"{reading.store}'s entry {entry.id} ({self.facts.words(missing)} of {entry.path})"
                yield f"{what} had its time-out {event.attempt}, and {', '.join(sources)} was not asked"

    def _sources(self, event: EntryTimedOut) -> Iterator[str]:
        yield from sorted(self.facts.known.holders(event.node, event.folder) - {event.node})

    def _claims(self, event: EntryTimedOut, store: str) -> bits.Bits:
        place = (event.node, event.folder, store)
        return bits.minus(self._rows.get(place, bits.EMPTY), self.facts.said_expired.get(place, bits.EMPTY))


class SilentSourcesGoDown(Invariant):
    id = "silent sources go down"
    rules = ("BF-4",)
    says = "A source that has sent nothing since it was asked is marked down when the retry time-out ends."

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._asked: dict[tuple[str, int, str], RequestSent] = {}
        self._down: dict[tuple[str, str], bool] = {}
        for mapping in (self._asked, self._down):
            facts.backups.follow(mapping)

    def hears(self) -> Hears:
        return {
            RequestSent: self._sent,
            RequestEnded: self._ended,
            MailReceived: self._received,
            SourceDown: self._marked,
        }

    def _sent(self, event: RequestSent) -> Witnesses:
        self._asked[event.node, event.entry, event.source] = event
        self._down.pop((event.node, event.source), None)
        return iter(())

    def _received(self, event: MailReceived) -> Witnesses:
        """Its sender is up; and what it says of a folder may answer a request, or call it back (BF-2)."""
        named = {section.folder for section in event.folders}
        for key, asked in list(self._asked.items()):
            if key[0] == event.node and (asked.source == event.sender or asked.folder in named):
                del self._asked[key]
        return iter(())

    def _marked(self, event: SourceDown) -> Witnesses:
        self._down[event.node, event.store] = True
        return iter(())

    def _ended(self, event: RequestEnded) -> Witnesses:
        asked = self._asked.pop((event.node, event.entry, event.source), None)
        if asked is None or event.how != "retry" or event.at < asked.retry_at:
            return
        if not self._down.get((event.node, event.source)):
            folder = self.facts.folder(event.folder)
            yield f"{event.node} has heard nothing from {event.source} since it asked for {folder}, and takes it to be up"


RETRIES: tuple[type[Invariant], ...] = (SomebodyIsAsked, SilentSourcesGoDown)
