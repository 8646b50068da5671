"""What nodes in other processes need to know of the lab: the addresses of their peers, and whether to ask about faults."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pflab.faults.fault import FaultKind

if TYPE_CHECKING:
    from node.host.host import Address
    from pflab.drivers.host_proxy import RemoteHost
    from pflab.faults.fault_plan import FaultPlan


class PeerNotifier:
    """Tells all nodes of a lab the addresses of their peers.

    hosts: the hosts that answer. smtp_of: the address at which one takes mail. lab: the address of the lab's HTTP server.
    keeps_mails: nodes show every mail that leaves to the lab, even without faults.
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
        self._telling: asyncio.Task[None] | None = None

    async def tell(self) -> None:
        """Tell all nodes at once."""
        peers = self._peers()
        await asyncio.gather(*[host.meet(peers) for host in self._hosts()])

    def tell_soon(self) -> None:
        """Tell all nodes in a task of its own, for callers that cannot wait. `all_told` waits for it before the lab moves."""
        before = self._telling

        async def tell() -> None:
            if before is not None:
                await before
            await self.tell()

        self._telling = asyncio.get_running_loop().create_task(tell())

    async def all_told(self) -> None:
        """Wait until all nodes have been told. Raises the error of a `tell` that failed."""
        if self._telling is not None:
            await self._telling
            self._telling = None

    async def end(self) -> None:
        """Wait until nothing is under way, whether it failed or not."""
        if self._telling is not None:
            await asyncio.gather(self._telling, return_exceptions=True)

    def _peers(self) -> dict[str, object]:
        lab_host, lab_port = self._lab()
        return {
            "addresses": {host.name: self._smtp_of(host.name) for host in self._hosts()},
            "asks": self._keeps_mails or any(fault.kind is not FaultKind.KILL for fault in self._faults.active()),
            "keeps": self._keeps_mails,
            "verbs": self._faults.has_verb_faults,
            "coordinator": f"{lab_host}:{lab_port}",
        }
