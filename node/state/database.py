"""One SQLite database a node, and one connection to it whose every transaction is one stimulus.

`writing` begins IMMEDIATE, commits when its body ends well and rolls back when it does not. Between stimuli the
connection sees what is committed and nothing else, so `reading` needs neither a transaction nor a connection of its
own: a second one would find its cache stale after every commit, which made the smallest query cost 60 us.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias
from zlib import crc32

import sqlalchemy
from sqlalchemy import event
from sqlalchemy.dialects import sqlite as sqlite_dialect
from sqlalchemy.pool import NullPool, StaticPool
from sqlalchemy.schema import CreateIndex, CreateTable

from node.errors import Misuse
from node.state import tables
from transport.mta import tables as mail_tables
from transport.sql import Connection

NO_ROOM: Final = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY}
)
"""Errors that are none of ours and may pass: of the disk, of file handles, of somebody who holds the file."""

Durability = Literal["full", "normal"]

SchemaItem: TypeAlias = "CreateTable | CreateIndex"

CACHED_STATEMENTS = 512
"""Statements the driver keeps compiled; the agents have about 150."""

PAGE_BYTES = 8192
"""Posts of 1 KB are items of 2.6 KB: three fit on such a page, where one of SQLite's 4096 bytes holds but one."""

CHECKPOINT_PAGES = 2000
"""The log grows to 16 MB before it is copied into the database: pages that change often are copied less often."""

LOG_BYTES = 32 * 1024 * 1024
"""What a restore or another large transaction has made of the log goes back to the disk at the next checkpoint."""


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
            cursor.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            cursor.execute("PRAGMA journal_mode = WAL")
            # FULL: a commit survives a power cut. NORMAL: it survives a killed process, and a power cut may take the
            # last commits, never the order or soundness of the rest.
            cursor.execute(f"PRAGMA synchronous = {durability.upper()}")
            cursor.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
            cursor.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
        else:
            cursor.execute("PRAGMA journal_mode = MEMORY")
            cursor.execute("PRAGMA synchronous = OFF")
        cursor.execute("PRAGMA busy_timeout = 5000")
        cursor.execute("PRAGMA cache_size = -32000")
        cursor.close()

    return engine


@cache
def _schema() -> tuple[tuple[str, ...], int]:
    """The statements that make all tables, compiled once a process, and the number that stands for them."""
    dialect = sqlite_dialect.dialect()
    made: list[SchemaItem] = []
    for metadata in (tables.metadata, mail_tables.metadata):
        for table in metadata.sorted_tables:
            made.append(CreateTable(table))
            made.extend(CreateIndex(index) for index in sorted(table.indexes, key=lambda index: str(index.name)))
    statements = tuple(str(each.compile(dialect=dialect)) for each in made)
    return statements, crc32("".join(statements).encode()) & 0x7FFFFFFF or 1


@cache
def _new() -> sqlite3.Connection:
    """A database with empty tables, of which those in memory are copies: that takes a tenth of the time of making them."""
    made = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _make_tables(Connection(made))
    return made


def _make_tables(conn: Connection) -> None:
    """Makes the tables of a new database. Misuse if it was made with others: they are not converted."""
    statements, number = _schema()
    found = conn.exec_driver_sql("PRAGMA user_version").scalar_one()
    if found == number:
        return
    if found or conn.exec_driver_sql("SELECT 1 FROM sqlite_master LIMIT 1").first():
        raise Misuse("the database was made by another version of pflab: use that one, or begin with an empty folder")
    conn.exec_driver_sql("BEGIN IMMEDIATE")
    for statement in statements:
        conn.exec_driver_sql(statement)
    conn.exec_driver_sql(f"PRAGMA user_version = {number}")
    conn.exec_driver_sql("COMMIT")


class Database:
    """The database of one node. `path` None keeps it in memory."""

    def __init__(self, path: Path | None, durability: Durability) -> None:
        self.path = path
        self._engine = _engine(path, durability)
        self._connection: sqlalchemy.Connection | None = None
        self._raw: Connection | None = None

    def open(self) -> None:
        """Connect, and make the tables where they are missing."""
        if self._raw is not None:
            return
        self._connection = self._engine.connect()
        raw = Connection.of(self._connection)
        try:
            if self.path is None:
                _new().backup(raw.raw)
            else:
                _make_tables(raw)
        except BaseException:
            self._disconnect()
            raise
        self._raw = raw

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction: committed when the body ends well, rolled back when it does not."""
        raw = self.reading()
        raw.exec_driver_sql("BEGIN IMMEDIATE")
        try:
            yield raw
            raw.exec_driver_sql("COMMIT")
        except BaseException:
            if raw.raw.in_transaction:  # of some errors SQLite rolls back by itself
                raw.exec_driver_sql("ROLLBACK")
            raise

    def reading(self) -> Connection:
        """The connection, which sees only what is committed. Not for use within `writing`."""
        assert self._raw is not None, "open() comes first"
        return self._raw

    def size_bytes(self) -> int:
        """What the database's content takes, pages that wait to be used again not counted."""
        raw = self.reading()
        pages, free, size = (
            raw.exec_driver_sql(f"PRAGMA {each}").scalar_one() for each in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)

    def free_bytes(self) -> int | None:
        """Room on the disk; None where the database is in memory, or nobody can tell."""
        if self.path is None:
            return None
        try:
            return shutil.disk_usage(self.path.parent).free
        except OSError:
            return None

    def copy(self) -> bytes:
        """The whole database as bytes, as it is after the last commit."""
        with closing(sqlite3.connect(":memory:")) as target:
            self.reading().raw.backup(target)
            content = bytearray(target.serialize())
        # Bytes 18 and 19 of the header say how the file is written; a copy in memory has no write-ahead log (SQLite's
        # file format, section 1.3.3).
        content[18:20] = b"\1\1"
        return bytes(content)

    def replace(self, content: bytes | None, prepare: Callable[[Connection], None]) -> None:
        """Puts another database, prepared, in this one's place at once; None: an empty one with our tables.

        A kill leaves either the old one or the prepared new one. sqlite3.DatabaseError if `content` is no database.
        """
        engine = _engine(None, "normal")
        with engine.connect() as conn:
            source = Connection.of(conn)
            if content is not None:
                source.raw.deserialize(content)
            elif self.path is not None:
                source.exec_driver_sql(f"PRAGMA page_size = {PAGE_BYTES}")  # as the file's, or SQLite will not copy it
            _make_tables(source)
            prepare(source)
            source.raw.backup(self.reading().raw)
        engine.dispose()

    @staticmethod
    def made_at(content: bytes) -> int:
        """The lab time of the last stimulus in a copy. sqlite3.DatabaseError if it is no copy of a node's database."""
        return _stored(content, "last_at")

    @staticmethod
    def recorded_through(content: bytes) -> int:
        """The number of the last event in a copy, likewise."""
        return _stored(content, "seq")

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
        if self._connection is not None:
            self._connection.close()
        self._connection = self._raw = None


def cannot_write(error: Exception) -> bool:
    """Whether this is the disk's doing, or of file handles, and may be better in a while."""
    if isinstance(error, sqlite3.OperationalError):
        return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in NO_ROOM
    return isinstance(error, OSError)


def _stored(content: bytes, column: str) -> int:
    """What a copy of a node's database says of its store."""
    with closing(sqlite3.connect(":memory:")) as source:
        source.deserialize(content)
        found: tuple[int] | None = source.execute(f"SELECT {column} FROM store_state").fetchone()
    if found is None:
        raise LookupError("no store has begun in it")
    return found[0]
