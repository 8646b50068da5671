"""The SQLite database of a node, with one connection. Each transaction is one stimulus.

`writing` begins IMMEDIATE, commits when its body succeeds, and rolls back when it raises. Between stimuli the connection sees
only what is committed, so `reading` needs no transaction and no second connection. A second connection has a stale cache after
every commit; on it, the smallest query took 60 us.

Commits go to SQLite's write-ahead log (WAL). A checkpoint copies the pages of the log into the database and syncs both files,
which takes as long as several posts. So no commit does it:

    commits append to the log            until it has grown by CHECKPOINT_SHARE of its limit
    a thread checkpoints the log         while commits still append; if none does, the next one begins the log again
    the log reaches its limit            because commits are large or the thread is slow; then that commit does the rest itself

The file of the log keeps its length, because SQLite overwrites a file faster than it extends one.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
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
from node.state.store_identity import StoreState
from transport.file_handles import naming_missing_handles
from transport.mta import tables as mail_tables
from transport.sql import Connection

NO_ROOM: Final = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY}
)
"""Errors of the environment that may pass: a full disk, no file handles, another process that locks the file."""

Durability = Literal["full", "normal"]

SchemaItem: TypeAlias = "CreateTable | CreateIndex"

CACHED_STATEMENTS = 512
"""How many statements the driver keeps compiled. The agents have about 150."""

PAGE_BYTES = 4096
"""The page size. A commit writes each page that it changed, and a single post changes about 12 pages."""

LOOK_COMMITS = 32
"""After so many commits the thread looks how long the log is."""

CHECKPOINT_SHARE = 3 / 8
"""The thread begins a checkpoint when the log has grown by this share of its limit: 24 MB. A commit that meets a checkpoint may
wait 20 ms for the disk, so there are few; but no commit should find the log at its limit and make the checkpoint itself."""

LOG_PAGES = 16_000
"""The limit of the WAL: 64 MB. At this length a commit makes a checkpoint itself."""

LOG_SHARE = 64
"""The divisor of a disk's size. The limit of a WAL is at most this share, because its file keeps its length. On a disk of
64 MB, three stores with long WALs would otherwise leave no room for mail."""

_CHECKPOINTS: Final = ThreadPoolExecutor(1, "checkpoint")
"""The thread of all databases of this process. SQLite works in it without Python's lock."""


def _most_pages(path: Path) -> int:
    """Return the limit of the WAL in pages."""
    try:
        total = shutil.disk_usage(path.parent).total
    except OSError:
        return LOG_PAGES
    return max(1, min(LOG_PAGES, total // LOG_SHARE // PAGE_BYTES))


class Checkpoints:
    """The checkpoints of one database. Call `committed` after each commit, and `finish` before the database closes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._commits = 0
        self._step_pages = int(_most_pages(path) * CHECKPOINT_SHARE)
        self._copied_pages = 0
        self._running: Future[None] | None = None

    def committed(self) -> None:
        """Begin a checkpoint in the thread if it is time and none is running."""
        self._commits += 1
        if self._commits >= LOOK_COMMITS and (self._running is None or self._running.done()):
            self._commits = 0
            self._running = _CHECKPOINTS.submit(self._checkpoint)

    def finish(self) -> None:
        """Wait until no checkpoint is running."""
        if self._running is not None:
            wait([self._running])
            self._running = None

    def _checkpoint(self) -> None:
        pages = self._log_pages()
        self._copied_pages = min(self._copied_pages, pages)  # the log may have begun again
        if pages < self._copied_pages + self._step_pages:
            return
        self._copied_pages = pages
        # If the disk is full or the database is locked, a later checkpoint copies the log, at the latest that of a commit.
        with suppress(sqlite3.Error), closing(sqlite3.connect(self._path, isolation_level=None, timeout=0)) as conn:
            conn.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def _log_pages(self) -> int:
        """Return the number of pages in the log: mxFrame in SQLite's WAL-index (sqlite.org/walformat.html, section 2.1)."""
        with suppress(OSError), self._path.with_name(f"{self._path.name}-shm").open("rb") as index:
            return int.from_bytes(index.read(20)[16:], sys.byteorder)
        return 0


def _engine(path: Path | None, durability: Durability) -> sqlalchemy.Engine:
    arguments: dict[str, Any] = {"cached_statements": CACHED_STATEMENTS, "isolation_level": None}
    if path is None:
        # Nobody closes a database in memory. The garbage collector frees it, in whatever thread it runs.
        arguments["check_same_thread"] = False
        engine = sqlalchemy.create_engine("sqlite://", poolclass=StaticPool, connect_args=arguments)
    else:
        engine = sqlalchemy.create_engine(f"sqlite:///{path}", poolclass=NullPool, connect_args=arguments)

    @event.listens_for(engine, "connect")
    def _configure(raw: Any, _record: Any) -> None:
        cursor = raw.cursor()
        if path is not None:
            cursor.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            cursor.execute("PRAGMA journal_mode = WAL")
            # FULL: a commit survives a power cut. NORMAL: it survives a killed process; a power cut may undo the last
            # commits but does not damage the database.
            cursor.execute(f"PRAGMA synchronous = {durability.upper()}")
            pages = _most_pages(path)
            cursor.execute(f"PRAGMA wal_autocheckpoint = {pages}")
            # A restore or another large transaction can make the log longer. A checkpoint cuts it again.
            cursor.execute(f"PRAGMA journal_size_limit = {pages * PAGE_BYTES}")
        else:
            cursor.execute("PRAGMA journal_mode = MEMORY")
            cursor.execute("PRAGMA synchronous = OFF")
        # Do not overwrite deleted content with zeros, as Debian's SQLite does: each mail that was delivered is deleted.
        cursor.execute("PRAGMA secure_delete = OFF")
        cursor.execute("PRAGMA busy_timeout = 5000")
        cursor.execute("PRAGMA cache_size = -32000")
        cursor.close()

    return engine


@cache
def _schema() -> tuple[tuple[str, ...], int]:
    """Return the statements that create all tables and triggers, compiled once in a process, and their checksum."""
    dialect = sqlite_dialect.dialect()
    items: list[SchemaItem] = []
    for metadata in (tables.metadata, mail_tables.metadata):
        for table in metadata.sorted_tables:
            items.append(CreateTable(table))
            items.extend(CreateIndex(index) for index in sorted(table.indexes, key=lambda index: str(index.name)))
    statements = (*(str(statement.compile(dialect=dialect)) for statement in items), *tables.TRIGGERS)
    return statements, crc32("".join(statements).encode()) & 0x7FFFFFFF or 1


@cache
def empty_database() -> sqlite3.Connection:
    """Return a database with empty tables, which nobody changes.

    In-memory databases are copies of this one. Copying is ten times faster than creating the tables.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _make_tables(Connection(connection))
    return connection


def _make_tables(conn: Connection) -> None:
    """Create the tables of a new database. Raise Misuse if the database has other tables, because they are not converted."""
    statements, number = _schema()
    version = conn.exec_driver_sql("PRAGMA user_version").scalar_one()
    if version == number:
        return
    if version or conn.exec_driver_sql("SELECT 1 FROM sqlite_master LIMIT 1").first():
        raise Misuse(
            "the database was made by another version of pflab; use that version, or start with an empty folder"
        )
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
        self._checkpoints = None if path is None else Checkpoints(path)

    def open(self) -> None:
        """Connect, and create the tables if they are missing. Raises OSError if no file handle is free."""
        with naming_missing_handles():
            self._open()

    def _open(self) -> None:
        if self._raw is not None:
            return
        refused: BaseException | None = None
        try:
            self._connection = self._engine.connect()
        except sqlalchemy.exc.DBAPIError as error:
            refused = error.orig  # sqlite3's own error, as all other methods raise
        if refused is not None:
            raise refused  # Within `except`, each of the two errors would be the context of the other.
        assert self._connection is not None
        raw = Connection.of(self._connection)
        try:
            if self.path is None:
                empty_database().backup(raw.raw)
            else:
                _make_tables(raw)
        except BaseException:
            self._disconnect()
            raise
        self._raw = raw

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Return a context with a transaction, which commits when the body succeeds and rolls back when it raises."""
        raw = self.reading()
        raw.exec_driver_sql("BEGIN IMMEDIATE")
        try:
            yield raw
            raw.exec_driver_sql("COMMIT")
        except BaseException:
            if raw.raw.in_transaction:  # SQLite itself rolls back after some errors
                raw.exec_driver_sql("ROLLBACK")
            raise
        if self._checkpoints is not None:
            self._checkpoints.committed()

    def reading(self) -> Connection:
        """Return the connection, which sees only what is committed. Do not use it within `writing`."""
        assert self._raw is not None, "call open() first"
        return self._raw

    def size_bytes(self) -> int:
        """Return the size of the content, without free pages."""
        raw = self.reading()
        pages, free, size = (
            raw.exec_driver_sql(f"PRAGMA {pragma}").scalar_one()
            for pragma in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)

    def disk_bytes(self) -> tuple[int, int] | None:
        """Return the size of the disk and its free space, or None for a database in memory or if they are unknown."""
        if self.path is None:
            return None
        try:
            disk = shutil.disk_usage(self.path.parent)
        except OSError:
            return None
        return disk.total, disk.free

    def copy(self) -> bytes:
        """Return the whole database as bytes, as of the last commit."""
        return _copy(self.reading().raw)

    @staticmethod
    def copy_of(path: Path) -> bytes:
        """Return the database of a store that does not run as bytes, as of its last commit: also what a killed store has left
        in the WAL. Raise sqlite3.Error if the file is damaged."""
        with closing(sqlite3.connect(path, isolation_level=None)) as source:
            return _copy(source)

    def replace(self, content: bytes | None, prepare: Callable[[Connection], None]) -> None:
        """Replace this database by `content` (None: by an empty database). First, `prepare` changes the new database.

        After a kill there is either the old database or the prepared new one. Raise sqlite3.DatabaseError if `content` is
        not a database.
        """
        engine = _engine(None, "normal")
        with engine.connect() as conn:
            source = Connection.of(conn)
            if content is not None:
                source.raw.deserialize(content)
            elif self.path is not None:
                source.exec_driver_sql(
                    f"PRAGMA page_size = {PAGE_BYTES}"
                )  # SQLite copies only between equal page sizes
            _make_tables(source)
            prepare(source)
            source.raw.backup(self.reading().raw)
        engine.dispose()

    @staticmethod
    def made_at(content: bytes) -> int:
        """Return the lab time of the last stimulus in a copy. Raise sqlite3.DatabaseError if it is not a node's database."""
        return _stored(content, "last_at")

    @staticmethod
    def recorded_through(content: bytes) -> int:
        """Return the number of the last event in a copy. Raise the same errors as `made_at`."""
        return _stored(content, "seq")

    @staticmethod
    def of_new_store(name: str, directory_object: int, now: int) -> bytes:
        """Return the database of a store that was created and has never started (spec: RP-7).

        directory_object: the number of its directory object.
        """
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as raw:
            empty_database().backup(raw)
            StoreState.create(Connection(raw), name, b"", now, directory_object)
            return _copy(raw)

    @staticmethod
    def new_store_in(content: bytes) -> int | None:
        """Return the number of the directory object if a copy is from `of_new_store`; None for another copy. Raise the same
        errors as `made_at`."""
        return None if _stored(content, "incarnation") else _stored(content, "directory_object")

    @staticmethod
    def store_in(content: bytes) -> str:
        """Return the name of the server whose store a copy is. Raise the same errors as `made_at`."""
        return str(_stored(content, "name"))

    def drop_connections(self) -> None:
        """Drop the connections as a crash does. An in-memory database survives, as a disk would."""
        if self.path is not None:
            self._disconnect()

    def close(self) -> None:
        """Close the database. An in-memory database survives for the next start."""
        if self.path is not None:
            self._disconnect()
            self._engine.dispose()

    def _disconnect(self) -> None:
        if self._checkpoints is not None:
            self._checkpoints.finish()
        if self._connection is not None:
            self._connection.close()
        self._connection = self._raw = None


def cannot_write(error: Exception) -> bool:
    """Return whether the cause of an error is the disk, the file handles or the memory. Such a cause may pass by itself."""
    if isinstance(error, sqlite3.OperationalError):
        return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in NO_ROOM
    return isinstance(error, OSError | MemoryError)


def _copy(source: sqlite3.Connection) -> bytes:
    """Return a database as bytes."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as target:
        source.backup(target)
        # A store that begins with this copy may give the next UIDs to other messages than this store.
        target.execute("DELETE FROM imap_message")
        target.execute("DELETE FROM imap_mailbox")
        content = bytearray(target.serialize())
    # Bytes 18 and 19 of the header are the journal mode. A copy in memory has no WAL (SQLite's file format, 1.3.3).
    content[18:20] = b"\1\1"
    return bytes(content)


def _stored(content: bytes, column: str) -> int:
    """Return a column of `store_state` in a copy of a node's database."""
    with closing(sqlite3.connect(":memory:")) as source:
        source.deserialize(content)
        row: tuple[int] | None = source.execute(f"SELECT {column} FROM store_state").fetchone()
    if row is None:
        raise LookupError("the database has no store")
    return row[0]
