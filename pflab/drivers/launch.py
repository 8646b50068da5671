"""The command and environment of a node's process. With them the process finds pflab's packages in any current folder."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path


def node_order(*arguments: str) -> list[str]:
    """Return the command of a node's process. `-P` prevents the import of a user's package named `node` or `transport`."""
    return [sys.executable, "-P", "-m", "node", *arguments]


def node_environment() -> dict[str, str]:
    """Return the environment of a node's process."""
    found = find_spec("node")
    assert found is not None
    assert found.origin is not None
    source = str(Path(found.origin).parent.parent)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH"))))}


def source_root() -> Path | None:
    """Return the folder from which images are built; None if pflab's packages are not in a source tree."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "compose" / "Dockerfile").is_file() else None
