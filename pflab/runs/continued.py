"""A run that continues an earlier one: it begins with the same databases, at the instant at which the earlier run ended.

A lab writes its state into `lab.json` when it begins, after each change of a server, and when it stops. The new run gets copies
of the databases and links to the saved labs, and the traces up to the stop as hard links, so its traces are complete. Only the
event run.ended is left out. The file `continues` names the earlier run. The earlier run stays as it was, and can be continued
again. All runs that continue one run have its run id in their events. A run whose lab was killed is ended first
(`pflab.lab.killed_run`).
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
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from node.host.whole_files import write_whole
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
SAVED: Final = ".saved"
"""The folder of the saved labs in a run folder. Spark does not read hidden folders, so a saved lab is no run of its own."""


Driver = Literal["live", "processes", "managed", "simulator"]
"""How the servers of a lab run: in its process, as its processes, as processes that another program keeps alive, simulated."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How `pflab up` ran a lab; a run that continues it has the same settings.

    driver: how the servers ran, in the word of run.started.
    tls: whether they offered STARTTLS.
    imap_port: the port of the first server's IMAP listener, 0 for free ports; None without IMAP.
    keeps_mails: whether the run folder has each mail.
    """

    driver: Driver = "live"
    durability: Literal["full", "normal"] = "normal"
    tls: bool = False
    imap_port: int | None = None
    keeps_mails: bool = False


@dataclass(frozen=True, slots=True)
class RunState:
    """The state of a lab, as of the last change of a server.

    run      the run id of its events
    at       the lab time
    servers  the states of its servers and the directory (`pflab.lab.servers.Servers.as_document`)
    faults   the number of the last fault
    active   the ids of the faults that were in force
    """

    run: str
    at: LabTime
    servers: Mapping[str, Any]
    faults: int
    active: tuple[str, ...]
    settings: RunSettings


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a new run continues: the end of the earlier lab, and all events before it, each after its causes."""

    end: RunState
    events: tuple[Event, ...]


def keep_state(run: Path, state: RunState) -> None:
    """Write the state of a lab into its run folder. Raises OSError if this fails; the state before is still there then."""
    write_whole(run / STATE, msgspec.json.format(msgspec.json.encode(state)) + b"\n")


def read_state(run: Path) -> RunState:
    """Return the state of the lab of a run. Raises LabError if the run cannot be continued."""
    try:
        return msgspec.json.decode((run / STATE).read_bytes(), type=RunState)
    except FileNotFoundError:
        raise LabError(f"{run} cannot be continued: it has no {STATE}, so it is not a run of pflab up") from None
    except (OSError, msgspec.DecodeError) as error:
        raise LabError(f"{run / STATE} cannot be read: {error}") from error


def continue_run(run: Path, folder: RunFolder) -> Earlier:
    """Copy the databases and traces of a run that ended, or of a saved lab, into the folder of the run that continues it, and
    link the saved labs. Raises LabError if this fails."""
    end = read_state(run)
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
        saved = run.parent if run.parent.name == SAVED else run / SAVED
        if saved.is_dir():
            shutil.copytree(saved, folder.path / SAVED, copy_function=_link)
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
            _link(path, folder / path.name)


def _link(path: str | Path, place: str | Path) -> None:
    try:
        os.link(path, place)
    except OSError:
        shutil.copy2(path, place)
