"""Where the parts of pflab are, and how pflab's own processes import them.

The parts have short names: `traces`, `topology`, `transport`, `node`, `analytics`. Other packages and users' own folders have
the same names. So an installed pflab keeps its parts in the folder `pflab/_floors`, where only a process that called `enter`
finds them. In a source tree they are beside `pflab`.

What must never happen: a call of `enter` in a process of someone else. So the modules that other programs import
(`pflab.client`, `pflab.testing`) neither call it nor import a part, and start labs as separate processes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).resolve().parent

HOME: Final = _PACKAGE / "_floors" if (_PACKAGE / "_floors").is_dir() else _PACKAGE.parent
"""The folder of pflab's parts, its scenarios and its console."""

SCENARIOS_OF_PFLAB: Final = HOME / "scenarios"
"""The folder of the scenarios that come with pflab."""


def enter() -> None:
    """Let this process import the parts of pflab, before anything else of the same name."""
    if sys.path[:1] != [str(HOME)]:
        sys.path.insert(0, str(HOME))


def environment() -> dict[str, str]:
    """Return the environment of a new process that runs a part: `python -P -m node`."""
    places = str(HOME), os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
