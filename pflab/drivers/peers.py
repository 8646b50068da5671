"""Telling nodes in other processes where the others are, and whether they have to ask about faults before a mail."""

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
    """Who is where in one lab. hosts: those that answer; smtp_of: where one takes mail; lab: where the lab's face is.

    keeps_mails: every mail that leaves is shown to the lab, faults or none.
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
        """Tell all at once."""
        peers = self._peers()
        await asyncio.gather(*[host.meet(peers) for host in self._hosts()])

    def tell_soon(self) -> None:
        """A fault begins or ends, in a call that cannot wait; whoever moves the lab next waits for it: `all_told`."""
        before = self._telling

        async def tell() -> None:
            if before is not None:
                await before
            await self.tell()

        self._telling = asyncio.get_running_loop().create_task(tell())

    async def all_told(self) -> None:
        """Once everybody knows. Raises what went wrong."""
        if self._telling is not None:
            await self._telling
            self._telling = None

    async def end(self) -> None:
        """Once nobody is being told any more, whatever went wrong."""
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
