"""The agents' database connection: SQLite's driver, inside a transaction that SQLAlchemy's engine opened.

SQLAlchemy defines the tables and manages the connections. The agents' statements are few, fixed and small; for these,
SQLAlchemy's results take ten times as long as the statement (30 us instead of 3 us). So these statements go directly to the
driver, which keeps them compiled. The methods have the names of SQLAlchemy's methods.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NewType

if TYPE_CHECKING:
    import sqlalchemy

Parameters = Sequence[Any]


Statement = NewType("Statement", str)
"""A statement as a constant. Statements of one subject stand together, and a test prepares each one against the tables."""


class Rows(sqlite3.Cursor):
    """The rows of a statement, with the methods of SQLAlchemy's results."""

    __slots__ = ()

    def all(self) -> list[Any]:
        return self.fetchall()

    def first(self) -> Any:
        """Return the first row, or None."""
        return self.fetchone()

    def one(self) -> Any:
        """Return the row. Raise LookupError if there is none."""
        row = self.fetchone()
        if row is None:
            raise LookupError("a required row is missing")
        return row

    def scalar(self) -> Any:
        """Return the first column of the first row, or None."""
        row = self.fetchone()
        return None if row is None else row[0]

    def scalar_one(self) -> Any:
        """Return the first column of the row. Raise LookupError if there is none."""
        return self.one()[0]


class Connection:
    """A driver connection with an open transaction. Only agents use it, and only during a stimulus."""

    __slots__ = ("_raw",)

    def __init__(self, raw: sqlite3.Connection) -> None:
        self._raw = raw

    @classmethod
    def of(cls, conn: sqlalchemy.Connection) -> Connection:
        """Return the driver's connection of an SQLAlchemy connection."""
        raw = conn.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection), "nodes keep their state in SQLite"
        return cls(raw)

    @property
    def raw(self) -> sqlite3.Connection:
        """Return the driver's connection, for operations that only the driver has, such as a backup."""
        return self._raw

    def exec_driver_sql(self, statement: str, parameters: Parameters | list[Parameters] = ()) -> Rows:
        """Run a statement; with a list of parameters, run it once for each."""
        cursor = self._raw.cursor(Rows)
        if type(parameters) is list:
            cursor.executemany(statement, parameters)
        else:
            cursor.execute(statement, parameters)
        return cursor
