"""Choose what a verb reads: a finished run or a running lab, and which of its stores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from pflab.cli.inputs.files import existing_run, shown_path
from pflab.cli.output import CommandError, err
from pflab.cli.running_lab import LabReader, client_of, default_url, lexicon_of
from topology.problems import did_you_mean, quoted
from traces.events import AnyEvent

if TYPE_CHECKING:
    from pflab.runs.databases import RunReader
    from pflab.runs.events import RunEvents

RECENT: Final = 50_000
"""How many of the newest events of a running lab are read in about a second."""

Reader: TypeAlias = "LabReader | RunReader"
"""A running lab or a finished run. Both have the same methods for reading."""


@contextmanager
def chosen_reader(run: Path | None, lab: str | None) -> Iterator[Reader]:
    """Return a reader of the given run folder or lab. If none is given, read the running lab, or else the latest run."""
    if run is not None and lab is not None:
        raise CommandError("both a run folder and a running lab are given; give only one")
    if lab is not None or (run is None and default_url() is not None):
        with client_of(lab) as client:
            yield LabReader(client)
    else:
        from pflab.runs.databases import RunReader  # noqa: PLC0415 - a store's code takes long to import

        yield RunReader.at(existing_run(run))


def chosen_events(run: Path | None, lab: str | None) -> RunEvents:
    """Return the events of the run or lab that `chosen_reader` chooses."""
    with chosen_reader(run, lab) as reader:
        return events_of(reader)


def events_of(reader: Reader, *, last: int | None = None) -> RunEvents:
    """Return the events of a run or a running lab. last: of a lab, only this many, the newest."""
    if isinstance(reader, LabReader):
        return _events_of(reader, last=last)
    from pflab.runs.events import RunEvents  # noqa: PLC0415 - a store's code takes long to import

    return RunEvents.at(reader.path)


def _events_of(reader: LabReader, last: int | None = None) -> RunEvents:
    from pflab.runs.events import RunEvents  # noqa: PLC0415 - as above

    events = [msgspec.convert(event, AnyEvent) for event in reader.client.events(last=last)]
    # The lab's folder can be on another machine, and the lab can have discarded its earliest events.
    organization = json.dumps(reader.client.json("GET", "/lab/topology"))
    place = Path(reader.client.lab()["folder"])
    return RunEvents.of(place, events, names=lexicon_of(reader.client), organization=organization)


def with_forecast(run: Path | None, lab: str | None, within: str) -> tuple[RunEvents, RunEvents]:
    """Return the events of a running lab until now, and those with what it will do within a time.

    Raises CommandError for a finished run, which has no future.
    """
    with chosen_reader(run, lab) as reader:
        if not isinstance(reader, LabReader):
            raise CommandError(
                f"only a running lab has a future, and {shown_path(reader.path)} is a run; leave --until out"
            )
        forecast = reader.client.forecast(within)
        present = _events_of(reader)  # after the forecast, so that no event is missing in between
    if not forecast["complete"]:
        err.print(f"the forecast has so many events that it ends at {forecast['to_at']}; look less far with --until")
    events = [msgspec.convert(event, AnyEvent) for event in forecast["events"]]
    known = present.before(events)  # the lab may have gone on meanwhile
    return known, known.followed_by(events)


def chosen_stores(reader: Reader, server: str | None) -> list[str]:
    """Return the stores that can be read, or only `server`. Print which servers of a running lab are not running, or have no
    store.

    Raises CommandError if there is no such store.
    """
    stores, away, deleted = reader.stores(), reader.away(), reader.deleted()
    if server is not None and server in deleted:
        raise CommandError(
            f"the store of server {server} was deleted; create a new one: pflab directory create {server}"
        )
    if server is not None and server in away:
        raise CommandError(f"server {server} is not running; start it: pflab fault start {server}")
    if away and server is None:
        err.print(f"left out because not running: {', '.join(away)}", markup=False)
    if deleted and server is None:
        err.print(f"left out because the store was deleted: {', '.join(deleted)}", markup=False)
    if not stores and away:
        raise CommandError("no server of this lab is running; start one: pflab fault start NAME")
    if not stores:
        raise CommandError("this run has no databases; a live run keeps them, a simulated run only with --traces")
    if server is None:
        return stores
    if server not in stores:
        raise CommandError(f"no server {quoted(server)} in this run; {did_you_mean(server, stores)}")
    return [server]
