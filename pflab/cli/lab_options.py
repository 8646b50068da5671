"""Make labs for the command line, with their drivers and run folders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pflab.cli.inputs.files import RUNS
from pflab.client import Client
from pflab.drivers.existing_lab import ExistingLab
from pflab.drivers.live import LiveLab
from pflab.lab.lab import Lab
from pflab.runs.run_folder import RunFolder
from pflab.scenario.session import Play
from pflab.simulation.network import NetworkPolicy
from pflab.simulation.simulator import Simulator
from topology.model import Topology


@dataclass(frozen=True, slots=True)
class LabOrder:
    """The lab that a command needs. If there is no `folder`, a simulation writes nothing.

    existing: a client of a lab that is already up; with `renews`, that lab starts a new run first.
    network: how a simulated network reorders and delays mails.
    """

    seed: int
    simulate: bool
    folder: RunFolder | None
    processes: bool = False
    existing: Client | None = None
    renews: bool = False
    network: NetworkPolicy | None = None

    def factory(self) -> Callable[[Topology], Lab]:
        def make(topology: Topology) -> Lab:
            if self.existing is not None:
                return ExistingLab(topology, self.existing, renews=self.renews)
            if self.folder is not None:
                self.folder.write_inputs(topology.as_yaml(), self.seed)
            if self.simulate:
                return Simulator(topology, seed=self.seed, network=self.network, folder=self.folder)
            assert self.folder is not None, "a live lab always has a run folder"
            if self.processes:
                from pflab.drivers.processes import ProcessLab  # noqa: PLC0415 - importing the HTTP server takes long

                return ProcessLab(topology, seed=self.seed, folder=self.folder)
            return LiveLab(topology, seed=self.seed, folder=self.folder)

        return make

    def keep_databases(self, play: Play) -> None:
        """Write the databases of a simulated lab into its run folder, so that `pflab state` can read them. A store that
        does not run at the end gets no database file. Raises LabError if a database cannot be written.
        """
        if not self.simulate or self.folder is None:
            return
        for store in play.running():
            self.folder.write_database(store, play.lab.read(store, lambda node: node.backup()))


def run_folder(
    name: str, traces: Path | None, *, simulate: bool, keep_mails: bool = False, runs: Path = RUNS
) -> RunFolder | None:
    """Create the folder of one run: `runs/<name>/<time>`, or a new one below `traces`. Return None for a simulation
    that keeps nothing. Raises LabError if the folder cannot be written."""
    if simulate and traces is None and not keep_mails:
        return None
    started = None if simulate else datetime.now(UTC)
    return RunFolder.create(runs if traces is None else traces, name, started=started, keeps_mails=keep_mails)
