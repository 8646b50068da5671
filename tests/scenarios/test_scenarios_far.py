"""Scenarios played on a lab that is up, over HTTP alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pflab.cli.app import run
from pflab.client import Client
from pflab.scenario import load_scenario
from pflab.verdict import ExitCode
from tests.unit.uplab import lab_up

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
CHOSEN = ("killed", "restored", "mail-to-folder", "orphan")
"""Deaths, backups, faults, ordinary mail and the directory: what goes over other paths than users' changes do."""

pytestmark = pytest.mark.live


@pytest.mark.parametrize("name", CHOSEN)
def test_scenario_passes_on_a_lab_that_is_up(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`pflab run SCENARIO --lab URL` plays it on a lab of processes, and its expectations hold there."""
    path = SCENARIOS / f"{name}.yaml"
    with lab_up(tmp_path, "--processes", topology=load_scenario(path).topology.as_yaml()) as url:
        code = run(["run", str(path), "--lab", url, "--json"])
        (result,) = json.loads(capsys.readouterr().out)
        assert code == ExitCode.GOOD, result["failure"]
        assert result["mails"] > 0
        assert result["folder"] is None


def test_what_makes_no_sense_there_is_said_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another organization's lab, one that has been moved, several scenarios: each is misuse, and the lab stays as it is."""
    monkeypatch.chdir(SCENARIOS.parent)
    scenario = "scenarios/lost-mail.yaml"
    with lab_up(tmp_path) as url:
        assert run(["run", scenario, "--lab", url]) == ExitCode.UNKNOWN
        assert "another organization" in capsys.readouterr().err
        assert run(["run", scenario, "--simulate", "--lab", url]) == ExitCode.UNKNOWN
        assert run(["run", scenario, scenario, "--lab", url]) == ExitCode.UNKNOWN
        capsys.readouterr()
    with lab_up(tmp_path, topology=load_scenario(SCENARIOS / "lost-mail.yaml").topology.as_yaml()) as url:
        with Client(url) as client:
            client.advance("1 h")
        assert run(["run", scenario, "--lab", url]) == ExitCode.UNKNOWN
        assert "bring up a fresh one" in capsys.readouterr().err
