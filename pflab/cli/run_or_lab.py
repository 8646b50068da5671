"""Choose what a verb reads: a run that is over or a running lab, and which of its stores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import msgspec

from pflab.cli.lab_options import existing_run
from pflab.cli.output import CommandError, err
from pflab.cli.running_lab import LabReader, client_of, is_up, lexicon_of
from pflab.runs.databases import RunReader
from pflab.runs.events import RunEvents
from topology.problems import did_you_mean
from traces.events import AnyEvent

Reader: TypeAlias = LabReader | RunReader
"""A run that is over, or a lab that runs. Both have the same methods for reading."""


@contextmanager
def chosen_reader(run: Path | None, lab: str | None) -> Iterator[Reader]:
    """Return a reader of the run folder or lab that was named. If neither was, take the running lab, else the latest run."""
    if run is not None and lab is not None:
        raise CommandError("a run folder and a running lab were named; name one of the two")
    if lab is not None or (run is None and is_up()):
        with client_of(lab) as client:
            yield LabReader(client)
    else:
        yield RunReader.at(existing_run(run))


def chosen_events(run: Path | None, lab: str | None) -> RunEvents:
    """Return the events of what `chosen_reader` chooses."""
    with chosen_reader(run, lab) as reader:
        if isinstance(reader, LabReader):
            told = [msgspec.convert(each, AnyEvent) for each in reader.client.events()]
            # The lab's folder can be on another machine, and its earliest events can be in the traces only.
            organization = json.dumps(reader.client.json("GET", "/lab/topology"))
            place = Path(reader.client.lab()["folder"])
            return RunEvents.of(place, told, names=lexicon_of(reader.client), organization=organization)
        return RunEvents.at(reader.path)


def chosen_stores(reader: Reader, server: str | None) -> list[str]:
    """Return the stores that can be read, or only `server`. Print which servers of a running lab do not run.

    Raises CommandError if there is no such store.
    """
    stores, away = reader.stores(), reader.away()
    if server is not None and server in away:
        raise CommandError(f"--server {server}: it does not run; start it: pflab fault start {server}")
    if away and server is None:
        err.print(
            f"not asked, for {'it does' if len(away) == 1 else 'they do'} not run: {', '.join(away)}", markup=False
        )
    if not stores and away:
        raise CommandError("no server of this lab runs; start one: pflab fault start NAME")
    if not stores:
        raise CommandError("no databases here; a live run leaves them, a simulated one with --traces")
    if server is None:
        return stores
    if server not in stores:
        raise CommandError(f"--server {server}: no such server in this run; {did_you_mean(server, stores)}")
    return [server]
