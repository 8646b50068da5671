"""Makes Java end with the Python process that started it.

Java's standard input is a pipe from Python, and Java exits when the pipe closes. But its exit waits for a query that is being
planned, which can take for ever. So a small process of the shell watches a pipe too: when Python has ended, however it ended,
the shell gives Java some seconds, and then kills it.
"""

from __future__ import annotations

import os
from typing import Final

_SHELL: Final = "/bin/sh"

_WATCH: Final = """read _
for second in 1 2 3 4 5 6 7 8 9 10
do
  kill -0 "$1" 2>/dev/null || exit 0
  sleep 1
done
kill -9 "$1"
"""
"""Wait for the end of Python, give process $1 ten seconds to end, then kill it."""

_watched: dict[int, int] = {}
"""The Java processes that are watched, and for each the end of the pipe that this process keeps open until it ends."""


def end_with_python(java: int) -> None:
    """Ensure that the process with the id `java` does not outlive this process."""
    if java in _watched:
        return
    watches, ours = os.pipe()
    os.posix_spawn(
        _SHELL,
        [_SHELL, "-c", _WATCH, "end-java", str(java)],
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, watches, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),  # Our output must end when we end.
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,  # Ctrl-C must not end it.
    )
    os.close(watches)
    _watched[java] = ours
