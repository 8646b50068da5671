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
    files: Mapping[str, Callable[[], str]],
    *,
    order: str = "make rules",
    arguments: list[str] | None = None,
    root: Path = ROOT,
) -> int:
    """Return 0 if the files were written or are up to date, 1 if one is out of date or cannot be made.

    description: what the program writes.
    files: for each path from the root, what returns the text of the file.
    order: the order of the Makefile that writes the files.
    arguments: those of the command line, by default the program's own.
    root: the folder of the project.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is out of date")
    options = parser.parse_args(arguments)
    for name, render in files.items():
        file = root / name
        try:
            text = render()
        except Mistakes as error:
            print(error, file=sys.stderr)
            return 1
        if not options.check:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            print(f"{name} is not up to date: run `{order}` and commit the result", file=sys.stderr)
            return 1
    return 0
