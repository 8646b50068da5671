"""Collects the events of nodes in other processes, and adds them to one record, each event after its causes.

The events of one node arrive in the order of their numbers, some of them more than once. Before the record is read, the
collector sorts the new events by lab time and Lamport number. It reads the events of an ended node from the node's database.
"""

from __future__ import annotations

import logging
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Final

import msgspec

from node.errors import CannotWrite
from node.state.database import cannot_write
from node.store.trace_export import EVENTS_BYTES, events_after, export_file
from pflab.runs.recorder import LAB, Record
from traces.events import AnyEvent
from transport.file_handles import refusal_words
from transport.sql import Connection

if TYPE_CHECKING:
    from pathlib import Path

    from pflab.runs.run_folder import RunFolder
    from traces.events import Event

_EVENT: Final = msgspec.json.Decoder(AnyEvent)

log = logging.getLogger("pflab.lab")


class EventCollector:
    """Collects the events of the servers of one lab. For each server, `last_seq` is the number of the last event that has
    arrived, and `recorded` is the number of the last event in the record.
    """

    def __init__(self, record: Record, folder: RunFolder) -> None:
        self.last_seq: Counter[str] = Counter()
        self.recorded: Counter[str] = Counter()
        self.record = record
        self._folder = folder
        self._pending: list[Event] = []

    def resume(self, recorded: Mapping[str, int], held: Iterable[Event]) -> None:
        """Continue the work of an earlier coordinator.

        recorded: the number of each server's last event that the earlier coordinator recorded.
        held: the newest events that it saved; the numbers of some may be higher.
        """
        self.recorded.update(recorded)
        self._count(held)
        self.last_seq.update(self.recorded)

    def _count(self, events: Iterable[Event]) -> None:
        for event in events:
            if event.node != LAB:
                self.recorded[event.node] = max(self.recorded[event.node], event.seq)

    def add(self, name: str, lines: Sequence[bytes]) -> int:
        """Add events of a node, of which some may be known already. Return the number of the node's last known event."""
        for line in lines:
            event = _EVENT.decode(line)
            if event.seq > self.last_seq[name]:
                self._pending.append(event)
                self.last_seq[name] = event.seq
        return self.last_seq[name]

    def flush(self) -> None:
        """Add to the record the events that have arrived since the last call."""
        if self._pending:
            self._pending.sort(key=lambda event: (event.at, event.lamport, event.node, event.seq))
            fresh, self._pending = self._pending, []
            self._count(fresh)
            self.record.extend(fresh)

    def collect_from_database(self, name: str) -> None:
        """Add the events of an ended node to the record and to the traces, because the node may never start again.

        If the disk is full, the events stay in the database until the node starts again.
        """
        try:
            self._collect_from(self._folder.database(name), name)
        except (sqlite3.OperationalError, OSError) as error:
            if not cannot_write(error):
                raise
            log.warning("%s", CannotWrite(name, refusal_words(error)))

    def _collect_from(self, path: Path, name: str) -> None:
        with closing(sqlite3.connect(path)) as raw:
            conn = Connection(raw)
            while rows := events_after(conn, name, self._folder.traces, self.last_seq[name], EVENTS_BYTES):
                self.add(name, [line for _, line in rows])
        export_file(path, name, self._folder.traces)
