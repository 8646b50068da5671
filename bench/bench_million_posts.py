"""A million posts, measured as in the benchmark `many_posts`. It takes about ten minutes."""

from __future__ import annotations

from bench import bench_many_posts
from bench.bench_processes import Durability


def figures(durability: Durability) -> dict[str, float | str]:
    """The figures of the benchmark `many_posts` for a million posts."""
    return bench_many_posts.figures(durability, 1_000_000)
