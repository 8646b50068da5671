"""Scenarios played over HTTP on a running lab."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pflab.cli.app import run
from pflab.client import Client
from pflab.scenario.load import load_scenario
from pflab.terms.verdict import ExitCode
from tests.support.running_lab import lab_up

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
CHOSEN = ("killed", "restored", "mail-to-folder", "orphan")
"""Kills, backups, faults, ordinary mail and the directory use other HTTP paths than users' changes."""

pytestmark = pytest.mark.live


@pytest.mark.parametrize("how", ["--processes", "--simulated"])
@pytest.mark.parametrize("name", CHOSEN)
def test_scenario_passes_on_a_lab_that_is_up(
    name: str, how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`pflab run SCENARIO --lab URL` plays it on a lab of processes or a simulated one, and its expectations hold there."""
    path = SCENARIOS / f"{name}.yaml"
    with lab_up(tmp_path, how, topology=load_scenario(path).topology.as_yaml()) as url:
        code = run(["run", str(path), "--lab", url, "--json"])
        (result,) = json.loads(capsys.readouterr().out)
        assert code == ExitCode.GOOD, result["failure"]
        assert result["mails"] > 0
        assert result["folder"] is None


def test_impossible_requests_are_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another organization's lab, a lab whose clock was moved, or several scenarios: each is misuse, and the lab stays as it
    is."""
    monkeypatch.chdir(SCENARIOS.parent)
    scenario = "scenarios/lost-mail.yaml"
    with lab_up(tmp_path) as url:
        assert run(["run", scenario, "--lab", url]) == ExitCode.UNKNOWN
        assert "another topology" in capsys.readouterr().err
        assert run(["run", scenario, "--simulate", "--lab", url]) == ExitCode.UNKNOWN
        assert run(["run", scenario, scenario, "--lab", url]) == ExitCode.UNKNOWN
        capsys.readouterr()
    with lab_up(tmp_path, topology=load_scenario(SCENARIOS / "lost-mail.yaml").topology.as_yaml()) as url:
        with Client(url) as client:
            client.advance("1 h")
        assert run(["run", scenario, "--lab", url]) == ExitCode.UNKNOWN
        assert "start a new lab" in capsys.readouterr().err


MAIL_FAULTS = """\
title: Each fault on mails
topology: {servers: {A: , B: }, folders: {Projects: , News: }}
steps:
  - lose: {from: A, to: B, type: content, count: 2}
  - alter: {from: B, for: 2 h}
  - delay: {to: A, by: 20 min, count: 3}
  - duplicate: {type: status}
  - reorder: {from: A, by: 5 min}
"""


def test_faults_on_mails_are_injected_there_as_the_scenario_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A running lab gets the same fault arguments as a lab of the command's own: which mails, how often, how much and how
    long."""
    (tmp_path / "faults.yaml").write_text(MAIL_FAULTS, "utf-8")
    with lab_up(tmp_path, topology=load_scenario(tmp_path / "faults.yaml").topology.as_yaml()) as url:
        assert run(["run", str(tmp_path / "faults.yaml"), "--lab", url, "--json"]) == ExitCode.GOOD
        capsys.readouterr()
        with Client(url) as client:
            assert client.faults() == [
                {"id": "F1", "kind": "lose", "from": "A", "to": "B", "type": "content", "count": "2", "acted": 0},
                {"id": "F2", "kind": "alter", "from": "B", "until": "2003-10-21T02:00:00Z", "acted": 0},
                {"id": "F3", "kind": "delay", "to": "A", "by": "20 min", "count": "3", "acted": 0},
                {"id": "F4", "kind": "duplicate", "type": "status", "acted": 0},
                {"id": "F5", "kind": "reorder", "from": "A", "by": "5 min", "count": "1", "acted": 0},
            ]
