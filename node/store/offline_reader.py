"""Reads a store from its database file, without a lab. The file is opened read-only, so the lab may still run."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from node.codec.signing import LabAuthority
from node.state.context import Context
from node.state.directory import known_organization
from node.state.store_settings import config_of, stored_settings
from node.store.queries import StoreQueries
from node.store.trace_export import EVENTS_BYTES, events_after
from topology.model import Topology
from transport.errors import CodecError
from transport.file_handles import naming_missing_handles
from transport.sql import Connection

_NO_SEED: Final = bytes(32)
"""Used instead of the lab's secret seed, because a reader signs nothing and makes no ids."""


class OfflineReader(StoreQueries):
    """The reads of one database file."""

    def __init__(self, name: str, topology: Topology, conn: Connection) -> None:
        self._conn = conn
        self._ctx = Context.load(
            conn,
            name,
            topology,
            config=config_of(topology, name, stored_settings(conn)),
            seed=_NO_SEED,
            identity=LabAuthority(_NO_SEED).identity(name),
        )

    def _opened(self) -> tuple[Context, Connection]:
        return self._ctx, self._conn


@contextmanager
def open_offline(path: Path, name: str, topology: Topology) -> Iterator[OfflineReader]:
    """Open the database of the store `name` for reading. Raises sqlite3.Error if the file is not a store's database, or is
    damaged."""
    try:
        with closing(_connect(path)) as raw:
            try:
                yield OfflineReader(name, topology, Connection(raw))
            except sqlite3.Error:
                raise
            except Exception as error:
                if raw.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                    raise sqlite3.DatabaseError(f"the database is damaged: {error}") from error
                raise
    except (CodecError, UnicodeDecodeError) as error:  # SQLite itself repeats damaged bytes in its messages
        raise sqlite3.DatabaseError(f"the database is damaged: {error}") from error


def organization_in(path: Path, began: Topology) -> Topology:
    """Return the organization as the store with this database knows it (spec: RT-6).

    began: the organization as it began, or after some of its changes.

    Raises sqlite3.Error if the file is not a store's database, and Misuse if it is one of another organization.
    """
    with closing(_connect(path)) as raw:
        return known_organization(began, Connection(raw))


def waiting_events(path: Path, name: str, segments: Path, seq: int) -> Iterator[bytes]:
    """Yield the events of the store `name` after number `seq`.

    These include the events that are in its database but not yet in a segment.
    Raises sqlite3.Error if the file is not a store's database.
    """
    with closing(_connect(path)) as raw:
        while lines := events_after(Connection(raw), name, segments, seq, EVENTS_BYTES):
            seq = lines[-1][0]
            yield from (line for _, line in lines)


def _connect(path: Path) -> sqlite3.Connection:
    try:
        with naming_missing_handles():
            conn = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            conn.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        # SQLite cannot create its lock file in a folder that is not writable. Then no other process writes there either.
        conn = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    return conn
