"""Every scenario file, played in the simulator with mails in order and with the network's order shuffled."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.scenario.load import load_scenario
from pflab.scenario.runner import ScenarioResult, run_scenario
from pflab.simulation.network import NetworkPolicy
from pflab.simulation.simulator import Simulator
from tests.support.samples import rest, sampled

SCENARIOS = sorted((Path(__file__).resolve().parents[2] / "scenarios").glob("*.yaml"))
SHUFFLES = [1, *map(rest, (2, 3))]
"""Seeds of shuffled orders: a few for each scenario; campaigns try thousands."""


def failures(result: ScenarioResult) -> str:
    return "\n".join(result.in_words())


def test_there_are_scenarios() -> None:
    """An empty folder of scenarios must not pass."""
    assert len(SCENARIOS) >= 18


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
async def test_scenario_passes_simulated(path: Path) -> None:
    """Each scenario passes when mails arrive in order."""
    result = await run_scenario(load_scenario(path), lambda topology: Simulator(topology, seed=1))
    assert result.passed, failures(result)


@pytest.mark.parametrize("seed", SHUFFLES)
@pytest.mark.parametrize("path", sampled(SCENARIOS, 6), ids=lambda path: path.stem)
async def test_scenario_passes_in_any_order(path: Path, seed: int) -> None:
    """IN-3, CF-1: each scenario passes whatever the order of the stores' turns and of mails sent at one instant."""
    policy = NetworkPolicy(shuffle=True)
    result = await run_scenario(load_scenario(path), lambda topology: Simulator(topology, seed=seed, network=policy))
    assert result.passed, failures(result)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_scenario_cites_its_rules(path: Path) -> None:
    """Each scenario says which rules it tests."""
    assert load_scenario(path).rules
