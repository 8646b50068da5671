"""How the tests of this project run: time limits, signals, proxies, and processes of tests that are killed."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

END_S = 100

HANGS = """
import threading

def waits_for_ever():
    threading.Event().wait()

def test_hangs():
    waits_for_ever()

def test_after_it():
    pass
"""

SIGNALS = """
import os, signal, subprocess, sys
import pytest

def test_signals():
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    os.kill(os.getpid(), signal.SIGHUP)
    code = "import signal; print(*(signal.getsignal(each).name for each in (signal.SIGHUP, signal.SIGTERM)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "SIG_DFL SIG_DFL\\n"
"""

LIMITS = """
import pytest

def limit(request):
    return request.node.get_closest_marker("timeout").args

@pytest.mark.long
def test_long(request):
    assert limit(request) == (1200,)

@pytest.mark.timeout(5)
@pytest.mark.compose
def test_own(request):
    assert limit(request) == (5,)

def test_usual(request):
    assert request.config.getini("timeout") == "300"
"""

PROXY = """
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from urllib.request import urlopen

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_):
        pass

def test_loopback():
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.handle_request)
        thread.start()
        with urlopen(f"http://127.0.0.1:{server.server_port}") as answer:
            assert answer.status == 200
        thread.join()
"""

PROCESSES = """
import asyncio, json, os, signal, threading
from pathlib import Path

from pflab.drivers.processes import ProcessLab
from pflab.runs.run_folder import RunFolder
from pflab.testing.labs import Labs
from tests.support.coordinator_process import running_coordinator
from tests.support.process_supervisor import ProcessSupervisor
from tests.support.running_lab import lab_up
from topology.file.load import topology_from_text

TEXT = "servers: {A: , B: }"

def children(of):
    tasks = Path(f"/proc/{of}/task").iterdir()
    found = [int(each) for task in tasks for each in (task / "children").read_text().split()]
    return [*found, *(each for child in found for each in children(child))]

async def play(path):
    topology = topology_from_text(TEXT)
    (path / "lab.yaml").write_text(TEXT)
    lab = ProcessLab(topology, folder=RunFolder.create(path / "runs", "test"))
    labs = Labs(path / "labs", "processes", path)
    folder = RunFolder.at(path / "run")
    with ProcessSupervisor(topology, folder, token="secret") as nodes, running_coordinator(nodes, path):
        (path / "up").mkdir()
        with lab_up(path / "up", "--processes"), labs.lab(path / "lab.yaml"):
            async with lab:
                for stopped in (lab.pid_of("B"), nodes.pid_of("A")):
                    os.kill(stopped, signal.SIGSTOP)
                print("\\n" + json.dumps(children(os.getpid())), flush=True)
                threading.Event().wait()

def test_waits(tmp_path):
    asyncio.run(play(tmp_path))
"""


def command(root: Path, file: Path, text: str, *options: str) -> list[str]:
    """Return the command that runs a test file as this project's tests run."""
    file.write_text(text, "utf-8")
    settings = ["-c", str(root / "pyproject.toml"), "-p", "tests.conftest", "-p", "no:cacheprovider", "-m", ""]
    return [sys.executable, "-m", "pytest", *settings, "--basetemp", str(file.parent / "made"), *options, str(file)]


def pytest_run(root: Path, order: list[str], **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        order,
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        timeout=END_S,
        env={**os.environ, **more},
    )


@pytest.mark.parametrize("jobs", [[], ["-n", "1"]])
def test_a_test_that_hangs_fails_with_its_stack(project_root: Path, tmp_path: Path, jobs: list[str]) -> None:
    """A test has a time limit. When it is reached, the test fails, the stack shows where it waits, and the next test runs."""
    done = pytest_run(project_root, command(project_root, tmp_path / "test_it.py", HANGS, "-o", "timeout=1", *jobs))
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "in waits_for_ever" in done.stdout
    assert "Timeout (>1.0s)" in done.stdout


def test_slow_tests_have_longer_limits(project_root: Path, tmp_path: Path) -> None:
    """Tests with a marker of slow tests have a longer limit, and a test's own limit comes first."""
    done = pytest_run(project_root, command(project_root, tmp_path / "test_it.py", LIMITS))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("jobs", [[], ["-n", "1"]])
def test_signals_act_as_usual_in_the_background(project_root: Path, tmp_path: Path, jobs: list[str]) -> None:
    """In `nohup make test &`, where SIGINT and SIGHUP are ignored, tests get SIGINT as an exception, and the processes that
    they start ignore neither."""
    ignoring = ["sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh"]
    order = command(project_root, tmp_path / "test_it.py", SIGNALS, *jobs)
    done = pytest_run(project_root, [*ignoring, *order])
    assert done.returncode == 0, done.stdout


def test_tests_do_not_depend_on_a_proxy(project_root: Path, tmp_path: Path) -> None:
    """Requests of tests to this machine pass no proxy, also if the environment names one that is dead."""
    dead = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"), "http://127.0.0.1:9")
    order = command(project_root, tmp_path / "test_it.py", PROXY)
    done = pytest_run(project_root, order, **dead, no_proxy="example.com", NO_PROXY="")
    assert done.returncode == 0, done.stdout


@pytest.mark.live
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells the end of any process")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_process_outlives_killed_tests(project_root: Path, tmp_path: Path, number: signal.Signals) -> None:
    """If pytest is killed, the labs, nodes and coordinators that its tests started end, also those that are stopped."""
    order = command(project_root, tmp_path / "test_it.py", PROCESSES, "-s")
    with subprocess.Popen(order, cwd=project_root, stdout=subprocess.PIPE, text=True) as tests:
        assert tests.stdout is not None
        told = ""
        while not told.startswith("["):
            told = tests.stdout.readline()
            assert told
        ends = [os.pidfd_open(each) for each in json.loads(told)]
        tests.send_signal(number)
    assert len(ends) == 11, "3 labs with 2 nodes, a coordinator and its 2 nodes"
    for end in ends:
        assert select.select([end], [], [], END_S)[0], "a process has outlived its tests"
        os.close(end)
