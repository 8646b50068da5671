"""The files that the pictures in docs/pictures show, and whether one of them has changed since the pictures were made.

The tests that make the pictures record a digest of each of these files beside them, in `console.sources`, `tutorials.sources`
and `report.sources`. A source is a file that draws a picture or has its words. Comments and docstrings of Python do not count.
Tests and pages are no sources. The stores are none either: a picture of a lab that behaves in another way is not noticed.
"""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PICTURES: Final = "docs/pictures"


@dataclass(frozen=True, slots=True)
class Group:
    """Pictures of one thing.

    pictures: their names in docs/pictures.
    sources: patterns of the files that they show, relative to the project.
    """

    pictures: tuple[str, ...]
    sources: tuple[str, ...]


CONSOLE: Final = (
    "console/index.html", "console/*.js", "console/source/*.js", "console/state/*.js", "console/style/*.css",
    "console/vendor/d3.js", "console/vendor/preact.js", "console/views/**/*.js", "pflab/replay/console_events.py",
    "pflab/terms/event_words.py",
)  # fmt: skip

GROUPS: Final = {
    "console": Group(
        ("console.png", "lost-mail.webp", "console-mail.png", "console-folders.png", "console-faults.png"),
        (*CONSOLE, "scenarios/lost-mail.yaml", "topology/examples/default.yaml"),
    ),
    "tutorials": Group(
        ("tutorial-lab.png", "tutorial-lessons.png", "tutorial-exercise.png", "tutorial-replay.png"), CONSOLE
    ),
    "report": Group(
        ("report.png", "report-dark.png", "report-runs.png"),
        ("analytics/report/*.*", "analytics/drawing/*.*", "analytics/rules/*.py", "analytics/verdicts/*.py"),
    ),
}  # fmt: skip


def record(name: str, project: Path, into: Path) -> None:
    """Write the digests of the sources of a group's pictures into the folder of the pictures."""
    lines = (f"{digest}  {path}\n" for path, digest in _digests(project, GROUPS[name]).items())
    (into / f"{name}.sources").write_text("".join(lines), "ascii")


def stale_pictures(project: Path) -> Iterator[str]:
    """Yield a line for each picture that is missing, and for each group whose sources are not those that were recorded."""
    folder = project / PICTURES
    for name, group in GROUPS.items():
        for picture in group.pictures:
            if not (folder / picture).is_file():
                yield f"{PICTURES}/{picture} is missing: run make pictures"
        recorded, now = _recorded(folder / f"{name}.sources"), _digests(project, group)
        changed = sorted(path for path in recorded.keys() | now.keys() if recorded.get(path) != now.get(path))
        if changed:
            more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            yield (
                f"{PICTURES}: {', '.join(group.pictures)}: not made from the present {changed[0]}{more}: run make pictures"
            )


def _digests(project: Path, group: Group) -> dict[str, str]:
    files = {file for pattern in group.sources for file in project.glob(pattern) if file.is_file()}
    return {
        file.relative_to(project).as_posix(): hashlib.sha256(_shown(file).encode()).hexdigest()
        for file in sorted(files)
    }


def _shown(file: Path) -> str:
    """Return the text of a file; of Python without comments, docstrings and empty lines."""
    text = file.read_text("utf-8")
    if file.suffix != ".py":
        return text
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or node.lineno) - node.lineno + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _recorded(file: Path) -> dict[str, str]:
    """Return the digests in a file by path, and no digest if nobody has recorded any."""
    lines = file.read_text("ascii").splitlines() if file.is_file() else []
    return {path: digest for digest, _, path in (line.partition("  ") for line in lines)}
