"""Labs for the command line: which driver, which run folder, and what stays behind."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pflab.cli.output import CommandError
from pflab.lab import Lab
from pflab.live import LiveLab
from pflab.runfolder import LATEST, RunFolder
from pflab.simulator import Simulator
from topology import Topology

RUNS = Path("runs")
"""Where runs leave their folders, below the folder in which the command is given."""


@dataclass(frozen=True, slots=True)
class LabOrder:
    """What lab a command wants. `folder` None: a simulation that writes nothing."""

    seed: int
    simulate: bool
    folder: RunFolder | None

    def factory(self) -> Callable[[Topology], Lab]:
        def make(topology: Topology) -> Lab:
            if self.folder is not None:
                self.folder.write_inputs(topology.as_yaml(), self.seed)
            if self.simulate:
                return Simulator(topology, seed=self.seed, folder=self.folder)
            assert self.folder is not None, "a live lab always has a run folder"
            return LiveLab(topology, seed=self.seed, folder=self.folder)

        return make


def run_folder(name: str, traces: Path | None, *, simulate: bool, runs: Path = RUNS) -> RunFolder | None:
    """The folder of one run: `runs/<name>/<time>`, or a place of its own below `traces`; none for a simulation that
    was not asked to keep anything. Raises LabError when it cannot be written."""
    if traces is not None:
        return RunFolder.create(traces, name, started=None if simulate else datetime.now(UTC))
    if simulate:
        return None
    return RunFolder.create(runs, name, started=datetime.now(UTC))


def existing_run(run: Path | None) -> Path:
    """The run folder that a command looks at: the one given, else the latest here."""
    path = run if run is not None else RUNS / LATEST
    if not path.is_dir():
        hint = "give a run folder, or make a run first: pflab demo"
        raise CommandError(f"{path}: no such run folder; {hint}")
    return path.resolve()


def read_bytes(path: Path) -> bytes:
    """A file that the user named. Raises CommandError with one line for whatever is wrong with it."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path}: {(error.strerror or str(error)).lower()}; name a file that can be read") from None


def parse_seeds(text: str) -> range:
    """`7` or `1..200`, both ends included."""
    match = re.fullmatch(r"(\d{1,12})(?:\.\.(\d{1,12}))?", text)
    if match is None or int(match[2] or match[1]) < int(match[1]):
        raise CommandError(f"--seeds {text}: not a range of seeds; write 1..200, the smaller first")
    return range(int(match[1]), int(match[2] or match[1]) + 1)
