"""What works on systems that are not like Unix: the client and the plugin's remote driver. Labs do not, and pflab says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pflab.systems import ELSEWHERE
from pflab.terms.verdict import ExitCode
from pflab.testing import LabProcess
from tests.support.inner_pytest import SIMULATED, run_pytest, write

pytestmark = pytest.mark.live

WINDOWS = """
import os, select, signal, sys

for module in ("fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "readline", "syslog", "posix_ipc"):
    sys.modules[module] = None
for name in ("poll", "epoll", "EPOLLIN", "POLLIN"):
    vars(select).pop(name, None)
for name in ("SIGHUP", "SIGKILL", "SIGSTOP", "SIGCONT", "SIGUSR1", "SIGCHLD", "SIGALRM", "pthread_sigmask", "setitimer"):
    vars(signal).pop(name, None)
for name in ("fork", "forkpty", "killpg", "pidfd_open", "posix_spawn", "getuid"):
    vars(os).pop(name, None)
"""
"""Takes from Python what it does not have on Windows. Python imports it at its start, as `sitecustomize`."""

REMOTE = """
import pytest

def test_lab(lab):
    lab.post("A", "Projects", subject="Hello")
    lab.advance("1 h")
    assert [each["subject"] for each in lab.messages("B", "Projects")] == ["Hello"]
    lab.assert_converged("Projects", within="20 min")

@pytest.mark.asyncio
async def test_async(async_lab):
    assert await async_lab.servers() == ["A", "B", "C"]
"""


@pytest.fixture
def windows(tmp_path: Path) -> str:
    (tmp_path / "windows").mkdir()
    (tmp_path / "windows" / "sitecustomize.py").write_text(WINDOWS, "utf-8")
    return str(tmp_path / "windows")


@pytest.mark.long
def test_a_remote_lab_can_be_used_from_every_system(tmp_path: Path, windows: str) -> None:
    """The plugin with --pflab-lab, the client and the asynchronous one work without modules and signals of Unix."""
    write(tmp_path, REMOTE)
    process = LabProcess("one-site", tmp_path / "lab", driver="simulated")
    try:
        code, told = run_pytest(tmp_path, "--pflab-lab", process.lab.url, PYTHONPATH=windows)
    finally:
        process.close()
    assert code == 0, told


def test_labs_on_other_systems_are_refused_in_one_line(tmp_path: Path, windows: str, project_root: Path) -> None:
    """A verb, and a test that starts a lab, say where labs run and what else there is; pflab doctor says it too."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((windows, str(project_root)))}
    order = [sys.executable, "-P", "-m", "pflab"]
    refused = subprocess.run([*order, "up"], capture_output=True, text=True, env=env, cwd=tmp_path, check=False)
    assert (refused.returncode, refused.stdout) == (ExitCode.UNKNOWN, "")
    assert refused.stderr == f"pflab: {ELSEWHERE}\n"
    doctor = subprocess.run([*order, "doctor"], capture_output=True, text=True, env=env, cwd=tmp_path, check=False)
    assert (doctor.returncode, doctor.stderr) == (ExitCode.VIOLATION, "")
    assert "labs run on Linux and macOS" in doctor.stdout
    write(tmp_path, "def test_lab(lab):\n    pass\n")
    code, told = run_pytest(tmp_path, *SIMULATED, PYTHONPATH=windows)
    assert (code, f"pflab: {ELSEWHERE}" in told) == (1, True), told
