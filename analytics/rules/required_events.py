"""Which events a check needs: without them its table has no row, and the check is left out of what Spark has to plan.

Over a few hundred events planning is nearly all of the time, and it costs the same for a table that turns out to be empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from analytics.ingest.silver import Silver
from analytics.rules.rule import Check

_CONTENT: Final = ("change.made", "version.applied")
_ENTRY: Final = ("entry.made", "entry.timed_out", "entry.satisfied", "entry.pruned", "request.sent", "request.ended")

NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "changes": ("change.made",),
    "applied": ("version.applied",),
    "at_stores": (*_CONTENT, "tombstone.dropped"),
    "claims": ("mail.submitted",),
    "candidates": ("sources.considered",),
    "entries_made": ("entry.made",),
    "requests_made": ("request.sent",),
    "turns": ("sources.considered",),
    "marks_down": ("source.down",),
    "named": ("mail.submitted",),
    "responders": ("responders.considered",),
    "notices": ("conflict.arose", "conflict.notice"),
    "aged": ("conflict.aged",),
    "goings": ("tombstone.dropped", "replica.dropped"),
    "promises": ("status.due", "replica.added"),
    "sent": ("mail.submitted",),
    "received": ("mail.received",),
    "rows_replaced": ("row.replaced",),
    "hops": ("hop.sent",),
    "requests": ("mail.received",),
    "entries": _ENTRY,
    "decisions": ("sources.considered",),
    "statuses": ("status.due", "mail.submitted"),
    "repeats": ("mail.submitted", "mail.received"),
    "newcomers": ("node.started",),
    "nights": ("setting.value",),
    "heard": ("row.replaced",),
    "cycles": ("mail.submitted",),
    "slots": ("request.sent", "request.ended", "request.deferred"),
    "tries": ("hop.failed", "hop.expired"),
    "overtakings": ("hop.sent",),
    "ordinary": ("hop.sent",),
    "posts": ("mail.posted",),
    "strangers": ("hop.received",),
    "presence": _CONTENT,
    "shown": ("folder.shown",),
    "deaths": _CONTENT,
    "removals": ("store.deleted",),
    "conflicts": ("conflict.arose",),
    "held": ("version.held",),
}
"""Evidence table to the types of event of which it must have one to have a row; a table that is not here is always made."""


def with_events(checks: Iterable[Check], events: Silver) -> list[Check]:
    """The checks for which there may be something to look at. Of the others it is known that they consumed no event."""
    return [check for check in checks if check.table not in NEEDS or events.has(*NEEDS[check.table])]
