"""Read the events of a run in causal order, with names for its stores, folders and messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs

from node.seeded_ids import setup_guid
from pflab.errors import LabError
from pflab.runs.causal_order import in_causal_order
from pflab.runs.recorder import LAB
from pflab.terms.event_words import Lexicon
from topology.file.load import topology_from_text
from topology.model import Topology
from topology.problems import TopologyError
from traces.events import Event, OrganizationChanged, RunStarted
from traces.reading import read_folder


@dataclass(frozen=True, slots=True)
class RunEvents:
    """All events of a run, each after its causes.

    problems  what is wrong with the trace, one line each
    topology  None if another version of pflab wrote it and this one cannot read it
    """

    path: Path
    events: tuple[Event, ...]
    names: Lexicon
    problems: tuple[str, ...]
    topology: Topology | None = None

    @classmethod
    def at(cls, run: Path) -> RunEvents:
        """Read the events of a run folder. If the run has not ended, also read the events that are only in the databases.

        Raises LabError for a folder without traces.
        """
        folder = run / "traces"
        if not folder.is_dir():
            raise LabError(f"{run}: no traces here; name a run folder, such as one that pflab demo or pflab run writes")
        from pflab.runs.databases import unexported_events  # noqa: PLC0415 - a store's code takes long to import

        trace = read_folder(folder)
        events = [*trace.events, *unexported_events(run, trace.events)]
        if not events:
            raise LabError(f"{folder}: no events here; wait until the run has ended")
        return cls.of(run, events, tuple(trace.report()))

    @classmethod
    def of(
        cls,
        path: Path,
        events: Iterable[Event],
        problems: tuple[str, ...] = (),
        *,
        names: Lexicon | None = None,
        organization: str = "",
    ) -> RunEvents:
        """Take events from any source, in any order.

        names, organization: what the caller knows of the lab, if the lab's first events are missing in `events`.
        """
        in_order = in_causal_order(events)
        names = Lexicon() if names is None else names
        # A run that has not ended has no run.started in its trace yet; its folder has the topology from the start.
        organizations = (event.topology for event in in_order if isinstance(event, RunStarted))
        topology = _topology(next(organizations, None) or organization or _kept_topology(path))
        if topology is not None:
            added = {event.added_server for event in in_order if isinstance(event, OrganizationChanged)}
            if unknown := {event.node for event in in_order} - {LAB, *topology.servers} - added:
                problems = (*problems, f"the topology of this run has no server {min(unknown)[:80]!r}")
                topology = None
        if topology is not None:
            _learn_folders(names, topology)
        # Names may change during a run, so names from events replace those of the topology.
        for event in in_order:
            names.learn(event)
        if topology is not None:
            _learn_folders(names, topology)  # a folder that an event renames began with its name in the topology
        return cls(path, tuple(in_order), names, problems, topology)

    def before(self, forecast: Sequence[Event]) -> RunEvents:
        """Return this run without what servers have done since their lab was copied for a forecast.

        forecast: the events of the copy. A server's events have the numbers there that they would have in the lab.
        """
        first: dict[str, int] = {}
        for event in forecast:
            if event.node != LAB:  # the numbers of the copy's own events begin with 1
                first[event.node] = min(event.seq, first.get(event.node, event.seq))
        known = (event for event in self.events if event.seq < first.get(event.node, event.seq + 1))
        return replace(self, events=tuple(known))

    def followed_by(self, forecast: Sequence[Event]) -> RunEvents:
        """Return this run, which ends `before` a forecast, with the events of the forecast added."""
        told = max((event.seq for event in self.events if event.node == LAB), default=0)
        events = (structs.replace(event, seq=event.seq + told) if event.node == LAB else event for event in forecast)
        later = in_causal_order(events)
        names = deepcopy(self.names)
        for event in later:
            names.learn(event)
        return replace(self, events=(*self.events, *later), names=names)

    def in_order(self, events: Iterable[Event]) -> list[Event]:
        """Return these events without duplicates, in the order of the run."""
        chosen = {(event.node, event.seq) for event in events}
        return [event for event in self.events if (event.node, event.seq) in chosen]

    @property
    def started(self) -> RunStarted | None:
        return next((event for event in self.events if isinstance(event, RunStarted)), None)


def _kept_topology(run: Path) -> str:
    """Return the topology text of a run folder; '' if there is none."""
    with suppress(OSError, UnicodeDecodeError):
        return (run / "topology.yaml").read_text("utf-8")
    return ""


def _topology(text: str) -> Topology | None:
    try:
        return topology_from_text(text)
    except TopologyError:  # written by another version of pflab; folders are then shown by their ids
        return None


def _learn_folders(names: Lexicon, topology: Topology) -> None:
    """Learn the folders of the topology file, which no event of the run creates. Names already known may be newer."""
    guid = setup_guid(topology.organization).hex()
    for index, path in enumerate(topology.folders, start=1):
        id_ = f"{guid}:{index}"
        names.learn_folder(id_, path, first=True)
