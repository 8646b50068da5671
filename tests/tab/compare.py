"""Plays seeds and scenarios twice, in this Python and in Pyodide under Node.js, and compares the traces byte for byte:

    python -m tests.tab.compare --seeds 1..100 --scenarios

Both write the same files, so the simulator's results depend neither on the processor nor on the operating system.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.tab.traces import scenario_names, write

ROOT = Path(__file__).resolve().parents[2]

PYTHON = ROOT / "build" / "site" / "lab" / "python"
"""Python for a browser: Pyodide, and pflab with its libraries as `lab.tar.xz`."""

PLAY = Path(__file__).with_name("play.mjs")

LINES_SHOWN = 3


class Comparison(NamedTuple):
    """The result: how many runs, segment files, bytes and events are equal, the real time of both plays, and differences in
    words."""

    runs: int
    files: int
    total_bytes: int
    events: int
    here_s: float
    pyodide_s: float
    start_s: float
    differences: tuple[str, ...]


def compare(seeds: Sequence[int], scenarios: Sequence[str], python: Path = PYTHON) -> Comparison:
    """Play in both, and compare.

    python: the folder with Pyodide and `lab.tar.xz`.
    """
    with tempfile.TemporaryDirectory() as folder:
        here, there = Path(folder) / "here", Path(folder) / "pyodide"
        here.mkdir()
        there.mkdir()
        here_s = asyncio.run(write(str(here), seeds, scenarios))
        node = shutil.which("node")
        assert node is not None, "Node.js is not installed"
        played = subprocess.run(
            [node, PLAY, python, ROOT, there, json.dumps(seeds), json.dumps(scenarios)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert played.returncode == 0, played.stderr
        seconds = json.loads(played.stdout.splitlines()[-1])
        files = _segments(here)
        contents = [(here / file).read_bytes() for file in files]
        return Comparison(
            runs=len(seeds) + len(scenarios),
            files=len(files),
            total_bytes=sum(map(len, contents)),
            events=sum(content.count(b"\n") - 1 for content in contents),
            here_s=here_s,
            pyodide_s=seconds["playS"],
            start_s=seconds["startS"],
            differences=tuple(_differences(here, there)),
        )


def _segments(place: Path) -> list[Path]:
    return sorted(path.relative_to(place) for path in place.glob("*/*/traces/*"))


def _differences(here: Path, there: Path) -> Iterator[str]:
    files = _segments(here)
    if files != _segments(there):
        only = set(files) ^ set(_segments(there))
        yield f"only one has {', '.join(sorted(map(str, only)))}"
        files = [file for file in files if file not in only]
    for file in files:
        ours, theirs = (here / file).read_bytes(), (there / file).read_bytes()
        if ours != theirs:
            pairs = zip(ours.splitlines(), theirs.splitlines(), strict=False)
            number, pair = next(
                ((n, pair) for n, pair in enumerate(pairs, start=1) if pair[0] != pair[1]), (0, (b"", b""))
            )
            yield f"{file}:{number}:\n  here     {pair[0].decode()}\n  Pyodide  {pair[1].decode()}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="", help="for example 1..100")
    parser.add_argument("--scenarios", action="store_true", help="all scenarios that come with pflab")
    parser.add_argument("--python", type=Path, default=PYTHON, help="the folder with Pyodide and lab.tar.xz")
    given = parser.parse_args()
    first, _, last = given.seeds.partition("..")
    seeds = [*range(int(first), int(last or first) + 1)] if first else []
    if not (seeds or given.scenarios):
        parser.error("nothing to play; say --seeds, --scenarios or both")
    found = compare(seeds, scenario_names() if given.scenarios else [], given.python)
    print(
        f"{found.runs} runs, {found.files} files, {found.total_bytes} bytes, {found.events} events; here {found.here_s:.1f} s,"
        f" Pyodide {found.pyodide_s:.1f} s and {found.start_s:.1f} s for its start"
    )
    for difference in found.differences[:LINES_SHOWN]:
        print(difference)
    print(f"{len(found.differences)} files differ" if found.differences else "all files are equal")
    return 1 if found.differences else 0


if __name__ == "__main__":
    sys.exit(main())
