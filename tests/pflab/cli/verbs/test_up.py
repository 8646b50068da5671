"""`pflab up` for the program that starts it: one line of JSON, and an end with standard input."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pflab.cli.app import run
from pflab.client import Client
from pflab.drivers.launch import node_environment
from pflab.terms.verdict import ExitCode
from tests.support.samples import sampled

pytestmark = pytest.mark.live

UP = [sys.executable, "-P", "-c", "from pflab.cli import main; main()", "up", "--port", "0", "--clock", "0", "--json"]
TOPOLOGY = "servers: {A: , B: , C: {joins: later}}\nfolders: {Projects: {replicas: [A, B]}}\n"
END_S = 30


@contextmanager
def started(folder: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    """Run `pflab up --json` in a folder, with a pipe as its standard input."""
    (folder / "lab.yaml").write_text(TOPOLOGY, "utf-8")
    order = [*UP, "lab.yaml", *more]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        order, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=folder, env=node_environment()
    ) as lab:
        try:
            yield lab
        finally:
            lab.kill()


@pytest.mark.parametrize("more", sampled([[], ["--processes"], ["--simulated"]], 3))
def test_a_program_gets_one_line_of_json_and_ends_the_lab_with_its_standard_input(
    tmp_path: Path, more: list[str]
) -> None:
    """The line says where the lab is. When standard input is closed, the lab ends as after Ctrl-C; before, it is not read."""
    with started(tmp_path, "--stop-with-stdin", *more) as lab:
        assert lab.stdin is not None
        assert lab.stdout is not None
        assert lab.stderr is not None
        ready = json.loads(lab.stdout.readline())
        assert set(ready) == {"url", "run", "folder", "smtp"}
        lab.stdin.write("nobody reads this\n")
        lab.stdin.flush()
        with Client(ready["url"]) as client:
            shown = client.lab()
            assert {each["name"]: each["smtp"] for each in shown["servers"]} == ready["smtp"]
            assert (shown["run"], str(tmp_path / shown["folder"])) == (ready["run"], ready["folder"])
        assert ready["smtp"]["C"] is None
        lab.stdin.close()
        assert lab.wait(END_S) == ExitCode.GOOD
        assert (lab.stdout.read(), lab.stderr.read()) == ("", "")
    assert not (tmp_path / "runs" / "lab.json").exists()
    assert list((Path(ready["folder"]) / "traces").glob("B-*.jsonl"))


def test_a_simulated_lab_refuses_what_it_cannot_have(capsys: pytest.CaptureFixture[str]) -> None:
    """One line names the options that make no sense."""
    assert run(["up", "--simulated", "--processes", "--tls"]) == ExitCode.UNKNOWN
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("no databases on disk; leave out --processes, --tls")


def test_without_the_option_a_lab_outlives_its_standard_input(tmp_path: Path) -> None:
    """A lab that was started in the background, with an empty standard input, goes on."""
    with started(tmp_path) as lab:
        assert lab.stdin is not None
        assert lab.stdout is not None
        lab.stdin.close()
        with Client(json.loads(lab.stdout.readline())["url"]) as client:
            assert client.lab()["servers"]
        lab.send_signal(signal.SIGINT)
        assert lab.wait(END_S) == ExitCode.GOOD


def test_a_lab_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    """A killed parent cannot order the end; the closed pipe does. Standard input may be closed before the lab is up."""
    (tmp_path / "lab.yaml").write_text(TOPOLOGY, "utf-8")
    parent = (
        "import subprocess, sys, time\n"
        f"lab = subprocess.Popen({[*UP, 'lab.yaml', '--stop-with-stdin']!r}, stdin=subprocess.PIPE)\n"
        "print('started', flush=True)\n"
        "time.sleep(1000)\n"
    )
    order = [sys.executable, "-c", parent]
    with subprocess.Popen(order, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=node_environment()) as started:
        assert started.stdout is not None
        started.stdout.readline()
        started.kill()
        assert json.loads(started.stdout.read())["run"]  # the lab's own line, then the end of the pipe, which it held
    assert not (tmp_path / "runs" / "lab.json").exists()
