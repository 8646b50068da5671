"""Files that are complete whenever another process reads them."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

from traces.segments import sync_folder

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Write a file, or replace it, completely or not at all: also on a full disk, and if the process is killed.

    On return the file and its name survive a power failure.

    Several processes may write one file at once; the last one wins.

    mode: the permissions of the file, reduced by the umask.

    Raises OSError if the file cannot be written; it names the file.
    """
    new_path = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        with os.fdopen(os.open(new_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new_path.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        new_path.unlink(missing_ok=True)  # it takes room on a full disk
        raise OSError(error.errno, error.strerror, str(path)) from error
