"""Many posts that one replication cycle sends: does `advance` return with all of them delivered?"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Final

from bench.bench_processes import Durability, Users, filled, three_stores
from traces.labtime import MINUTE_US

POSTS: Final = 50_000


async def _cycle(folder: Path, durability: Durability) -> float:
    """Return the seconds that `advance` takes to the end of the cycle. All posts must be on all stores then."""
    async with three_stores(folder, "cycle", durability, interval="15 min") as lab:
        users = Users(lab)
        await filled(users, POSTS)
        began_s = time.perf_counter()
        await lab.advance(lab.now + 15 * MINUTE_US)
        took_s = time.perf_counter() - began_s
        counts = [await users.count(name) for name in lab.names]
        users.close()
        assert counts == [POSTS] * len(counts), f"after the cycle the stores have {counts} posts"
        return took_s


def figures(durability: Durability) -> dict[str, float | str]:
    """Posts of 1 KB are made on one of three stores while the clock stands still. Then lab time advances by 15 minutes: seconds
    until the call returns, when the two other stores have all posts."""
    with tempfile.TemporaryDirectory() as name:
        took_s = asyncio.run(_cycle(Path(name), durability))
    return {
        f"one cycle of {POSTS:,} posts, s": round(took_s, 2),
        f"one cycle of {POSTS:,} posts, posts/s": round(POSTS / took_s),
    }
