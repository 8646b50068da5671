"""What every lab has whose nodes are processes of their own, wherever they run: they are led over HTTP, with real mail
between them.

Such a lab tells each node where the others are, keeps their clocks together (`RemoteCoordinator`), and gathers their
events. Faults stay here: while any is in force, nodes ask before each mail (`pflab.server.app`). Where the processes come from
is the drivers' part: `pflab.drivers.processes` starts them here, `pflab.containers.managed_lab` finds them where
somebody else keeps them alive.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Generic, Literal, Protocol, TypeVar, cast

from node.api.http_server import HttpServer
from node.errors import NotRunning
from pflab.client import Client, url_at
from pflab.drivers.event_collector import EventCollector
from pflab.drivers.host_proxy import RemoteHost
from pflab.drivers.node_proxy import RemoteNode
from pflab.drivers.peers import PeerNotifier
from pflab.drivers.remote_coordinator import RemoteCoordinator
from pflab.drivers.socket_lab import SocketLab, hand_in, tls_of
from pflab.errors import LabError
from pflab.lab.servers import LabServer, Servers, ServerStatus
from pflab.server.app import app_of_remote_lab

if TYPE_CHECKING:
    from node.host.host import Address
    from node.store.node import Node
    from pflab.runs.recorder import Record
    from pflab.runs.run_folder import RunFolder
    from topology import Topology
    from traces.labtime import LabTime

T = TypeVar("T")

log = logging.getLogger("pflab.drivers.remote_lab")

COLLECT_S: Final = 0.25
"""Real time between two gatherings of events while the clock runs."""


class Process(Protocol):
    """Where a node's process is. `http` and `smtp` are where it listens, once it has started."""

    http: Address
    smtp: Address

    async def start(self, at: LabTime, rate: float, restores: bytes | None, tls: Path | None) -> None:
        """Let the store run, held, on a backup if one is given. Raises LabError."""

    async def stop(self) -> None:
        """End it in order."""

    async def kill(self) -> None:
        """Let it die at once."""


ProcessT = TypeVar("ProcessT", bound=Process)


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """Where the lab's face listens, and what whoever asks must know. Beyond loopback a token is a must.

    known_as: where the nodes find it, if that is another address. trusted: peers that count as loopback does.
    """

    host: str = "127.0.0.1"
    port: int = 0
    token: str | None = None
    known_as: Address | None = None
    trusted: frozenset[str] = frozenset()


HERE: Final = HttpOptions()
"""On loopback, at a free port."""


class RemoteLab(SocketLab[RemoteHost], Generic[ProcessT]):
    """A live lab of processes; see SocketLab for folder, seed and tls.

    face: see `url`. record and at: what is known of a run that goes on, and its time.
    """

    driver: ClassVar[str]

    def __init__(
        self,
        topology: Topology,
        *,
        folder: RunFolder,
        seed: int = 1,
        run: str | None = None,
        durability: Literal["full", "normal"] = "normal",
        tls: bool = False,
        face: HttpOptions = HERE,
        record: Record | None = None,
        at: LabTime | None = None,
    ) -> None:
        super().__init__(topology, folder=folder, seed=seed, run=run, durability=durability, tls=tls, record=record)
        self._servers: Servers = Servers(topology)
        self._processes: dict[str, ProcessT] = {}
        self.token = face.token or secrets.token_urlsafe(32)
        """What its processes know each other by; whoever else asks needs it too where the face wants it."""
        self._nodes: dict[str, RemoteNode] = {}
        self._collector = EventCollector(self.record, folder, topology.servers)
        self.record.collect = self._collector.flush
        self._peers = PeerNotifier(
            lambda: [host for host in self._hosts_in_order() if not host.lost],
            smtp_of=lambda name: self._processes[name].smtp,
            lab=lambda: face.known_as or self._server.address,
            faults=self.faults,
            keeps_mails=folder.keeps_mails,
        )
        self.coordinator: RemoteCoordinator = RemoteCoordinator(
            topology.start_at if at is None else at,
            self._answering,
            every=self._hosts_in_order,
            monotonic=time.monotonic,
            changed=self.record.clock_changed,
            hosts_changed=self._peers.tell,
            returning=self._update_directories,
        )
        app = app_of_remote_lab(self, self._address_of, self.token)
        self._server = HttpServer(app, host=face.host, port=face.port, token=face.token, trusted=face.trusted)
        self._collecting: asyncio.Task[None] | None = None
        self.begun = False

    # --- what it is

    @property
    def url(self) -> str:
        """Where the lab's face is."""
        return url_at(self._server.address)

    def url_of(self, name: str) -> str:
        """Where a running node's own API is. Raises NotRunning."""
        return url_at(self._host(name).address)

    def smtp_of(self, name: str) -> tuple[str, int]:
        """Where a running node listens for mail. Raises NotRunning."""
        self._host(name)
        return self._processes[name].smtp

    # --- users

    async def do(self, name: str, fn: Callable[[Node, LabTime], T]) -> T:
        await self._before_move()
        async with self.coordinator.steady() as now:
            host = self._host(name)
            try:
                # The face is that of a node, in as much as users of one see of it.
                return fn(cast("Node", self._nodes[name]), now)
            finally:
                await host.look(now)

    async def mail(self, name: str, sender: str, recipients: Sequence[str], content: bytes) -> None:
        await self._before_move()
        host = self._host(name)
        async with self.coordinator.steady() as now:
            await hand_in(self._processes[name].smtp, sender, recipients, content)
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

    async def _before_move(self) -> None:
        self._update_directories()
        await self._peers.all_told()

    async def until(self, predicate: Callable[[], bool], limit_at: LabTime) -> bool:
        def holds() -> bool:
            self._still = True
            try:
                return predicate()
            finally:
                self._still = False

        return await super().until(holds, limit_at)

    # --- life and death

    async def stop(self, name: str) -> None:
        self._host(name)
        process = self._leave(name, ServerStatus.STOPPED)
        await process.stop()
        await self._salvage(name)
        await self._peers.tell()

    async def kill(self, name: str) -> None:
        self._host(name)
        process = self._leave(name, ServerStatus.KILLED)
        await process.kill()
        await self._salvage(name)
        self._servers.server(name).kill_fault = self.faults.killed(name)
        await self._peers.tell()

    # --- events

    async def catch_up(self) -> None:
        """Ask the stores for their events: while the clock stands nobody else does, and people post all the same."""
        if not self.coordinator.warping:
            await self.coordinator.look()

    async def _collect(self) -> None:
        """While the clock runs by itself nobody else looks."""
        while True:
            await asyncio.sleep(COLLECT_S)
            if self.coordinator.rate and not self.coordinator.warping:
                await self.coordinator.look()

    def _faults_changed(self) -> None:
        self._peers.tell_soon()

    # --- beginning and end

    async def up(self) -> None:
        self.record.run_started(self.topology, self.seed, driver=self.driver, durability=self._durability)
        await self._server.start()
        present = self._servers.present_at_start()
        async with self.coordinator.steady() as now:
            risen = await asyncio.gather(*[self._begin(server, now) for server in present], return_exceptions=True)
            for failed in risen:
                if isinstance(failed, BaseException):
                    raise failed
            await self._let_go([server.name for server in present])
        await self.coordinator.look()
        self.begun = True
        self._collecting = asyncio.create_task(self._collect(), name="collect events")

    async def _end(self) -> None:
        try:
            if self._collecting is not None:
                self._collecting.cancel()
                await asyncio.gather(self._collecting, return_exceptions=True)
            failures = await self._stop_all()
            await self._peers.end()
            await self._server.stop()
            for failed in failures:
                raise failed
        finally:
            await self._leave_nothing()

    async def _leave_nothing(self) -> None:
        """Whatever went wrong: what this lab has started is gone when it is closed."""

    # --- the drivers' part

    @abstractmethod
    def _process_of(self, name: str) -> ProcessT:
        """Where the server is to run, or runs."""

    @abstractmethod
    def _alive(self, name: str) -> bool:
        """Whether the process of a server that runs is there."""

    @abstractmethod
    async def _salvage(self, name: str) -> None:
        """What a node that is gone had committed: into the record, as far as it can be had."""

    # --- members

    def _answering(self) -> list[RemoteHost]:
        return [host for host in self._hosts_in_order() if not host.silent]

    def _address_of(self, name: str) -> tuple[str, int]:
        return self._host(name).address

    def _leave(self, name: str, status: ServerStatus) -> ProcessT:
        """Take a server out of the lab: from now on nobody finds it."""
        self._hosts.pop(name).close()
        self._nodes.pop(name).close()
        self._servers.server(name).status = status
        return self._processes[name]

    async def _start(self, server: LabServer) -> None:
        if server.name in self._hosts:
            if self._alive(server.name):
                raise LabError(f"server {server.name} is running already")
            self._leave(server.name, ServerStatus.KILLED)  # it died by another's hand
            await self._salvage(server.name)
        self._servers.check_may_start(server)
        async with self.coordinator.steady() as now:
            await self._begin(server, now)
            # Its first mail is nobody's to a store that does not find it in the directory.
            self._update_directories()
            await self._let_go([server.name])
        await asyncio.gather(*[host.look(self.now) for host in self._hosts.values()])

    def _update_directories(self) -> None:
        """Who has joined or was deleted, to those that run and do not know it. One that does not answer is told when the lab
        moves next."""
        # spec: RP-3, RP-6
        for update in self._servers.pending_updates():
            name = update.server.name
            host = self._hosts.get(name)
            if host is None or host.silent:
                continue
            try:
                update.apply(cast("Node", self._nodes[name]), self.now)
            except NotRunning as error:
                what = "has joined" if update.joined else "was deleted"
                log.warning("%s is not told yet that %s %s: %s", name, update.store, what, error)
            else:
                update.mark_applied()

    async def _begin(self, server: LabServer, now: LabTime) -> None:
        """The process of a server, from nothing to the first answer."""
        name = server.name
        process = self._processes[name] = self._process_of(name)
        if server.restores is not None:
            server.forget()
        restores, server.restores = server.restores, None
        tls = self._folder.path / "tls" if self._tls else None
        if tls is not None:
            tls_of(tls, self.seed, name)
        await process.start(now, self.coordinator.rate, restores, tls)
        await self._lead(server, process, now)

    async def _lead(self, server: LabServer, process: ProcessT, now: LabTime) -> None:
        """A process that is there is led from now on."""
        name = server.name
        self._nodes[name] = RemoteNode(name, Client(url_at(process.http), token=self.token))
        known = self._collector
        host = RemoteHost(name, process.http, token=self.token, seq=known.last_seq[name], events=known.came)
        self._hosts[name] = host
        self._servers.started(server)
        await host.look(now)

    async def _let_go(self, names: Sequence[str]) -> None:
        """New processes begin once everybody knows where everybody is."""
        await self._peers.tell()
        hosts = [self._hosts[name] for name in names]
        await asyncio.gather(*[host.set_clock(self.now, self.coordinator.rate) for host in hosts])
        await asyncio.gather(*[host.go() for host in hosts])
