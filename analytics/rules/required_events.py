"""The events that a check needs. Without them its table is empty, and Spark need not plan the check.

For a trace of a few hundred events nearly all of the time is planning, which costs the same for an empty table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from analytics.rules.check import Check

if TYPE_CHECKING:
    from analytics.ingest.silver import Silver

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
    "mailed_folders": ("mail.submitted",),
    "responders": ("responders.considered",),
    "notices": ("conflict.arose", "conflict.notice"),
    "resolutions": ("conflict.ended",),
    "resolving_changes": ("conflict.ended",),
    "aged_conflicts": ("conflict.aged",),
    "recoveries": ("item.recovered",),
    "drops": ("tombstone.dropped", "replica.dropped"),
    "expected_statuses": ("status.due", "replica.added"),
    "sent": ("mail.submitted",),
    "received": ("mail.received",),
    "rows_replaced": ("row.replaced",),
    "hops": ("hop.sent",),
    "requests": ("mail.received",),
    "entries": _ENTRY,
    "decisions": ("sources.considered", "responders.considered"),
    "statuses": ("status.due", "mail.submitted"),
    "repeats": ("mail.submitted", "mail.received"),
    "new_stores": ("node.started",),
    "nightly_statuses": ("setting.value",),
    "status_claims": ("row.replaced",),
    "cycles": ("mail.submitted",),
    "slots": ("request.sent", "request.ended", "request.deferred"),
    "attempts": ("hop.failed", "hop.expired"),
    "frozen_servers": ("queue.frozen",),
    "overtakings": ("hop.sent",),
    "ordinary_mails": ("hop.sent",),
    "posts": ("mail.posted",),
    "unknown_peers": ("hop.received",),
    "presence": _CONTENT,
    "shown_folders": ("folder.shown", "folder.moved"),
    "deletions": _CONTENT,
    "deleted_stores": ("store.deleted",),
    "shown_stores": ("backup.elsewhere",),
    "created_stores": ("store.created",),
    "revisions": ("organization.changed", "organization.read"),
    "stamps": ("address.stamped",),
    "absences": ("organization.changed",),
    "crossings": ("organization.changed",),
    "conflicts": ("conflict.arose",),
    "deferred": ("version.held",),
}
"""Maps an evidence table to event types. The table is empty unless the trace has an event of one of these types. A
table that is not listed is always computed."""


def with_events(checks: Iterable[Check], events: Silver) -> list[Check]:
    """Return the checks whose tables may have rows. All other checks consume no event."""
    return [check for check in checks if check.table not in NEEDS or events.has(*NEEDS[check.table])]
