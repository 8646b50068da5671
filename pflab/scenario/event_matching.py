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


def mails_shortfalls(play: Play, wanted: Mails, start: int) -> Iterator[Shortfall]:
    sent = [each for each in play.log[start:] if isinstance(each, MailSubmitted) and mail_fits(play, wanted, each)]
    if len(sent) not in wanted.count:
        times = ", ".join(format_instant(each.at) for each in sent[:10])
        yield Shortfall(
            f"{wanted.count} of {_mail_words(wanted)}", f"there were {len(sent)}" + (f", at {times}" if times else "")
        )


def _mail_words(wanted: Mails) -> str:
    parts = [f"{wanted.type or 'replication'} mails"]
    parts += [
        f"{word} {value}"
        for word, value in (("from", wanted.from_), ("to", wanted.to), ("about", wanted.folder))
        if value
    ]
    parts += [f"marked {wanted.marked}"] if wanted.marked else []
    parts += [f"(updates: {wanted.updates})"] if wanted.updates is not None else []
    return " ".join(parts)


def mail_fits(play: Play, wanted: Mails, event: MailSubmitted) -> bool:
    if wanted.from_ is not None and wanted.from_ != event.node:
        return False
    if wanted.to is not None and wanted.to not in map(store_named, event.recipients):
        return False
    return _mail_kind_fits(wanted.type, wanted.marked, event) and _mail_parts_fit(play, wanted, event)


def _mail_parts_fit(play: Play, wanted: Mails, event: MailSubmitted) -> bool:
    if wanted.folder is not None and not any(
        play.names.is_folder(each.folder, wanted.folder) for each in event.folders
    ):
        return False
    return wanted.updates is None or sum(each.updates for each in event.folders) in wanted.updates


def _mail_kind_fits(type_: str | None, marked: str | None, event: MailSubmitted | MailReceived) -> bool:
    if type_ is not None and mail_name(event.message_type) != type_:
        return False
    return marked is None or (marked == "none" and not event.marks) or marked in event.marks


def arrival_fits(play: Play, event: Event, wanted: Until) -> bool:
    """Return whether the event is the arrival of the mail that `wanted` waits for."""
    if not isinstance(event, MailReceived) or not _mail_kind_fits(wanted.mail, wanted.marked, event):
        return False
    if wanted.from_ is not None and store_named(event.sender) != wanted.from_:
        return False
    if wanted.folder is not None and not any(
        play.names.is_folder(each.folder, wanted.folder) for each in event.folders
    ):
        return False
    return wanted.to is None or event.node == wanted.to


def events_shortfalls(play: Play, wanted: Events, start: int) -> Iterator[Shortfall]:
    seen = [each for each in play.log[start:] if event_fits(play, each, wanted.event, wanted.on, wanted.fields)]
    if len(seen) not in wanted.count:
        fields = "".join(f" {key}={value}" for key, value in wanted.fields.items())
        where = f" on {wanted.on}" if wanted.on else ""
        times = ", ".join(format_instant(each.at) for each in seen[:10])
        yield Shortfall(
            f"{wanted.count} of {wanted.event}{where}{fields}",
            f"there were {len(seen)}" + (f", at {times}" if times else ""),
        )


def event_fits(play: Play, event: Event, tag: str, on: str | None, fields: dict[str, Any]) -> bool:
    if tag_of(event) != tag or (on is not None and event.node != on):
        return False
    return all(_field_fits(play, key, getattr(event, key), wanted) for key, wanted in fields.items())


def _field_fits(play: Play, key: str, value: Any, wanted: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(_field_fits(play, key, each, wanted) for each in value)
    if isinstance(wanted, str):
        return any(test(play, key, value, wanted) for test in _TESTS)
    return bool(value == wanted) and isinstance(value, bool) == isinstance(wanted, bool)


def _is_named(play: Play, key: str, value: Any, wanted: str) -> bool:
    named: Named | None = play.named.get(wanted)
    return named is not None and (value == named.object or value in named.numbers)


def _is_folder(play: Play, key: str, value: Any, wanted: str) -> bool:
    return (
        isinstance(value, str)
        and key in {"folder", "folders", "waits_for", "parent"}
        and play.names.is_folder(value, wanted)
    )


def _is_number(play: Play, key: str, value: Any, wanted: str) -> bool:
    return (
        isinstance(value, str)
        and re.fullmatch(r"[0-9a-f]{32}:\d+", value) is not None
        and play.names.number(value) == wanted
    )


def _is_set(play: Play, key: str, value: Any, wanted: str) -> bool:
    if key not in {"cnset", "cnset_fai", "stands_for", "pcl"} or not isinstance(value, str):
        return False
    try:
        return sets.parse_named(wanted) == sets.renamed(sets.parse_traced(value), play.names.store_of)
    except ValueError:
        return False


def _is_instant(play: Play, key: str, value: Any, wanted: str) -> bool:
    if not key.endswith("_at") or not isinstance(value, int):
        return False
    return same_minute(value, parse_instant(wanted))


def _is_text(play: Play, key: str, value: Any, wanted: str) -> bool:
    return isinstance(value, str) and fnmatchcase(value, wanted)


_TESTS: tuple[Callable[[Play, str, Any, str], bool], ...] = (
    _is_named, _is_folder, _is_number, _is_set, _is_instant, _is_text,
)  # fmt: skip
