"""Words for the resources that the system refuses to a database: above all SQLite's error when no file handle is free."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from transport.resources import most_open_files

NO_HANDLE: Final = frozenset({errno.EMFILE, errno.ENFILE})

_HANDLES_OF_A_DATABASE: Final = 4
"""The database, its write-ahead log, the index of the log, and a temporary file."""


def refusal_words(error: Exception) -> str:
    """Return the resource that the system refuses, in words. SQLite itself says only that it cannot open a file."""
    if isinstance(error, MemoryError):
        return "no memory is free"
    number = error.errno if isinstance(error, OSError) else _missing_handle(error)
    if number == errno.EMFILE:
        return f"too many open files (the limit is {most_open_files()}; ulimit -n raises it)"
    if number == errno.ENFILE:
        return "too many open files on this machine"
    return str(error)


@contextmanager
def naming_missing_handles() -> Iterator[None]:
    """Replace SQLite's error by OSError (EMFILE, ENFILE) if no file handle is free. Later, when files have been closed, this
    can no longer be found out."""
    try:
        yield
    except sqlite3.OperationalError as error:
        number = _missing_handle(error)
        if number is None:
            raise
        raise OSError(number, os.strerror(number)) from error


def _missing_handle(error: Exception) -> int | None:
    """Return EMFILE or ENFILE if SQLite could not open a file because too few handles are free, else None."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF not in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR}:
        return None
    opened: list[int] = []
    try:
        # SQLite has closed what it had opened of the database before the error gets here.
        for _ in range(_HANDLES_OF_A_DATABASE):
            opened.append(os.open(os.devnull, os.O_RDONLY))  # noqa: PERF401 - those before a refusal must be closed
    except OSError as refused:
        return refused.errno
    finally:
        for handle in opened:
            os.close(handle)
    return None
