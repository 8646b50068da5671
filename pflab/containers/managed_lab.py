"""The driver of managed processes: another program, such as Docker, keeps them alive; the lab decides which stores run.

After each start a process waits (`node.process.managed`). The lab has a wanted status for each server (`ServerStatus`). Every
WATCH_S seconds the lab compares this status with the process of each server that does not run:

| wanted | the process | what the lab does |
|---|---|---|
| running | does not answer | nothing: it continues without the server, and peers retry their mail |
| running | waits | begins the store at the present lab time and sends the store's address to its peers |
| running | runs the store in another run or history | ends that store, then begins its own |
| running | runs the store in this run and history | manages it again, without a restart |
| stopped, killed, not joined yet | runs the store | kills the process and collects what the store committed |
| stopped, killed, not joined yet | waits or does not answer | nothing |

The process of a server that was removed from the organization is nobody's: it waits until its container is removed.

States of the coordinator:

| from | event | to |
|---|---|---|
| not started | `up`: start HTTP, begin or take over the servers that should run | up |
| up | `close` with `leaves_running`: stop managing, leave the stores as they are | away |
| away | another coordinator with the same folder: the same run, time, servers, events and next fault number | up |
| up | `renew` or `reset`, then `close`; or `close` without `leaves_running`: stop all stores, end the run | ended |

Example: Docker restarts the container of B. B does not answer, so the coordinator moves lab time without it and A's mail waits
in A's queue. When the new process of B answers, the lab begins the store at the present lab time, sends it the directory
updates that it missed and the addresses of its peers, and only then lets it work. A retries, and B gets the mail.

What must never happen:

- A store that runs although it should not, or whose time is not the lab's time. The table above says what the lab does.
- Lab time that goes back after a restart of the coordinator. Lab time is saved with every event. If stores continued to run
  meanwhile, all clocks are set to the latest time.
- An event that is recorded twice or lost. The number of each store's last recorded event is saved with the events.
- A saved lab, or exported traces, with an event but without its cause. All hosts are held while these are made
  (`Coordinator.at_rest`). A saved lab needs every server; exported traces name the servers that did not answer.
- A start, stop or kill of a server while the lab is saved or traces are made, or while this server already starts or stops.
  The lock of its life is held meanwhile (`pflab.lab.recorded_lab`).

The coordinator's own record and state are one file in the run folder (`pflab.containers.durable_record`).
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Unpack

import msgspec

from node.errors import NotRunning
from node.state.database import cannot_write
from pflab.containers.compose_file import addresses_of, mail_ports
from pflab.containers.durable_record import RECORD, DurableRecord, RecordFile
from pflab.drivers.host_proxy import RemoteHost
from pflab.drivers.managed_process import FOUND_AGAIN_S, FOUND_S, BeginOrder, ManagedProcess
from pflab.drivers.pulse import PATIENCE_S, Pulse
from pflab.drivers.remote_lab import COLLECT_S, HERE, HttpOptions, RemoteLab
from pflab.errors import LabError
from pflab.lab.served_lab import ExportedTraces
from pflab.lab.servers import LabServer
from pflab.runs.lab_state import STATE, LabState, ServerStatus, read_state
from transport.file_handles import refusal_words

if TYPE_CHECKING:
    from node.host.host import Address
    from pflab.runs.run_folder import RunFolder
    from topology.arguments import ServerFields
    from topology.model import Topology

WATCH_S: Final = 0.5
"""Real time between two checks of the processes of servers that do not run."""

PAUSED_LOOK_S: Final = 1.0
"""Real time between two checks of all servers while the clock is paused."""

WRITE_S: Final = 10.0
"""Real time between two segments of the lab's own events."""

log = logging.getLogger("pflab.containers.managed_lab")


@dataclass(frozen=True, slots=True)
class MailDoors:
    """How users reach the mail listeners of the servers.

    imap: the users' password and the port at which each store listens for IMAP on its machine; None: no IMAP.
    smtp_at, imap_at: the addresses at which users reach a server, if they differ from those at which it listens.
    added_at: where users reach a server that was added later, at the ports of `mail_ports`; None: where it listens.
    """

    imap: tuple[str, int] | None = None
    smtp_at: Mapping[str, Address] = field(default_factory=dict)
    imap_at: Mapping[str, Address] = field(default_factory=dict)
    added_at: str | None = None


NO_DOORS: Final = MailDoors()


class ManagedLab(RemoteLab[ManagedProcess]):
    """A live lab of managed processes.

    addresses: where each server's process serves HTTP.
    secret: what its stores have as the lab's secret.
    leaves_running: whether `close` leaves the stores as they are, so that another coordinator can continue with this folder;
        otherwise `close` ends the run.
    deletes_others: whether databases of other runs are deleted. If `folder.traces_at` is set, each store writes its traces into
        a folder of that name.
    patience_s: see `pflab.drivers.pulse`.
    doors: the listeners for users' mail.
    """

    driver: ClassVar = "managed"

    def __init__(
        self,
        topology: Topology,
        *,
        folder: RunFolder,
        addresses: Mapping[str, Address],
        http: HttpOptions = HERE,
        seed: int = 0,
        secret: str | None = None,
        run: str | None = None,
        durability: Literal["full", "normal"] = "full",
        tls: bool = False,
        leaves_running: bool = False,
        deletes_others: bool = False,
        patience_s: float = PATIENCE_S,
        doors: MailDoors = NO_DOORS,
    ) -> None:
        self._doors = doors
        self._complete = False
        self._disk_full = False
        named = run if run is not None else f"{folder.path.parent.name}/{folder.path.name}"
        self._file = RecordFile(folder.path / RECORD, run=named, topology=topology.as_json())
        self._durable = DurableRecord(
            self._file,
            folder=folder,
            now=lambda: self.now,
            real_time=time.time,
            facts=self._facts,
            changed=self._save,
        )
        earlier = self._file.state()
        if earlier is None and (folder.path / STATE).exists():  # the folder is that of a saved lab
            earlier = read_state(folder.path)
        self._earlier = earlier
        super().__init__(
            topology,
            folder=folder,
            seed=seed,
            run=self._file.run,
            durability=durability,
            tls=tls,
            http=http,
            record=self._durable,
            at=None if earlier is None else earlier.at,
        )
        if secret is not None:
            self.secret = secret
        self._leaves_running = leaves_running
        self._watching: list[asyncio.Task[None]] = []
        self._addresses = addresses
        self._deletes_others = deletes_others
        self._patience_s = patience_s
        if earlier is not None:
            self._recall(earlier)
            self._collector.resume(self._file.fact("seqs"), self._durable.events())
        else:
            for server in self._servers.present_at_start():
                server.status = (
                    ServerStatus.RUNNING
                )  # this is the wanted status; the lab begins the store when the process answers
        self._complete = True

    def _new_process(self, name: str) -> ManagedProcess:
        order = BeginOrder(
            run=self.run,
            history=self.history,
            topology=self._servers.organization_at_start(name).as_json(),
            traces=self._traces_name,
            fresh=self._deletes_others,
            tls=self._tls,
        )
        if self._doors.imap is not None:
            order = msgspec.structs.replace(order, imap_token=self._doors.imap[0], imap_port=self._doors.imap[1])
        return ManagedProcess(
            name,
            self._addresses.get(name) or addresses_of([name])[name],
            token=self.token,
            pulse=Pulse(name, token=self.token, patience_s=self._patience_s),
            order=order,
            saved=self._folder.database(name),
        )

    async def add_server(self, name: str, **fields: Unpack[ServerFields]) -> None:
        if name not in self._addresses:
            addresses_of([name])  # its process has the address of a service, whose name must be possible
        await super().add_server(name, **fields)

    async def remove_server(self, name: str) -> None:
        if self._has_database(name):  # a later server of this name continues its trace, perhaps in another container
            self._servers.check_removable(self._servers.server(name))
            self._folder.write_database(name, await self._process(name).copy())
        process = self._processes.get(name)
        await super().remove_server(name)
        if process is not None:
            process.close()

    def _has_database(self, name: str) -> bool:
        """Return whether the process of a server has the database of its store."""
        return name in self.names and not self._servers.lacks_first_store(self._servers.server(name))

    @property
    def continues(self) -> bool:
        """Whether another coordinator managed this run earlier."""
        return self._earlier is not None

    # --- addresses

    def smtp_for_users(self, name: str) -> Address:
        listens_at = self.smtp_of(name)
        return self._doors.smtp_at.get(name) or self._published(name, 0) or listens_at

    def imap_of(self, name: str) -> Address | None:
        listens_at = super().imap_of(name)
        if listens_at is None:
            return None
        return self._doors.imap_at.get(name) or self._published(name, 1) or listens_at

    def _published(self, name: str, listener: Literal[0, 1]) -> Address | None:
        """Return where users reach a server that was added later.

        listener: 0: SMTP, 1: IMAP.
        """
        if self._doors.added_at is None or name in self._addresses:
            return None
        return self._doors.added_at, mail_ports(self.organization)[name][listener].default

    # --- runs

    async def renew(self, topology: Topology | None) -> None:
        """End this run. The callback `renews` begins the next one. Without this callback the lab keeps its run."""
        if self.renews is None:
            await super().renew(topology)
            return
        self.renews(topology or self.topology)
        self._leaves_running = self.begun = False

    renews: Callable[[Topology], None] | None = None
    """The lab calls this function with the organization of the next run."""

    # --- saved labs

    async def copy_into(self, folder: RunFolder, *, traces: bool = True) -> None:
        async with self._all_lives():
            away = [name for name in self.names if not self.running(name) and not await self._written(name)]
            if away:
                raise LabError(
                    f"server {', '.join(away)} does not answer; a lab is copied only when all servers answer"
                )

            async def write() -> None:
                self._collector.flush()
                self._save_all()
                if traces:
                    await self._export_nodes()
                stores = self._state().stores
                names = [name for name in stores if self._has_database(name)]
                copies = await asyncio.gather(*[self._process(name).copy() for name in names])
                for name, content in zip(names, copies, strict=True):
                    folder.write_database(name, content)
                for name in [name for name in stores if name not in names]:
                    self._copy_database(name, folder)
                self._durable.write_out()
                self._copy_files(folder, traces=traces)
                self._file.copy(folder.path / RECORD)

            await self.coordinator.at_rest(write)

    async def reset(self, name: str) -> None:
        await super().reset(name)
        self._leaves_running = False

    # --- traces

    async def export_traces(self) -> ExportedTraces:
        """Write all events up to one instant into closed segments. For each event, the segments also contain its causes."""
        async with self._all_lives():
            away = {name for name in self.names if not self.running(name) and not await self._written(name)}
            last = dict(self._collector.last_seq)
            at = self.now

            async def write() -> None:
                nonlocal at
                at = self.now
                for name, seq in (await self._export_nodes()).items():
                    if seq is None:
                        away.add(name)
                    else:
                        last[name] = seq
                self._durable.write_out()

            await self.coordinator.at_rest(write)
        events = sum(last.values()) + self._durable.seq
        return ExportedTraces(self.run, self._traces_name, at, events, tuple(sorted(away)))

    async def _export_nodes(self) -> dict[str, int | None]:
        """Make the nodes write their events so far into closed segments. Return the number of the last event of each, or None
        if it did not answer."""
        there = [host.name for host in self._hosts_in_order() if not host.silent]
        return dict(zip(there, await asyncio.gather(*[self._process(name).export() for name in there]), strict=True))

    @property
    def _traces_name(self) -> str:
        """The name of the folder of this run's traces in the folder of all traces; "" if there is only this run."""
        apart = self._folder.traces_at
        return "" if apart is None else apart.name

    @property
    def history(self) -> str:
        return self._traces_name or self.run

    def keep_verdict(self, verdict: Mapping[str, object]) -> None:
        super().keep_verdict(verdict)
        self._folder.write_verdict(verdict)

    async def _written(self, name: str) -> bool:
        """Return whether all events of a server that does not run are in the traces."""
        status = self._servers.server(name).status
        if status in {ServerStatus.ABSENT, ServerStatus.STOPPED}:
            return True  # it has no events, or wrote them all when it stopped
        return status is ServerStatus.KILLED and await self._written_out(name)

    def running(self, name: str) -> bool:
        self._servers.server(name)
        host = self._hosts.get(name)
        return host is not None and not host.silent

    def _host(self, name: str) -> RemoteHost:
        server = self._servers.server(name)
        host = self._hosts.get(name)
        if server.status is ServerStatus.RUNNING and (host is None or host.silent):
            why = "" if host is None else f" ({host.silence})"
            raise NotRunning(f"server {name} does not answer{why}; wait until its process runs again")
        return super()._host(name)

    def _alive(self, name: str) -> bool:
        return not self._hosts[name].silent

    # --- start and stop

    async def _stop(self, name: str) -> None:
        await super()._stop(name)
        self._keep_state()

    async def _kill(self, name: str) -> None:
        await super()._kill(name)
        self._keep_state()

    async def start(self, name: str) -> None:
        if not self.running(name):
            await self._find(name)  # this wait may be long, and `_look_after` may begin the store meanwhile
        await super().start(name)

    async def _start(self, server: LabServer) -> None:
        if self.running(server.name):
            raise LabError(f"server {server.name} is running already")
        await self._find(server.name)  # before the hosts are held
        await self._begin_process(server)

    async def _find(self, name: str) -> None:
        """Wait until the process of a server answers. Raises LabError if it does not in time."""
        if await self._process(name).wait_for() is None:
            raise LabError(f"server {name} does not answer; start its process")

    async def _begin_process(self, server: LabServer) -> None:
        """Begin the store of a process that answered. If this fails, keep the wanted status, so that the lab tries again."""
        status = server.status
        try:
            await super()._start(server)
        except BaseException:
            server.status = status
            raise
        self._keep_state()

    async def _look_after(self, server: LabServer) -> None:
        """Compare the process of a server that does not run with the wanted status; see the table above."""
        name = server.name
        state = await self._process(name).state()
        async with server.life:
            if state is None or server.name not in self.names or self.running(name):
                return
            if server.status is not ServerStatus.RUNNING:
                if state.status == "running":
                    await self._process(name).kill()
                    await self._collect_rest(name)
            elif not self._servers.deleted(name) and (name not in self._hosts or not self._process(name).runs(state)):
                await self._begin_process(server)
                await self._peers.notify()

    async def _collect_rest(self, name: str) -> None:
        await self._written_out(name)

    async def _written_out(self, name: str) -> bool:
        """Collect the remaining events of a server, and let its process write them into the traces.

        Returns False if the process does not answer.
        """
        process = self._process(name)
        if await process.state() is None:
            return False
        while lines := await process.database_events(self._collector.last_seq[name]):
            self._collector.add(name, lines)
        return lines is not None

    # --- background tasks

    async def _collect(self) -> None:
        """Check all servers at intervals, because one may fall silent or come back even while the clock is paused."""
        while True:
            await asyncio.sleep(COLLECT_S if self.coordinator.rate else PAUSED_LOOK_S)
            if not self.coordinator.warping:
                await self._log_errors(self.coordinator.look())
                self._save()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH_S)
            away = [server for server in self._servers.all() if not self.running(server.name)]
            await asyncio.gather(*[self._log_errors(self._look_after(server)) for server in away])

    async def _write(self) -> None:
        while True:
            await asyncio.sleep(WRITE_S)
            with self._full_disk_logged():
                self._durable.write_out()

    async def _log_errors(self, act: Awaitable[None]) -> None:
        async def with_full_disk_logged() -> None:
            with self._full_disk_logged():
                await act

        await super()._log_errors(with_full_disk_logged())

    # --- opening and closing

    async def up(self) -> None:
        self._keep_state()
        (self._folder.path / STATE).unlink(missing_ok=True)  # the record has the state now
        if not self._durable.begun:
            self.record.run_started(self.topology, self.seed, driver=self.driver, durability=self._durability)
        self._folder.write_inputs(self.topology.as_yaml(), self.seed)
        await self._server.start()
        servers = [server for server in self._servers.all() if server.status is ServerStatus.RUNNING]
        patience_s = FOUND_AGAIN_S if self.continues else FOUND_S
        there = await asyncio.gather(*[self._process(server.name).wait_for(patience_s) for server in servers])
        present = [server for server, state in zip(servers, there, strict=True) if state is not None]
        async with self._all_lives(), self.coordinator.steady() as now:
            await asyncio.gather(*[self._begin(server, now) for server in present])
            await self._release([server.name for server in present])
        await self.coordinator.look()
        if self._earlier is not None:
            await self.coordinator.set_rate(self._earlier.rate)  # this sets all clocks to one time again
        self._keep_state()
        self.begun = True
        self._collecting = asyncio.create_task(self._collect(), name="collect events")
        self._watching = [
            asyncio.create_task(self._watch(), name="watch servers"),
            asyncio.create_task(self._write(), name="write segments"),
        ]

    async def close(self) -> None:
        self.coordinator.unwatch_faults()
        for task in self._watching:
            task.cancel()
        await asyncio.gather(*self._watching, return_exceptions=True)
        self._watching = []
        if self._leaves_running and not self._closed:
            self._closed = True
            await self._leave_stores()
        else:
            await super().close()

    async def _leave_stores(self) -> None:
        """Stop managing the stores; leave them as they are."""
        if self._collecting is not None:
            self._collecting.cancel()
            await asyncio.gather(self._collecting, return_exceptions=True)
        await self._peers.end()
        await self._server.stop()
        self._collector.flush()
        self._save()
        with self._full_disk_logged():
            self._durable.close()
        for name in [*self._hosts]:
            self._hang_up(name)
        await self._clean_up()

    async def _stop_all(self) -> list[BaseException]:
        for host in self._hosts_in_order():
            if host.silent:
                self._leave(host.name, ServerStatus.KILLED)
        for failure in await super()._stop_all():  # a process may have ended, and the lab did not notice
            log.warning("%s", failure)
        return []

    async def _clean_up(self) -> None:
        for process in self._processes.values():
            process.close()

    # --- the state of the coordinator

    @contextmanager
    def _full_disk_logged(self) -> Iterator[None]:
        """Log once that nothing can be written. The lab continues, and saves its state when it can write again."""
        try:
            yield
        except (sqlite3.OperationalError, OSError) as error:
            if not cannot_write(error):
                raise
            if not self._disk_full:
                log.warning("the coordinator cannot save its state: %s", refusal_words(error))
            self._disk_full = True

    def _save(self) -> None:
        if self._complete:
            with self._full_disk_logged():
                self._save_all()

    def _save_all(self) -> None:
        """Save events and state. Raises sqlite3.OperationalError if the disk is full."""
        self._durable.save()
        if self._disk_full:
            self._disk_full = False
            log.warning("the coordinator has saved its state")

    def _facts(self) -> dict[str, Any]:
        """Return what is saved with each event."""
        return {
            "replicas": self._durable.replicas,  # reading them may record events, so it comes first
            "state": self._state(),
            "lamport": self._durable.lamport,
            "seqs": self._collector.recorded,
        }

    def _state(self) -> LabState:
        verdict = None if self._verdict is None else dict(self._verdict)
        return msgspec.structs.replace(super()._state(), rate=self.coordinator.rate, verdict=verdict)

    def _recall(self, state: LabState) -> None:
        super()._recall(state)
        if state.verdict is not None and state.verdict.get("run") == self.history:
            self._verdict = state.verdict

    def _keep_state(self) -> None:
        self._save()

    def _keep_end(self, end: LabState) -> None:
        """Do nothing: a run of these labs that has ended is not continued."""
