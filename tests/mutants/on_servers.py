"""Shrink seeds that planted defects fail to scenario files, and play each in the simulator and on real servers.

    python tests/mutants/on_servers.py              the first ten defects that campaigns find with faults of real servers
    python tests/mutants/on_servers.py no-status --count 1

Each scenario must fail in both with the same verdict: the same invariant, or stores that do not converge. The exit status is 1
if a verdict differs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.run import HERE, TEST, first_seed, head_value, plant

SEEDS = 20
"""How many seeds are played to find one that the defect fails."""

PLAY = """
import asyncio, json, sys
from pathlib import Path
from pflab.campaign.draw.faults import FAULT_KINDS
from pflab.campaign.draw.scenario import draw_scenario
from pflab.campaign.reductions import work_of
from pflab.campaign.seed import run_document
from pflab.campaign.shrinker import Shrinker
from pflab.drivers.live import LiveLab
from pflab.runs.run_folder import RunFolder
from pflab.scenario.load import scenario_from_text
from pflab.scenario.runner import run_scenario
from pflab.simulation.simulator import Simulator

LIVE = [kind for kind in FAULT_KINDS if kind not in {"crash", "stall", "alter"}]

def verdict(result):
    if result.failure is None:
        return "passed"
    return result.failure.verb if result.failure.verb == "until" and "converge" in result.failure.expected[0] else (
        result.failure.expected[0])

for seed in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
    whole = draw_scenario(seed, days=1, faults=LIVE)
    if not run_document(whole).violations:
        continue
    shrunk = Shrinker(most_seconds=90).shrink(whole)
    Path("shrunk.yaml").write_text(shrunk.text(), "utf-8")
    scenario = scenario_from_text(shrunk.text())
    network = None if scenario.network is None else scenario.network.policy()
    simulated = asyncio.run(run_scenario(scenario, lambda t: Simulator(t, seed=seed, network=network)))
    live = asyncio.run(run_scenario(scenario, lambda t: LiveLab(t, seed=seed, folder=RunFolder.create(Path("runs"), "live"))))
    print(json.dumps([seed, len(work_of(shrunk.scenario)), shrunk.plays, verdict(simulated), verdict(live)]))
    break
"""
"""Runs in the tree of a mutant: find a seed that fails, shrink it, and play the scenario twice."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="play shrunk scenarios of planted defects on real servers")
    parser.add_argument("names", nargs="*", help="patches by name; without any, all in the order of their names")
    parser.add_argument("--count", type=int, default=10, help="how many scenarios to play")
    chosen = parser.parse_args(arguments)
    shown_by_seeds = (path for path in sorted(HERE.glob("*.patch")) if not head_value(path, TEST))
    patches = [path for path in shown_by_seeds if not chosen.names or path.stem in chosen.names]
    played = differing = 0
    for patch in patches:
        if played == chosen.count:
            break
        with tempfile.TemporaryDirectory() as folder:
            plant(patch, Path(folder))
            command = [sys.executable, "-c", PLAY, str(first_seed(patch)), str(SEEDS)]
            done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
        if done.returncode:
            print(f"{patch.stem}: {done.stderr.strip().splitlines()[-1]}", flush=True)
        if not done.stdout.strip():
            continue
        seed, steps, plays, simulated, live = json.loads(done.stdout)
        played += 1
        differing += simulated != live
        how = "the same verdict" if simulated == live else f"DIFFERS, on servers: {live}"
        print(f"{patch.stem}: seed {seed}, {steps} steps after {plays} plays: {simulated}: {how}", flush=True)
    print(f"{played} scenarios played on real servers, {played - differing} with the same verdict")
    return 1 if differing or not played else 0


if __name__ == "__main__":
    sys.exit(main())
