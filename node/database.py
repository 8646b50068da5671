"""One SQLite database a node: a writer whose every transaction is one stimulus, and a reader of its own.

Nothing else may hold the writer between stimuli: `writing` begins IMMEDIATE, commits when its body ends well and rolls
back when it does not. In memory (simulation) reader and writer are one connection.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal

import sqlalchemy
from sqlalchemy import event
from sqlalchemy.pool import NullPool, StaticPool

from node import tables
from transport import tables as mail_tables
from transport.sql import Connection

Durability = Literal["full", "normal"]

CACHED_STATEMENTS = 512
"""Statements the driver keeps compiled; the agents have about 150."""


def _engine(path: Path | None, durability: Durability) -> sqlalchemy.Engine:
    arguments = {"cached_statements": CACHED_STATEMENTS, "isolation_level": None}
    if path is None:
        engine = sqlalchemy.create_engine("sqlite://", poolclass=StaticPool, connect_args=arguments)
    else:
        engine = sqlalchemy.create_engine(f"sqlite:///{path}", poolclass=NullPool, connect_args=arguments)

    @event.listens_for(engine, "connect")
    def _configure(raw: Any, _record: Any) -> None:
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

    return engine


class Database:
    """The database of one node. `path` None keeps it in memory."""

    def __init__(self, path: Path | None, durability: Durability) -> None:
        self.path = path
        self._engine = _engine(path, durability)
        self._connections: list[sqlalchemy.Connection] = []
        self._writer: Connection | None = None
        self._reader: Connection | None = None

    def open(self) -> None:
        """Connect, and make the tables where they are missing."""
        if self._writer is not None:
            return
        writer = self._engine.connect()
        self._connections.append(writer)
        self._make_tables()
        self._writer = self._reader = Connection.of(writer)
        if self.path is not None:
            reader = self._engine.connect()
            self._connections.append(reader)
            self._reader = Connection.of(reader)

    def _make_tables(self) -> None:
        writer = self._connections[0]
        tables.metadata.create_all(writer)
        mail_tables.metadata.create_all(writer)
        writer.commit()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction of the writer: committed when the body ends well, rolled back when it does not."""
        raw = self._writer
        assert raw is not None, "open() comes first"
        raw.exec_driver_sql("BEGIN IMMEDIATE")
        try:
            yield raw
            raw.exec_driver_sql("COMMIT")
        except BaseException:
            raw.exec_driver_sql("ROLLBACK")
            raise

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A consistent look that sees only what is committed."""
        raw = self._reader
        assert raw is not None, "open() comes first"
        raw.exec_driver_sql("BEGIN")
        try:
            yield raw
        finally:
            raw.exec_driver_sql("ROLLBACK")

    def copy(self) -> bytes:
        """The whole database as bytes, as it is after the last commit."""
        assert self._writer is not None, "open() comes first"
        with closing(sqlite3.connect(":memory:")) as target:
            self._writer.raw.backup(target)
            return target.serialize()

    def replace(self, content: bytes | None) -> None:
        """Puts another database in this one's place; None: an empty one."""
        assert self._writer is not None, "open() comes first"
        with closing(sqlite3.connect(":memory:")) as source:
            if content is not None:
                source.deserialize(content)
            source.backup(self._writer.raw)
        if content is None:
            self._make_tables()

    def drop_connections(self) -> None:
        """What a crash does to them. An in-memory database outlives it, as a disk would."""
        if self.path is not None:
            self._disconnect()

    def close(self) -> None:
        """An orderly end. An in-memory database outlives it, for the next start."""
        if self.path is not None:
            self._disconnect()
            self._engine.dispose()

    def _disconnect(self) -> None:
        for conn in self._connections:
            conn.close()
        self._connections.clear()
        self._writer = self._reader = None
