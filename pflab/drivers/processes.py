"""The driver of processes: every node a process of its own here, started, ended and killed (by SIGKILL) by the lab.

A node's process is what a container runs (`python -m node`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pflab.drivers.node_process import NodeProcess
from pflab.drivers.remote_lab import HttpOptions, RemoteLab

if TYPE_CHECKING:
    from pflab.runs.run_folder import RunFolder
    from topology import Topology


class ProcessLab(RemoteLab[NodeProcess]):
    """A live lab of processes; see SocketLab for folder, seed and tls.

    token: what its processes know each other by. http_port: where the lab's face listens (`pflab.server.app`), see `url`.
    """

    driver: ClassVar = "processes"

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
        face = HttpOptions(port=http_port)
        super().__init__(topology, folder=folder, seed=seed, run=run, durability=durability, tls=tls, face=face)

    def pid_of(self, name: str) -> int:
        """The process of a running node. Raises NotRunning."""
        self._host(name)
        return self._processes[name].pid

    def _process_of(self, name: str) -> NodeProcess:
        return NodeProcess(name, folder=self._folder, run=self._run, durability=self._durability, token=self.token)

    def _alive(self, name: str) -> bool:
        return self._processes[name].alive

    async def _salvage(self, name: str) -> None:
        self._collector.salvage(name)

    async def _leave_nothing(self) -> None:
        for child in self._processes.values():
            await child.kill()
