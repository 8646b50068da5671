"""The files and run folders that a user names on the command line."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pflab.cli.output import CommandError, err
from pflab.runs.run_folder import LATEST

RUNS = Path("runs")
"""The folder for run folders, below the current folder."""


def existing_run(run: Path | None) -> Path:
    """Return the given run folder, or the latest below runs/. Print which run folder it is."""
    path = run if run is not None else RUNS / LATEST
    if not path.is_dir():
        hint = "name a run folder, or make a run first: pflab demo"
        raise CommandError(f"{path}: no such run folder; {hint}")
    if run is None:
        err.print(f"reading the run {shown_path(path.resolve())}", style="dim", markup=False)
    return path.resolve()


def shown_path(path: Path) -> str:
    """Return a path as text, relative to the current folder if the path is inside that folder."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def own_name() -> str:
    """Return the command that starts pflab: `pflab` if it is on the PATH, else the command with which it was started."""
    started = Path(sys.argv[0])
    if shutil.which("pflab") or not started.is_file():
        return "pflab"
    return "python -m pflab" if started.name == "__main__.py" else str(started)


MAX_FILE_BYTES: Final = 256 * 1024 * 1024
"""The largest file that a verb reads at once (decision), so that a device such as /dev/zero does not fill the memory."""


def read_bytes(path: Path) -> bytes:
    """Return the content of a file that the user named. Raises CommandError if it cannot be read or is too large."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{path}: {(error.strerror or str(error)).lower()}; name a file that can be read") from None
    if len(content) > MAX_FILE_BYTES:
        raise CommandError(f"{path}: larger than {MAX_FILE_BYTES} bytes; name a smaller file")
    return content


def attached(files: Iterable[Path] | None) -> list[tuple[str, bytes]]:
    """Return the name and the content of each file. Raises CommandError if one cannot be read."""
    return [(file.name, read_bytes(file)) for file in files or ()]


def body_text(text: str) -> str:
    """Return the text of a message that the user gave, or stdin if the user gave `-`.

    Raises CommandError if stdin is not text.
    """
    try:
        return sys.stdin.read() if text == "-" else text
    except UnicodeDecodeError as error:
        raise CommandError(f"stdin is not text in {error.encoding}; convert it, or set PYTHONIOENCODING") from None
