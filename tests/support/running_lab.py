"""A running lab as a process of its own, for tests of verbs that use one."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pflab.drivers.launch import node_environment
from pflab.terms.verdict import ExitCode

ONE_SITE = """
servers: {A: , B: }
folders:
  Projects: {replicas: [A, B], contacts: [kim@contoso.test]}
  News: {replicas: [B]}
"""
END_S = 30


@contextmanager
def lab_up(folder: Path, *more: str, topology: str | None = ONE_SITE, port: int = 0) -> Iterator[str]:
    """Run `pflab up` in a folder, with a paused clock, and give the lab's URL. It must end well, without a traceback; its
    stderr is in the file `errors`, and what it prints until it is up in `printed`. topology None: `more` says which lab."""
    with lab_process(folder, *more, topology=topology, port=port) as (lab, url):
        try:
            yield url
        finally:
            lab.send_signal(signal.SIGINT)
            code = lab.wait(END_S)
    assert code == ExitCode.GOOD
    assert "Traceback" not in (folder / "errors").read_text()
    assert not (folder / "runs" / "lab.json").exists(), "verbs would look for the lab that has ended"


@contextmanager
def lab_process(
    folder: Path, *more: str, topology: str | None = ONE_SITE, port: int = 0
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `pflab up` as `lab_up` does, and give its process and its URL. At the end, kill the process if it still runs."""
    if topology is not None:
        (folder / "lab.yaml").write_text(topology, "utf-8")
        more = ("lab.yaml", *more)
    order = [sys.executable, "-P", "-c", "from pflab.cli import main; main()"]
    order += ["up", "--port", str(port), "--clock", "0", "--stop-with-stdin", *more]
    pipe = subprocess.PIPE
    with (folder / "errors").open("w") as errors:
        lab = subprocess.Popen(
            order, stdin=pipe, stdout=pipe, stderr=errors, text=True, env=node_environment(), cwd=folder
        )
    assert lab.stdin is not None
    assert lab.stdout is not None
    try:
        told = ""
        while "Ctrl-C" not in (line := lab.stdout.readline()):
            assert line, told
            told += line
        (folder / "printed").write_text(told + line, "utf-8")
        yield lab, next(line.strip().removesuffix("/docs") for line in told.splitlines() if line.endswith("/docs"))
    finally:
        if lab.poll() is None:
            lab.kill()  # a lab that does not end fails its own test, and no other
            lab.wait()
        lab.stdin.close()
        lab.stdout.close()
