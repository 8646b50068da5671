"""What people have changed in the lab of a lesson while the lesson waited, in words after "you": `stopped B`.

The lab's clock stands while a lesson waits, so most events happen only because somebody ordered something. If somebody moves
the clock, what the lab does meanwhile is not told: it follows from the move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from pflab.terms.event_words import tag_of
from pflab.terms.fault_words import fault_words
from traces.events import ClockChanged, Event, FaultHealed, FaultInjected, NodeStarted, SettingValue
from traces.labtime import SECOND_US, format_duration

if TYPE_CHECKING:
    from pflab.terms.event_words import Lexicon

MOST_CHANGES: Final = 5
"""The largest number of changes that are told for one text."""

_KILL: Final = "kill"


def disturbances(events: Sequence[Event], since: int, names: Lexicon) -> tuple[str, ...]:
    """Return what people have changed, each once, in the order in which they did it.

    events: all events of the lab.
    since: the index of the first one after the lesson began to wait.
    names: the names that the events have introduced.
    """
    kills = {event.fault for event in events if isinstance(event, FaultInjected) and event.kind == _KILL}
    changes = list(dict.fromkeys(_changes(events[since:], names, kills)))
    return (*changes[:MOST_CHANGES], "more") if len(changes) > MOST_CHANGES else tuple(changes)


def _changes(events: Iterable[Event], names: Lexicon, kills: set[str]) -> Iterable[str]:
    moves_to_at, starting = 0, ""
    for event in events:
        if event.at < moves_to_at:
            continue
        if isinstance(event, ClockChanged):
            moves_to_at = event.to
            if event.how == "pause":
                continue  # the clock had to run before
        if isinstance(event, NodeStarted):
            starting = event.node
        elif starting != event.node or not isinstance(event, SettingValue):
            starting = ""
        if starting and isinstance(event, SettingValue):
            continue  # a server records its settings when it starts
        if isinstance(event, FaultHealed) and event.fault in kills:
            continue  # the start of the server is told
        tell = _WORDS.get(tag_of(event))
        if tell is not None:
            yield tell(event, names.as_of(event.at))


def _change(event: Any, names: Lexicon) -> str:
    what = names.what(event.folder, event.object, event.number)
    if event.kind == "folder":
        verb = {"create": "created", "modify": "changed", "delete": "deleted"}[event.operation]
        return f"{verb} the {what} on {event.node}"
    verb = {"create": "posted", "modify": "changed", "delete": "deleted"}[event.operation]
    return f"{verb} {what} on {event.node}"


def _clock(event: ClockChanged) -> str:
    if event.how == "rate":
        return "let the clock run"
    by_us = (event.to - event.at) // SECOND_US * SECOND_US
    return f"moved the clock by {format_duration(by_us)}" if by_us > 0 else "moved the clock to the next event"


def _fault(event: FaultInjected) -> str:
    if event.kind == _KILL:
        return f"killed {event.details.get('server', 'a server')}"
    return f"added the fault {event.fault} ({fault_words(event.kind, event.details)})"


_WORDS: Final[dict[str, Callable[[Any, Lexicon], str]]] = {
    "backup.restored": lambda e, n: f"put a backup in the place of the database of {e.store}",
    "change.made": _change,
    "changes.resent": lambda e, n: f"let {e.node} send the changes of {n.folder(e.folder)} again",
    "clock.changed": lambda e, n: _clock(e),
    "content.resumed": lambda e, n: f"resumed content replication on {e.node}",
    "content.suspended": lambda e, n: f"suspended content replication on {e.node}",
    "fault.healed": lambda e, n: f"ended the fault {e.fault}",
    "fault.injected": lambda e, n: _fault(e),
    "hop.deleted": lambda e, n: f"deleted a mail from the queue of {e.node}",
    "node.started": lambda e, n: f"started {e.node}",
    "node.stopped": lambda e, n: f"{'killed' if e.how == _KILL else 'stopped'} {e.node}",
    "queue.frozen": lambda e, n: (
        f"froze {f'the queue for {e.next_hop}' if e.queue_id is None else 'a mail'} on {e.node}"
    ),
    "queue.unfrozen": lambda e, n: (
        f"unfroze {f'the queue for {e.next_hop}' if e.queue_id is None else 'a mail'} on {e.node}"
    ),
    "recipient.policy": lambda e, n: "changed the recipient policy",
    "setting.value": lambda e, n: f"set {e.name} of {e.node} to {e.value}",
    "status.ordered": lambda e, n: f"let {e.node} request the status of {n.folder(e.folder)}",
    "store.deleted": lambda e, n: f"deleted the store {e.store} from the directory",
}
"""For each type of event that happens while the clock stands only because people ordered it, what they did."""
