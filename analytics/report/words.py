"""Witnesses in words, from the bounded rows of `analytics.report.witness`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from traces.errors import TimeTextError
from traces.labtime import format_instant

Row = Any
"""A row that Spark handed over: fields by name."""


def instant(at: int) -> str:
    """A time as people write it; of one that is in no calendar, for a trace can say anything, the bare number."""
    try:
        return format_instant(at)
    except TimeTextError:
        return f"{at} us"


def number(name: str | None, guid: str | None, low: int | None, high: int | None) -> str:
    """`A-101` or `A-101 to A-104`, as people see change numbers."""
    store = name or ("Setup" if guid else "?")
    return f"{store}-{low}" if low == high else f"{store}-{low} to {store}-{high}"


def witness(row: Row, fate: Row | None) -> str:
    """One thing that is wrong with a holder."""
    numbers = number(row.name, row.guid, row.low, row.high)
    subject = f" ({row.subject!r})" if row.subject and row.low == row.high else ""
    said = _SAID[row.what](row.store, f"{numbers}{subject}")
    return said if fate is None else f"{said}: {_fate(fate)}"


_SAID: Final[Mapping[str, Callable[[str, str], str]]] = {
    "lacks": lambda store, what: f"{store} lacks {what}",
    "lacks deletion": lambda store, what: f"{store} lacks the deletion {what}",
    "keeps": lambda store, what: f"{store} still keeps {what}, which is superseded or deleted",
    "stranger": lambda store, what: f"{store} has {what}, which nobody made",
    "bytes": lambda store, what: f"{store} has other bytes for {what} than its author",
    "differs": lambda store, _: f"{store} has other versions than the first holder",
}


def _fate(fate: Row) -> str:
    """How it should have come, and whether it was asked for."""
    parts = [_mail(fate)]
    if fate.asked is not None:
        answered = "and came in no mail since" if not fate.received else "and it came"
        parts.append(f"requested from {fate.asked.source} at {instant(fate.asked.at)}, {answered}")
    return ", ".join(parts)


def _mail(fate: Row) -> str:
    if not fate.mails:
        return "no mail to it carried this"
    first = fate.first
    mail = f"the mail <{first.mail}> from {first.sender}"
    if first.dropped_at is not None:
        return f"{mail} was lost at {instant(first.dropped_at)} (fault {first.fault})"
    if first.bad_at is not None:
        return f"{mail} was bad mail at {instant(first.bad_at)} ({first.reason})"
    if first.expired_at is not None:
        return f"{mail} expired at {instant(first.expired_at)}"
    if first.received_at is not None:
        return f"{mail} came at {instant(first.received_at)}, and it was not applied"
    return f"{mail} of {instant(first.submitted_at)} never arrived"
