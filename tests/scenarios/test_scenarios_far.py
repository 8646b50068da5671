"""Scenarios played over HTTP on a running lab."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pflab.cli.app import run
from pflab.client import Client
from pflab.runs.run_folder import RunFolder
from pflab.scenario.load import load_scenario
from pflab.terms.verdict import ExitCode
from tests.support.coordinator_process import running_coordinator
from tests.support.lab_factory import TOKEN
from tests.support.process_supervisor import ProcessSupervisor
from tests.support.running_lab import lab_up
from topology.file.load import topology_from_text

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
CHOSEN = ("killed", "restored", "mail-to-folder", "move-all-replicas")
"""Kills, backups, faults, ordinary mail and the directory use other HTTP paths than users' changes."""

pytestmark = [pytest.mark.live, pytest.mark.long]


def check_result(result: dict[str, Any]) -> None:
    assert result["passed"], result["failure"]
    assert result["mails"] > 0
    assert result["folder"] is None


@pytest.mark.parametrize("name", CHOSEN)
def test_scenario_passes_on_a_lab_that_is_up(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`pflab run SCENARIO --lab URL` plays it on a lab, and its expectations hold there."""
    path = SCENARIOS / f"{name}.yaml"
    with lab_up(tmp_path, "--simulated", topology=load_scenario(path).topology.as_yaml()) as url:
        code = run(["run", str(path), "--lab", url, "--json"])
        (result,) = json.loads(capsys.readouterr().out)
        check_result(result)
        assert code == ExitCode.GOOD


def test_scenarios_pass_one_after_the_other_on_a_lab_of_processes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --renew a lab gets the topology of each scenario, and their expectations hold there."""
    paths = [SCENARIOS / f"{name}.yaml" for name in CHOSEN]
    servers = sorted({name for path in paths for name in load_scenario(path).topology.servers})
    lab = json.dumps({"servers": dict.fromkeys(servers)})
    (tmp_path / "lab.yaml").write_text(lab, "utf-8")
    monkeypatch.setenv("PFLAB_TOKEN", TOKEN)
    with (
        ProcessSupervisor(topology_from_text(lab), RunFolder.at(tmp_path / "run"), token=TOKEN) as supervisor,
        running_coordinator(supervisor, tmp_path) as url,
    ):
        code = run(["run", *map(str, paths), "--lab", url, "--renew", "--json"])
        results = json.loads(capsys.readouterr().out)
    assert [each["scenario"] for each in results] == list(map(str, paths))
    for result in results:
        check_result(result)
    assert code == ExitCode.GOOD


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
  - alter: {from: B, lasts: 2 h}
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
