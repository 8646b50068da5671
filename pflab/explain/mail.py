"""What happened to one mail on its way, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pflab.terms.event_words import Lexicon, marked_name, store_named, to_the_second, way_words
from pflab.terms.verdict import join_names
from topology.problems import counted
from traces.events import (
    Event,
    FaultAltered,
    HopDeleted,
    HopDropped,
    HopExpired,
    HopFailed,
    HopSent,
    MailBad,
    MailReceived,
    MailSubmitted,
    QueueFrozen,
    QueueUnfrozen,
)


def mail_lines(names: Lexicon, events: list[Event], *, ended: bool) -> list[str]:
    """Return a sentence for each step of a mail, from the events that name the mail.

    `ended`: the run has ended, so the mail goes no further.
    """
    lines: list[str] = []
    mail = next((event for event in events if isinstance(event, MailSubmitted)), None)
    if mail is not None:
        to = join_names(map(store_named, mail.recipients))
        about = join_names(names.folder(section.folder) for section in mail.folders)
        lines.append(
            f"{mail.node} queues it at {to_the_second(mail.at)}: {marked_name(mail)} about {about}, for {to},"
            f" {counted(mail.size, 'byte')}."
        )
    for event in events:
        tell = _HOPS.get(type(event))
        if tell is not None:
            lines.append(tell(event))
    if mail is not None:
        stores = {event.node for event in events if isinstance(event, MailReceived)}
        absent_stores = [store for store in map(store_named, mail.recipients) if store not in stores]
        if absent_stores:
            lines.append(f"It {'was never' if ended else 'has not yet been'} unpacked on {join_names(absent_stores)}.")
    return lines


def _at(event: Event) -> str:
    return to_the_second(event.at)


_HOPS: dict[type[Event], Callable[[Any], str]] = {
    HopSent: lambda e: (
        f"{e.node} hands it to {e.next_hop} at {_at(e)}"
        + way_words(e)
        + (f", over {e.connector}" if e.connector else "")
        + (f", at attempt {e.attempt}." if e.attempt > 1 else ".")
    ),
    HopFailed: lambda e: f"{e.node} cannot hand it to {e.next_hop or 'anybody'} at {_at(e)}: {e.reason}.",
    HopDropped: lambda e: f"It is lost on arrival at {e.node} at {_at(e)} (fault {e.fault}).",
    FaultAltered: lambda e: f"It is altered between {e.server} and {e.next_hop} at {_at(e)} (fault {e.fault}).",
    HopExpired: lambda e: f"{e.node} gives it up at {_at(e)}: {e.reason}.",
    HopDeleted: lambda e: f"An administrator deletes it from {e.node}'s queue at {_at(e)}.",
    QueueFrozen: lambda e: f"An administrator freezes it in {e.node}'s queue at {_at(e)}.",
    QueueUnfrozen: lambda e: f"An administrator unfreezes it in {e.node}'s queue at {_at(e)}.",
    MailReceived: lambda e: f"{e.node} unpacks it at {_at(e)}.",
    MailBad: lambda e: f"{e.node} keeps it aside at {_at(e)}: {e.reason}.",
}


def fault_behind(bad: MailBad, events: Iterable[Event]) -> str:
    """Return ` (altered on its way by fault F1)` if a fault made the mail bad, else ''."""
    for event in events:
        if (
            isinstance(event, FaultAltered)
            and event.mail == bad.mail
            and bad.node in map(store_named, event.recipients)
        ):
            return f" (altered on its way by fault {event.fault})"
    return ""


def answer_ended(end: HopDropped | MailBad, events: Iterable[Event]) -> str:
    """Return what happened to an answer that its receiver could not use."""
    if isinstance(end, HopDropped):
        return f"; the answer is lost (fault {end.fault})"
    return f"; the answer is kept aside as bad mail: {end.reason}{fault_behind(end, events)}"
