"""The command and environment of a node's process, and the folder from which images are built."""

from __future__ import annotations

import sys
from pathlib import Path

from pflab.home import HOME, environment


def node_order(*arguments: str) -> list[str]:
    """Return the command of a node's process. `-P` prevents the import of a user's package named `node` or `transport`."""
    return [sys.executable, "-P", "-m", "node", *arguments]


def node_environment() -> dict[str, str]:
    """Return the environment of a node's process. With it the process finds pflab's packages in any current folder."""
    return environment()


def source_root() -> Path | None:
    """Return the folder from which images are built; None if pflab's packages are not in a source tree."""
    return HOME if (HOME / "compose" / "Dockerfile").is_file() else None
