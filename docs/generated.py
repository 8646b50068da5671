"""The command line of the programs in docs/ that generate files.

python docs/PROGRAM.py            write the files
python docs/PROGRAM.py --check    exit with 1, and say why, if a file is out of date
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]


class Mistakes(Exception):
    """What a file is made from is wrong; the message has a line for each mistake."""


def main(
    description: str,
    files: Callable[[], Mapping[str, str]],
    *,
    folder: str = "",
    order: str = "make rules",
    arguments: list[str] | None = None,
    root: Path = ROOT,
) -> int:
    """Return 0 if the files were written or are up to date, 1 if one is out of date or cannot be made.

    description: what the program writes.
    files: returns the texts of the files by their paths from the root.
    folder: a folder that has these files only; others in it are removed, or are out of date.
    order: the order of the Makefile that writes the files.
    arguments: those of the command line, by default the program's own.
    root: the folder of the project.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is out of date")
    options = parser.parse_args(arguments)
    try:
        texts = files()
    except Mistakes as error:
        print(error, file=sys.stderr)
        return 1
    there = (
        {path.relative_to(root).as_posix() for path in (root / folder).iterdir()}
        if folder and (root / folder).is_dir()
        else set()
    )
    if options.check:
        stale = [*sorted(there - texts.keys()), *(name for name, text in texts.items() if _read(root / name) != text)]
        if stale:
            print(f"{', '.join(stale)}: not up to date: run `{order}` and commit the result", file=sys.stderr)
        return 1 if stale else 0
    for name in there - texts.keys():
        (root / name).unlink()
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return 0


def _read(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.exists() else None
