"""The events of a run, read back: in the order in which one led to the other, with the names of things."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from node.agent.initial_state import setup_guid
from pflab.errors import LabError
from pflab.terms.lexicon import Lexicon, tag_of, to_the_second, words
from topology import Topology, TopologyError, topology_from_text
from traces import read_folder
from traces.events import Event, RunStarted
from traces.labtime import LabTime, format_instant

Style = str

_STYLES: Final[tuple[tuple[str, Style], ...]] = (
    # The longest beginning of a type decides.
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
    """All events of a run by lab time and Lamport number. `problems`: what is amiss with the trace, a line each.
    `topology`: None where it is of another version of ours."""

    path: Path
    events: tuple[Event, ...]
    names: Lexicon
    problems: tuple[str, ...]
    topology: Topology | None = None

    @classmethod
    def at(cls, run: Path) -> RunEvents:
        """Raises LabError for a folder without traces."""
        folder = run / "traces"
        if not folder.is_dir():
            raise LabError(f"{run}: no traces here; give a run folder, such as pflab demo or pflab run leaves")
        trace = read_folder(folder)
        if not trace.events:
            raise LabError(f"{folder}: no events here; let the run come to its end")
        return cls.of(run, trace.events, tuple(trace.report()))

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
        """Events from wherever they were read, in any order. names, organization: what is known of them beside, of a lab
        whose first events are not among these."""
        in_order = sorted(events, key=lambda each: (each.at, each.lamport, each.node, each.seq))
        names = Lexicon() if names is None else names
        # A run that did not come to its end has no run.started in its trace yet; its folder has the topology from the start.
        told = (each.topology for each in in_order if isinstance(each, RunStarted))
        topology = _topology(next(told, None) or organization or _kept_topology(path))
        if topology is not None:
            _learn_folders(names, topology)
        # What happened is told by the names of its time, so events come last.
        for event in in_order:
            names.learn(event)
        return cls(path, tuple(in_order), names, problems, topology)

    @property
    def started(self) -> RunStarted | None:
        return next((each for each in self.events if isinstance(each, RunStarted)), None)


def _kept_topology(run: Path) -> str:
    """The topology that a run folder holds; '' where there is none."""
    with suppress(OSError, UnicodeDecodeError):
        return (run / "topology.yaml").read_text("utf-8")
    return ""


def _topology(text: str) -> Topology | None:
    try:
        return topology_from_text(text)
    except TopologyError:  # of another version of ours; its folders then go by their ids
        return None


def _learn_folders(names: Lexicon, topology: Topology) -> None:
    """The folders that stand from the start: no event of the run made them. A name that is known may be a later one."""
    guid = setup_guid(topology).hex()
    for index, path in enumerate(topology.folders, start=1):
        id_ = f"{guid}:{index}"
        if names.folder(id_) == id_:
            names.learn_folder(id_, path)


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events are wanted: of these servers, of this folder (path, or id), of types that begin with one of these
    (`mail` or `mail.received`). Empty: all. An event that is of no folder is not of any."""

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
    """The ids of the folders that an event is about."""
    one = getattr(event, "folder", None)
    if isinstance(one, str):
        yield one
    for each in getattr(event, "folders", None) or ():
        yield each if isinstance(each, str) else each.folder


def style_of(tag: str) -> Style:
    """How an event of this type looks; rich's names of styles."""
    found = [(len(prefix), style) for prefix, style in _STYLES if tag == prefix or tag.startswith(f"{prefix}.")]
    return max(found)[1] if found else ""


def columns(event: Event, names: Lexicon) -> tuple[str, str, str]:
    """Instant, server and words: what a line about an event says."""
    return to_the_second(event.at), event.node, words(event, names)


def one_line(event: Event, names: Lexicon) -> str:
    """`2003-10-21T00:15:00Z  A       receives from B: content about Projects B-3`."""
    at, node, told = columns(event, names)
    return f"{at}  {node:<{NODE_COLUMNS}}  {told}"


def event_json(event: Event, names: Lexicon) -> dict[str, str | int]:
    """An event for programs: when, where, its type, its words, and where to find it in the trace."""
    return {
        "at": format_instant(event.at),
        "node": event.node,
        "seq": event.seq,
        "type": tag_of(event),
        "words": words(event, names),
    }
