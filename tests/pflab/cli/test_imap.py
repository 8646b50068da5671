"""`pflab up --imap`: the program of the page for mail programs, and what to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pflab.cli.doctor.extras import pip_install
from pflab.drivers.launch import node_environment
from pflab.terms.verdict import ExitCode
from tests.support.hidden_packages import pflab_without
from tests.support.played_page import blocks

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "mail-programs.md"

PATIENCE_S = 60


@pytest.mark.live
def test_the_program_of_the_page_works(tmp_path: Path) -> None:
    pytest.importorskip("pymap")
    (program,) = [text for kind, _, text in blocks(PAGE.read_text("utf-8")) if kind == "python"]
    here = f'["{sys.executable}", "-m", "pflab", "up"'
    assert '["pflab", "up"' in program
    done = subprocess.run(
        [sys.executable, "-c", program.replace('["pflab", "up"', here)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        cwd=tmp_path,
        env=node_environment(),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "('OK', [b'1'])\n"


def test_one_line_says_what_to_install(tmp_path: Path) -> None:
    done = pflab_without(tmp_path, ("pymap",), "up", "--imap")
    assert (done.returncode, done.stdout) == (ExitCode.UNKNOWN, "")
    get = f"install the extra imap: {pip_install(['pymap>=0.36.7,<0.37'])}"
    assert (
        done.stderr.replace("<0.37,>=0.36.7", ">=0.36.7,<0.37") == f"pflab up --imap: pymap is not installed; {get}\n"
    )
    assert list(tmp_path.glob("runs")) == []


@pytest.mark.parametrize("text", [None, "", "two\nlines"])
def test_a_password_is_one_line_in_a_file(tmp_path: Path, text: str | None) -> None:
    pytest.importorskip("pymap")
    if text is not None:
        (tmp_path / "password").write_text(text)
    done = pflab_without(tmp_path, (), "up", "--imap", "--imap-token-file", "password")
    assert (done.returncode, done.stdout) == (ExitCode.UNKNOWN, "")
    assert done.stderr.startswith("--imap-token-file password: ")
    assert done.stderr.count("\n") == 1


def test_a_simulated_lab_has_no_sockets(tmp_path: Path) -> None:
    done = pflab_without(tmp_path, (), "up", "--simulated", "--imap")
    assert done.returncode == ExitCode.UNKNOWN
    assert "leave out --imap" in done.stderr
