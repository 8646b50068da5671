"""How the command line reports a bug of pflab: one line, and with --debug the traceback before it."""

from __future__ import annotations

import os
import traceback
from typing import Final

from node.errors import InternalError, bug_line

DEBUG: Final = "PFLAB_DEBUG"
"""The environment variable that --debug sets."""


def debugging() -> bool:
    """Return whether the user wants tracebacks."""
    return os.environ.get(DEBUG, "") not in {"", "0"}


def bug_lines(error: Exception) -> list[str]:
    """Return the lines that report an exception that is not a user's mistake."""
    from pflab.client import ClientError  # noqa: PLC0415 - an import that fails must not hide the first error

    trace = "".join(traceback.format_exception(error)).splitlines() if debugging() else []
    if isinstance(error, ClientError):  # the bug is in the lab's process
        error = InternalError(error.detail, elsewhere=True)
    return [*trace, f"pflab: {bug_line(error, hint='run again with --debug for the traceback')}"]
