"""The programs that write generated files and pages. Their folders are no packages, so they are imported by their folder."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

DOCS: Final = Path(__file__).parents[2] / "docs"


def docs_program(name: str, folder: Path = DOCS) -> ModuleType:
    """Return a module of a folder.

    name: the name of its file, without the ending.
    folder: the folder, by default docs/.
    """
    sys.path.insert(0, str(folder))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(folder))
