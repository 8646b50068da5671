"""A lab of 100 stores in one process with 1,024 file handles, the limit on most machines."""

from __future__ import annotations

import asyncio
import resource
import tempfile
import time
from pathlib import Path
from typing import Final

from bench.bench_processes import Durability
from pflab.drivers.live import LiveLab
from pflab.runs.run_folder import RunFolder
from topology.file.load import topology_from_text
from traces.events import HopFailed, HopSent
from traces.labtime import DAY_US

STORES: Final = 100
HANDLES: Final = 1_024


def topology_text(stores: int) -> str:
    """Return a topology in which every store holds the only folder."""
    names = [f"S{number}" for number in range(1, stores + 1)]
    servers = ", ".join(f"{name}: {{}}" for name in names)
    return f"""
organization: Bench
sites: [SEA]
servers: {{{servers}}}
folders: {{Projects: {{replicas: [{", ".join(names)}]}}}}
"""


async def _weeks(folder: Path, durability: Durability, stores: int) -> dict[str, float | str]:
    began_s = time.perf_counter()
    topology = topology_from_text(topology_text(stores))
    async with LiveLab(topology, folder=RunFolder.create(folder, "weeks"), durability=durability) as lab:
        ready_s = time.perf_counter()
        await lab.advance(lab.now + 7 * DAY_US)
        quiet_s = time.perf_counter()
        await lab.do("S1", lambda node, now: node.post(now, "Projects", subject="a post", body="x" * 1000))
        await lab.advance(lab.now + 7 * DAY_US)
        ended_s = time.perf_counter()
        events = lab.events()
        failed = sum(lab.failure_of(name) is not None for name in lab.names)
        return {
            f"{stores} stores ready, s": round(ready_s - began_s, 2),
            f"{stores} stores, quiet week, s": round(quiet_s - ready_s, 2),
            f"{stores} stores, week after one post, s": round(ended_s - quiet_s, 2),
            f"{stores} stores, mails": sum(isinstance(event, HopSent) for event in events),
            f"{stores} stores, errors": failed + sum(isinstance(event, HopFailed) for event in events),
        }


def figures(durability: Durability, stores: int = STORES) -> dict[str, float | str]:
    """Seconds until all stores are ready, for a week of lab time without posts, and for a week that begins with one post. In
    the latter, the post goes to every store, and every store sends its status to all others. Errors: failed stores and mails.
    """
    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (HANDLES, most))
    try:
        with tempfile.TemporaryDirectory() as name:
            return asyncio.run(_weeks(Path(name), durability, stores))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (least, most))
