"""On which systems pflab's verbs work. This module imports only the standard library, because `pflab doctor` needs it."""

from __future__ import annotations

import platform
from importlib.util import find_spec

ELSEWHERE = (
    "labs run on Linux and macOS; on Windows, use pflab in WSL 2 or in Docker (pflab.client, and pytest with"
    " --pflab-lab, work on every system)"
)
"""What a user of another system can do."""

_NEEDED = ("fcntl", "resource")
"""Modules of Python that only systems like Unix have: labs lock files, and limit file handles and memory."""


def is_supported() -> bool:
    """Return whether labs can run on this system."""
    return all(find_spec(name) is not None for name in _NEEDED)


def system() -> str:
    """Return the name and the release of this system, for example `Linux 6.1.0` or `Linux 5.15.90.1-microsoft (WSL)`."""
    release = platform.release()
    return f"{platform.system()} {release}{' (WSL)' if 'microsoft' in release.lower() else ''}"
