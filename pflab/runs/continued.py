"""A run that continues an earlier one, whose lab was stopped: it begins with the same databases, at the instant at which the
earlier run ended.

The lab writes its state into `lab.json` when it stops. The new run gets copies of the databases, and the traces up to the stop
as hard links, so its traces are complete. Only the event run.ended is left out. The file `continues` names the earlier run. The
earlier run stays as it was, and can be continued again. All runs that continue one run have its run id in their events.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pflab.errors import LabError
from pflab.runs.events import RunEvents
from pflab.runs.recorder import LAB
from topology.file.load import load_topology
from traces.events import Event, NodeStarted, RunEnded
from traces.labtime import LabTime
from traces.segments import list_segments, read_end, read_lines, write_segment
from transport.file_handles import naming_missing_handles

if TYPE_CHECKING:
    from pflab.runs.run_folder import RunFolder

STATE: Final = "lab.json"
CONTINUES: Final = "continues"


@dataclass(frozen=True, slots=True)
class LabEnd:
    """The state of a lab when it stopped.

    run      the run id of its events
    at       the lab time
    servers  the states of its servers and the directory (`pflab.lab.servers.Servers.as_document`)
    faults   the number of the last fault
    active   the ids of the faults that were in force
    tls      whether the servers offered STARTTLS
    """

    run: str
    at: LabTime
    servers: Mapping[str, Any]
    faults: int
    active: tuple[str, ...]
    tls: bool


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a new run continues: the end of the earlier lab, and all events before it, each after its causes."""

    end: LabEnd
    events: tuple[Event, ...]


def keep_end(folder: RunFolder, end: LabEnd) -> None:
    """Write the state of a lab that stopped into its run folder."""
    (folder.path / STATE).write_bytes(msgspec.json.format(msgspec.json.encode(end)) + b"\n")


def read_end_of(run: Path) -> LabEnd:
    """Return the state of the lab when the run ended. Raise LabError if the run cannot be continued."""
    try:
        return msgspec.json.decode((run / STATE).read_bytes(), type=LabEnd)
    except FileNotFoundError:
        raise LabError(
            f"{run} cannot be continued: only a run of pflab up, without --processes or --simulated, that was stopped with"
            f" Ctrl-C has {STATE}"
        ) from None
    except (OSError, msgspec.DecodeError) as error:
        raise LabError(f"{run / STATE} cannot be read: {error}") from error


def continue_run(run: Path, folder: RunFolder) -> Earlier:
    """Copy the databases and traces of a run into the folder of the run that continues it. Raise LabError if this fails."""
    end = read_end_of(run)
    found = RunEvents.at(run)
    _check_unchanged(run, found)
    events = tuple(each for each in found.events if not isinstance(each, RunEnded))
    try:
        shutil.copytree(run / "databases", folder.path / "databases", dirs_exist_ok=True)
        for name, path in list_segments(run / "traces"):
            if name.node != LAB:
                link_all([path], folder.traces)
            elif lines := _without_end(path):
                write_segment(folder.traces, name, lines)
        (folder.path / CONTINUES).write_text(f"{run.resolve()}\n", "utf-8")
    except OSError as error:
        raise LabError(f"{run} cannot be copied into {folder.path}: {error.strerror or error}") from error
    return Earlier(end, events)


def _check_unchanged(run: Path, found: RunEvents) -> None:
    """Raise LabError if the topology is not that of the run, or if the database of a store is missing or damaged."""
    started = found.started
    if started is not None and found.topology is not None:
        kept = load_topology(run / "topology.yaml").as_json()
        if kept != found.topology.as_json():
            raise LabError(f"{run / 'topology.yaml'} is not the topology with which this run began; restore the file")
    for name in sorted({each.node for each in found.events if isinstance(each, NodeStarted)}):
        database = run / "databases" / f"{name}.sqlite"
        if not database.is_file():
            raise LabError(f"{run} cannot be continued: the database of server {name} is missing ({database})")
        try:
            with naming_missing_handles(), closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
                told = opened.execute("PRAGMA quick_check(1)").fetchone()[0]
        except sqlite3.Error as error:
            told = str(error)
        if told != "ok":
            raise LabError(f"{run} cannot be continued: the database of server {name} is damaged ({told})")


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
            try:
                os.link(path, folder / path.name)
            except OSError:
                shutil.copy2(path, folder / path.name)
