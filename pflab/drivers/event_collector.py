"""The events of nodes in other processes, gathered into one record in an order that causes allow.

Each node's come in the order of their numbers, several times perhaps; what came from several nodes since the last time is
sorted by lab time and Lamport number. What a node that is gone had committed is read from its database.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Final

import msgspec

from node.state.database import Database
from node.store.trace_export import EVENTS_BYTES, events_after, export_events
from pflab.runs.recorder import Record
from traces.events import AnyEvent
from transport.sql import Connection

if TYPE_CHECKING:
    from pflab.runs.run_folder import RunFolder
    from traces.events import Event

_EVENT: Final = msgspec.json.Decoder(AnyEvent)


class EventCollector:
    """The events of the servers of one lab. `last_seq` gives the number of the last event known of each, `recorded` that of
    the last that is in the record."""

    def __init__(self, record: Record, folder: RunFolder, servers: Iterable[str]) -> None:
        self.last_seq = dict.fromkeys(servers, 0)
        self.recorded = dict(self.last_seq)
        self.record = record
        self._folder = folder
        self._pending: list[Event] = []

    def go_on_after(self, recorded: Mapping[str, int], held: Iterable[Event]) -> None:
        """What another coordinator had recorded; `held` is the newest of it, which may be ahead of the numbers."""
        self.recorded.update(recorded)
        self._count(held)
        self.last_seq.update(self.recorded)

    def _count(self, events: Iterable[Event]) -> None:
        for event in events:
            if event.node in self.recorded:
                self.recorded[event.node] = max(self.recorded[event.node], event.seq)

    def came(self, name: str, lines: Sequence[bytes]) -> int:
        """Take in events of a node; the last that is known. Two answers may bring the same ones."""
        for line in lines:
            event = _EVENT.decode(line)
            if event.seq > self.last_seq[name]:
                self._pending.append(event)
                self.last_seq[name] = event.seq
        return self.last_seq[name]

    def flush(self) -> None:
        """What came from several processes since the last time, into the record."""
        if self._pending:
            self._pending.sort(key=lambda event: (event.at, event.lamport, event.node, event.seq))
            fresh, self._pending = self._pending, []
            self._count(fresh)
            self.record.extend(fresh)

    def salvage(self, name: str) -> None:
        """What a node that is gone had committed: into the record, and into the traces, for it may never start again."""
        path = self._folder.database(name)
        with closing(sqlite3.connect(path)) as raw:
            conn = Connection(raw)
            while found := events_after(conn, name, self._folder.traces, self.last_seq[name], EVENTS_BYTES):
                self.came(name, [line for _, line in found])
        database = Database(path, "normal")
        database.open()
        export_events(database, name, self._folder.traces)
        database.close()
