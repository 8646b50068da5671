"""Play a tutorial: write the files that it shows, run its commands, and compare what they print with what the page shows.

A block `console` has commands after "$ ", each followed by what it prints. A block with a title is a file of that name. In the
output shown, "..." stands for any text within a line, and for any number of lines if it is alone in a line. Addresses on this
machine may differ in their ports. `pflab up` runs in the background until the page ends.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from pflab.cli.app import run
from pflab.terms.verdict import ExitCode
from tests.support.running_lab import lab_up

BLOCK = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN_LAB = "http://127.0.0.1:8025"


@dataclass(frozen=True, slots=True)
class Played:
    """A command of a page, what the page shows, and what the command printed."""

    command: str
    shown: str
    printed: str

    @property
    def as_shown(self) -> bool:
        lines = [
            ".*?".join(map(re.escape, line.split("..."))) if line != "..." else None for line in _lines(self.shown)
        ]
        pattern = "".join("(?:.*\n)*?" if line is None else f"{line}\n" for line in lines)
        return re.fullmatch(pattern, "".join(f"{line}\n" for line in _lines(self.printed))) is not None


def _lines(text: str) -> list[str]:
    without_ports = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", text)
    return [line.rstrip() for line in without_ports.rstrip().splitlines()]


def blocks(page: str) -> Iterator[tuple[str, str, str]]:
    """Yield the kind, the title and the text of each block."""
    yield from BLOCK.findall(page)


def played(page: str, folder: Path, programs: Path | None = None) -> Generator[Played, None, None]:
    """Play the page in a folder, which must be the present one, with the programs of this or another environment."""
    with ExitStack() as labs:
        url = SHOWN_LAB
        for kind, title, text in blocks(page):
            if title:
                (folder / title).parent.mkdir(exist_ok=True)
                (folder / title).write_text(text.replace(SHOWN_LAB, url), "utf-8")
            elif kind == "console":
                for command, shown in _commands(text):
                    if command.startswith("pflab up"):
                        labs.close()  # what Ctrl-C does to the lab of this terminal
                        url, printed = labs.enter_context(_up(command, folder))
                    else:
                        printed = _output(command.replace(SHOWN_LAB, url), programs)
                    yield Played(command, shown, printed)


def _commands(text: str) -> Iterator[tuple[str, str]]:
    for each in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = each.replace("\\\n", "").partition("\n")
        yield command, shown


@contextmanager
def _up(command: str, folder: Path) -> Iterator[tuple[str, str]]:
    with lab_up(folder, *shlex.split(command)[2:], topology=None) as url:
        yield url, "".join((folder / name).read_text("utf-8") for name in ("errors", "printed"))


def _output(command: str, programs: Path | None) -> str:
    if programs or not command.startswith("pflab ") or set(command) & set("|>"):
        path = {"PATH": f"{programs or Path(sys.executable).parent}:{os.environ['PATH']}"}
        whole = ["sh", "-c", f"{{ {command} ; }} 2>&1"]
        return subprocess.run(whole, env={**os.environ, **path}, stdout=subprocess.PIPE, text=True, check=False).stdout
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        code = run(shlex.split(command)[1:])
    assert code != ExitCode.INTERNAL, printed.getvalue()
    return printed.getvalue()
