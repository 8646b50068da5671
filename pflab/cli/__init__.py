"""The command line `pflab`: one module per group of verbs.

Nothing is imported here before `main` runs, so that Ctrl-C is heard from the first instant on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["STOPPED", "main"]

STOPPED = 130
"""The exit code after Ctrl-C: 128 and the signal's number, as shells count."""


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line; leaves by SystemExit with one of the exit codes."""
    try:
        from pflab.cli.app import run  # noqa: PLC0415 - the import takes long enough to be stopped in

        code = run(sys.argv[1:] if args is None else list(args))
    except KeyboardInterrupt:
        code = STOPPED
    sys.exit(code)
