"""Looking into the databases of a run folder, without a lab: opened read-only, never changed, also while the lab still
runs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from node.codec.signing import LabAuthority, Verifier, derived_seed
from node.state.addresses import AddressBook
from node.state.context import Context
from node.state.directory import Directory
from node.state.folders import Folders
from node.state.state_table import ReplicationStateTable
from node.state.store_identity import StoreState
from node.state.store_settings import config_of
from node.store import queries
from node.views import EntryView, FolderView, LogView, MessageView, NoticeView, StateView
from pflab.errors import LabError
from topology import Topology, TopologyError, load_topology
from traces.labtime import LabTime, parse_instant
from transport.mta.mta import Mta
from transport.sql import Connection


@dataclass(frozen=True, slots=True)
class StoreReader:
    """One store's database, open for reading."""

    name: str
    now: LabTime
    _ctx: Context
    _conn: Connection

    def folders(self) -> list[FolderView]:
        return queries.folders(self._ctx)

    def state(self, folder: str) -> StateView:
        """The rows of a folder, by path, id or `1-1`. Raises node.errors.FolderUnknown."""
        return queries.state(self._ctx, folder)

    def messages(self, folder: str) -> list[MessageView]:
        return queries.messages(self._ctx, self._conn, folder)

    def mail(self, folder: str, message: str) -> bytes:
        """A message as a mail (spec: ML-5)."""
        return queries.mail(self._ctx, self._conn, folder, message)

    def event_log(self, *, limit: int, event: int | None) -> list[LogView]:
        return queries.event_log(self._conn, after=0, limit=limit, event=event)

    def mailbox(self) -> list[NoticeView]:
        return queries.mailbox(self._conn)

    def mailbox_mail(self, notice: int) -> bytes:
        return queries.mailbox_mail(self._conn, notice)

    def backfill(self) -> list[EntryView]:
        return queries.backfill_array(self._ctx, self._conn)


@dataclass(frozen=True, slots=True)
class RunReader:
    """A run folder: the topology and seed as run, and the databases that it has."""

    path: Path
    topology: Topology
    seed: int
    ended_at: LabTime
    """When the run ended; 0 while it goes on."""

    @classmethod
    def at(cls, path: Path) -> RunReader:
        """Raises LabError in one line for a folder that is not a run's."""
        try:
            topology = load_topology(path / "topology.yaml")
            seed = int((path / "seed").read_text("utf-8"))
        except (OSError, ValueError, TopologyError) as error:
            reason = str(error).splitlines()[0]
            raise LabError(
                f"{path} is not the folder of a run ({reason}); give one that pflab demo or pflab run has left"
            ) from error
        return cls(path, topology, seed, _ended_at(path / "verdict.json"))

    def stores(self) -> list[str]:
        """The servers that left a database, in the topology's order."""
        return [name for name in self.topology.servers if self._database(name).is_file()]

    def away(self) -> list[str]:
        """Of a run that is over nobody is away: who left no database is not told of."""
        return []

    def folders(self) -> list[str]:
        """The paths of the topology's folders."""
        return list(self.topology.folders)

    def _database(self, store: str) -> Path:
        return self.path / "databases" / f"{store}.sqlite"

    @contextmanager
    def reading(self, store: str) -> Iterator[StoreReader]:
        """Raises LabError for a store without a readable database."""
        path = self._database(store)
        try:
            with closing(_connect(path)) as raw:
                yield self._reader(store, Connection(raw))
        except sqlite3.Error as error:
            raise LabError(f"{path} cannot be read as a store's database: {error}") from error

    def _reader(self, store: str, conn: Connection) -> StoreReader:
        state = StoreState(conn)
        directory = Directory(self.topology, conn)
        identity = LabAuthority(derived_seed(self.seed, "authority")).identity(store)
        config = config_of(self.topology, store)
        folders, rst = Folders(conn, state), ReplicationStateTable(conn)
        ctx = Context(
            name=store,
            seed=derived_seed(self.seed, f"node {store}"),
            store=state,
            folders=folders,
            rst=rst,
            directory=directory,
            config=config,
            identity=identity,
            verifier=Verifier(identity.authority_key),
            mta=Mta(store, directory.routing, directory.server_of, config.mail_policy),
            book=AddressBook(store, self.topology.domain, directory, folders, rst),
        )
        return StoreReader(store, max(state.last_at, self.ended_at), ctx, conn)


def _ended_at(verdict: Path) -> LabTime:
    """The end of a run that has been judged. A store's own clock stands at the last thing that it did."""
    try:
        return parse_instant(json.loads(verdict.read_text("utf-8"))["ended_at"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def _connect(path: Path) -> sqlite3.Connection:
    try:
        conn = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        conn.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        # In a folder where nothing can be written SQLite cannot make its lock file; then nobody else writes there
        # either.
        conn = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    return conn
