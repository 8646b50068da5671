"""A folder of its own for each test of the command line, with sample scenarios and a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.cli.app import run
from pflab.terms.verdict import ExitCode
from tests.support.cli_runs import BAD, GOOD, SCENARIOS


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run commands in a folder of their own, as a user does."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def good(tmp_path: Path) -> str:
    (tmp_path / "good.yaml").write_text(GOOD, "utf-8")
    return "good.yaml"


@pytest.fixture
def bad(tmp_path: Path) -> str:
    (tmp_path / "bad.yaml").write_text(BAD, "utf-8")
    return "bad.yaml"


@pytest.fixture
def lost_mail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Return a simulated run of the lost-mail lesson with kept mails, in a folder with the scenarios, topologies and old
    mail."""
    (tmp_path / "scenarios").symlink_to(SCENARIOS)
    (tmp_path / "topology").symlink_to(SCENARIOS.parent / "topology")
    (tmp_path / "archive.mbox").write_bytes(b"From kim@x.test Tue Oct 21 00:00:00 2003\nSubject: old\n\nmail\n")
    assert run(["run", "lost-mail", "--simulate", "--keep-mails"]) == ExitCode.GOOD
    capsys.readouterr()
