"""Posts through three live stores in one process, with real sockets, databases and SMTP."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from bench.bench_processes import Durability
from node.views import Post
from pflab.drivers.live import LiveLab
from pflab.lab.lab import Lab, LabNode
from pflab.runs.run_folder import RunFolder
from topology.file.load import topology_from_text
from topology.model import Topology
from traces.labtime import LabTime

POSTS = 5_000
BATCH = 100  # posts in a commit, as in the published figures of other systems
SINGLES = 400
BODY = "x" * 1000

TOPOLOGY = """
organization: Bench
sites: [SEA]
servers: {A: {}, B: {}, C: {}}
folders: {Projects: {replicas: [A, B, C]}}
settings: {Replication Always Interval: %s}
"""


def _topology(interval: str) -> Topology:
    return topology_from_text(TOPOLOGY % interval)


def _count(node: LabNode) -> int:
    return node.count("Projects")


async def _until_all_have(lab: Lab, count: int) -> None:
    while not all(lab.read(name, _count) >= count for name in ("B", "C")):
        await lab.settle()


async def _bulk(folder: Path, durability: Durability) -> float:
    """Return posts per second, from the first post until both other stores have all posts."""
    async with LiveLab(_topology("0"), folder=RunFolder.create(folder, "bulk"), durability=durability) as lab:
        began = time.perf_counter()
        for batch in range(POSTS // BATCH):
            posts = [Post(f"post {batch}-{index}", BODY, "kim@bench.test") for index in range(BATCH)]
            await lab.do("A", lambda node, now, posts=posts: node.post_batch(now, "Projects", posts))  # type: ignore[misc]
            await asyncio.sleep(0)
        await _until_all_have(lab, POSTS)
        return POSTS / (time.perf_counter() - began)


async def _packed(folder: Path, durability: Durability) -> float:
    """Return posts per second when one cycle packs all posts into mails of the target size."""
    async with LiveLab(_topology("15 min"), folder=RunFolder.create(folder, "packed"), durability=durability) as lab:
        began = time.perf_counter()
        for batch in range(POSTS // BATCH):
            posts = [Post(f"post {batch}-{index}", BODY, "kim@bench.test") for index in range(BATCH)]
            await lab.do("A", lambda node, now, posts=posts: node.post_batch(now, "Projects", posts))  # type: ignore[misc]
        await lab.advance(lab.now + 15 * 60 * 1_000_000)
        assert all(lab.read(name, _count) == POSTS for name in ("B", "C"))
        return POSTS / (time.perf_counter() - began)


async def _singles(folder: Path, durability: Durability) -> tuple[float, float, float]:
    """Send each change in its own mail. Return changes per second, and p50 and p99 in ms until both other stores show it."""
    took: list[float] = []
    async with LiveLab(_topology("0"), folder=RunFolder.create(folder, "singles"), durability=durability) as lab:
        for index in range(SINGLES):
            began = time.perf_counter()
            await lab.do("A", _one_post(index))
            await _until_all_have(lab, index + 1)
            took.append(time.perf_counter() - began)
    ordered = sorted(took)
    return SINGLES / sum(took), ordered[SINGLES // 2] * 1000, ordered[SINGLES * 99 // 100] * 1000


def _one_post(index: int):  # type: ignore[no-untyped-def]
    def post(node: LabNode, now: LabTime) -> str:
        return node.post(now, "Projects", subject=f"post {index}", body=BODY).id

    return post


def figures(durability: Durability) -> dict[str, float | str]:
    """Posts of 1 KB into one store until the two others show them: posts/s, changes/s, ms."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        packed = asyncio.run(_packed(path, durability))
        bulk = asyncio.run(_bulk(path, durability))
        rate, p50, p99 = asyncio.run(_singles(path, durability))
    return {
        "packed posts/s converged (cycle)": round(packed),
        "bulk posts/s converged (immediate)": round(bulk),
        "one-change mails: changes/s converged": round(rate),
        "single post visible, p50 ms": round(p50, 2),
        "single post visible, p99 ms": round(p99, 2),
    }
