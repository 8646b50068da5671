"""Checks the database of a store that came in a file: a stranger may have made it.

SQLite databases can contain code: triggers, views, and expressions in indexes and columns run when somebody else's statement
touches them. And a store trusts the rows that it wrote itself. So a database from a file is read in memory, before any store
opens it, in this order; the first thing that is wrong refuses it:

| what | why |
|---|---|
| its header: the size of its pages, no WAL, no reserved bytes | a store copies pages only between equal sizes |
| its schema is that of a store, to the letter | so it has no trigger, view, table or expression of somebody else |
| SQLite finds no damage (`integrity_check`) | indexes have the rows of their tables, and no page has two owners |
| each value has the type of its column | SQLite itself keeps any value in any column |
| it is the database of this store | the file names it |
| its state, rows and queue can be read with this topology | a store that starts reads the same |

What must never happen: a statement that writes, or one on a table of the database before its schema was compared.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from typing import Final

import sqlalchemy

from node.errors import Misuse
from node.state import tables
from node.state.database import PAGE_BYTES, empty_database
from node.store.offline_reader import OfflineReader
from topology.model import Topology
from topology.problems import quoted
from transport.mta import tables as mail_tables
from transport.sql import Connection

HEADER_BYTES: Final = 100
"""The length of the header of a database (SQLite's file format, 1.3)."""

_MAGIC: Final = b"SQLite format 3\0"
_ROLLBACK_JOURNAL: Final = b"\1\1"
_SCHEMA: Final = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"


def check_database(content: bytes, store: str, topology: Topology) -> int:
    """Check a copy of the database of a store, and return the number of the store's last event. Raises Misuse if it is not one
    that a store of this version has written. No store ever reads the rows of a server that was removed from the topology."""
    _check_header(content)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        try:
            opened.deserialize(content)
            return _checked(opened, store, topology)
        except Misuse:
            raise
        except Exception as error:  # whatever rows of a stranger do to those who read them
            raise Misuse(f"it cannot be read ({type(error).__name__}: {quoted(error)})") from error


def _checked(opened: sqlite3.Connection, store: str, topology: Topology) -> int:
    for setting in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON"):
        opened.execute(f"PRAGMA {setting}")
    _check_schema(opened)
    damage = opened.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if damage != "ok":
        raise Misuse(f"it is damaged ({damage})")
    _check_types(opened)
    stores = dict(opened.execute("SELECT name, seq FROM store_state"))
    if [*stores] != [store]:
        raise Misuse(f"it is the database of {quoted(next(iter(stores))) if stores else 'no store'}")
    if store in topology.servers:
        _read(OfflineReader(store, topology, Connection(opened)))
    return int(stores[store])


def _check_header(content: bytes) -> None:
    header = content[:HEADER_BYTES]
    if len(header) < HEADER_BYTES or not header.startswith(_MAGIC):
        raise Misuse("it is not an SQLite database")
    page = int.from_bytes(header[16:18], "big")
    if page != PAGE_BYTES or len(content) % PAGE_BYTES or header[18:20] != _ROLLBACK_JOURNAL or header[20]:
        raise Misuse(f"it does not consist of pages of {PAGE_BYTES} bytes without a WAL, as a store's copy does")


def _check_schema(opened: sqlite3.Connection) -> None:
    empty = empty_database()
    if _version(opened) != _version(empty):
        raise Misuse("it was made by another version of pflab")
    actual, expected = (set(database.execute(_SCHEMA)) for database in (opened, empty))
    for kind, name, *_ in sorted(actual - expected, key=repr):
        raise Misuse(f"it has the {quoted(f'{kind} {name}')}, which is not that of a store")
    for kind, name, *_ in sorted(expected - actual, key=repr):
        raise Misuse(f"it lacks the {kind} {name} of a store")


def _version(opened: sqlite3.Connection) -> int:
    return int(opened.execute("PRAGMA user_version").fetchone()[0])


def _check_types(opened: sqlite3.Connection) -> None:
    for table, query in _wrong_types():
        if opened.execute(query).fetchone() is not None:
            raise Misuse(f"a value in its table {table} has the wrong type")


@cache
def _wrong_types() -> tuple[tuple[str, str], ...]:
    """Return for each table a query that finds a row with a value of the wrong type."""
    queries: list[tuple[str, str]] = []
    for metadata in (tables.metadata, mail_tables.metadata):
        for table in metadata.sorted_tables:
            wrong = " OR ".join(_is_wrong(column) for column in table.columns)
            queries.append((table.name, f'SELECT 1 FROM "{table.name}" WHERE {wrong} LIMIT 1'))
    return tuple(queries)


def _is_wrong(column: sqlalchemy.Column[object]) -> str:
    kinds = ", ".join(f"'{kind}'" for kind in _kinds(column))
    return f'typeof("{column.name}") NOT IN ({kinds})'


def _kinds(column: sqlalchemy.Column[object]) -> Iterator[str]:
    """Yield the storage classes that a column may have."""
    if column.nullable:
        yield "null"
    if isinstance(column.type, sqlalchemy.Integer):
        yield "integer"
    elif isinstance(column.type, sqlalchemy.LargeBinary | sqlalchemy.BLOB):
        yield "blob"
    else:
        assert isinstance(column.type, sqlalchemy.Text), column
        yield "text"


def _read(reader: OfflineReader) -> None:
    """Read what a store that starts reads, and what people look at first."""
    for folder in reader.folders():
        if folder.held_here:
            reader.state(folder.path)
            reader.messages(folder.path)
    reader.backfill()
    reader.queue()
    reader.settings()
