"""Writes the traces of seeds and scenarios in the simulator, in whatever Python runs it: that of this machine, or Pyodide."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from pflab.campaign.draw.scenario import draw_scenario
from pflab.campaign.scenario_document import scenario_of_document
from pflab.campaign.seed import play_seed
from pflab.home import SCENARIOS_OF_PFLAB
from pflab.runs.run_folder import RunFolder
from pflab.scenario.load import load_scenario
from pflab.scenario.runner import run_scenario
from pflab.simulation.simulator import Simulator


def scenario_names() -> list[str]:
    """Return the names of all scenarios that come with pflab."""
    return sorted(path.stem for path in SCENARIOS_OF_PFLAB.glob("*.yaml"))


async def write(place: str, seeds: Iterable[int], scenarios: Iterable[str]) -> float:
    """Write the traces of each seed and each scenario into a run folder below `place`, and return the real seconds of it."""
    began_s = time.monotonic()
    for seed in seeds:
        await play_seed(scenario_of_document(draw_scenario(seed)), Path(place))
    for name in scenarios:
        folder = RunFolder.create(Path(place), name)
        await run_scenario(
            load_scenario(SCENARIOS_OF_PFLAB / f"{name}.yaml"),
            lambda topology: Simulator(topology, seed=1, folder=folder),  # noqa: B023 - called before the next name
        )
    return time.monotonic() - began_s
