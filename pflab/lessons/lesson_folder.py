"""The temporary folder of a lesson that is played, and the removal of folders whose process was killed.

Each folder has a file that its process keeps locked. The operating system releases the lock when the process ends, however it
ends. So a folder whose file can be locked belongs to nobody. A process id would not prove this, because ids are used again.
"""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import gettempdir
from typing import Final

from traces.file_lock import lock, lock_unless_locked
from traces.temporary_folder import temporary_folder

_PREFIX: Final = "pflab-lesson-"
_LOCKED: Final = "locked"


class LessonFolder:
    """A new temporary folder, which exists until `remove`."""

    def __init__(self) -> None:
        self._folder = ExitStack()
        self.path = Path(self._folder.enter_context(temporary_folder(_PREFIX)))
        # The file gets its name after it is locked, so that no other process finds it unlocked.
        draft = self.path / f".{_LOCKED}"
        self._locked = draft.open("wb")
        lock(self._locked)
        draft.rename(self.path / _LOCKED)

    def remove(self) -> None:
        self._folder.close()
        self._locked.close()


def remove_abandoned() -> None:
    """Remove the folders of this user's lessons whose process has ended without removing them."""
    for file in Path(gettempdir()).glob(f"{_PREFIX}*/{_LOCKED}"):
        with suppress(OSError):  # locked, or another process removes it too
            folder = file.parent.lstat()
            if stat.S_ISDIR(folder.st_mode) and folder.st_uid == os.geteuid():
                with file.open("r+b") as found:
                    lock_unless_locked(found)
                    shutil.rmtree(file.parent)
