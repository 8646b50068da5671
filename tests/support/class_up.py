"""A class as a process of its own, as a trainer runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pflab.drivers.launch import node_environment
from pflab.terms.verdict import ExitCode

END_S = 30

HERE = (sys.executable, "-P", "-c", "from pflab.cli import main; main()")
"""The pflab of the tests."""


class Served(NamedTuple):
    """A class that runs.

    ready: what `pflab class --json` has printed: url, trainer, key and pupils.
    pid: of its process.
    """

    ready: Mapping[str, str]
    pid: int

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.ready["url"].removeprefix("http://").partition(":")
        return host, int(port)


@contextmanager
def class_up(folder: Path, *more: str, command: Sequence[str] = HERE) -> Iterator[Served]:
    """Run `pflab class` in a folder. It must end well, without a traceback; its stderr is in the file `errors`.

    command: what runs pflab.
    """
    order = [*command, "class", *more]
    pipe = subprocess.PIPE
    with (folder / "errors").open("w") as errors:
        served = subprocess.Popen(
            [*order, "--port", "0", "--json", "--stop-with-stdin"],
            stdin=pipe,
            stdout=pipe,
            stderr=errors,
            text=True,
            env=node_environment() if command is HERE else None,
            cwd=folder,
        )
    assert served.stdin is not None
    assert served.stdout is not None
    try:
        yield Served(json.loads(served.stdout.readline()), served.pid)
        served.stdin.close()
        assert served.wait(END_S) == ExitCode.GOOD
        assert "Traceback" not in (folder / "errors").read_text("utf-8")
    finally:
        if served.poll() is None:
            served.kill()
            served.wait()
        served.stdout.close()
