"""What every lab with real sockets has in common, wherever its nodes run: one clock led by a coordinator, faults that
stand between the nodes, a record, and servers that rise and leave.

`pflab.drivers.live` runs the nodes in its own event loop, `pflab.drivers.processes` each in a process. They differ in
what a host is.

The certificates of a lab as files, one set a server.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

import aiosmtplib

from node.codec.certificates import server_certificate
from node.codec.signing import derived_seed
from node.errors import MailRefused, NotRunning
from pflab.faults.fault_plan import FaultPlan
from pflab.faults.mail_capture import with_capture
from pflab.lab.lab import STRANGER
from pflab.lab.recorded_lab import RecordedLab
from pflab.runs.recorder import Record
from transport.smtp.tls import Tls, load_tls

if TYPE_CHECKING:
    from pathlib import Path

    from node.host.host import Address
    from pflab.lab.coordinator import Coordinator
    from pflab.runs.run_folder import RunFolder
    from topology import Topology
    from traces.labtime import LabTime
    from transport.envelope import Transmission


HostT = TypeVar("HostT")
"""What the lab has of each running server."""


class SocketLab(RecordedLab, Generic[HostT]):
    """A live lab.

    folder: where databases and traces go. seed: fixes GUIDs and keys, not the order of events, which is the
    network's. tls: servers offer STARTTLS and insist on it, with certificates of the lab's authority. The clock stands
    until `coordinator.set_rate`, `advance` or `until` move it.
    """

    coordinator: Coordinator

    def __init__(
        self,
        topology: Topology,
        *,
        folder: RunFolder,
        seed: int,
        run: str | None,
        durability: Literal["full", "normal"],
        tls: bool,
        record: Record | None = None,
    ) -> None:
        run = run if run is not None else f"{folder.path.parent.name}/{folder.path.name}"
        if record is None:
            record = Record(run, folder=folder, now=lambda: self.now, real_time=time.time)
        super().__init__(topology, seed=seed, run=run, record=record)
        self._folder = folder
        self._durability = durability
        self.faults = FaultPlan(
            topology,
            injected=self._fault_injected,
            altered=self._fault_altered,
            healed=self._fault_healed,
            crash_points=False,
            tls=tls,
        )
        self.decide = with_capture(self.faults.decide, folder)
        self._hosts: dict[str, HostT] = {}
        self._tls = tls

    # --- what it is

    @property
    def now(self) -> LabTime:
        return self.coordinator.now

    @property
    def folder(self) -> Path:
        return self._folder.path

    # --- time

    async def settle(self) -> None:
        await self._ready()
        await self.coordinator.quiet()

    async def advance(self, to_at: LabTime) -> None:
        await self._ready()
        await self.coordinator.warp(to_at)
        self.faults.expire(self.now)

    async def until(self, predicate: Callable[[], bool], limit_at: LabTime) -> bool:
        await self._ready()
        held = await self.coordinator.warp(limit_at, predicate)
        self.faults.expire(self.now)
        return held

    async def _ready(self) -> None:
        """What must be done before the lab moves."""

    # --- what happened

    def _clock_changed(self, how: str, rate: float, to_at: LabTime) -> None:
        self._record.clock_changed(how, rate, to_at)

    def _fault_injected(self, fault: str, kind: str, details: Mapping[str, str]) -> None:
        self._record.fault_injected(fault, kind, details)

    def _fault_altered(self, fault: str, server: str, crossed: Transmission) -> None:
        self._record.fault_altered(fault, server, crossed)

    def _fault_healed(self, fault: str) -> None:
        self._record.fault_healed(fault)

    # --- the end

    async def _end(self) -> None:
        for failed in await self._stop_all():
            raise failed

    async def _stop_all(self) -> list[BaseException]:
        """Stop every host, whatever becomes of each. What went wrong."""
        results = await asyncio.gather(*[self.stop(name) for name in list(self._hosts)], return_exceptions=True)
        return [result for result in results if isinstance(result, BaseException)]

    # --- hosts

    def _hosts_in_order(self) -> list[HostT]:
        return [self._hosts[name] for name in self._servers.names if name in self._hosts]

    def _host(self, name: str) -> HostT:
        server = self._servers.server(name)
        host = self._hosts.get(name)
        if host is None:
            raise NotRunning(f"server {name} {server.status.value}; start it first")
        return host


async def hand_in(address: Address, sender: str, recipients: Sequence[str], content: bytes) -> None:
    """Ordinary mail into a server, as any mail program does. Raises MailRefused."""
    host, port = address
    try:
        client = aiosmtplib.SMTP(hostname=host, port=port, local_hostname=STRANGER, start_tls=False)
        async with client:
            await client.sendmail(sender, list(recipients), content)
    except aiosmtplib.SMTPRecipientsRefused as error:
        first = error.recipients[0]
        raise MailRefused(first.code, first.message) from error
    except aiosmtplib.SMTPResponseException as error:
        raise MailRefused(error.code, error.message) from error


_OWNER_ONLY = 0o600


def tls_of(folder: Path, seed: int, server: str) -> Tls:
    """The TLS of a server of the lab with that seed; its files are (re)written below `folder`."""
    made = server_certificate(derived_seed(seed, "authority"), server)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{server}.crt", folder / f"{server}.key", folder / "authority.crt"]
    for path, content in zip(paths, (made.certificate, made.private_key, made.authority), strict=True):
        path.touch(mode=_OWNER_ONLY)
        path.write_bytes(content)
    return load_tls(*paths)
