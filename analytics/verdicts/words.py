"""Witnesses in words, from the bounded rows of `analytics.verdicts.witness`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from analytics.drawing.lab_time import instant

Row = Any
"""A row that Spark returned: fields by name."""


def number(name: str | None, guid: str | None, low: int | None, high: int | None) -> str:
    """Return change numbers as text: `A-101` or `A-101 to A-104`."""
    store = name or ("Setup" if guid else "?")
    return f"{store}-{low}" if low == high else f"{store}-{low} to {store}-{high}"


def witness(row: Row, fate: Row | None) -> str:
    """Return the text of one mismatch at a holder."""
    numbers = number(row.name, row.guid, row.low, row.high)
    subject = f" ({row.subject!r})" if row.subject and row.low == row.high else ""
    text = _TEXTS[row.what](row.store, f"{numbers}{subject}")
    return text if fate is None else f"{text}: {_fate(fate)}"


_TEXTS: Final[Mapping[str, Callable[[str, str], str]]] = {
    "lacks": lambda store, what: f"{store} lacks {what}",
    "lacks deletion": lambda store, what: f"{store} lacks the deletion {what}",
    "keeps": lambda store, what: f"{store} still keeps {what}, which is superseded or deleted",
    "not made": lambda store, what: f"{store} has {what}, which nobody made",
    "bytes": lambda store, what: f"{store} has other bytes for {what} than the author",
}


def _fate(fate: Row) -> str:
    """Return how the change should have arrived, and whether it was requested."""
    parts = [_mail(fate)]
    if fate.asked is not None:
        answered = "but no mail brought it" if not fate.received else "and a mail brought it"
        parts.append(f"requested from {fate.asked.source} at {instant(fate.asked.at)}, {answered}")
    elif fate.due_at is not None:
        parts.append(f"will be requested at {instant(fate.due_at)}")
    return ", ".join(parts)


def is_under_way(fate: Row | None) -> bool:
    """Return whether a missing change would still arrive without help: it is not broadcast yet, its mail is still under way, or
    it is in the backfill array."""
    return fate is not None and (not fate.sent or _has_no_end(fate) or fate.due_at is not None)


def _has_no_end(fate: Row) -> bool:
    ends = ("dropped_at", "bad_at", "expired_at", "deleted_at", "received_at")
    return bool(fate.mails) and all(fate.first[name] is None for name in ends)


def _mail(fate: Row) -> str:
    if not fate.sent:
        return "not broadcast yet"
    if not fate.mails:
        return "no mail to this store contained it"
    first = fate.first
    mail = f"the mail <{first.mail}> from {first.sender}"
    if first.dropped_at is not None:
        return f"{mail} was lost at {instant(first.dropped_at)} (fault {first.fault})"
    if first.bad_at is not None:
        return f"{mail} was rejected as bad mail at {instant(first.bad_at)} ({first.reason})"
    if first.expired_at is not None:
        return f"{mail} expired at {instant(first.expired_at)}"
    if first.deleted_at is not None:
        return f"{mail} was deleted from a queue at {instant(first.deleted_at)}"
    if first.received_at is not None:
        return f"{mail} arrived at {instant(first.received_at)}, but the change was not applied"
    return f"{mail}, sent at {instant(first.submitted_at)}, is still on its way"
