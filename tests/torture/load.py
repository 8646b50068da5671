"""The load of the torture test: more in one replication interval than a store does at once, on every driver.

Lab time waits for a store that works, however slow the machine is. So large posts converge at the next cycle in every driver,
and `advance` returns only when all posts that were due have arrived.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

from node.views import Post
from pflab.drivers.existing_lab import ExistingLab
from pflab.lab.lab import Lab
from pflab.server.convergence import Convergence
from tests.support.clock import ALWAYS_US, START_AT
from tests.support.lab_factory import lab_factory
from tests.support.topologies import TWO_STORES
from tests.torture.machine import Machine
from tests.torture.posters import FOLDER, TortureFailed
from topology.file.load import topology_from_text
from traces.labtime import HOUR_US, MINUTE_US, format_instant

DRIVERS = ("live", "processes", "http")
"""Embedded stores, processes, and a lab of `pflab coordinate` that is used over HTTP."""

ANSWER_S = 900.0
"""How long a busy lab may take to answer over HTTP."""

STORES = ("A", "B")
LARGE = "x" * 200_000
LARGE_BATCH = 40
SMALL_BATCH = 1000


@asynccontextmanager
async def lab_of(driver: str, folder: Path) -> AsyncIterator[Lab]:
    """Run a lab of two stores."""
    with ExitStack() as at_end:
        if driver == "http":
            topology = topology_from_text(TWO_STORES)
            machine = at_end.enter_context(Machine(topology, folder / "lab", folder / "logs", "normal", power=False))
            lab: Lab = ExistingLab(machine.topology, machine.client(ANSWER_S))
        else:
            lab = lab_factory(driver, folder, at_end)(TWO_STORES)
        async with lab:
            yield lab


async def check_load(driver: str, folder: Path, *, mails: int, unsent: int) -> str:
    """Post large posts and let them converge, then many small posts, and advance; return the figures. Raise TortureFailed if
    the lab time is not the one of an idle machine, or if a post has not arrived."""
    async with lab_of(driver, folder) as lab:
        began_s = time.monotonic()
        await _post(lab, "large", LARGE, mails, LARGE_BATCH)
        posted_s = time.monotonic()
        held = await lab.until(Convergence(lab, FOLDER), START_AT + 60 * HOUR_US)
        converged_s = time.monotonic()
        if not held or lab.now != START_AT + ALWAYS_US:
            raise TortureFailed(f"{driver}: converged {held}, at {format_instant(lab.now)}")
        await _post(lab, "small", "", unsent, SMALL_BATCH)
        await lab.advance(lab.now + 30 * MINUTE_US)
        advanced_s = time.monotonic()
        counts = [lab.read(name, lambda node: node.count(FOLDER)) for name in STORES]
        if counts != [mails + unsent] * len(STORES):
            raise TortureFailed(f"{driver}: the stores have {counts} posts of {mails + unsent}")
    return (
        f"{driver}: {mails} posts of {len(LARGE) // 1000} KB in {posted_s - began_s:.0f} s, converged at 00:15 after"
        f" {converged_s - posted_s:.0f} s; {unsent} more posted and delivered by advance in {advanced_s - converged_s:.0f} s"
    )


async def _post(lab: Lab, name: str, body: str, count: int, most: int) -> None:
    for first in range(0, count, most):
        posts = [Post(f"{name} {number}", body) for number in range(first, min(first + most, count))]
        await lab.do("A", lambda node, now, posts=posts: node.post_batch(now, FOLDER, posts))  # type: ignore[misc]
