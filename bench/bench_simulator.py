"""The simulator: the time of a stimulus, of a simulated week, and of a seed of `pflab simulate`."""

from __future__ import annotations

import asyncio
import random
import time

from pflab.campaign.seeds import Order, jobs_here, run_campaign
from pflab.simulation.simulator import Simulator
from topology.file.load import topology_from_text
from traces.labtime import DAY_US, HOUR_US

DURABILITY = "in memory: nothing is committed to disk"

SEEDS = range(1, 21)

WEEK = """
organization: Bench
sites: [SEA, NYC, LON]
connectors: [{name: SEA-NYC, between: [SEA, NYC], cost: 10}, {name: NYC-LON, between: [NYC, LON], cost: 20}]
servers: {A: {site: SEA}, B: {site: SEA}, C: {site: NYC}, D: {site: NYC}, E: {site: LON}}
folders: {P: {replicas: [A, B, C, D, E]}, Q: {replicas: [A, C, E]}}
"""


async def _week() -> tuple[float, int]:
    draw = random.Random(7)
    began = time.perf_counter()
    async with Simulator(topology_from_text(WEEK), seed=7) as lab:
        for hour in range(0, 7 * 24, 2):
            name, path = draw.choice([("A", "P"), ("B", "P"), ("C", "Q"), ("E", "Q"), ("D", "P")])
            await lab.do(name, lambda node, now, path=path: node.post(now, path, subject="x", body="y" * 500))  # type: ignore[misc]
            await lab.advance(lab.now + 2 * HOUR_US)
            del hour
        await lab.advance(lab.topology.start_at + 7 * DAY_US)
        return time.perf_counter() - began, len(lab.events())


def figures() -> dict[str, float | str]:
    """A week of five stores with 84 posts: seconds of real time; stimuli per second, and microseconds for one. Seeds that
    `pflab simulate` plays in a minute with its default options on all processors."""
    seconds, events = asyncio.run(_week())
    stimuli = _stimuli()
    return {
        "five-store week, s": round(seconds, 2),
        "events in it": events,
        "simulated stimuli/s": round(stimuli["rate"]),
        "us a stimulus": round(1_000_000 / stimuli["rate"], 1),
        "seeds a minute": round(_seeds_per_minute()),
    }


def _seeds_per_minute() -> float:
    began = time.perf_counter()
    campaign = run_campaign(SEEDS, Order(), jobs=jobs_here())
    assert len(campaign.results) == len(SEEDS) and not campaign.failed, "a seed was not played"
    return len(SEEDS) / (time.perf_counter() - began) * 60


def _stimuli() -> dict[str, float]:
    """Return how many stimuli of a busy hour are done per second: posts, ticks, mails received, and attempts that ended.

    A simulator's step in which a mail is sent is two stimuli, one at each end.
    """

    async def busy() -> tuple[int, float]:
        async with Simulator(
            topology_from_text(WEEK + "settings: {Replication Always Interval: 1 min}\n"), seed=7
        ) as lab:
            before = _stimuli_of(lab)
            began = time.perf_counter()
            for _ in range(60):
                for name in "ABCDE":
                    await lab.do(name, lambda node, now: node.post(now, "P", subject="x", body="y" * 500))
                await lab.advance(lab.now + 60_000_000)
            seconds = time.perf_counter() - began
            return _stimuli_of(lab) - before, seconds

    count, seconds = asyncio.run(busy())
    return {"rate": count / seconds}


def _stimuli_of(lab: Simulator) -> int:
    return sum(lab.read(name, lambda node: node.stimuli) for name in lab.names)
