"""The files of the browser console."""

from __future__ import annotations

from typing import Final

from pflab.home import HOME

CONSOLE: Final = HOME / "console"
"""The folder of the console."""

_FOLDERS: Final = (
    "",
    "forecast",
    "source",
    "state",
    "state/handlers",
    "vendor",
    "views",
    "views/folders",
    "views/panel",
)
"""The folders whose modules a browser loads."""


def read_text(path: str) -> str:
    return (CONSOLE / path).read_text("utf-8")


def script_paths() -> list[str]:
    """Return the paths of all modules that a browser can load."""
    found = (file for folder in _FOLDERS for file in (CONSOLE / folder).glob("*.js"))
    return sorted(file.relative_to(CONSOLE).as_posix() for file in found)


def style_paths() -> list[str]:
    """Return the paths of the style sheets in the order in which index.html loads them."""
    index = read_text("index.html")
    paths = (file.relative_to(CONSOLE).as_posix() for file in (CONSOLE / "style").glob("*.css"))
    return sorted(paths, key=lambda path: index.index(f"/console/{path}"))
