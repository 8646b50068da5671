"""The traces of the scenario suite in the simulator, of a few seeds of a campaign, and of planted defects."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from pflab.campaign.seed import run_seed
from pflab.runs.run_folder import RunFolder
from pflab.scenario.load import load_scenario
from pflab.scenario.runner import run_scenario
from pflab.simulation.simulator import Simulator
from tests.mutants.run import HERE as PATCHES
from tests.mutants.run import plant
from tests.support.mutant_seeds import MUTANTS, PLAY

SCENARIOS = sorted((Path(__file__).resolve().parents[2] / "scenarios").glob("*.yaml"))
BROKEN_ON_PURPOSE: dict[str, tuple[int, set[str]]] = {
    "reissued-counters": (1, {"CN-1", "CN-2", "HI-2"}),
    "tombstone-outlived": (1, {"DL-4"}),
    "equal-not-enough": (1, {"DL-4"}),
    "left-and-back": (1, set()),
}
"""Scenarios that break a rule: the exit code, and a rule of each check that must report it. If there is none,
only the comparison of the replicas must."""

SEEDS = (2, 13, 28, 32, 5016, 5028)
"""Seeds with many branches: links that go down, restarted stores, changed lists, dropped tombstones, a request refused because
content is suspended (5016), and a deleted store with the only copy of something (5028)."""

ONCE_CALLED_WRONG = (
    48, 71, 84, 110, 179, 230, 1083, 90060, 90103, 100197, 100277, 100433, 200226, 200345, 300104, 300288, 1651174162,
    2687790865, 2687790868, 3809876412,
)  # fmt: skip
"""Seeds in which a check of the analytics once found a violation that is none.

A source said that items had expired there (48), the hierarchy overtook content that was suspended (71, 110), two deletions of
an item met (84), a replica ended before it asked for statuses (179), a mail came back to its sender's bridgehead (230), the
source of an entry that waited for a slot had lost its address (100197), items had expired in a folder that was once below a
deleted folder (100277), a repeat was about a folder that was hidden at the receiver (100433), a repeated request was refused
twice (200226), a change had lost against a version that has expired (200345) or been replaced by one (1651174162), a new
replica became the only one (2687790865), a mail that a later one had overtaken came from a store that was marked down
(2687790868), a line lost the answers to 31 transmissions of one mail (3809876412), a restore undid an attempt to send a mail
(300104, 300288), a requester had lost its address (1083)."""


def write_scenarios(place: Path, paths: Iterable[Path] = SCENARIOS) -> None:
    """Write each scenario's run folder, `place/<name>/traces/*.jsonl` and its verdict."""
    for path in paths:
        play_scenario(path, place)


def play_scenario(path: Path, place: Path) -> None:
    """Play a scenario into the run folder `place/<name>`."""
    folder = RunFolder.at(place / path.stem)
    scenario = load_scenario(path)
    result = asyncio.run(run_scenario(scenario, lambda topology: Simulator(topology, seed=1, folder=folder)))
    folder.write_verdict(result.as_document())


def write_campaign(place: Path, seeds: Iterable[int]) -> None:
    """Write `place/seed-<seed>/traces` of each seed; the simulator's invariants must hold."""
    place.mkdir(parents=True)
    for seed in seeds:
        with tempfile.TemporaryDirectory() as kept:
            assert not run_seed(seed, folder=Path(kept)).violations
            shutil.move(Path(kept) / f"seed-{seed}" / "00001", place / f"seed-{seed}")


def write_mutants(place: Path) -> None:
    """Write `place/<name>/traces` of each mutant: the seed that shows it, played to its end."""
    place.mkdir(parents=True)
    for name, (seed, _) in MUTANTS.items():
        with tempfile.TemporaryDirectory() as tree, tempfile.TemporaryDirectory() as kept:
            plant(PATCHES / f"{name}.patch", Path(tree))
            subprocess.run([sys.executable, "-c", PLAY, str(seed), kept], cwd=tree, check=True)
            shutil.move(Path(kept) / f"seed-{seed}" / "00001", place / name)


def expected(place: Path, name: str) -> dict[str, str]:
    """Return the live oracle's judgement on a scenario's folders at its end, by path."""
    told = json.loads((place / name / "verdict.json").read_text(encoding="utf-8"))
    return {each["path"]: each["judgement"] for each in told["verdict"]["folders"]}
