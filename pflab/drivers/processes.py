"""The driver of processes: every node is a process that the lab starts, stops and kills (with SIGKILL).

The process runs the same command as a container (`python -m node --managed`).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar, Unpack

from pflab.drivers.managed_process import BeginOrder
from pflab.drivers.node_process import NodeProcess
from pflab.drivers.pulse import PATIENCE_S
from pflab.drivers.remote_lab import HERE, HttpOptions, RemoteLab
from pflab.drivers.socket_lab import SocketOptions
from pflab.errors import LabError

if TYPE_CHECKING:
    from pflab.runs.run_folder import RunFolder
    from topology.model import Topology


class ProcessLab(RemoteLab[NodeProcess]):
    """A live lab of processes; see SocketLab for folder and options.

    http: its HTTP server.
    patience_s: see `pflab.drivers.pulse`.
    """

    driver: ClassVar = "processes"

    def __init__(
        self,
        topology: Topology,
        *,
        folder: RunFolder,
        http: HttpOptions = HERE,
        patience_s: float = PATIENCE_S,
        **options: Unpack[SocketOptions],
    ) -> None:
        super().__init__(topology, folder=folder, http=http, **options)
        self._patience_s = patience_s

    def _new_process(self, name: str) -> NodeProcess:
        order = BeginOrder(
            run=self.run,
            history=self.run,
            topology=self._servers.organization_at_start(name).as_json(),
            tls=self._tls,
            imap_token=self._imap_token,
            imap_port=self._imap_port(name),
        )
        return NodeProcess(
            name,
            folder=self._folder,
            durability=self._durability,
            token=self.token,
            order=order,
            patience_s=self._patience_s,
            smtp_port=self.organization.servers[name].smtp_port,
            lock=self.record.lock,
        )

    def pid_of(self, name: str) -> int:
        """Return the process id of a running node. Raises NotRunning if the node does not run."""
        self._host(name)
        return self._process(name).pid

    def _alive(self, name: str) -> bool:
        return self._process(name).alive

    async def copy_into(self, folder: RunFolder, *, traces: bool = True) -> None:
        async def write() -> None:
            if traces:
                await asyncio.gather(*[self._process(name).export() for name in self._hosts])
            copies = await asyncio.gather(*[self._process(name).copy() for name in self._hosts])
            for name, content in zip(self._hosts, copies, strict=True):
                folder.write_database(name, content)
            for name in self._state().stores:
                if name not in self._hosts:
                    self._copy_database(name, folder)
            self._copy_files(folder, traces=traces)

        async with self._all_lives():
            if away := [host.name for host in self._hosts_in_order() if host.silent]:
                raise LabError(
                    f"server {', '.join(away)} does not answer; a lab is copied only when all servers answer"
                )
            await self.coordinator.at_rest(write)

    async def _collect_rest(self, name: str) -> None:
        self._collector.collect_from_database(name)

    async def _clean_up(self) -> None:
        for process in self._processes.values():
            await process.kill()
