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
        yield next(line.strip().removesuffix("/docs") for line in told.splitlines() if line.endswith("/docs"))
    finally:
        lab.send_signal(signal.SIGINT)
        try:
            code = lab.wait(END_S)
        except subprocess.TimeoutExpired:
            lab.kill()  # a lab that does not end fails its own test, and no other
            lab.wait()
            raise
        finally:
            lab.stdin.close()
            lab.stdout.close()
    assert code == ExitCode.GOOD
    assert "Traceback" not in (folder / "errors").read_text()
    assert not (folder / "runs" / "lab.json").exists(), "verbs would look for the lab that has ended"
