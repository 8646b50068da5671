"""Make labs for the command line, with their drivers and run folders."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pflab.cli.output import CommandError, err
from pflab.client import Client
from pflab.drivers.existing_lab import ExistingLab
from pflab.drivers.live import LiveLab
from pflab.lab.lab import Lab
from pflab.runs.run_folder import LATEST, RunFolder
from pflab.scenario.load import EXAMPLES, yaml_file
from pflab.scenario.session import Play
from pflab.simulation.simulator import Simulator
from topology import Topology, load_topology
from topology.file.yaml_source import MAX_BYTES, read_yaml

RUNS = Path("runs")
"""The folder for run folders, below the current folder."""


@dataclass(frozen=True, slots=True)
class LabOrder:
    """The lab that a command needs. If there is no `folder`, a simulation writes nothing.

    existing: a client of a lab that is already up; with `renews`, that lab starts a new run first.
    """

    seed: int
    simulate: bool
    folder: RunFolder | None
    processes: bool = False
    existing: Client | None = None
    renews: bool = False

    def factory(self) -> Callable[[Topology], Lab]:
        def make(topology: Topology) -> Lab:
            if self.existing is not None:
                return ExistingLab(topology, self.existing, renews=self.renews)
            if self.folder is not None:
                self.folder.write_inputs(topology.as_yaml(), self.seed)
            if self.simulate:
                return Simulator(topology, seed=self.seed, folder=self.folder)
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


def existing_run(run: Path | None) -> Path:
    """Return the given run folder, or the latest below runs/. Print which run folder it is."""
    path = run if run is not None else RUNS / LATEST
    if not path.is_dir():
        hint = "name a run folder, or make a run first: pflab demo"
        raise CommandError(f"{path}: no such run folder; {hint}")
    if run is None:
        err.print(f"reading the run {shown_path(path.resolve())}", style="dim", markup=False)
    return path.resolve()


def shown_path(path: Path) -> str:
    """Return a path as text, relative to the current folder if the path is inside that folder."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def own_name() -> str:
    """Return the command that starts pflab: `pflab` if it is on the PATH, else the path with which it was started."""
    return "pflab" if shutil.which("pflab") or not Path(sys.argv[0]).is_file() else sys.argv[0]


MAX_FILE_BYTES: Final = 256 * 1024 * 1024
"""The largest file that a verb reads at once (decision), so that a device such as /dev/zero does not fill the memory."""


def read_bytes(path: Path) -> bytes:
    """Return the content of a file that the user named. Raises CommandError if it cannot be read or is too large."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{path}: {(error.strerror or str(error)).lower()}; name a file that can be read") from None
    if len(content) > MAX_FILE_BYTES:
        raise CommandError(f"{path}: larger than {MAX_FILE_BYTES} bytes; name a smaller file")
    return content


def read_topology(path: Path) -> Topology:
    """Return the topology in a file. If no file has this name, return pflab's example of this name.

    Raises CommandError if the file cannot be read or is of another kind, TopologyError for mistakes."""
    if not path.exists():
        path = yaml_file(str(path), EXAMPLES) or path
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{path}: {(error.strerror or str(error)).lower()}; name a topology file") from error
    source = read_yaml(content.decode("utf-8", "replace"), str(path))
    if isinstance(source.data, dict) and "servers" not in source.data and "steps" in source.data:
        raise CommandError(f"{path}: this is a scenario, not a topology; name a topology, or use pflab run")
    return load_topology(path)


MOST_SEEDS: Final = 1_000_000
"""The most seeds of one range (decision): a campaign of so many takes days, and one without end would fill the memory."""


def parse_seeds(text: str) -> range:
    """Return the seeds of `7` or `1..200`, both ends included. Raises CommandError for any other text."""
    match = re.fullmatch(r"(\d{1,12})(?:\.\.(\d{1,12}))?", text)
    if match is None or int(match[2] or match[1]) < int(match[1]):
        raise CommandError(f"--seeds {text}: not a range of seeds; write for example 1..200, the smaller first")
    seeds = range(int(match[1]), int(match[2] or match[1]) + 1)
    if len(seeds) > MOST_SEEDS:
        raise CommandError(f"--seeds {text}: more than {MOST_SEEDS} seeds; give a smaller range")
    return seeds
