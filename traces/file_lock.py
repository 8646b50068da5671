"""Locks of files, which the operating system releases when the process ends, however it ends.

In a browser all files belong to one process, which needs no locks: there every lock succeeds.
"""

from __future__ import annotations

import sys
from typing import IO

if sys.platform != "emscripten":
    import fcntl


def lock(file: IO[bytes] | int) -> None:
    """Lock an open file; wait while another process has locked it."""
    if sys.platform != "emscripten":
        fcntl.flock(file, fcntl.LOCK_EX)


def lock_unless_locked(file: IO[bytes] | int) -> None:
    """Lock an open file. Raises BlockingIOError if another process has locked it."""
    if sys.platform != "emscripten":
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
