"""This process's limit of open files."""

from __future__ import annotations

import resource
from contextlib import suppress


def raise_handle_limit() -> None:
    """Raise the limit of open files to the highest that the system permits this process.

    Many systems begin with 256 or 1,024, because of old programs. A lab with many servers needs more.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems permit less than they say
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
