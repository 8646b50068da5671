"""Which mails and trace events match what a scenario describes, and how many there are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any

from pflab.scenario.conditions import Events, Mails, Until
from pflab.scenario.session import Named, Play, Shortfall
from pflab.scenario.values import same_minute
from pflab.terms import number_sets as sets
from pflab.terms.event_words import store_named, tag_of
from pflab.terms.mail_types import mail_name
from traces.events import Event, MailReceived, MailSubmitted
from traces.labtime import format_instant, parse_instant


def mails_shortfalls(play: Play, pattern: Mails, start: int) -> Iterator[Shortfall]:
    mails = [mail for mail in play.log[start:] if isinstance(mail, MailSubmitted) and mail_fits(play, pattern, mail)]
    if len(mails) not in pattern.count:
        times = ", ".join(format_instant(mail.at) for mail in mails[:10])
        yield Shortfall(
            f"{pattern.count} of {_mail_words(pattern)}",
            f"there were {len(mails)}" + (f", at {times}" if times else ""),
        )


def _mail_words(pattern: Mails) -> str:
    parts = [f"{pattern.type or 'replication'} mails"]
    parts += [
        f"{word} {value}"
        for word, value in (("from", pattern.from_), ("to", pattern.to), ("about", pattern.folder))
        if value
    ]
    parts += [f"marked {pattern.marked}"] if pattern.marked else []
    parts += [f"(updates: {pattern.updates})"] if pattern.updates is not None else []
    return " ".join(parts)


def mail_fits(play: Play, pattern: Mails, event: MailSubmitted) -> bool:
    if pattern.from_ is not None and pattern.from_ != event.node:
        return False
    if pattern.to is not None and pattern.to not in map(store_named, event.recipients):
        return False
    return _mail_kind_fits(pattern.type, pattern.marked, event) and _mail_parts_fit(play, pattern, event)


def _mail_parts_fit(play: Play, pattern: Mails, event: MailSubmitted) -> bool:
    if pattern.folder is not None and not any(
        play.names.is_folder(part.folder, pattern.folder) for part in event.folders
    ):
        return False
    return pattern.updates is None or sum(part.updates for part in event.folders) in pattern.updates


def _mail_kind_fits(type_: str | None, marked: str | None, event: MailSubmitted | MailReceived) -> bool:
    if type_ is not None and mail_name(event.message_type) != type_:
        return False
    return marked is None or (marked == "none" and not event.marks) or marked in event.marks


def arrival_fits(play: Play, event: Event, condition: Until) -> bool:
    """Return whether the event is the arrival of the mail that `condition` waits for."""
    if not isinstance(event, MailReceived) or not _mail_kind_fits(condition.mail, condition.marked, event):
        return False
    if condition.from_ is not None and store_named(event.sender) != condition.from_:
        return False
    if condition.folder is not None and not any(
        play.names.is_folder(part.folder, condition.folder) for part in event.folders
    ):
        return False
    return condition.to is None or event.node == condition.to


def events_shortfalls(play: Play, pattern: Events, start: int) -> Iterator[Shortfall]:
    events = [event for event in play.log[start:] if event_fits(play, event, pattern.event, pattern.on, pattern.fields)]
    if len(events) not in pattern.count:
        fields = "".join(f" {key}={value}" for key, value in pattern.fields.items())
        where = f" on {pattern.on}" if pattern.on else ""
        times = ", ".join(format_instant(event.at) for event in events[:10])
        yield Shortfall(
            f"{pattern.count} of {pattern.event}{where}{fields}",
            f"there were {len(events)}" + (f", at {times}" if times else ""),
        )


def event_fits(play: Play, event: Event, tag: str, on: str | None, fields: dict[str, Any]) -> bool:
    if tag_of(event) != tag or (on is not None and event.node != on):
        return False
    return all(_field_fits(play, key, getattr(event, key), expected) for key, expected in fields.items())


def _field_fits(play: Play, key: str, value: Any, expected: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(_field_fits(play, key, item, expected) for item in value)
    if isinstance(expected, str):
        return any(test(play, key, value, expected) for test in _TESTS)
    return bool(value == expected) and isinstance(value, bool) == isinstance(expected, bool)


def _is_named(play: Play, key: str, value: Any, expected: str) -> bool:
    named: Named | None = play.named.get(expected)
    return named is not None and (value == named.object or value in named.numbers)


def _is_folder(play: Play, key: str, value: Any, expected: str) -> bool:
    return (
        isinstance(value, str)
        and key in {"folder", "folders", "waits_for", "parent"}
        and play.names.is_folder(value, expected)
    )


def _is_number(play: Play, key: str, value: Any, expected: str) -> bool:
    return (
        isinstance(value, str)
        and re.fullmatch(r"[0-9a-f]{32}:\d+", value) is not None
        and play.names.number(value) == expected
    )


def _is_set(play: Play, key: str, value: Any, expected: str) -> bool:
    if key not in {"cnset", "cnset_fai", "stands_for", "pcl"} or not isinstance(value, str):
        return False
    try:
        return sets.parse_named(expected) == sets.renamed(sets.parse_traced(value), play.names.store_of)
    except ValueError:
        return False


def _is_instant(play: Play, key: str, value: Any, expected: str) -> bool:
    if not key.endswith("_at") or not isinstance(value, int):
        return False
    return same_minute(value, parse_instant(expected))


def _is_text(play: Play, key: str, value: Any, expected: str) -> bool:
    return isinstance(value, str) and fnmatchcase(value, expected)


_TESTS: tuple[Callable[[Play, str, Any, str], bool], ...] = (
    _is_named, _is_folder, _is_number, _is_set, _is_instant, _is_text,
)  # fmt: skip
