"""The base of labs whose nodes are processes: the lab manages them over HTTP, and they send real mail to each other.

The lab has an object for each responsibility:

| object | responsibility |
|---|---|
| `RemoteCoordinator` | lab time |
| `PeerNotifier` | sends each node the addresses of its peers, whether to ask about faults, and the skew of its clock |
| `EventCollector` | adds the nodes' events to the record, each after its causes |
| `FaultPlan` | the faults; while any is active, nodes ask the lab before each mail (`pflab.server.faults`) |
| `Servers` | the status of each server, and its directory updates |
| `HttpServer` | the lab's HTTP server (`pflab.server.app`) |
| one `Process` for each server | starts and ends the store |

`pflab.drivers.processes` starts the processes itself; `pflab.containers.managed_lab` uses processes that another program keeps
alive.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from socket import socket
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar, Unpack

from node.api.http_client import Unanswered
from node.api.http_server import HttpServer
from node.errors import CannotWrite, NodeError, NotRunning, bug_line
from pflab.client import Client, url_at
from pflab.drivers.event_collector import EventCollector
from pflab.drivers.host_proxy import RemoteHost
from pflab.drivers.peers import PeerNotifier
from pflab.drivers.pulse import USER_PATIENCE_S, Pulse
from pflab.drivers.relayed_mails import RelayedMails
from pflab.drivers.remote_coordinator import RemoteCoordinator
from pflab.drivers.socket_lab import SocketLab, SocketOptions, send_mail
from pflab.errors import LabError
from pflab.lab.remote_node import RemoteNode
from pflab.lab.servers import LabServer, Servers
from pflab.runs.lab_state import ServerStatus
from pflab.server.app import app_of_remote_lab
from pflab.server.extension import Extension
from pflab.server.proxy import Proxy
from transport.file_handles import refusal_words

if TYPE_CHECKING:
    from node.host.host import Address
    from pflab.runs.recorder import Record
    from pflab.runs.run_folder import RunFolder
    from topology.model import Topology
    from traces.labtime import LabTime

T = TypeVar("T")

log = logging.getLogger("pflab.drivers.remote_lab")

COLLECT_S: Final = 0.25
"""While the clock runs, the real time between two requests to the stores for their events."""


class Process(Protocol):
    """The process of a node. `http`, `smtp` and `imap` are the addresses at which it listens, once it has started."""

    http: Address
    smtp: Address
    imap: Address | None
    pulse: Pulse

    async def start(self, at: LabTime, backup: bytes | None, skew_us: int) -> None:
        """Begin the store with its clock paused, from a backup if one is given. Raises LabError if this fails.

        skew_us: how far the clock of the store is ahead of lab time.
        """

    async def stop(self) -> None:
        """Stop the store cleanly."""

    async def kill(self) -> None:
        """Kill the process."""


ProcessT = TypeVar("ProcessT", bound=Process)


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """The address of the lab's HTTP server, and the token that requests must carry. Only a server on loopback needs no token.

    listener: a socket that listens already, in place of host and port.
    users_token: a token that allows only what users do.
    known_as: the address that the nodes use, if it differs.
    trusted: clients that are treated as clients on loopback.
    extension: what is served in addition to the lab.
    """

    host: str = "127.0.0.1"
    port: int = 0
    listener: socket | None = None
    token: str | None = None
    users_token: str | None = None
    known_as: Address | None = None
    trusted: frozenset[str] = frozenset()
    extension: Extension | None = None


HERE: Final = HttpOptions()
"""An HTTP server on loopback, at a free port."""


class RemoteLab(SocketLab[RemoteHost], Generic[ProcessT]):
    """A live lab of processes; see SocketLab for folder and options.

    http: its HTTP server.
    record, at: the record and the lab time of a run that continues.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        folder: RunFolder,
        http: HttpOptions = HERE,
        record: Record | None = None,
        at: LabTime | None = None,
        **options: Unpack[SocketOptions],
    ) -> None:
        super().__init__(topology, folder=folder, record=record, **options)
        self._servers: Servers = Servers(topology)
        self._processes: dict[str, ProcessT] = {}
        self._recall_earlier()
        self.token = http.token or secrets.token_urlsafe(32)
        """The token that the nodes' processes require. The lab's HTTP server requires it only if `http.token` is given."""
        self._nodes: dict[str, RemoteNode] = {}
        self._collector = EventCollector(self.record, folder)
        if (earlier := options.get("earlier")) is not None:
            at = earlier.end.at
            self._collector.resume({}, earlier.events)
        self.record.collect = self._collector.flush
        self._peers = PeerNotifier(
            lambda: [host for host in self._hosts_in_order() if not host.silent],
            smtp_of=lambda name: self._process(name).smtp,
            lab=lambda: http.known_as or self._server.address,
            faults=self.faults,
            keeps_mails=folder.keeps_mails,
        )
        self.coordinator: RemoteCoordinator = RemoteCoordinator(
            topology.start_at if at is None else at,
            self._answering,
            every=self._hosts_in_order,
            monotonic=time.monotonic,
            changed=self.record.clock_changed,
            faults=self.faults,
            outside=RelayedMails(lambda: self.organization, self.record).waits,
            hosts_changed=self._peers.notify,
            faults_known=self.faults_known,
            returning=self._update_directories,
        )
        proxy = Proxy(self._address_of, self._answer, self.token)
        app = app_of_remote_lab(self, proxy, self.token, http.extension)
        self._server = HttpServer(
            app,
            host=http.host,
            port=http.port,
            listener=http.listener,
            token=http.token,
            users_token=http.users_token,
            login=True,
            trusted=http.trusted,
        )
        self._collecting: asyncio.Task[None] | None = None
        self._logged = ""
        self.begun = False

    # --- addresses

    @property
    def http_address(self) -> Address:
        """The address of the lab's HTTP server."""
        return self._server.address

    def share_listener(self) -> socket:
        """Return another handle of the socket at which the lab's HTTP server listens. As long as it is open, connections wait
        for the next server of this socket."""
        return self._server.share_listener()

    @property
    def url(self) -> str:
        return url_at(self.http_address)

    def url_of(self, name: str) -> str:
        """Return the address of a running node's own API. Raises NotRunning if the node does not run."""
        return url_at(self._host(name).address)

    def smtp_of(self, name: str) -> tuple[str, int]:
        """Return the address at which a running node takes mail. Raises NotRunning if the node does not run."""
        self._host(name)
        return self._process(name).smtp

    def imap_of(self, name: str) -> tuple[str, int] | None:
        return self._process(name).imap if self.running(name) else None

    # --- users

    async def do(self, name: str, fn: Callable[[RemoteNode, LabTime], T]) -> T:
        await self._before_move()
        async with self.coordinator.steady() as now:
            host = self._host(name)
            try:
                return fn(self._nodes[name], now)
            finally:
                await host.look(now)

    async def mail(self, name: str, sender: str, recipients: Sequence[str], content: bytes) -> Mapping[str, str]:
        await self._before_move()
        host = self._host(name)
        async with self.coordinator.steady() as now:
            refused = await send_mail(self._process(name).smtp, sender, recipients, content)
            await host.look(now)
            return refused

    def read(self, name: str, fn: Callable[[RemoteNode], T]) -> T:
        host, node = self._host(name), self._nodes[name]
        if host.changed or not self._still:
            node.forget_reads()
            host.changed = False
        node.keep_reads(True)
        return fn(node)

    _still = False
    """True while a warp calls its predicate. Nothing changes meanwhile, so cached answers are reused."""

    # --- time

    async def _before_move(self) -> None:
        self._update_directories()
        await self._peers.wait_notified()

    async def until(self, predicate: Callable[[], bool], limit_at: LabTime) -> bool:
        def holds() -> bool:
            self._still = True
            try:
                return predicate()
            finally:
                self._still = False

        return await super().until(holds, limit_at)

    # --- start and stop

    async def _stop(self, name: str) -> None:
        self._host(name)
        process = self._leave(name, ServerStatus.STOPPED)
        await process.stop()
        await self._collect_rest(name)
        await self._peers.notify()

    async def _kill(self, name: str) -> None:
        self._host(name)
        process = self._leave(name, ServerStatus.KILLED)
        await process.kill()
        await self._collect_rest(name)
        self._servers.server(name).kill_fault = self.faults.killed(name)
        await self._peers.notify()

    async def remove_server(self, name: str) -> None:
        await super().remove_server(name)
        self._processes.pop(name, None)

    # --- events

    async def catch_up(self) -> None:
        """Ask the stores for their events. Users may post while the clock is paused, and then nothing else asks for events."""
        if not self.coordinator.warping:
            await self.coordinator.look()

    async def _look(self) -> None:
        await self.catch_up()

    async def _collect(self) -> None:
        """Ask the stores for their events at intervals while the clock runs."""
        while True:
            await asyncio.sleep(COLLECT_S)
            if self.coordinator.rate and not self.coordinator.warping:
                await self._log_errors(self.coordinator.look())

    async def _log_errors(self, act: Awaitable[None]) -> None:
        """Await `act` of a background task, and log its error once, because an error of one server must not end the task."""
        try:
            await act
        except Exception as error:
            ours = isinstance(error, (NodeError, LabError))
            if str(error) != self._logged:
                log.log(
                    logging.WARNING if ours else logging.ERROR,
                    "%s",
                    error if ours else bug_line(error),
                    exc_info=None if ours else error,
                )
            self._logged = str(error)

    async def faults_known(self) -> None:
        await self._peers.wait_notified()

    def _faults_changed(self) -> None:
        super()._faults_changed()
        self._peers.notify_soon()

    # --- opening and closing

    async def up(self) -> None:
        present = self._begin_run()
        await self._server.start()
        async with self.coordinator.steady() as now:
            results = await asyncio.gather(*[self._begin(server, now) for server in present], return_exceptions=True)
            for failed in results:
                if isinstance(failed, BaseException):
                    raise failed
            await self._release([server.name for server in present])
        await self.coordinator.look()
        self._keep_state()
        self.begun = True
        self._collecting = asyncio.create_task(self._collect(), name="collect events")

    async def _stop_everything(self) -> None:
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
            await self._clean_up()

    async def _clean_up(self) -> None:
        """Release what the lab has started, whatever went wrong before."""

    # --- the drivers' part

    @abstractmethod
    def _new_process(self, name: str) -> ProcessT:
        """Return the process of a server, which need not run yet."""

    @abstractmethod
    def _alive(self, name: str) -> bool:
        """Return whether the process of a server that should run is alive."""

    @abstractmethod
    async def _collect_rest(self, name: str) -> None:
        """Add to the record the events that a node committed before its end, as far as they can be read."""

    # --- servers

    def _process(self, name: str) -> ProcessT:
        """Return the process of a server of the organization."""
        process = self._processes.get(name)
        if process is None:
            process = self._processes[name] = self._new_process(name)
        return process

    @property
    def passed_over(self) -> Mapping[str, str]:
        return {host.name: host.silence for host in self._hosts_in_order() if host.silent}

    def _answering(self) -> list[RemoteHost]:
        return [host for host in self._hosts_in_order() if not host.silent]

    def _address_of(self, name: str) -> tuple[str, int]:
        self._servers.server(name)
        self.check_begun()
        return self._host(name).address

    def _check_alive(self, name: str) -> None:
        """Raise NotRunning if the process of a server gives no sign of life."""
        try:
            self._process(name).pulse.check()
        except Unanswered as error:
            raise NotRunning(f"server {name} does not answer: {error}") from error

    async def _answer(self, name: str, request: Coroutine[Any, Any, bytes]) -> bytes:
        """Return the answer of a server to a user's request. Raises NotRunning if its process gives no sign of life."""
        try:
            return await self._process(name).pulse.wait(request, USER_PATIENCE_S)
        except Unanswered as error:
            raise NotRunning(f"server {name} does not answer: {error}") from error

    def _leave(self, name: str, status: ServerStatus) -> ProcessT:
        """Take a server out of the lab; its peers no longer get its address."""
        self._hang_up(name)
        self._servers.server(name).status = status
        return self._process(name)

    def _hang_up(self, name: str) -> None:
        """Close the connections to a running server."""
        self._hosts.pop(name).close()
        self._nodes.pop(name).close()

    async def _start(self, server: LabServer) -> None:
        if server.name in self._hosts:
            if self._alive(server.name):
                raise LabError(f"server {server.name} is running already")
            self._leave(server.name, ServerStatus.KILLED)  # its process ended by itself
            await self._collect_rest(server.name)
        self._servers.check_may_start(server)
        async with self.coordinator.steady() as now:
            await self._begin(server, now)
            # A store that does not have the new server in its directory would drop the first mail from that server.
            self._update_directories()
            await self._release([server.name])
        await asyncio.gather(*[host.look(self.now) for host in self._hosts.values()])

    def _update_directories(self) -> None:
        """Tell the running servers which stores joined or were deleted. If a server does not answer, the lab tells it before a
        later move of the clock."""
        # spec: RP-3, RP-6
        for update in self._servers.pending_updates():
            name = update.server.name
            host = self._hosts.get(name)
            if host is None or host.silent:
                continue
            try:
                update.apply(self._nodes[name], self.now)
            except NotRunning as error:
                log.warning("%s does not know yet that %s: %s", name, update.words, error)
            else:
                update.mark_applied()
                self._keep_state()

    async def _begin(self, server: LabServer, now: LabTime) -> None:
        """Start the process of a server and begin its store, with the clock paused."""
        name = server.name
        process = self._process(name)
        backup = self._backup_of(server)
        if backup is not None:
            server.forget()
        try:
            await process.start(now, backup, self.faults.skew_us(name))
        except OSError as error:
            raise CannotWrite(name, refusal_words(error), starting=True) from error
        server.backup = None
        await self._manage(server, process, now)

    async def _manage(self, server: LabServer, process: ProcessT, now: LabTime) -> None:
        """Begin to manage a process whose store runs."""
        name = server.name
        self._nodes[name] = RemoteNode(
            name, Client(url_at(process.http), token=self.token, check=partial(self._check_alive, name))
        )
        collector = self._collector
        host = RemoteHost(
            name,
            process.http,
            token=self.token,
            seq=collector.last_seq[name],
            events=collector.add,
            pulse=process.pulse,
        )
        self._hosts[name] = host
        self._servers.started(server, now)
        await host.look(now)

    async def _release(self, names: Sequence[str]) -> None:
        """Send every node the addresses of all nodes, and then let the new stores work."""
        await self._peers.notify()
        hosts = [self._hosts[name] for name in names]
        await asyncio.gather(*[host.set_clock(self.now, self.coordinator.rate) for host in hosts])
        await asyncio.gather(*[host.go() for host in hosts])
