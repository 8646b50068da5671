"""One SQLite database a node: a writer whose every transaction is one stimulus, and readers of their own.

Nothing else may hold the writer between stimuli: `writing` begins IMMEDIATE, commits when its body ends well and rolls
back when it does not. In memory (simulation) reader and writer are one connection.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import sqlalchemy
from sqlalchemy import Connection, event
from sqlalchemy.pool import NullPool, StaticPool

from node import tables
from transport import tables as mail_tables

Durability = Literal["full", "normal"]


def _engine(path: Path | None, durability: Durability) -> sqlalchemy.Engine:
    if path is None:
        engine = sqlalchemy.create_engine("sqlite://", poolclass=StaticPool)
    else:
        engine = sqlalchemy.create_engine(f"sqlite:///{path}", poolclass=NullPool)

    @event.listens_for(engine, "connect")
    def _configure(raw: Any, _record: Any) -> None:
        raw.isolation_level = None  # the begin is ours, below; the driver's own would be DEFERRED
        cursor = raw.cursor()
        if path is not None:
            cursor.execute("PRAGMA journal_mode = WAL")
            # FULL: a commit survives a power cut. NORMAL: it survives a killed process, and a power cut may take the
            # last commits, never the order or soundness of the rest.
            cursor.execute(f"PRAGMA synchronous = {durability.upper()}")
        else:
            cursor.execute("PRAGMA journal_mode = MEMORY")
            cursor.execute("PRAGMA synchronous = OFF")
        cursor.execute("PRAGMA busy_timeout = 5000")
        cursor.execute("PRAGMA cache_size = -32000")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(conn: Connection) -> None:
        conn.exec_driver_sql("BEGIN IMMEDIATE" if conn.info.get("writer") else "BEGIN")

    return engine


class Database:
    """The database of one node. `path` None keeps it in memory."""

    def __init__(self, path: Path | None, durability: Durability) -> None:
        self.path = path
        self._engine = _engine(path, durability)
        self._writer: Connection | None = None

    def open(self) -> None:
        """Connect, and make the tables where they are missing."""
        self._writer = self._engine.connect()
        self._writer.info["writer"] = True
        with self._writer.begin():
            tables.metadata.create_all(self._writer)
            mail_tables.metadata.create_all(self._writer)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        assert self._writer is not None, "open() comes first"
        transaction = self._writer.begin()
        try:
            yield self._writer
        except BaseException:
            transaction.rollback()
            raise
        transaction.commit()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A consistent look that sees only what is committed."""
        if self.path is None:
            assert self._writer is not None, "open() comes first"
            with self._writer.begin() as transaction:
                yield self._writer
                transaction.rollback()
            return
        with self._engine.connect() as conn:
            yield conn
            conn.rollback()

    def drop_connections(self) -> None:
        """What a crash does to them. An in-memory database outlives it, as a disk would."""
        if self._writer is None:
            return
        if self.path is None:
            return
        self._writer.close()
        self._writer = None

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self._engine.dispose()
