"""Labs of every driver behind one call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from node.store.node import Node
from pflab.containers.managed_lab import ManagedLab
from pflab.drivers.live import LiveLab
from pflab.drivers.processes import ProcessLab
from pflab.drivers.remote_lab import HttpOptions
from pflab.lab.lab import Lab
from pflab.lab.servers import NodeFactory
from pflab.runs.run_folder import RunFolder
from pflab.simulation.simulated_lab import SimulatedLab
from pflab.simulation.simulator import Simulator
from tests.support.process_supervisor import SECRET, ProcessSupervisor
from tests.support.topologies import THREE_STORES
from topology.file.load import topology_from_text

TOKEN = "known-to-the-lab"
"""The token of managed labs and of the processes of their nodes."""


class LabFactory(Protocol):
    """Makes a lab from a topology's text; `async with` starts it."""

    def __call__(
        self,
        text: str = THREE_STORES,
        *,
        seed: int = 1,
        make_node: NodeFactory = Node,
        keeps_mails: bool = False,
    ) -> Lab: ...


def lab_factory(driver: str, folder: Path, processes: Callable[[], ProcessSupervisor]) -> LabFactory:
    """Return the factory of a driver's labs, whose runs are below `folder`. Managed labs use `processes`."""

    def make(
        text: str = THREE_STORES, *, seed: int = 1, make_node: NodeFactory = Node, keeps_mails: bool = False
    ) -> Lab:
        topology = topology_from_text(text)
        run = RunFolder.create(folder / "runs", "test", keeps_mails=keeps_mails)
        makers: dict[str, Callable[[], Lab]] = {
            "simulator": lambda: Simulator(topology, seed=seed, folder=run, make_node=make_node),
            "simulated lab": lambda: SimulatedLab(topology, seed=seed, folder=run),
            "live": lambda: LiveLab(topology, seed=seed, folder=run, make_node=make_node),
            "processes": lambda: ProcessLab(topology, seed=seed, folder=run),
            "managed": lambda: ManagedLab(
                topology,
                seed=seed,
                folder=processes().next_run(run.path, keeps_mails=keeps_mails),
                secret=SECRET,
                addresses=processes().addresses,  # also of servers that are added later
                http=HttpOptions(token=TOKEN),
                deletes_others=True,
            ),
        }
        return makers[driver]()

    return make
