"""Sends nodes in other processes the addresses of their peers, whether they must ask the lab about faults, and their skews."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pflab.faults.fault import Kill

if TYPE_CHECKING:
    from node.host.host import Address
    from pflab.drivers.host_proxy import RemoteHost
    from pflab.faults.fault_plan import FaultPlan


class PeerNotifier:
    """Sends all nodes of a lab the addresses of their peers, whether to ask about faults, and how wrong their clocks are.

    hosts: the hosts that answer.
    smtp_of: the address at which a server takes mail.
    lab: the address of the lab's HTTP server.
    keeps_mails: nodes send a copy of every outgoing mail to the lab, even without faults.
    """

    def __init__(
        self,
        hosts: Callable[[], Sequence[RemoteHost]],
        *,
        smtp_of: Callable[[str], Address],
        lab: Callable[[], Address],
        faults: FaultPlan,
        keeps_mails: bool,
    ) -> None:
        self._hosts = hosts
        self._smtp_of = smtp_of
        self._lab = lab
        self._faults = faults
        self._keeps_mails = keeps_mails
        self._notifying: asyncio.Task[None] | None = None

    async def notify(self) -> None:
        """Notify all nodes now."""
        peers = self._peers()
        await asyncio.gather(
            *[host.meet({**peers, "skew_us": self._faults.skew_us(host.name)}) for host in self._hosts()]
        )

    def notify_soon(self) -> None:
        """Notify all nodes in a task, for callers that cannot wait. The lab calls `wait_notified` before it moves the clock."""
        before = self._notifying

        async def notify() -> None:
            if before is not None:
                await before
            await self.notify()

        self._notifying = asyncio.get_running_loop().create_task(notify())

    async def wait_notified(self) -> None:
        """Wait until all nodes are notified. Raises the error of a notification that failed."""
        while (notifying := self._notifying) is not None:
            await notifying
            if self._notifying is notifying:
                self._notifying = None

    async def end(self) -> None:
        """Wait until no notification is in progress. Ignore notifications that failed."""
        if self._notifying is not None:
            await asyncio.gather(self._notifying, return_exceptions=True)

    def _peers(self) -> dict[str, object]:
        lab_host, lab_port = self._lab()
        return {
            "addresses": {host.name: self._smtp_of(host.name) for host in self._hosts()},
            "asks": self._keeps_mails or any(not isinstance(fault.asked, Kill) for fault in self._faults.active()),
            "keeps": self._keeps_mails,
            "verbs": self._faults.has_verb_faults,
            "coordinator": f"{lab_host}:{lab_port}",
        }
