"""The files of the browser console."""

from __future__ import annotations

import posixpath
import re
from typing import Final

from pflab.home import HOME

CONSOLE: Final = HOME / "console"
"""The folder of the console."""

START: Final = "main.js"
"""The module with which the page begins."""

RELATIVE_IMPORT: Final = re.compile(r'(?m)(^\s*(?:import|export)\b[^"\n;]*?(?:from\s*)?"|^\} from ")(\.{1,2}/[^"]+)(")')
"""A relative import at the beginning of a line, as Prettier writes it: what is before the path, the path, what is after it."""

STYLE_SHEET: Final = re.compile(r'href="\./console/(style/[^"]+\.css)"')
"""The link to a style sheet in a page, with its path."""


def read_text(path: str) -> str:
    return (CONSOLE / path).read_text("utf-8")


def resolved(path: str, imported: str) -> str:
    """Return the path of a module that another one imports.

    path: the module that imports. imported: what it imports, relative to itself.
    """
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), imported))


def script_paths(start: str = START) -> list[str]:
    """Return the paths of a module and of all that it imports.

    start: the module. The page's own has no worker among them, and nothing that only a worker imports.
    """
    found: set[str] = set()
    waiting = [start]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += [resolved(path, imported[2]) for imported in RELATIVE_IMPORT.finditer(read_text(path))]
    return sorted(found)


def style_paths() -> list[str]:
    """Return the paths of the style sheets that index.html loads, in its order."""
    return STYLE_SHEET.findall(read_text("index.html"))
