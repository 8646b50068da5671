"""Read the events of a run in causal order, with names for its stores, folders and messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from node.agent.initial_state import setup_guid
from pflab.errors import LabError
from pflab.runs.causal_order import in_causal_order
from pflab.runs.databases import events_in_databases
from pflab.runs.recorder import LAB
from pflab.terms.event_words import Lexicon, tag_of, to_the_second, words
from topology import Topology, TopologyError, topology_from_text
from traces.events import Event, RunStarted
from traces.labtime import LabTime, format_instant
from traces.reading import read_folder

Style = str

_STYLES: Final[tuple[tuple[str, Style], ...]] = (
    # The longest prefix that matches a type decides.
    ("fault", "magenta"),
    ("hop.failed", "red"),
    ("hop.expired", "red"),
    ("hop.dropped", "red"),
    ("hop", "dim"),
    ("mail.bad", "red"),
    ("mail", "blue"),
    ("mailbox", "blue"),
    ("change", "bold green"),
    ("version.applied", "green"),
    ("version", "yellow"),
    ("conflict", "bold yellow"),
    ("tombstone", "green"),
    ("item", "green"),
    ("content", "green"),
    ("store", "green"),
    ("expired", "green"),
    ("entry", "yellow"),
    ("request", "cyan"),
    ("source", "red"),
    ("link.down", "red"),
    ("link", "cyan"),
    ("status", "cyan"),
    ("row", "dim"),
    ("loss", "bold red"),
    ("node", "bold"),
    ("backup", "bold"),
    ("run", "bold"),
    ("clock", "dim"),
    ("replica", "magenta"),
)

NODE_COLUMNS: Final = 6


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
        trace = read_folder(folder)
        events = [*trace.events, *events_in_databases(run, trace.events)]
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
        told = (each.topology for each in in_order if isinstance(each, RunStarted))
        topology = _topology(next(told, None) or organization or _kept_topology(path))
        if topology is not None and (unknown := {each.node for each in in_order} - {LAB, *topology.servers}):
            problems = (*problems, f"the topology of this run has no server {min(unknown)[:80]!r}")
            topology = None
        if topology is not None:
            _learn_folders(names, topology)
        # Names may change during a run, so names from events replace those of the topology.
        for event in in_order:
            names.learn(event)
        return cls(path, tuple(in_order), names, problems, topology)

    def in_order(self, events: Iterable[Event]) -> list[Event]:
        """Return these events without duplicates, in the order of the run."""
        chosen = {(each.node, each.seq) for each in events}
        return [each for each in self.events if (each.node, each.seq) in chosen]

    @property
    def started(self) -> RunStarted | None:
        return next((each for each in self.events if isinstance(each, RunStarted)), None)


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
    guid = setup_guid(topology).hex()
    for index, path in enumerate(topology.folders, start=1):
        id_ = f"{guid}:{index}"
        if names.folder(id_) == id_:
            names.learn_folder(id_, path)


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Selects events by server, folder (path or id), type prefix (`mail` or `mail.received`) and time.

    An empty field selects all events. A filter by folder leaves out events that concern no folder.
    """

    nodes: Sequence[str] = ()
    folder: str | None = None
    types: Sequence[str] = ()
    since_at: LabTime = 0
    until_at: LabTime = field(default=2**62)

    def takes(self, event: Event, names: Lexicon) -> bool:
        if self.nodes and event.node not in self.nodes:
            return False
        if not self.since_at <= event.at <= self.until_at:
            return False
        tag = tag_of(event)
        if self.types and not any(tag == each or tag.startswith(f"{each}.") for each in self.types):
            return False
        return self.folder is None or any(self.folder in (id_, names.folder(id_)) for id_ in folders_of(event))


def folders_of(event: Event) -> Iterator[str]:
    """Yield the ids of the folders that an event concerns."""
    one = getattr(event, "folder", None)
    if isinstance(one, str):
        yield one
    for each in getattr(event, "folders", None) or ():
        yield each if isinstance(each, str) else each.folder


def style_of(tag: str) -> Style:
    """Return the style of events of this type, in the notation of rich, such as `bold green`."""
    found = [(len(prefix), style) for prefix, style in _STYLES if tag == prefix or tag.startswith(f"{prefix}.")]
    return max(found)[1] if found else ""


def columns(event: Event, names: Lexicon) -> tuple[str, str, str]:
    """Return the three columns of an event's line: instant, server and words."""
    return to_the_second(event.at), event.node, words(event, names)


def one_line(event: Event, names: Lexicon) -> str:
    """Return an event as a line: `2003-10-21T00:15:00Z  A       receives from B: content about Projects B-3`."""
    at, node, told = columns(event, names)
    return f"{at}  {node:<{NODE_COLUMNS}}  {told}"


def event_json(event: Event, names: Lexicon) -> dict[str, str | int]:
    """Return an event for programs: time, server, type, words, and its place in the trace."""
    return {
        "at": format_instant(event.at),
        "node": event.node,
        "seq": event.seq,
        "type": tag_of(event),
        "words": words(event, names),
    }
