"""The agents' database connection, inside a transaction that whoever calls the agent has begun.

The agents' statements are few, fixed and small (3 us). So they go directly to SQLite's driver, which keeps them compiled.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, NewType

Parameters = Sequence[Any]


Statement = NewType("Statement", str)
"""A statement as a constant. Statements of one subject stand together, and a test prepares each one against the tables."""


class Rows(sqlite3.Cursor):
    """The rows of a statement."""

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
