"""Files that are complete whenever another process reads them."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Write a file, or replace it, completely or not at all: also on a full disk, and if the process is killed.

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
    except OSError as error:
        new_path.unlink(missing_ok=True)  # it takes room on a full disk
        raise OSError(error.errno, error.strerror, str(path)) from error
