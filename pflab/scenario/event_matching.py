"""Mails and trace events as scenarios speak of them: which event meets a wish, and how many there were."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any

from pflab.scenario.conditions import Events, Mails, Until
from pflab.scenario.session import Named, Play, Shortfall
from pflab.scenario.values import same_minute
from pflab.terms import number_sets as sets
from pflab.terms.lexicon import store_named, tag_of
from pflab.terms.mail_types import mail_name
from traces.events import Event, MailReceived, MailSubmitted
from traces.labtime import format_instant, parse_instant


def mails_shortfalls(play: Play, wish: Mails, start: int) -> Iterator[Shortfall]:
    sent = [each for each in play.log[start:] if isinstance(each, MailSubmitted) and mail_fits(play, wish, each)]
    if len(sent) not in wish.count:
        times = ", ".join(format_instant(each.at) for each in sent[:10])
        yield Shortfall(
            f"{wish.count} of {_mail_wish(wish)}", f"there were {len(sent)}" + (f", at {times}" if times else "")
        )


def _mail_wish(wish: Mails) -> str:
    parts = [f"{wish.type or 'replication'} mails"]
    parts += [
        f"{word} {value}" for word, value in (("from", wish.from_), ("to", wish.to), ("about", wish.folder)) if value
    ]
    parts += [f"marked {wish.marked}"] if wish.marked else []
    parts += [f"(updates: {wish.updates})"] if wish.updates is not None else []
    return " ".join(parts)


def mail_fits(play: Play, wish: Mails, event: MailSubmitted) -> bool:
    if wish.from_ is not None and wish.from_ != event.node:
        return False
    if wish.to is not None and wish.to not in map(store_named, event.recipients):
        return False
    return _mail_kind_fits(wish.type, wish.marked, event) and _mail_parts_fit(play, wish, event)


def _mail_parts_fit(play: Play, wish: Mails, event: MailSubmitted) -> bool:
    if wish.folder is not None and wish.folder not in [play.names.folder(each.folder) for each in event.folders]:
        return False
    return wish.updates is None or sum(each.updates for each in event.folders) in wish.updates


def _mail_kind_fits(type_: str | None, marked: str | None, event: MailSubmitted | MailReceived) -> bool:
    if type_ is not None and mail_name(event.message_type) != type_:
        return False
    return marked is None or (marked == "none" and not event.marks) or marked in event.marks


def arrival_fits(play: Play, event: Event, wish: Until) -> bool:
    """Whether the event is the arrival of the mail that `wish` waits for."""
    if not isinstance(event, MailReceived) or not _mail_kind_fits(wish.mail, wish.marked, event):
        return False
    if wish.from_ is not None and store_named(event.sender) != wish.from_:
        return False
    if wish.folder is not None and wish.folder not in [play.names.folder(each.folder) for each in event.folders]:
        return False
    return wish.to is None or event.node == wish.to


def events_shortfalls(play: Play, wish: Events, start: int) -> Iterator[Shortfall]:
    seen = [each for each in play.log[start:] if event_fits(play, each, wish.event, wish.on, wish.fields)]
    if len(seen) not in wish.count:
        fields = "".join(f" {key}={value}" for key, value in wish.fields.items())
        where = f" on {wish.on}" if wish.on else ""
        times = ", ".join(format_instant(each.at) for each in seen[:10])
        yield Shortfall(
            f"{wish.count} of {wish.event}{where}{fields}",
            f"there were {len(seen)}" + (f", at {times}" if times else ""),
        )


def event_fits(play: Play, event: Event, tag: str, on: str | None, fields: dict[str, Any]) -> bool:
    if tag_of(event) != tag or (on is not None and event.node != on):
        return False
    return all(_field_fits(play, key, getattr(event, key), wanted) for key, wanted in fields.items())


def _field_fits(play: Play, key: str, stands: Any, wanted: Any) -> bool:
    if isinstance(stands, tuple | list):
        return any(_field_fits(play, key, each, wanted) for each in stands)
    if isinstance(wanted, str):
        return any(test(play, key, stands, wanted) for test in _TESTS)
    return bool(stands == wanted) and isinstance(stands, bool) == isinstance(wanted, bool)


def _is_named(play: Play, key: str, stands: Any, wanted: str) -> bool:
    named: Named | None = play.named.get(wanted)
    return named is not None and (stands == named.object or stands in named.numbers)


def _is_folder(play: Play, key: str, stands: Any, wanted: str) -> bool:
    return (
        isinstance(stands, str)
        and key in {"folder", "folders", "waits_for", "parent"}
        and play.names.folder(stands) == wanted
    )


def _is_number(play: Play, key: str, stands: Any, wanted: str) -> bool:
    return (
        isinstance(stands, str)
        and re.fullmatch(r"[0-9a-f]{32}:\d+", stands) is not None
        and play.names.number(stands) == wanted
    )


def _is_set(play: Play, key: str, stands: Any, wanted: str) -> bool:
    if key not in {"cnset", "cnset_fai", "stands_for", "pcl"} or not isinstance(stands, str):
        return False
    try:
        return sets.parse_named(wanted) == sets.renamed(sets.parse_traced(stands), play.names.store_of)
    except ValueError:
        return False


def _is_instant(play: Play, key: str, stands: Any, wanted: str) -> bool:
    if not key.endswith("_at") or not isinstance(stands, int):
        return False
    return same_minute(stands, parse_instant(wanted))


def _is_text(play: Play, key: str, stands: Any, wanted: str) -> bool:
    return isinstance(stands, str) and fnmatchcase(stands, wanted)


_TESTS: tuple[Callable[[Play, str, Any, str], bool], ...] = (
    _is_named, _is_folder, _is_number, _is_set, _is_instant, _is_text,
)  # fmt: skip
