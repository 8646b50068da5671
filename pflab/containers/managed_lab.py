"""The driver of tenants: nodes whose processes somebody else keeps alive, such as containers, each at a known address.

The lab alone decides which store runs: a process that was (re)started waits until the lab begins its store at the lab's
time. So what vanishes and comes back rises again by itself if it shall run, and what shall not run is ended. What a
coordinator must know after a restart of its own is in its folder (`pflab.containers.coordinator_state`): it goes on
with the same run, and
takes over the stores that run on.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from node.errors import InternalError, NodeError, NotRunning, bug_line
from pflab.containers.coordinator_state import STATE, DurableRecord, LabState
from pflab.containers.managed_process import FOUND_AGAIN_S, FOUND_S, ManagedProcess
from pflab.containers.snapshots import Snapshots, returns_of
from pflab.drivers.host_proxy import RemoteHost
from pflab.drivers.remote_lab import COLLECT_S, HERE, HttpOptions, RemoteLab
from pflab.errors import LabError
from pflab.lab.served_lab import ExportedTraces
from pflab.lab.servers import LabServer, ServerStatus

if TYPE_CHECKING:
    from node.host.host import Address
    from pflab.runs.run_folder import RunFolder
    from topology import Topology

WATCH_S: Final = 0.5
"""Real time between two looks at servers that shall run and do not answer, or answer and shall not run."""

STANDING_LOOK_S: Final = 1.0
"""Real time between two looks at all servers while the clock stands."""

WRITE_S: Final = 10.0
"""Real time between two segments of the lab's own events."""

log = logging.getLogger("pflab.containers.managed_lab")


class ManagedLab(RemoteLab[ManagedProcess]):
    """A live lab of tenants.

    addresses: where each server's process serves HTTP. leaves_running: closing the lab leaves the stores as they are, and
    another coordinator with this folder goes on; else it ends the run, as every lab does. begins_anew: databases of other
    runs are thrown away. If the folder's traces are elsewhere, stores write theirs into a folder of the same name.
    """

    driver: ClassVar = "tenants"

    def __init__(
        self,
        topology: Topology,
        *,
        folder: RunFolder,
        addresses: Mapping[str, Address],
        face: HttpOptions = HERE,
        seed: int = 0,
        run: str | None = None,
        durability: Literal["full", "normal"] = "full",
        leaves_running: bool = False,
        begins_anew: bool = False,
    ) -> None:
        self._complete = False
        named = run if run is not None else f"{folder.path.parent.name}/{folder.path.name}"
        self._state = LabState(folder.path / STATE, run=named, topology=topology.as_json())
        self._lasting = DurableRecord(
            self._state, folder=folder, now=lambda: self.now, real_time=time.time, changed=self._save
        )
        at = self._state.fact("at")
        self._goes_on = at is not None
        super().__init__(
            topology,
            folder=folder,
            seed=seed,
            run=self._state.run,
            durability=durability,
            face=face,
            record=self._lasting,
            at=at,
        )
        self._leaves_running = leaves_running
        self._lives = asyncio.Lock()
        self._watching: list[asyncio.Task[None]] = []
        order = {
            "topology": topology.as_json(),
            "traces": self._traces_name,
            "history": self.history,
            "fresh": begins_anew,
        }
        self._processes = {
            name: ManagedProcess(
                name,
                addresses[name],
                token=self.token,
                run=self.run,
                order=order,
                returns=returns_of(folder.path, name),
            )
            for name in topology.servers
        }
        if self._goes_on:
            self._servers.recall(self._state.fact("roll"))
            self._collector.go_on_after(self._state.fact("seqs"), self._lasting.events())
            self.faults.go_on_after(self._state.fact("faults"))
        else:
            for server in self._servers.present_at_start():
                server.status = ServerStatus.RUNNING  # as soon as it is found
        self._complete = True

    # --- what it is

    @property
    def goes_on(self) -> bool:
        """Whether another coordinator has led this run before."""
        return self._goes_on

    async def renew(self, topology: Topology | None) -> None:
        """End this run, and let whoever runs the lab begin another. Raises LabError where nobody would."""
        if self.renews is None:
            raise LabError("nobody here begins this lab anew; begin with empty folders")
        self.renews(topology or self.topology)
        self._leaves_running = False

    renews: Callable[[Topology], None] | None = None
    """Told of the organization of the next run."""

    # --- back to an earlier instant

    snapshots: Snapshots | None = None
    returns: Callable[[str], None] | None = None
    """Told which saved lab comes next."""

    async def save(self, name: str, *, replace: bool = False) -> None:
        """Keep all as it stands under a name. Raises LabError where nobody keeps it, or a server does not answer; Taken."""
        if self.snapshots is None:
            raise LabError("nobody here keeps labs; pflab coordinate does")
        async with self._lives:
            self.snapshots.check_free(name, replace=replace)
            away = [each for each in self.names if not self.running(each) and not await self._at_peace(each)]
            if away:
                raise LabError(f"server {', '.join(away)} does not answer; a lab is saved when all are there")
            draft = self.snapshots.begin(name)

            async def keep() -> None:
                self._collector.flush()
                self._save()
                begun = [each.name for each in self._servers.all() if each.status is not ServerStatus.ABSENT]
                copies = await asyncio.gather(*[self._processes[each].copy() for each in begun])
                draft.keep_stores(dict(zip(begun, copies, strict=True)))
                self._lasting.write_out()
                draft.keep_traces(self._folder.traces)
                self._state.copy(draft.keep_run(self._folder.path, but=f"{STATE}*") / STATE)

            await self.coordinator.at_rest(keep)
            draft.done()

    async def reset(self, name: str) -> None:
        """End this run, and let whoever runs the lab go on from where it was saved. Raises LabError."""
        if self.snapshots is None or self.returns is None:
            raise LabError("nobody here keeps labs; pflab coordinate does")
        if name not in self.snapshots.names():
            raise LabError(f"no lab was saved as {name!r}; there is {', '.join(self.snapshots.names()) or 'none'}")
        self.returns(name)
        self._leaves_running = False

    def saved(self) -> Sequence[str]:
        return () if self.snapshots is None else self.snapshots.names()

    @property
    def http_address(self) -> Address:
        return self._server.address

    # --- traces

    async def ship(self) -> ExportedTraces:
        """All events up to one instant into closed segments: for each of them its causes are there, too."""
        async with self._lives:
            away = {name for name in self.names if not self.running(name) and not await self._at_peace(name)}
            last = dict(self._collector.last_seq)
            at = self.now

            async def write() -> None:
                nonlocal at
                at = self.now
                there = [host.name for host in self._hosts_in_order() if not host.silent]
                for name, seq in zip(there, await asyncio.gather(*map(self._ship_one, there)), strict=True):
                    if seq is None:
                        away.add(name)
                    else:
                        last[name] = seq
                self._lasting.write_out()

            await self.coordinator.at_rest(write)
        events = sum(last.values()) + self._lasting.seq
        return ExportedTraces(self.run, self._traces_name, at, events, tuple(sorted(away)))

    @property
    def _traces_name(self) -> str:
        """The folder of this run's traces below that of all; "" if there is but this run."""
        apart = self._folder.traces_at
        return "" if apart is None else apart.name

    @property
    def history(self) -> str:
        return self._traces_name or self.run

    def keep_verdict(self, verdict: Mapping[str, object]) -> None:
        super().keep_verdict(verdict)
        self._folder.write_verdict(verdict)

    async def _ship_one(self, name: str) -> int | None:
        return await self._processes[name].ship()

    async def _at_peace(self, name: str) -> bool:
        """Whether nothing more can come of a server that does not run: all it left is in the traces."""
        status = self._servers.server(name).status
        if status in {ServerStatus.ABSENT, ServerStatus.STOPPED}:
            return True  # it has none, or it has written all at its end
        return status is ServerStatus.KILLED and await self._written_out(name)

    def running(self, name: str) -> bool:
        self._servers.server(name)
        host = self._hosts.get(name)
        return host is not None and not host.silent

    def _host(self, name: str) -> RemoteHost:
        server = self._servers.server(name)
        host = self._hosts.get(name)
        if server.status is ServerStatus.RUNNING and (host is None or host.silent):
            raise NotRunning(f"server {name} does not answer; it goes on when its process is back")
        return super()._host(name)

    def _alive(self, name: str) -> bool:
        return not self._hosts[name].silent

    # --- life and death

    async def stop(self, name: str) -> None:
        async with self._lives:
            await super().stop(name)
            self._save_roll()

    async def kill(self, name: str) -> None:
        async with self._lives:
            await super().kill(name)
            self._save_roll()

    async def _start(self, server: LabServer) -> None:
        if self.running(server.name):
            raise LabError(f"server {server.name} is running already")
        process = self._processes[server.name]
        if await process.found() is None:  # waited for before anybody stands still for it
            raise LabError(f"server {server.name} does not answer; bring its process up")
        async with self._lives:
            await super()._start(server)
            self._save_roll()

    async def _look_after(self, server: LabServer) -> None:
        """A server that has no answering host: it may be back, or it may run and shall not."""
        name = server.name
        seen = await self._processes[name].seen()
        async with self._lives:
            if seen is None or self.running(name):
                return
            if server.status is not ServerStatus.RUNNING:
                if seen.standing == "running":
                    await self._processes[name].kill()
                    await self._salvage(name)
            elif name not in self._hosts or not self._processes[name].runs(seen):
                await super()._start(server)
                self._save_roll()
                await self._peers.tell()

    async def _salvage(self, name: str) -> None:
        await self._written_out(name)

    async def _written_out(self, name: str) -> bool:
        """Gather what a server that does not run has left, and let it be in the traces; False if that cannot be had."""
        process = self._processes[name]
        if await process.seen() is None:
            return False
        while lines := await process.left(self._collector.last_seq[name]):
            self._collector.came(name, lines)
        return lines is not None

    def _process_of(self, name: str) -> ManagedProcess:
        return self._processes[name]

    # --- meanwhile

    async def _collect(self) -> None:
        """Somebody may fall silent or come back while the clock stands, too."""
        while True:
            await asyncio.sleep(COLLECT_S if self.coordinator.rate else STANDING_LOOK_S)
            if not self.coordinator.warping:
                await self._surely(self.coordinator.look())
                self._save()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH_S)
            away = [server for server in self._servers.all() if not self.running(server.name)]
            await asyncio.gather(*[self._surely(self._look_after(server)) for server in away])

    async def _write(self) -> None:
        while True:
            await asyncio.sleep(WRITE_S)
            self._lasting.write_out()

    async def _surely(self, act: object) -> None:
        """One server's trouble is no end of the lab."""
        try:
            await act  # type: ignore[misc]
        except (NodeError, LabError) as error:
            log.warning("%s", error)
        except InternalError as error:
            log.error("%s", bug_line(error), exc_info=error)  # noqa: TRY400 - of the cause, which is not this handler's

    # --- beginning and end

    async def up(self) -> None:
        rate = float(self._state.fact("rate") or 0.0)
        self._save_roll()
        if not self._lasting.begun:
            self.record.run_started(self.topology, self.seed, driver=self.driver, durability=self._durability)
        self._folder.write_inputs(self.topology.as_yaml(), self.seed)
        await self._server.start()
        wanted = [server for server in self._servers.all() if server.status is ServerStatus.RUNNING]
        patience_s = FOUND_AGAIN_S if self._goes_on else FOUND_S
        there = await asyncio.gather(*[self._processes[server.name].found(patience_s) for server in wanted])
        present = [server for server, seen in zip(wanted, there, strict=True) if seen is not None]
        async with self._lives, self.coordinator.steady() as now:
            await asyncio.gather(*[self._begin(server, now) for server in present])
            await self._let_go([server.name for server in present])
        await self.coordinator.look()
        if self._goes_on:
            await self.coordinator.set_rate(rate)  # and with it all stand at one time again
        self._save_roll()
        self.begun = True
        self._collecting = asyncio.create_task(self._collect(), name="collect events")
        self._watching = [
            asyncio.create_task(self._watch(), name="watch servers"),
            asyncio.create_task(self._write(), name="write segments"),
        ]

    async def close(self) -> None:
        for task in self._watching:
            task.cancel()
        await asyncio.gather(*self._watching, return_exceptions=True)
        self._watching = []
        if self._leaves_running and not self._closed:
            self._closed = True
            await self._part()
        else:
            await super().close()

    async def _part(self) -> None:
        """Leave the stores as they are."""
        if self._collecting is not None:
            self._collecting.cancel()
            await asyncio.gather(self._collecting, return_exceptions=True)
        await self._peers.end()
        await self._server.stop()
        self._collector.flush()
        self._save()
        self._lasting.close()

    async def _stop_all(self) -> list[BaseException]:
        for host in self._hosts_in_order():
            if host.silent:
                self._leave(host.name, ServerStatus.KILLED)
        for failure in await super()._stop_all():  # somebody may be gone that nobody has missed yet
            log.warning("%s", failure)
        return []

    async def _leave_nothing(self) -> None:
        for process in self._processes.values():
            process.close()

    # --- what outlives the coordinator

    def _save(self) -> None:
        if not self._complete:
            return
        self._state.keep(
            at=self.now,
            rate=self.coordinator.rate,
            lamport=self._lasting.lamport,
            replicas=self._lasting.replicas,
            seqs=self._collector.recorded,
            faults=self.faults.number,
        )

    def _save_roll(self) -> None:
        self._state.keep(roll=self._servers.as_document())
        self._save()
