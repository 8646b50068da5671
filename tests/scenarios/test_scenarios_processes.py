"""A few of the scenarios with each server as a process; `pflab run scenarios/*.yaml --processes` plays all."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.drivers.processes import ProcessLab
from pflab.runs.run_folder import RunFolder
from pflab.scenario.load import load_scenario, scenario_from_text
from pflab.scenario.runner import run_scenario

pytestmark = pytest.mark.long

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
CHOSEN = ("killed", "lost-mail", "new-store", "policies-by-priority", "restored", "wrong-clock")
"""Kills, losses, joins, changes of the directory, backups and clocks depend on the driver of processes."""

SUSPENDED = """
title: Suspended content is resumed
topology: {servers: {A: , B: }, folders: {Projects: {replicas: [A, B]}}}
rules: [RP-5]
steps:
  - content: suspend
  - post: {on: A, folder: Projects, subject: Hello, as: hello}
  - advance: 1 h
  - expect: {on: B, folder: Projects, lacks: hello}
  - repair: all
  - expect: {converged: all, within: bound}
"""


@pytest.mark.live
@pytest.mark.parametrize("name", CHOSEN)
async def test_scenario_passes_in_processes(name: str, tmp_path: Path) -> None:
    """The scenario passes when the servers share nothing but the network."""
    scenario = load_scenario(SCENARIOS / f"{name}.yaml")
    folder = RunFolder.at(tmp_path / "run")
    result = await run_scenario(scenario, lambda topology: ProcessLab(topology, folder=folder, seed=1))
    assert result.passed, "\n".join(result.in_words())


@pytest.mark.live
async def test_content_is_suspended_and_resumed_in_processes(tmp_path: Path) -> None:
    """RP-5: the steps `content` and `repair` read the present setting of a store in another process."""
    scenario = scenario_from_text(SUSPENDED, "suspended")
    folder = RunFolder.at(tmp_path / "run")
    result = await run_scenario(scenario, lambda topology: ProcessLab(topology, folder=folder, seed=1))
    assert result.passed, "\n".join(result.in_words())
