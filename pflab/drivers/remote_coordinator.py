"""The coordinator of hosts in other processes: it asks all of them for their state at the same time.

The coordinator waits for a host as long as its process lives (`pflab.drivers.pulse`). Otherwise it passes the host over. When
the host answers again, the coordinator first sets the host's clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from pflab.drivers.host_proxy import RemoteHost
from pflab.lab.coordinator import LOOK_AGAIN_S, Coordinator, Ending
from traces.labtime import LabTime

OUTSIDE_S: Final = 0.02
"""Real time between two requests to idle hosts while lab time waits for something outside them."""


class RemoteCoordinator(Coordinator):
    """Coordinates hosts in other processes. It asks all of them for their state before it decides whether the lab is quiet.

    every: returns all hosts, answering or not.
    hosts_changed: called when a host is passed over or answers again, so that all nodes learn the addresses of their peers.
    faults_known: waits until all nodes know which faults are active.
    returning: called when a host answers again and before it runs, because the host may have missed directory updates.
    """

    def __init__(
        self,
        start_at: LabTime,
        hosts: Callable[[], Sequence[RemoteHost]],
        *,
        every: Callable[[], Sequence[RemoteHost]],
        monotonic: Callable[[], float],
        changed: Callable[[str, float, LabTime], None],
        faults: Ending,
        outside: Callable[[], str],
        hosts_changed: Callable[[], Awaitable[None]],
        faults_known: Callable[[], Awaitable[None]],
        returning: Callable[[], None],
    ) -> None:
        super().__init__(start_at, hosts, monotonic=monotonic, changed=changed, faults=faults, outside=outside)
        self._every = every
        self._passed_over: set[str] = set()
        self._hosts_changed = hosts_changed
        self._faults_known = faults_known
        self._returning = returning

    async def look(self) -> None:
        """Ask all hosts for their state and their events."""
        await self._ask_all(0.0)

    async def _look(self) -> None:
        await self.look()

    async def _announce_faults(self) -> None:
        await self._faults_known()

    async def _find_again(self) -> None:
        await self._ask_all(0.0, at_once=True)

    async def _rest(self) -> None:
        if not self._any_host_busy():
            await asyncio.sleep(OUTSIDE_S)  # idle hosts answer at once
        await self._ask_all(LOOK_AGAIN_S)

    async def _ask_all(self, wait_s: float, *, at_once: bool = False) -> None:
        now = self.now
        hosts = self._every()
        await asyncio.gather(*[host.look(now, wait_s) for host in hosts if not host.silent])
        for host in hosts:
            if host.silent and await host.back(at_once=at_once):
                await host.hold()
                await host.set_clock(now, self.rate)
                self._returning()
                # Even a host that was silent only for a moment may have missed a notification.
                await self._hosts_changed()
                self._passed_over.discard(host.name)
                await host.go()
        passed_over = {host.name for host in hosts if host.silent}
        if passed_over != self._passed_over:
            self._passed_over = passed_over
            await self._hosts_changed()
