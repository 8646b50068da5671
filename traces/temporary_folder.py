"""Temporary folders that a signal cannot leave behind.

`tempfile.TemporaryDirectory` makes its folder before the block of `with` guards it, so a Ctrl-C between the two leaves it.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path


@contextmanager
def temporary_folder(prefix: str, within: Path | None = None) -> Iterator[str]:
    """Make a folder that only this user can read, and remove it after the block. Where a signal ends the removal, it is removed
    when the process ends.

    prefix: how its name begins.
    within: the folder for it; by default that of the system.
    """
    place = os.path.join(within or tempfile.gettempdir(), f"{prefix}{os.urandom(8).hex()}")  # noqa: PTH118 - a text
    remove = partial(shutil.rmtree, place, ignore_errors=True)
    atexit.register(remove)
    try:
        os.mkdir(place, mode=0o700)  # noqa: PTH102 - a text
        yield place
    finally:
        remove()
        atexit.unregister(remove)
