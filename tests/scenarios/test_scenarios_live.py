"""Scenario files played live: real sockets, real databases, the lab's clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.drivers.live import LiveLab
from pflab.lessons.course import FIRST
from pflab.runs.run_folder import RunFolder
from pflab.scenario.load import files_of_course, load_scenario
from pflab.scenario.runner import run_scenario
from tests.support.samples import sampled

COURSE = {path.stem for path in files_of_course()} - {FIRST}
SCENARIOS = sorted((Path(__file__).resolve().parents[2] / "scenarios").glob("*.yaml"))


@pytest.mark.live
@pytest.mark.parametrize(
    "path", sampled((path for path in SCENARIOS if path.stem not in COURSE), 5), ids=lambda path: path.stem
)
async def test_scenario_passes_live(path: Path, tmp_path: Path) -> None:
    """Each scenario that can be played live passes over real SMTP. Those of the course are played so by test_course.py."""
    scenario = load_scenario(path)
    if not scenario.live:
        pytest.skip("the scenario says live: false, so it needs the simulator")
    folder = RunFolder.at(tmp_path / "run")
    result = await run_scenario(scenario, lambda topology: LiveLab(topology, folder=folder, seed=1))
    assert result.passed, "\n".join(result.in_words())
