"""The databases of a run folder, read without a lab. They are opened read-only, also while the lab still runs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from node.errors import Misuse
from node.reads import StoreReader
from node.store.offline_reader import open_offline, organization_in, waiting_events
from pflab.errors import LabError
from topology.changes import at_start_of
from topology.file.load import load_topology
from topology.model import Topology
from topology.problems import TopologyError
from traces.events import AnyEvent, Event, RunEnded
from traces.labtime import LabTime, parse_instant
from traces.open_segment import list_open, whole_lines

_EVENT: Final = msgspec.json.Decoder(AnyEvent)


@dataclass(frozen=True, slots=True)
class RunReader:
    """Reads a run folder: its organization as the stores last knew it, and the databases in it."""

    path: Path
    began: Topology
    topology: Topology
    ended_at: LabTime
    """When the run ended; 0 if it has not been judged."""

    @classmethod
    def at(cls, path: Path) -> RunReader:
        """Open a run folder. Raises LabError if it is not the folder of a run."""
        try:
            topology = began = load_topology(path / "topology.yaml")
        except (OSError, ValueError, TopologyError) as error:
            reason = str(error).splitlines()[0]
            raise LabError(
                f"{path} is not the folder of a run ({reason}); name one that pflab demo or pflab run has written"
            ) from error
        for database in sorted((path / "databases").glob("*.sqlite")):
            with suppress(sqlite3.Error, Misuse):  # whoever reads this store is told why it cannot be read
                topology = max(topology, organization_in(database, topology), key=lambda known: known.revision)
        return cls(path, began, topology, _ended_at(path / "verdict.json"))

    def stores(self) -> list[str]:
        """Return the servers that have a database here, in the topology's order."""
        return [name for name in self.topology.servers if self._database(name).is_file()]

    def away(self) -> list[str]:
        """Return no server, because every database of a finished run can be read."""
        return []

    def deleted(self) -> list[str]:
        """Return no server, because the databases of deleted stores can be read too."""
        return []

    def folders(self) -> list[str]:
        """Return the paths of the topology's folders."""
        return list(self.topology.folders)

    def _database(self, store: str) -> Path:
        return self.path / "databases" / f"{store}.sqlite"

    @contextmanager
    def reading(self, store: str) -> Iterator[StoreReader]:
        """Open a store's database for reading. Raises LabError if it cannot be read."""
        path = self._database(store)
        try:
            with open_offline(path, store, at_start_of(store, self.began, self.topology)) as reader:
                yield reader
        except sqlite3.Error as error:
            raise LabError(f"{path} cannot be read as a store's database: {error}") from error

    def now(self, store: StoreReader) -> LabTime:
        """Return the lab time at which the run ended for a store. Its clock shows its last stimulus, which can be earlier."""
        return max(store.last_at, self.ended_at)


def unexported_events(run: Path, exported: Sequence[Event]) -> list[Event]:
    """Return the events of a run that are not in its closed segments yet: those in the databases, because a store writes its
    events to its trace some time later, and those of the lab itself in its open segment.

    An ended run has no such events. A database that cannot be read is left out, for example if it is being created.
    """
    if any(isinstance(event, RunEnded) for event in exported):
        return []
    last = {event.node: event.seq for event in exported}
    events: list[Event] = []
    for path in sorted((run / "databases").glob("*.sqlite")):
        with suppress(sqlite3.Error, msgspec.MsgspecError):
            lines = waiting_events(path, path.stem, run / "traces", last.get(path.stem, 0))
            events += [_EVENT.decode(line) for line in lines]
    for name, path in list_open(run / "traces"):
        with suppress(FileNotFoundError):  # it was closed meanwhile
            lab = [_EVENT.decode(line) for line in whole_lines(path)]
            events += [event for event in lab if event.seq > last.get(name.node, 0)]
    return events


def _ended_at(verdict: Path) -> LabTime:
    """Return the end of a run that has been judged, else 0."""
    try:
        return parse_instant(json.loads(verdict.read_text("utf-8"))["ended_at"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0
