"""One pflab follow at a time uses the tables of a folder.

Java holds the lock, because Java writes the tables: if pflab is killed, its Java process still writes for some seconds, and
the lock ends with this process. There is a lock only for tables on a local file system.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from analytics.errors import AnalyticsError
from analytics.ingest.file_system import FileSystem
from analytics.ingest.tables import Tables

WAIT_S: Final = 60.0
"""Real time that a check waits for another one, which may be the Java process of a pflab that was killed."""

_AGAIN_S: Final = 0.2
_NAME: Final = ".lock"


@contextmanager
def locked(tables: Tables, *, wait_s: float = WAIT_S) -> Iterator[None]:
    """Keep other checks away from these tables inside the block. Raises AnalyticsError if one uses them for `wait_s`."""
    file = FileSystem(tables.spark.sparkContext).opened_here(tables.base, _NAME)
    if file is None:
        yield
        return
    try:
        until = time.monotonic() + wait_s
        while file.getChannel().tryLock() is None:
            if time.monotonic() >= until:
                raise AnalyticsError(
                    f"another pflab follow uses the tables in {tables.base}; wait until it ends, or give"
                    " another folder with --tables"
                )
            time.sleep(_AGAIN_S)
        yield
    finally:
        with suppress(Py4JError, OSError):  # after Ctrl-C Java has ended, and with it the lock
            file.close()
