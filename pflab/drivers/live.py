"""The live driver: every node has its own database file and its own SMTP listener, all in one process and event loop.

Mail goes over real sockets on the loopback interface; the coordinator owns lab time. Nodes share nothing: a host finds the
next server by the address that the lab gives it, and asks the fault plan before each mail.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar, TypeVar, Unpack

from node.errors import CannotWrite
from node.host.clock import LabClock
from node.host.host import Address, Host
from node.host.tls_files import tls_of
from node.store.node import Node
from pflab.drivers.relayed_mails import RelayedMails
from pflab.drivers.socket_lab import SocketLab, SocketOptions, send_mail
from pflab.errors import LabError
from pflab.lab.coordinator import Coordinator
from pflab.lab.served_lab import InProcessLab
from pflab.lab.servers import EmbeddedServers, LabServer, NodeFactory, NodeSettings
from pflab.runs.lab_state import ServerStatus
from transport.file_handles import NO_HANDLE, refusal_words
from transport.resources import most_open_files
from transport.smtp.connections import MOST_CONNECTIONS, Connections
from transport.smtp.listener import check_free

if TYPE_CHECKING:
    from node.imap.listener import ImapListener
    from pflab.runs.run_folder import RunFolder
    from topology.model import Topology
    from traces.labtime import LabTime

T = TypeVar("T")

LOOPBACK = "127.0.0.1"

HANDLES_OF_A_STORE = 4
"""The file handles of a store besides its connections: its database, the database's WAL and shared memory, and its listener."""

OTHER_HANDLES = 128
"""The file handles for everything else: traces, the HTTP server and its clients, and sockets that are about to close."""

LEAST_CONNECTIONS = 8
"""A lab may always have this many SMTP connections, even if there seem to be too few file handles."""


class LiveLab(SocketLab[Host], InProcessLab):
    """A live lab in one process; see SocketLab for folder and options.

    ports: SMTP ports by server name, in place of those of the topology. Servers without one get free ports; see `address_of`.
    connections: the limit of SMTP connections; default: its own limit.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        folder: RunFolder,
        ports: Mapping[str, int] | None = None,
        make_node: NodeFactory = Node,
        connections: Connections | None = None,
        **options: Unpack[SocketOptions],
    ) -> None:
        self.begun = False
        super().__init__(topology, folder=folder, **options)
        self._ports = dict(ports or {})
        self._addresses: dict[str, Address] = {}
        self._imap: dict[str, tuple[ImapListener, Address]] = {}
        self._connections = connections or Connections(most_connections(len(topology.servers)))
        self.coordinator = Coordinator(
            topology.start_at if self._earlier_end is None else self._earlier_end.at,
            self._hosts_in_order,
            monotonic=time.monotonic,
            changed=self.record.clock_changed,
            faults=self.faults,
            outside=RelayedMails(lambda: self.organization, self.record).waits,
        )
        self._servers: EmbeddedServers = EmbeddedServers(
            NodeSettings(
                topology=topology,
                run=self._run,
                secret=self.secret,
                on_events=self.record.extend,
                make_node=make_node,
                folder=folder,
                databases_on_disk=True,
                durability=self._durability,
                real_time=time.time,
            )
        )
        self._recall_earlier()

    driver: ClassVar = "live"

    events_in_order = True

    # --- addresses

    def address_of(self, name: str) -> Address | None:
        """Return the address at which a running server takes mail; None if it does not run."""
        return self._addresses.get(name)

    def smtp_of(self, name: str) -> Address:
        """Return the address at which a running server takes mail.

        Raises LabError if the lab has no server of this name, and NotRunning if the server does not run.
        """
        self._host(name)
        return self._addresses[name]

    def imap_of(self, name: str) -> Address | None:
        listener = self._imap.get(name)
        return None if listener is None else listener[1]

    def host_of(self, name: str) -> Host:
        return self._host(name)

    def running(self, name: str) -> bool:
        self._servers.server(name)
        return name in self._hosts

    # --- users

    async def do(self, name: str, fn: Callable[[Node, LabTime], T]) -> T:
        async with self.coordinator.steady():
            return self._host(name).do(fn)

    async def mail(self, name: str, sender: str, recipients: Sequence[str], content: bytes) -> Mapping[str, str]:
        self._host(name)
        async with self.coordinator.steady():
            return await send_mail(self._addresses[name], sender, recipients, content)

    def read(self, name: str, fn: Callable[[Node], T]) -> T:
        return self._host(name).read(fn)

    # --- start and stop

    async def _stop(self, name: str) -> None:
        host = self._leave(name, ServerStatus.STOPPED)
        await self._stop_imap(name)
        await host.stop()

    async def _kill(self, name: str) -> None:
        host = self._leave(name, ServerStatus.KILLED)
        # The server's committed events go to the trace now, because the server may never start again.
        with suppress(CannotWrite):  # the events stay in the database
            host.read(lambda node: node.export())
        await self._stop_imap(name)
        await host.kill()
        self._servers.server(name).kill_fault = self.faults.killed(name)

    # --- faults

    def _faults_changed(self) -> None:
        super()._faults_changed()
        for name, host in self._hosts.items():
            host.set_skew(self.faults.skew_us(name))

    # --- opening and closing

    async def up(self) -> None:
        for server in self._begin_run():
            await self._start(server)
        self._keep_state()
        self.begun = True

    async def copy_into(self, folder: RunFolder, *, traces: bool = True) -> None:
        async def write() -> None:  # nothing else runs meanwhile, because it never waits
            for name in self._state().stores:
                host = self._hosts.get(name)
                if host is not None:
                    if traces:
                        host.read(lambda node: node.export())
                    folder.write_database(name, host.read(lambda node: node.backup()))
                else:
                    self._copy_database(name, folder)
            self._copy_files(folder, traces=traces)

        async with self._all_lives():  # the database of a server that stops is not at rest
            await self.coordinator.at_rest(write)

    # --- hosts

    def _leave(self, name: str, status: ServerStatus) -> Host:
        """Take a server out of the lab; its peers no longer find its address."""
        host = self._host(name)
        del self._hosts[name]
        address = self._addresses.pop(name)
        self._servers.server(name).status = status
        for peer in self._hosts.values():
            peer.forget(address)
        return host

    async def _start(self, server: LabServer) -> None:
        async with self.coordinator.steady() as now:
            skew_us = self.faults.skew_us(server.name)
            port = self._ports.get(server.name) or self.organization.servers[server.name].smtp_port or 0
            tls = tls_of(self._folder.path / "tls", self.seed, server.name) if self._tls else None
            imap_port = 0 if self._imap_token is None else self._imap_port(server.name)
            for protocol, number in (("SMTP", port), ("IMAP", imap_port)):
                try:
                    check_free(LOOPBACK, number)
                except OSError as error:
                    raise _taken(server.name, protocol, number, error) from error
            node = self._servers.start(server, now + skew_us, self._backup_of(server))
            host = Host(
                node,
                clock=LabClock(now, rate=self.coordinator.rate, monotonic=time.monotonic),
                address_of=self.address_of,
                decide=self.decide,
                idle=self.coordinator.pulse,
                tls=tls,
                connections=self._connections,
                skew_us=skew_us,
            )
            listening = asyncio.ensure_future(host.start(LOOPBACK, port))
            try:
                self._addresses[server.name] = await asyncio.shield(listening)
            except asyncio.CancelledError:
                # A listener can be closed only after its start has finished.
                await asyncio.gather(listening, return_exceptions=True)
                server.status = ServerStatus.STOPPED
                await host.stop()
                raise
            except OSError as error:
                server.status = ServerStatus.STOPPED
                with suppress(CannotWrite):
                    node.close(now + skew_us)
                raise _taken(server.name, "SMTP", port, error) from error
            self._hosts[server.name] = host
            if self._imap_token is not None:
                await self._start_imap(server.name, host, self._imap_token)
            self._update_directories()

    async def _start_imap(self, name: str, host: Host, token: str) -> None:
        from node.imap.listener import ImapListener  # noqa: PLC0415 - the extra imap need not be installed

        listener, port = ImapListener(name, host, token), self._imap_port(name)
        try:
            self._imap[name] = listener, await listener.start(LOOPBACK, port)
        except OSError as error:
            await self._stop(name)
            raise _taken(name, "IMAP", port, error) from error

    async def _stop_imap(self, name: str) -> None:
        if name in self._imap:
            listener, _ = self._imap.pop(name)
            await listener.stop()

    def _update_directories(self) -> None:
        for update in self._servers.pending_updates():
            host = self._hosts.get(update.server.name)
            if host is not None:  # a server that starts now gets the update at the end of its start
                host.do(update.apply)
                update.mark_applied()
                self._keep_state()


def _taken(server: str, protocol: str, port: int, error: OSError) -> Exception:
    if error.errno in NO_HANDLE:
        return CannotWrite(server, refusal_words(error), starting=True)
    choice = "let the lab choose one" if protocol == "SMTP" else "choose others with --imap-port"
    return LabError(
        f"server {server} cannot listen for {protocol} on {LOOPBACK} port {port}: {error.strerror or error}; free the port or"
        f" {choice}"
    )


def most_connections(stores: int) -> int:
    """Return how many SMTP connections a process with this number of stores may have open, by its limit of file handles.

    Both ends of each connection are in this process.
    """
    handles = most_open_files()
    if handles is None:
        return MOST_CONNECTIONS
    free = handles - OTHER_HANDLES - stores * HANDLES_OF_A_STORE
    return max(LEAST_CONNECTIONS, min(MOST_CONNECTIONS, free // 2))
