"""The resources of this process that the operating system counts: open files and memory. A browser counts neither."""

from __future__ import annotations

import sys
from contextlib import suppress

if sys.platform != "emscripten":
    import resource


def most_open_files() -> int | None:
    """Return how many files this process may have open; None: there is no limit."""
    if sys.platform == "emscripten":
        return None
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if most == resource.RLIM_INFINITY else most


def raise_most_open_files() -> None:
    """Raise the limit of open files to the highest that the system permits this process.

    Many systems begin with 256 or 1,024, because of old programs. A lab with many servers needs more.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems permit less than they say
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def peak_memory_bytes() -> int | None:
    """Return the most memory that this process has had; None: unknown."""
    if sys.platform == "emscripten":
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
