"""Scenario files played live: real sockets, real databases, the lab's clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.drivers.live import LiveLab
from pflab.runs.run_folder import RunFolder
from pflab.scenario.load import load_scenario
from pflab.scenario.runner import run_scenario

SCENARIOS = sorted((Path(__file__).resolve().parents[2] / "scenarios").glob("*.yaml"))


@pytest.mark.live
@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
async def test_scenario_passes_live(path: Path, tmp_path: Path) -> None:
    """Each scenario that can be played live passes over real SMTP."""
    scenario = load_scenario(path)
    if not scenario.live:
        pytest.skip("the scenario says live: false, so it needs the simulator")
    folder = RunFolder.at(tmp_path / "run")
    result = await run_scenario(scenario, lambda topology: LiveLab(topology, folder=folder, seed=1))
    assert result.passed, "\n".join(result.in_words())
