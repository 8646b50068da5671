"""The record of a coordinator's lab, with the state of the lab, as one SQLite file, so that another coordinator can continue.

| table | content |
|---|---|
| fact | the run and its topology, the state of the lab (`pflab.runs.lab_state`), the last recorded event of each store |
| newest_event | the newest events in the order of the lab's event stream |
| own_event | the lab's own events that are not in a segment yet |
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pflab.errors import LabError
from pflab.runs.lab_state import LabState, decoded_state
from pflab.runs.recorder import LAB, MOST_HELD, Record
from traces.events import AnyEvent
from traces.recorder import Recorder
from traces.segments import SegmentName, exported_through, write_segment
from transport.file_handles import naming_missing_handles

if TYPE_CHECKING:
    from pflab.runs.run_folder import RunFolder
    from traces.events import Event
    from traces.labtime import LabTime

RECORD: Final = "lab.sqlite"
"""The name of the file in a run's folder."""

RECORD_FORMAT: Final = 2
"""The version of the file's tables and facts, apart from the state of the lab, which has its own version."""

_EVENT: Final = msgspec.json.Decoder(AnyEvent)

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS own_event (seq INTEGER PRIMARY KEY, incarnation INTEGER NOT NULL, line BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS newest_event (place INTEGER PRIMARY KEY, line BLOB NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event as a line.

    place: its index in the run, from 1.
    own_seq: its sequence number if it is the lab's own event.
    """

    place: int
    line: bytes
    own_seq: int | None


class RecordFile:
    """Reads and writes the file. incarnation: how often the coordinator has started.

    Raises LabError for a file of another format, or that was written for another topology.
    """

    def __init__(self, path: Path, *, run: str, topology: str) -> None:
        with naming_missing_handles():
            self._conn = sqlite3.connect(path, isolation_level=None)
            self._conn.execute("PRAGMA journal_mode = WAL")
        self._conn.execute("PRAGMA synchronous = FULL")
        self._conn.executescript(_TABLES)
        began = self.fact("run") is not None
        if began and self.fact("format") != RECORD_FORMAT:
            raise LabError(
                f"{path} was written by another version of pflab, which this version cannot continue; begin without the data"
                " (in containers: docker compose down --volumes)"
            )
        if began and self.fact("topology") != topology:
            raise LabError(
                f"the lab in {path.parent} began with another topology; give that topology, or an empty folder and empty"
                " stores"
            )
        self.incarnation = int(self.fact("incarnation") or 0) + 1
        self.run = str(self.fact("run") or run)
        self._place = path
        self.keep(format=RECORD_FORMAT, run=self.run, topology=topology, incarnation=self.incarnation)

    def state(self) -> LabState | None:
        """Return the state of the lab; None if it was never saved. Raises LabError for a state of another format."""
        content = self._fact("state")
        return None if content is None else decoded_state(content, self._place)

    def fact(self, name: str) -> Any:
        """Return the value of a fact; None if it was never set."""
        content = self._fact(name)
        return None if content is None else msgspec.json.decode(content)

    def _fact(self, name: str) -> bytes | None:
        row = self._conn.execute("SELECT value FROM fact WHERE name = ?", (name,)).fetchone()
        return None if row is None else row[0].encode()

    def keep(self, **facts: Any) -> None:
        """Set facts; they are durable on return."""
        with self._transaction():
            self._set(facts)

    def _set(self, facts: Mapping[str, Any]) -> None:
        rows = [(name, msgspec.json.encode(value).decode()) for name, value in facts.items()]
        self._conn.executemany("INSERT OR REPLACE INTO fact VALUES (?, ?)", rows)

    def save(self, events: Sequence[Recorded], *, first: int, facts: Mapping[str, Any]) -> None:
        """Add recorded events, delete those up to index `first`, and set facts. A kill leaves either all of it or nothing."""
        own = [(event.own_seq, self.incarnation, event.line) for event in events if event.own_seq is not None]
        with self._transaction():
            self._set(facts)
            self._conn.execute("DELETE FROM newest_event WHERE place <= ?", (first,))
            self._conn.executemany(
                "INSERT INTO newest_event VALUES (?, ?)",
                [(event.place, event.line) for event in events if event.place > first],
            )
            self._conn.executemany("INSERT INTO own_event VALUES (?, ?, ?)", own)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._conn.execute("BEGIN")
        try:
            yield
            self._conn.execute("COMMIT")
        except BaseException:
            if self._conn.in_transaction:  # SQLite rolls some errors back itself
                self._conn.execute("ROLLBACK")
            raise

    def events(self) -> tuple[int, list[Event]]:
        """Return how many events were forgotten, and the events that are kept."""
        rows = self._conn.execute("SELECT place, line FROM newest_event ORDER BY place").fetchall()
        return (rows[0][0] - 1 if rows else 0), [_EVENT.decode(line) for _, line in rows]

    @property
    def last_seq(self) -> int:
        """The sequence number of the last event of the lab itself."""
        (last,) = self._conn.execute("SELECT coalesce(max(seq), 0) FROM own_event").fetchone()
        return max(int(last), int(self.fact("written") or 0))

    def write_out(self, folder: Path) -> None:
        """Write the events of the lab itself into closed segments. Even if the process is killed meanwhile, no event is
        written twice.
        """
        rows = self._conn.execute("SELECT seq, incarnation, line FROM own_event ORDER BY seq").fetchall()
        exported_seq = exported_through(folder, LAB)
        for incarnation in sorted({row[1] for row in rows if row[0] > exported_seq}):
            mine = [row for row in rows if row[1] == incarnation and row[0] > exported_seq]
            write_segment(folder, SegmentName(LAB, incarnation, mine[0][0]), (row[2] for row in mine))
        if rows:
            self.keep(written=rows[-1][0])
            self._conn.execute("DELETE FROM own_event WHERE seq <= ?", (rows[-1][0],))

    def copy(self, path: Path) -> None:
        """Write a copy of the file without the state of the lab, which a saved lab has in its own file."""
        with closing(sqlite3.connect(path, isolation_level=None)) as target:
            self._conn.backup(target)
            target.execute("DELETE FROM fact WHERE name = 'state'")

    def close(self) -> None:
        self._conn.close()


class DurableRecord(Record):
    """A record that continues after a restart of the coordinator.

    facts: returns what is saved with the events, by name. The state of the lab is one of them, so lab time cannot go back
        behind an event, and no event tells of a fault or a backup that the state lacks.
    changed: called after each addition; it must call `save`.

    On a full disk, events wait in memory until they can be saved. If the coordinator is killed meanwhile, the next coordinator
    reads the events of the stores again. The events of the lab itself are lost then; their numbers are used again, so no trace
    has a gap.
    """

    def __init__(
        self,
        file: RecordFile,
        *,
        folder: RunFolder,
        now: Callable[[], LabTime],
        real_time: Callable[[], float],
        facts: Callable[[], Mapping[str, Any]],
        changed: Callable[[], None],
    ) -> None:
        super().__init__(file.run, folder=folder, now=now, real_time=real_time, most=MOST_HELD)
        self._file = file
        self._traces = folder.traces
        self._facts = facts
        self._changed = changed
        self._first, self._events = file.events()
        if self._first > 0:
            self._checkpoint = None  # the coordinator before this one has forgotten events; they are in the traces
        self._unsaved: list[Recorded] = []
        own = [event.lamport for event in self._events if event.node == LAB]
        self._recorder = Recorder(
            run=file.run,
            node=LAB,
            incarnation=file.incarnation,
            seq=file.last_seq,
            lamport=max([int(file.fact("lamport") or 0), *own]),
            real_time=real_time,
        )
        for guid, store in (file.fact("replicas") or {}).items():
            self._names.learn_store(guid, store)
        self._learn(self._events)
        file.write_out(self._traces)

    @property
    def begun(self) -> bool:
        """Whether the lab has recorded anything."""
        return self._recorder.seq > 0

    @property
    def seq(self) -> int:
        """The sequence number of the last event of the lab itself."""
        return self._recorder.seq

    @property
    def lamport(self) -> int:
        return self._recorder.lamport

    def note(self, kind: type[Event], /, **fields: object) -> None:
        super().note(kind, **fields)
        self._changed()

    def _write(self, line: bytes) -> None:
        self._unsaved.append(Recorded(self._first + len(self._events) + 1, line, self._recorder.seq))

    def extend(self, events: Iterable[Event]) -> None:
        fresh = list(events)
        super().extend(fresh)
        place = self._first + len(self._events) - len(fresh)
        lines = [msgspec.json.encode(event) for event in fresh]
        self._unsaved += [Recorded(place + number, line, None) for number, line in enumerate(lines, start=1)]
        self._changed()

    def _forget(self) -> None:
        before = self._first
        super()._forget()
        if self._first > before:
            self._unsaved = [event for event in self._unsaved if event.place > self._first or event.own_seq is not None]

    def save(self) -> None:
        """Make all events and the facts durable. Raises sqlite3.OperationalError if the disk is full."""
        facts = self._facts()  # first, because this may record events
        self._file.save(self._unsaved, first=self._first, facts=facts)
        self._unsaved = []

    def write_out(self) -> None:
        """Write the lab's own events into a segment. Raises sqlite3.OperationalError or OSError if the disk is full."""
        self.save()
        self._file.write_out(self._traces)

    def close(self) -> None:
        try:
            self.write_out()
        finally:
            self._file.close()
