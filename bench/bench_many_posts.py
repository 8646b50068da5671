"""Ten times as many posts as in the benchmark `processes`, to see whether the time for a post and the memory grow."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Final

from bench.bench_processes import Durability, bulk

FEW: Final = 10_000
MANY: Final = 100_000


def figures(durability: Durability, many_posts: int = MANY) -> dict[str, float | str]:
    """Posts of 1 KB, 100 in a request, into one of three stores until the two others show them: us of processor time of all
    three stores for each post, posts/s, and memory of the largest store's process in MiB."""
    with tempfile.TemporaryDirectory() as name:
        few = asyncio.run(bulk(Path(name), durability, posts=FEW))
        many = asyncio.run(bulk(Path(name), durability, posts=many_posts))
    return {
        f"bulk of {many_posts:,} posts: posts/s converged": round(many.posts_per_s),
        f"bulk of {many_posts:,} posts: us of processors a post": round(many.cpu_us),
        f"bulk of {many_posts:,} posts: us a post, ratio to {FEW:,}": round(many.cpu_us / few.cpu_us, 2),
        f"MiB of a store's process after {FEW:,} posts": round(few.memory_mib, 1),
        f"MiB of a store's process after {many_posts:,} posts": round(many.memory_mib, 1),
    }
