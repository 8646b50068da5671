"""The machine's clock of the lab's processes, which jumps (`clock.c`)."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("clock.c")
_SECONDS = struct.Struct("=q")


class MovedClock:
    """A clock for processes that run with `environment`. Its library and its file are in `folder`."""

    def __init__(self, folder: Path) -> None:
        library, self._file = folder / "clock.so", folder / "clock"
        order = ["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
        subprocess.run(order, check=True, capture_output=True)
        self._file.write_bytes(_SECONDS.pack(0))
        self.environment = {"LD_PRELOAD": str(library.absolute()), "TORTURE_CLOCK": str(self._file.absolute())}

    def move(self, ahead_s: int) -> None:
        """Let the clock be ahead of the machine's by so many seconds from now on, or behind it."""
        with self._file.open("r+b", buffering=0) as file:  # the processes have mapped this file, so it is not replaced
            file.write(_SECONDS.pack(ahead_s))


def why_no_moved_clock() -> str:
    """Return why this machine cannot move the clock of a process, or ''."""
    if os.uname().sysname != "Linux":
        return "only Linux preloads clock.c"
    return "" if shutil.which("cc") else "no C compiler, cc, is installed"
