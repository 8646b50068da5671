"""The coordinator of hosts in other processes: what it would look up in its own, it asks of all of them at once.

A host that does not answer takes no part until it does, and then gets the lab's time before anything else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pflab.drivers.host_proxy import RemoteHost
from pflab.lab.coordinator import LOOK_AGAIN_S, Coordinator
from traces.labtime import LabTime


class RemoteCoordinator(Coordinator):
    """Leads hosts in other processes: before it judges whether the lab is quiet, it asks them all at once.

    `company` is called when a host is lost, or is back: the others must know. `returning`, with the lab's time, when one is
    back that has not been let go: it may have missed something.
    """

    def __init__(self, *args: Any, every: Callable[[], Sequence[RemoteHost]], **more: Any) -> None:
        super().__init__(*args, **more)
        self._every = every
        self._lost: set[str] = set()
        self.company: Callable[[], Awaitable[None]] | None = None
        self.returning: Callable[[LabTime], None] = lambda _: None

    async def look(self) -> None:
        """Learn how all hosts stand, and take in their events."""
        await self._ask_all(0.0)

    async def _look(self) -> None:
        await self.look()

    async def _rest(self) -> None:
        await self._ask_all(LOOK_AGAIN_S)

    async def _ask_all(self, wait_s: float) -> None:
        now = self.now
        hosts = self._every()
        await asyncio.gather(*[host.look(now, wait_s) for host in hosts if not host.silent])
        for host in hosts:
            if host.silent and await host.back():
                await host.hold()
                await host.set_clock(now, self.rate)
                self.returning(now)
                await host.go()
        lost = {host.name for host in hosts if host.lost}
        if lost != self._lost:
            self._lost = lost
            if self.company is not None:
                await self.company()
