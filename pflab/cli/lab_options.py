"""Labs for the command line: which driver, which run folder, and what stays behind."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pflab.cli.output import CommandError, err
from pflab.client import Client
from pflab.drivers.existing_lab import ExistingLab
from pflab.drivers.live import LiveLab
from pflab.lab.lab import Lab
from pflab.runs.run_folder import LATEST, RunFolder
from pflab.scenario.load import EXAMPLES, shipped
from pflab.scenario.session import Play
from pflab.simulation.simulator import Simulator
from topology import Topology, load_topology, read_yaml

RUNS = Path("runs")
"""Where runs leave their folders, below the folder in which the command is given."""


@dataclass(frozen=True, slots=True)
class LabOrder:
    """What lab a command wants. `folder` None: a simulation that writes nothing.

    `far`: one that is up already, begun anew if it `renews`.
    """

    seed: int
    simulate: bool
    folder: RunFolder | None
    processes: bool = False
    far: Client | None = None
    renews: bool = False

    def factory(self) -> Callable[[Topology], Lab]:
        def make(topology: Topology) -> Lab:
            if self.far is not None:
                return ExistingLab(topology, self.far, renews=self.renews)
            if self.folder is not None:
                self.folder.write_inputs(topology.as_yaml(), self.seed)
            if self.simulate:
                return Simulator(topology, seed=self.seed, folder=self.folder)
            assert self.folder is not None, "a live lab always has a run folder"
            if self.processes:
                from pflab.drivers.processes import ProcessLab  # noqa: PLC0415 - what serves HTTP takes long to import

                return ProcessLab(topology, seed=self.seed, folder=self.folder)
            return LiveLab(topology, seed=self.seed, folder=self.folder)

        return make

    def keep_databases(self, play: Play) -> None:
        """What a simulated lab has in memory, into its folder, for `pflab state`: of the stores that run at the end.

        Raises LabError when it cannot be written.
        """
        if not self.simulate or self.folder is None:
            return
        for store in play.running():
            self.folder.write_database(store, play.lab.read(store, lambda node: node.backup()))


def run_folder(
    name: str, traces: Path | None, *, simulate: bool, keep_mails: bool = False, runs: Path = RUNS
) -> RunFolder | None:
    """The folder of one run: `runs/<name>/<time>`, or a place of its own below `traces`; none for a simulation that
    was not asked to keep anything. Raises LabError when it cannot be written."""
    if simulate and traces is None and not keep_mails:
        return None
    started = None if simulate else datetime.now(UTC)
    return RunFolder.create(runs if traces is None else traces, name, started=started, keeps_mails=keep_mails)


def existing_run(run: Path | None) -> Path:
    """The run folder that a command looks at: the one given, else the latest here, and then it is said which."""
    path = run if run is not None else RUNS / LATEST
    if not path.is_dir():
        hint = "give a run folder, or make a run first: pflab demo"
        raise CommandError(f"{path}: no such run folder; {hint}")
    if run is None:
        err.print(f"of the run {shown_path(path.resolve())}", style="dim", markup=False)
    return path.resolve()


def shown_path(path: Path) -> str:
    """As short as it can be given to the next command."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def own_name() -> str:
    """How the user calls us: by name where that is found, else as it was done this time."""
    return "pflab" if shutil.which("pflab") or not Path(sys.argv[0]).is_file() else sys.argv[0]


def read_bytes(path: Path) -> bytes:
    """A file that the user named. Raises CommandError with one line for whatever is wrong with it."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path}: {(error.strerror or str(error)).lower()}; name a file that can be read") from None


def read_topology(path: Path) -> Topology:
    """A topology, or by its bare name one of those that come with pflab. Raises CommandError for another kind of file,
    TopologyError for mistakes, OSError if it cannot be read."""
    if not path.exists():
        path = shipped(str(path), EXAMPLES) or path
    source = read_yaml(path.read_bytes().decode("utf-8", "replace"), str(path))
    if isinstance(source.data, dict) and "servers" not in source.data and "steps" in source.data:
        raise CommandError(f"{path}: not a topology, but a file with steps; name a topology, or use pflab run")
    return load_topology(path)


def parse_seeds(text: str) -> range:
    """`7` or `1..200`, both ends included."""
    match = re.fullmatch(r"(\d{1,12})(?:\.\.(\d{1,12}))?", text)
    if match is None or int(match[2] or match[1]) < int(match[1]):
        raise CommandError(f"--seeds {text}: not a range of seeds; write 1..200, the smaller first")
    return range(int(match[1]), int(match[2] or match[1]) + 1)
