"""A run that continues an earlier one: it begins with the same databases, at the instant at which the earlier run ended.

A lab writes its state (`pflab.runs.lab_state`) when it begins, after each change of a server, a backup or a fault, and when it
stops. The new run gets copies of the databases and backups, and links to the saved labs and to the traces up to the stop, so
its traces are complete. Only the event run.ended is left out. The file `continues` names the earlier run. The earlier run stays
as it was, and can be continued again. All runs that continue one run have its run id in their events. A run whose lab was
killed is ended first (`pflab.lab.killed_run`).
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pflab.errors import LabError
from pflab.runs.backups import BACKUPS
from pflab.runs.events import RunEvents
from pflab.runs.lab_state import LabState, read_state
from pflab.runs.recorder import LAB
from topology.file.load import load_topology
from traces.events import Event, NodeStarted, NodeStopped, RunEnded
from traces.segments import list_segments, read_end, read_lines, write_segment
from transport.file_handles import naming_missing_handles

if TYPE_CHECKING:
    from pflab.runs.run_folder import RunFolder

CONTINUES: Final = "continues"
SAVED: Final = ".saved"
"""The folder of the saved labs in a run folder. Spark does not read hidden folders, so a saved lab is no run of its own."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a new run continues: the end of the earlier lab, and all events before it, each after its causes."""

    end: LabState
    events: tuple[Event, ...]

    @property
    def stopped(self) -> frozenset[str]:
        """The servers whose last life ended with the lab: it stopped them, in contrast to those of a lab that was copied."""
        last = {event.node: event for event in self.events if isinstance(event, NodeStarted | NodeStopped)}
        return frozenset(name for name, event in last.items() if isinstance(event, NodeStopped))


def continue_run(run: Path, folder: RunFolder, named: Path | None = None) -> Earlier:
    """Copy the databases and traces of a run that ended, or of a saved lab, into the folder of the run that continues it, and
    link its backups and saved labs. Raises LabError if this fails.

    named: what the file `continues` names, by default the run.
    """
    end = read_state(run)
    trace = RunEvents.at(run)
    _check_unchanged(run, trace)
    events = tuple(event for event in trace.events if not isinstance(event, RunEnded))
    try:
        shutil.copytree(run / "databases", folder.path / "databases", dirs_exist_ok=True)
        link_all((run / BACKUPS).glob("*"), folder.path / BACKUPS)
        for name, path in list_segments(run / "traces"):
            if name.node != LAB:
                link_all([path], folder.traces)
            elif lines := _without_end(path):
                write_segment(folder.traces, name, lines)
        saved = run.parent if run.parent.name == SAVED else run / SAVED
        if saved.is_dir():
            shutil.copytree(saved, folder.path / SAVED, copy_function=_link)
        (folder.path / CONTINUES).write_text(f"{(named or run).resolve()}\n", "utf-8")
    except OSError as error:
        raise LabError(f"{run} cannot be copied into {folder.path}: {error.strerror or error}") from error
    return Earlier(end, events)


def _check_unchanged(run: Path, trace: RunEvents) -> None:
    """Raise LabError if the topology is not that of the run, or if the database of a store is missing or damaged."""
    started = trace.started
    if started is not None and trace.topology is not None:
        topology = load_topology(run / "topology.yaml").as_json()
        if topology != trace.topology.as_json():
            raise LabError(f"{run / 'topology.yaml'} is not the topology with which this run began; restore the file")
    for name in sorted({event.node for event in trace.events if isinstance(event, NodeStarted)}):
        database = run / "databases" / f"{name}.sqlite"
        if not database.is_file():
            raise LabError(f"{run} cannot be continued: the database of server {name} is missing ({database})")
        try:
            with naming_missing_handles(), closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
                result = opened.execute("PRAGMA quick_check(1)").fetchone()[0]
        except sqlite3.Error as error:
            result = str(error)
        if result != "ok":
            raise LabError(f"{run} cannot be continued: the database of server {name} is damaged ({result})")


def _without_end(path: Path) -> list[bytes]:
    """Return the events of a segment without the end of the run, which may be its only event."""
    return [
        line + b"\n"
        for line in read_lines(path)
        if read_end(line) is None and json.loads(line).get("type") != RunEnded.__struct_config__.tag
    ]


def link_all(files: Iterable[Path], folder: Path) -> None:
    """Link files into a folder, or copy them if links are impossible. Segments never change, so links are safe."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in files:
        with suppress(FileNotFoundError):  # trace retention may remove the oldest segment at any time
            _link(path, folder / path.name)


def _link(path: str | Path, place: str | Path) -> None:
    try:
        Path(place).hardlink_to(path)
    except (OSError, NotImplementedError):  # no links here: another file system, or a browser
        shutil.copy2(path, place)
