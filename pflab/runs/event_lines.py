"""Which events a reader wants, and how an event looks as a line and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from pflab.terms.event_words import Lexicon, tag_of, to_the_second, words
from traces.events import Event
from traces.labtime import LabTime, format_instant

NOISE: Final = frozenset(
    {"setting.value", "clock.changed", "run.started", "address.stamped", "hop.sent", "hop.received", "row.replaced"}
)
"""Events that are rarely useful. They are left out of failure reports, and of the events that people watch."""

Style = str

_STYLES: Final[tuple[tuple[str, Style], ...]] = (
    # The longest prefix that matches a type decides.
    ("fault", "magenta"),
    ("hop.failed", "red"),
    ("hop.expired", "red"),
    ("hop.dropped", "red"),
    ("hop.deleted", "red"),
    ("queue", "magenta"),
    ("hop", "dim"),
    ("mail.bad", "red"),
    ("mail", "blue"),
    ("mailbox", "blue"),
    ("change", "bold green"),
    ("changes", "cyan"),
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
        if self.types and not any(tag == prefix or tag.startswith(f"{prefix}.") for prefix in self.types):
            return False
        return self.folder is None or any(names.is_folder(id_, self.folder) for id_ in folders_of(event))


def folders_of(event: Event) -> Iterator[str]:
    """Yield the ids of the folders that an event concerns."""
    folder_id = getattr(event, "folder", None)
    if isinstance(folder_id, str):
        yield folder_id
    for folder in getattr(event, "folders", None) or ():
        yield folder if isinstance(folder, str) else folder.folder


def style_of(tag: str) -> Style:
    """Return the style of events of this type, in the notation of rich, such as `bold green`."""
    fitting = [(len(prefix), style) for prefix, style in _STYLES if tag == prefix or tag.startswith(f"{prefix}.")]
    return max(fitting)[1] if fitting else ""


def columns(event: Event, names: Lexicon) -> tuple[str, str, str]:
    """Return the three columns of an event's line: instant, server and words."""
    return to_the_second(event.at), event.node, words(event, names)


def one_line(event: Event, names: Lexicon) -> str:
    """Return an event as a line: `2003-10-21T00:15:00Z  A       receives from B: content about Projects B-3`."""
    at, node, text = columns(event, names)
    return f"{at}  {node:<{NODE_COLUMNS}}  {text}"


def event_json(event: Event, names: Lexicon) -> dict[str, str | int]:
    """Return an event for programs: time, server, type, words, and its place in the trace."""
    return {
        "at": format_instant(event.at),
        "node": event.node,
        "seq": event.seq,
        "type": tag_of(event),
        "words": words(event, names),
    }
