"""The live driver: every node with its own database file and its own SMTP listener, all in one process and event
loop.

Mail goes over real sockets on the loopback interface; time is the coordinator's. Nodes share nothing: a host finds
the next server by the address that the lab gives it, and the fault plan stands between them as a broken line would.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import aiosmtplib

from node.errors import MailRefused, NotRunning
from node.host import Address, Host
from node.labclock import LabClock
from pflab.coordinator import Coordinator
from pflab.faults import FaultPlan
from pflab.keptmail import gate_of
from pflab.lab import STRANGER, Lab, LabError
from pflab.labtls import tls_of
from pflab.members import Member, MemberPlan, Members, NodeFactory, Standing, default_node
from pflab.record import Record

if TYPE_CHECKING:
    from node.core import Node
    from pflab.runfolder import RunFolder
    from topology import Topology
    from traces.events import Event
    from traces.labtime import LabTime

T = TypeVar("T")

LOOPBACK = "127.0.0.1"


class LiveLab(Lab):
    """A live lab in one process.

    folder: where databases and traces go. seed: fixes GUIDs and keys, not the order of events, which is the
    network's. tls: servers offer STARTTLS and insist on it, with certificates of the lab's authority. ports: SMTP ports
    by server name; the others get free ones, see `address_of`. The clock stands until `coordinator.set_rate`, `advance`
    or `until` move it.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        folder: RunFolder,
        seed: int = 1,
        run: str | None = None,
        durability: Literal["full", "normal"] = "normal",
        ports: Mapping[str, int] | None = None,
        make_node: NodeFactory = default_node,
        tls: bool = False,
    ) -> None:
        super().__init__()
        self.topology = topology
        self.seed = seed
        self._folder = folder
        self._durability = durability
        self._run = run if run is not None else f"{folder.path.parent.name}/{folder.path.name}"
        self._ports = dict(ports or {})
        self._record = Record(self._run, folder=folder, now=lambda: self.now, real_time=time.time)
        self.faults = FaultPlan(
            topology,
            injected=self._record.fault_injected,
            healed=self._record.fault_healed,
            crash_points=False,
            tls=tls,
        )
        self.gate = gate_of(self.faults, folder)
        self._hosts: dict[str, Host] = {}
        self._addresses: dict[str, Address] = {}
        self.coordinator = Coordinator(
            topology.start_at, self._hosts_in_order, monotonic=time.monotonic, changed=self._record.clock_changed
        )
        self._members = Members(
            MemberPlan(
                topology=topology,
                run=self._run,
                seed=seed,
                arrivals=self.faults,
                on_events=self._record.extend,
                make_node=make_node,
                folder=folder,
                databases_on_disk=True,
                durability=durability,
                real_time=time.time,
            )
        )
        self._kills: dict[str, str] = {}
        self._tls = tls
        self._closed = False

    # --- what it is

    @property
    def now(self) -> LabTime:
        return self.coordinator.now

    @property
    def run(self) -> str:
        return self._run

    @property
    def folder(self) -> Path:
        return self._folder.path

    @property
    def names(self) -> tuple[str, ...]:
        return self._members.names

    def running(self, name: str) -> bool:
        return self._members.member(name).standing is Standing.RUNNING

    def events(self, since: int = 0) -> Sequence[Event]:
        return self._record.events(since)

    def address_of(self, name: str) -> Address | None:
        """Where a running server listens for SMTP; None if it does not run."""
        return self._addresses.get(name)

    def host_of(self, name: str) -> Host:
        """The host of a running server. Raises LabError, NotRunning."""
        return self._host(name)

    # --- users

    async def do(self, name: str, fn: Callable[[Node, LabTime], T]) -> T:
        async with self.coordinator.steady():
            return self._host(name).do(fn)

    async def mail(self, name: str, sender: str, recipients: Sequence[str], content: bytes) -> None:
        self._host(name)
        async with self.coordinator.steady():
            await hand_in(self._addresses[name], sender, recipients, content)

    def read(self, name: str, fn: Callable[[Node], T]) -> T:
        return self._host(name).read(fn)

    # --- time

    async def settle(self) -> None:
        await self.coordinator.quiet()

    async def advance(self, to_at: LabTime) -> None:
        await self.coordinator.warp(to_at)
        self.faults.expire(self.now)

    async def until(self, predicate: Callable[[], bool], limit_at: LabTime) -> bool:
        held = await self.coordinator.warp(limit_at, predicate)
        self.faults.expire(self.now)
        return held

    # --- life and death

    async def stop(self, name: str) -> None:
        host = self._leave(name, Standing.STOPPED)
        await host.stop()

    async def kill(self, name: str) -> None:
        host = self._leave(name, Standing.KILLED)
        # What it had committed goes to the trace now, for it may never start again.
        host.read(lambda node: node.export())
        await host.kill()
        self._kills[name] = self.faults.killed(name)

    async def start(self, name: str) -> None:
        await self._rise(self._members.member(name))
        if name in self._kills:
            self.faults.heal(self._kills.pop(name))

    def _will_restore(self, name: str, content: bytes) -> None:
        self._members.member(name).restores = content

    def _note(self, kind: type[Event], **fields: object) -> None:
        self._record.note(kind, **fields)

    # --- beginning and end

    async def up(self) -> None:
        self._record.run_started(self.topology, self.seed, driver="live", durability=self._durability)
        for member in self._members.present_at_start():
            await self._rise(member)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            await self._end()
        finally:
            self._record.run_ended(self.verdict)
            self._record.close()

    async def _end(self) -> None:
        """Stop every host, whatever becomes of each."""
        results = await asyncio.gather(*[self.stop(name) for name in list(self._hosts)], return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result

    # --- hosts

    def _hosts_in_order(self) -> list[Host]:
        return [self._hosts[name] for name in self._members.names if name in self._hosts]

    def _host(self, name: str) -> Host:
        host = self._hosts.get(self._members.member(name).name)
        if host is None:
            raise NotRunning(f"server {name} {self._members.member(name).standing.value}; start it first")
        return host

    def _leave(self, name: str, standing: Standing) -> Host:
        """Take a server out of the lab: from now on nobody finds it."""
        host = self._host(name)
        del self._hosts[name]
        address = self._addresses.pop(name)
        self._members.member(name).standing = standing
        for other in self._hosts.values():
            other.forget(address)
        return host

    async def _rise(self, member: Member) -> None:
        async with self.coordinator.steady() as now:
            node = self._members.rise(member, now)
            host = Host(
                node,
                clock=LabClock(now, rate=self.coordinator.rate, monotonic=time.monotonic),
                address_of=self.address_of,
                gate=self.gate,
                idle=self.coordinator.pulse,
                tls=tls_of(self._folder.path / "tls", self.seed, member.name) if self._tls else None,
            )
            port = self._ports.get(member.name, 0)
            listening = asyncio.ensure_future(host.start(LOOPBACK, port))
            try:
                self._addresses[member.name] = await asyncio.shield(listening)
            except asyncio.CancelledError:
                # Half a listener cannot be closed, a whole one can.
                await asyncio.gather(listening, return_exceptions=True)
                member.standing = Standing.STOPPED
                await host.stop()
                raise
            except OSError as error:
                member.standing = Standing.STOPPED
                node.close(now)
                raise LabError(
                    f"server {member.name} cannot listen on {LOOPBACK} port {port}: {error.strerror or error};"
                    " free the port or let the lab choose one"
                ) from error
            self._hosts[member.name] = host
            for other, store in self._members.untold():
                self._hosts[other.name].do(lambda node, now, store=store: node.join(now, store))  # type: ignore[misc]
                other.told.append(store)


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
