"""The scenario suite's traces, as the simulator leaves them, and a few seeds of a campaign."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from pflab.runfolder import RunFolder
from pflab.runner import run_scenario
from pflab.scenario import load_scenario
from pflab.simulator import Simulator

SCENARIOS = sorted((Path(__file__).resolve().parents[2] / "scenarios").glob("*.yaml"))


def lay_out_scenarios(place: Path) -> None:
    """Each scenario's run folder, `place/<name>/traces/*.jsonl` and its verdict."""
    for path in SCENARIOS:
        folder = RunFolder.at(place / path.stem)
        result = asyncio.run(
            run_scenario(
                load_scenario(path), lambda topology, folder=folder: Simulator(topology, seed=1, folder=folder)
            )  # type: ignore[misc]
        )
        folder.write_verdict(result.as_document())


def expected(place: Path, name: str) -> dict[str, str]:
    """What the live oracle said of a scenario's folders at its end: path to judgement."""
    told = json.loads((place / name / "verdict.json").read_text(encoding="utf-8"))
    return {each["path"]: each["judgement"] for each in told["verdict"]["folders"]}
