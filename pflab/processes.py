"""The driver of processes: every node a process of its own, led over HTTP, with real mail between them.

A node's process is what a container runs (`python -m node`). This driver starts and ends the processes, tells each
where the others are, keeps their clocks together (`RemoteCoordinator`), and gathers their events. Faults stay here: while
any is in force, nodes ask before each mail (`pflab.face`). A killed node's process is killed, by SIGKILL.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast

from node.errors import NotRunning
from node.serving import HttpServer
from pflab.child import Child
from pflab.client import Client
from pflab.face import make_face
from pflab.fault import FaultKind
from pflab.faults import FaultPlan
from pflab.gathered import Gathered
from pflab.keptmail import gate_of
from pflab.lab import Lab, LabError
from pflab.labtls import tls_of
from pflab.live import hand_in
from pflab.members import Member, Standing
from pflab.record import Record
from pflab.remote import RemoteHost, RemoteNode
from pflab.remote_clock import RemoteCoordinator

if TYPE_CHECKING:
    from node.core import Node
    from pflab.runfolder import RunFolder
    from topology import Topology
    from traces.events import Event
    from traces.labtime import LabTime

T = TypeVar("T")


GATHER_S: Final = 0.25
"""Real time between two gatherings of events while the clock runs."""


class ProcessLab(Lab):
    """A live lab of processes; see LiveLab for folder, seed, run and durability.

    http_port: where the lab's face listens (`pflab.face`), see `url`. tls: servers offer STARTTLS and insist on it.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        folder: RunFolder,
        seed: int = 1,
        run: str | None = None,
        durability: Literal["full", "normal"] = "normal",
        http_port: int = 0,
        tls: bool = False,
    ) -> None:
        super().__init__()
        self.topology = topology
        self.seed = seed
        self._folder = folder
        self._durability = durability
        self._run = run if run is not None else f"{folder.path.parent.name}/{folder.path.name}"
        self._record = Record(self._run, folder=folder, now=lambda: self.now, real_time=time.time)
        self.faults = FaultPlan(
            topology, injected=self._fault_injected, healed=self._fault_healed, crash_points=False, tls=tls
        )
        self.gate = gate_of(self.faults, folder)
        self._members = {name: Member(name) for name in topology.servers}
        self._joined: list[str] = []
        self._children: dict[str, Child] = {}
        self._hosts: dict[str, RemoteHost] = {}
        self._nodes: dict[str, RemoteNode] = {}
        self._gathered = Gathered(self._record, folder, topology.servers)
        self.coordinator = RemoteCoordinator(
            topology.start_at,
            lambda: [host for host in self._hosts_in_order() if not host.silent],
            every=self._hosts_in_order,
            monotonic=time.monotonic,
            changed=self._clock_changed,
        )
        self.coordinator.back = self._met
        self._server = HttpServer(make_face(self, self._address_of), port=http_port)
        self._gathering: asyncio.Task[None] | None = None
        self._telling: asyncio.Task[None] | None = None
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
        return tuple(self._members)

    @property
    def url(self) -> str:
        """Where the lab's face is."""
        host, port = self._server.address
        return f"http://{host}:{port}"

    def running(self, name: str) -> bool:
        return self._member(name).standing is Standing.RUNNING and name in self._hosts

    def url_of(self, name: str) -> str:
        """Where a running node's own API is. Raises NotRunning."""
        host, port = self._host(name).address
        return f"http://{host}:{port}"

    def pid_of(self, name: str) -> int:
        """The process of a running node. Raises NotRunning."""
        self._host(name)
        return self._children[name].pid

    def smtp_of(self, name: str) -> tuple[str, int]:
        """Where a running node listens for mail. Raises NotRunning."""
        self._host(name)
        return self._children[name].smtp

    # --- users

    async def do(self, name: str, fn: Callable[[Node, LabTime], T]) -> T:
        await self._all_told()
        async with self.coordinator.steady() as now:
            host = self._host(name)
            try:
                # The face is that of a node, in as much as users of one see of it.
                return fn(cast("Node", self._nodes[name]), now)
            finally:
                await host.look(now)

    async def mail(self, name: str, sender: str, recipients: Sequence[str], content: bytes) -> None:
        await self._all_told()
        host = self._host(name)
        async with self.coordinator.steady() as now:
            await hand_in(self._children[name].smtp, sender, recipients, content)
            await host.look(now)

    def read(self, name: str, fn: Callable[[Node], T]) -> T:
        host, node = self._host(name), self._nodes[name]
        if host.changed or not self._still:
            node.forget_reads()
            host.changed = False
        node.keep_reads(True)
        return fn(cast("Node", node))

    _still = False
    """While a predicate is asked in a warp nothing moves, and what did not change since it was asked last is known."""

    # --- time

    async def settle(self) -> None:
        await self._all_told()
        await self.coordinator.quiet()

    async def advance(self, to_at: LabTime) -> None:
        await self._all_told()
        await self.coordinator.warp(to_at)
        self.faults.expire(self.now)

    async def until(self, predicate: Callable[[], bool], limit_at: LabTime) -> bool:
        await self._all_told()

        def holds() -> bool:
            self._still = True
            try:
                return predicate()
            finally:
                self._still = False

        held = await self.coordinator.warp(limit_at, holds)
        self.faults.expire(self.now)
        return held

    # --- life and death

    async def stop(self, name: str) -> None:
        child = self._leave(name, Standing.STOPPED)
        await child.stop()
        self._gathered.salvage(name)
        await self._tell()

    async def kill(self, name: str) -> None:
        child = self._leave(name, Standing.KILLED)
        await child.kill()
        self._gathered.salvage(name)
        self._kills[name] = self.faults.killed(name)
        await self._tell()

    async def start(self, name: str) -> None:
        await self._rise(self._member(name))
        if name in self._kills:
            self.faults.heal(self._kills.pop(name))

    def _will_restore(self, name: str, content: bytes) -> None:
        self._member(name).restores = content

    # --- what happened

    def events(self, since: int = 0) -> Sequence[Event]:
        self._gathered.flush()
        return self._record.events(since)

    async def _gather(self) -> None:
        """While the clock runs by itself nobody else looks."""
        while True:
            await asyncio.sleep(GATHER_S)
            if self.coordinator.rate and not self.coordinator.warping:
                await self.coordinator.look()

    def _note(self, kind: type[Event], **fields: object) -> None:
        self._gathered.flush()
        self._record.note(kind, **fields)

    def _clock_changed(self, how: str, rate: float, to_at: LabTime) -> None:
        self._gathered.flush()
        self._record.clock_changed(how, rate, to_at)

    def _fault_injected(self, fault: str, kind: str, details: Any) -> None:
        self._gathered.flush()
        self._record.fault_injected(fault, kind, details)
        self._tell_soon()

    def _fault_healed(self, fault: str) -> None:
        self._gathered.flush()
        self._record.fault_healed(fault)
        self._tell_soon()

    # --- beginning and end

    async def up(self) -> None:
        self._record.run_started(self.topology, self.seed, driver="processes", durability=self._durability)
        self._folder.write_inputs(self.topology.as_yaml(), self.seed)
        await self._server.start()
        present = [member for member in self._members.values() if not self._joins_later(member.name)]
        async with self.coordinator.steady() as now:
            risen = await asyncio.gather(*[self._begin(member, now) for member in present], return_exceptions=True)
            for failed in risen:
                if isinstance(failed, BaseException):
                    raise failed
            await self._let_go([member.name for member in present])
        await self.coordinator.look()
        self._gathering = asyncio.create_task(self._gather(), name="gather events")

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            if self._gathering is not None:
                self._gathering.cancel()
                await asyncio.gather(self._gathering, return_exceptions=True)
            names = list(self._hosts)
            results = await asyncio.gather(*[self.stop(name) for name in names], return_exceptions=True)
            if self._telling is not None:
                await asyncio.gather(self._telling, return_exceptions=True)
            await self._server.stop()
            for result in results:
                if isinstance(result, BaseException):
                    raise result
        finally:
            for child in self._children.values():
                await child.kill()
            self._gathered.flush()
            self._record.run_ended(self.verdict)
            self._record.close()

    # --- members

    def _member(self, name: str) -> Member:
        found = self._members.get(name)
        if found is None:
            raise LabError(f"there is no server {name!r} in this lab; there is {', '.join(self._members)}")
        return found

    def _hosts_in_order(self) -> list[RemoteHost]:
        return [self._hosts[name] for name in self._members if name in self._hosts]

    def _host(self, name: str) -> RemoteHost:
        member = self._member(name)
        host = self._hosts.get(name)
        if host is None:
            raise NotRunning(f"server {name} {member.standing.value}; start it first")
        return host

    def _address_of(self, name: str) -> tuple[str, int]:
        return self._host(name).address

    def _leave(self, name: str, standing: Standing) -> Child:
        """Take a server out of the lab: from now on nobody finds it."""
        self._host(name).close()
        del self._hosts[name]
        self._nodes.pop(name).close()
        self._member(name).standing = standing
        return self._children[name]

    def _joins_later(self, name: str) -> bool:
        return self.topology.servers[name].joins_later

    async def _rise(self, member: Member) -> None:
        if member.name in self._hosts:
            if self._children[member.name].alive:
                raise LabError(f"server {member.name} is running already")
            self._leave(member.name, Standing.KILLED)  # it died by another's hand
            self._gathered.salvage(member.name)
        async with self.coordinator.steady() as now:
            await self._begin(member, now)
            await self._let_go([member.name])
        for other, store in self._untold():
            self._nodes[other.name].join(now, store)
            other.told.append(store)
        await asyncio.gather(*[host.look(self.now) for host in self._hosts.values()])

    async def _begin(self, member: Member, now: LabTime) -> None:
        """The process of a server, from nothing to the first answer."""
        name = member.name
        first = member.standing is Standing.ABSENT
        child = Child(name, folder=self._folder, run=self._run, durability=self._durability)
        self._children[name] = child
        if member.restores is not None:
            member.told.clear()  # what the backup does not know must be said again
        restores, member.restores = member.restores, None
        tls = self._folder.path / "tls" if self._tls else None
        if tls is not None:
            tls_of(tls, self.seed, name)
        await child.start(now, self.coordinator.rate, restores, tls)
        self._nodes[name] = RemoteNode(name, Client(child.url))
        known = self._gathered
        host = RemoteHost(name, child.http, token=None, seq=known.last_seq[name], events=known.came)
        self._hosts[name] = host
        member.standing = Standing.RUNNING
        if first and self._joins_later(name):
            self._joined.append(name)
        await host.look(now)

    async def _let_go(self, names: Sequence[str]) -> None:
        """New processes begin once everybody knows where everybody is."""
        await self._tell()
        hosts = [self._hosts[name] for name in names]
        await asyncio.gather(*[host.set_clock(self.now, self.coordinator.rate) for host in hosts])
        await asyncio.gather(*[host.go() for host in hosts])

    def _untold(self) -> list[tuple[Member, str]]:
        return [
            (self._members[name], store)
            for store in self._joined
            for name in self._members
            if name in self._hosts and store != name and store not in self._members[name].told
        ]

    # --- who is where, and who has to ask

    def _peers(self) -> dict[str, Any]:
        host, port = self._server.address
        keeps = self._folder.keeps_mails
        return {
            "addresses": {name: self._children[name].smtp for name in self._hosts},
            "asks": keeps or any(fault.kind is not FaultKind.KILL for fault in self.faults.active()),
            "keeps": keeps,
            "verbs": self.faults.verbs_wait,
            "coordinator": f"{host}:{port}",
        }

    async def _met(self, host: RemoteHost) -> None:
        await host.meet(self._peers())

    async def _tell(self) -> None:
        peers = self._peers()
        await asyncio.gather(*[host.meet(peers) for host in self._hosts_in_order()])

    def _tell_soon(self) -> None:
        """A fault begins or ends, in a call that cannot wait; whoever moves the lab next waits for it."""
        before = self._telling

        async def tell() -> None:
            if before is not None:
                await before
            await self._tell()

        self._telling = asyncio.get_running_loop().create_task(tell())

    async def _all_told(self) -> None:
        if self._telling is not None:
            await self._telling
            self._telling = None
