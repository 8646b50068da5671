"""How another process finds our packages, whatever lies in the folder it is started in."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path


def node_order(*arguments: str) -> list[str]:
    """The command of a node's process; `-P` keeps a user's own package called `node` or `transport` out of its way."""
    return [sys.executable, "-P", "-m", "node", *arguments]


def node_environment() -> dict[str, str]:
    """The environment that goes with it."""
    found = find_spec("node")
    assert found is not None
    assert found.origin is not None
    source = str(Path(found.origin).parent.parent)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH"))))}


def source_root() -> Path | None:
    """The folder that images are built from: that of our packages, if it is our source."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "compose" / "Dockerfile").is_file() else None
