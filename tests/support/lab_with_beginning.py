"""A running lab that goes back to its beginning before each test.

The start of a lab takes seconds of processor time, and to go back takes a tenth of a second. `pflab up --processes` cannot go
back, so a coordinated lab shows what a lab of processes does.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pflab.runs.run_folder import RunFolder
from pflab.testing.lab import Lab
from tests.support.coordinator_process import running_coordinator
from tests.support.lab_factory import TOKEN
from tests.support.process_supervisor import ProcessSupervisor
from tests.support.running_lab import lab_up
from topology.file.load import topology_from_text

BEGINNING = "beginning"
COORDINATED = "coordinated"
DRIVERS = ("embedded", COORDINATED, "simulated")


@contextmanager
def lab_with_beginning(folder: Path, driver: str, topology: str, *, keeps_mails: bool = False) -> Iterator[Lab]:
    """Start a lab of a driver in a folder, and save its state as BEGINNING. Give its client."""
    with ExitStack() as ends:
        if driver == COORDINATED:
            (folder / "lab.yaml").write_text(topology, "utf-8")
            run_folder = RunFolder.at(folder / "run")
            nodes = ends.enter_context(ProcessSupervisor(topology_from_text(topology), run_folder, token=TOKEN))
            options = ["--keep-mails"] if keeps_mails else []
            url = ends.enter_context(running_coordinator(nodes, folder, signal.SIGTERM, *options))
        else:
            more = [] if driver == "embedded" else ["--simulated"]
            url = ends.enter_context(lab_up(folder, *more, topology=topology))
        lab = ends.enter_context(Lab(url, token=TOKEN if driver == COORDINATED else None))
        lab.save(BEGINNING)
        yield lab
