"""The end of a process that has lost its parent. Such a process has a pipe from its parent as standard input.

The kernel closes the pipe when the parent ends, however it ends, also by SIGKILL.

| the parent | this process |
|---|---|
| closes the pipe, or ends | ends cleanly: `end` is called |
| the same, but this process does not end within `END_S` | is killed |
| ends while a signal (SIGSTOP) has stopped this process | goes on (Linux), and then ends as above |

What must never happen: a process that nobody can reach keeps its ports, its memory or a core.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

END_S: Final = 60.0
"""Real time within which a process must end cleanly after its parent has gone. A kill loses nothing that was acknowledged."""

KILLED: Final = 137
"""The exit code of a process that SIGKILL ended: 128 and the signal's number."""

_STDIN: Final = 0
_READ_BYTES: Final = 4096
_SIGNAL_AT_END_OF_PARENT: Final = 1
"""PR_SET_PDEATHSIG of Linux's prctl(2)."""


def end_with_parent(end: Callable[[], object], *, patience_s: float = END_S) -> None:
    """Call `end` in a thread when standard input is closed, and kill this process if it still runs `patience_s` later.

    The content of standard input is ignored.
    """
    if sys.platform == "linux":  # Elsewhere a stopped process ends after SIGCONT.
        ctypes.CDLL(None).prctl(_SIGNAL_AT_END_OF_PARENT, signal.SIGCONT)
    # A thread of its own, because asyncio cannot watch a file or /dev/null, and because a process may hang.
    threading.Thread(target=_wait, args=(end, patience_s), name="leash", daemon=True).start()


def _wait(end: Callable[[], object], patience_s: float) -> None:
    with suppress(OSError):  # there is no standard input
        while os.read(_STDIN, _READ_BYTES):
            pass
    with suppress(RuntimeError):  # the event loop has ended already
        end()
    time.sleep(patience_s)
    os._exit(KILLED)
