"""The connection that agents work on: SQLite's own, inside a transaction that SQLAlchemy's engine opened.

Tables and DDL are SQLAlchemy's, and so are the engine and the life of its connections. The agents' statements are few,
fixed and small, and there SQLAlchemy's result machinery costs ten times the statement itself (30 us beside 3 us), so
they go to the driver, which keeps them compiled. The method keeps SQLAlchemy's name and reading methods.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import sqlalchemy

Parameters = Sequence[Any]


class Rows(sqlite3.Cursor):
    """A statement's rows, read as SQLAlchemy's results are."""

    def all(self) -> list[Any]:
        return self.fetchall()

    def first(self) -> Any:
        """The first row, or None."""
        return self.fetchone()

    def one(self) -> Any:
        """The row; LookupError if there is none."""
        row = self.fetchone()
        if row is None:
            raise LookupError("a row that must be there is not")
        return row

    def scalar(self) -> Any:
        """The first column of the first row, or None."""
        row = self.fetchone()
        return None if row is None else row[0]

    def scalar_one(self) -> Any:
        """The first column of the row; LookupError if there is none."""
        return self.one()[0]


class Connection:
    """A driver connection with a transaction open. Only agents hold it, for the length of a stimulus."""

    __slots__ = ("_raw",)

    def __init__(self, raw: sqlite3.Connection) -> None:
        self._raw = raw

    @classmethod
    def of(cls, conn: sqlalchemy.Connection) -> Connection:
        """The driver's connection under an SQLAlchemy one."""
        raw = conn.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection), "nodes keep their state in SQLite"
        return cls(raw)

    @property
    def raw(self) -> sqlite3.Connection:
        """The driver's connection, for what only it can do, such as a backup."""
        return self._raw

    def exec_driver_sql(self, statement: str, parameters: Parameters | list[Parameters] = ()) -> Rows:
        """Runs one statement; a list of parameters runs it once for each."""
        cursor = self._raw.cursor(Rows)
        if type(parameters) is list:
            cursor.executemany(statement, parameters)
        else:
            cursor.execute(statement, parameters)
        return cursor
