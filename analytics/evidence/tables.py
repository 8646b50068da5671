"""The evidence tables by name. Each row is one case, with all columns that the checks of that table need.

Values that a node derived (costs, due times, missing changes) are in a table only to be checked. Nothing is computed
from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence import changes, holders, organization_changes, presence
from analytics.evidence.agreement import statements, steps
from analytics.evidence.backfill import entries, request_slots, source_selection
from analytics.evidence.claimed_sets import claims
from analytics.evidence.mail import broadcasts, hops, replication_mails, status_mails
from analytics.evidence.material import Material, with_node_state, with_plain, with_punctual
from analytics.ingest.silver import Silver


def decisions(events: Silver) -> DataFrame:
    """Return the choices of backfill sources and of responders, each with its candidates in order."""
    return events.of("sources.considered", "responders.considered")


def clocks(events: Silver) -> DataFrame:
    """Return the times of each event, and the times of the previous event on the same node (`at_before` and so on).

    Between the two is an event of an unknown type if `seq` is more than `seq_before` + 1.
    """
    line = Window.partitionBy("trace", "node").orderBy("seq")
    heads = events.events.select("trace", "node", "seq", "at", "lamport", "type")
    return heads.withColumns({f"{name}_before": F.lag(name).over(line) for name in ("seq", "at", "lamport")})


def deferred(m: Material) -> DataFrame:
    """Return the deferred versions of stores with the default settings."""
    return m.events.of("version.held").join(F.broadcast(m.plain), ["trace", "node"], "left_semi")


TABLES: Final[Mapping[str, Callable[[Material], DataFrame]]] = {
    "changes": lambda m: changes.changes(m.events, m.rows, m.org),
    "applied": lambda m: changes.applied(m.events, m.rows),
    "at_stores": lambda m: changes.at_stores(m.things),
    "claims": lambda m: claims(m.events, m.things, m.restored),
    "candidates": lambda m: m.candidates.where("what = 'choice'"),
    "entries_made": lambda m: source_selection.entries_made(m.events, m.org, m.candidates),
    "requests_made": lambda m: source_selection.requests_made(m.events, m.candidates),
    "turns": lambda m: source_selection.turns(m.events, m.org, m.candidates),
    "marks_down": lambda m: source_selection.marks_down(m.events),
    "mailed_folders": lambda m: with_punctual(with_plain(holders.mailed_folders(m.listed, m.events, m.org), m), m),
    "responders": lambda m: m.listed.where("what = 'responders'"),
    "notices": lambda m: with_plain(holders.notices(m.listed, m.org), m),
    "resolutions": lambda m: holders.resolutions(m.listed, m.org),
    "resolving_changes": lambda m: holders.resolving_changes(m.events),
    "aged_conflicts": lambda m: holders.aged_conflicts(m.listed, m.events),
    "recoveries": lambda m: presence.recoveries(m.events),
    "drops": lambda m: with_plain(holders.drops(m.listed, m.events, m.rows), m),
    "expected_statuses": lambda m: holders.expected_statuses(m.listed, m.events),
    "sent": lambda m: with_node_state(with_punctual(with_plain(replication_mails.sent(m.events), m), m), m),
    "received": lambda m: with_node_state(replication_mails.received(m.events, m.nodes), m),
    "rows_replaced": lambda m: replication_mails.rows_replaced(m.events),
    "hops": lambda m: hops.hops(m.events, m.nodes),
    "requests": lambda m: with_node_state(holders.with_answerable(entries.requests(m.events, m.restored), m.events), m),
    "entries": lambda m: with_plain(entries.entries(m.events, m.restored), m),
    "decisions": lambda m: decisions(m.events),
    "statuses": lambda m: with_punctual(with_plain(status_mails.statuses(m.events, m.listed), m), m),
    "repeats": lambda m: with_plain(status_mails.repeats(m.events, m.listed), m),
    "new_stores": lambda m: status_mails.new_stores(m.events, m.listed, m.org, m.restored),
    "nightly_statuses": lambda m: with_punctual(status_mails.nightly_statuses(m.events, m.listed), m),
    "status_claims": lambda m: status_mails.status_claims(m.events, m.listed, m.things),
    "cycles": lambda m: with_plain(broadcasts.cycles(m.events, m.listed, m.org), m),
    "slots": lambda m: with_node_state(with_plain(request_slots.slots(m.events, m.node_states, m.restored), m), m),
    "attempts": lambda m: with_plain(hops.attempts(m.events), m),
    "frozen_servers": lambda m: hops.frozen_servers(m.events, m.nodes),
    "overtakings": lambda m: hops.overtakings(m.events, m.listed, holders.topology_folders(m.org, "priority")),
    "revisions": lambda m: organization_changes.revisions(m.events, m.nodes),
    "stamps": lambda m: organization_changes.stamps(m.events, m.org, m.nodes),
    "absences": lambda m: organization_changes.absences(m.events, m.nodes),
    "crossings": lambda m: organization_changes.crossings(m.events, m.nodes, m.restored),
    "ordinary_mails": lambda m: hops.ordinary_mails(m.events),
    "posts": lambda m: hops.posts(m.events),
    "unknown_peers": lambda m: hops.unknown_peers(m.events),
    "presence": lambda m: presence.presence(m.rows, m.restored),
    "shown_folders": lambda m: presence.shown_folders(m.events, m.rows, m.restored),
    "deletions": lambda m: presence.deletions(m.events, m.rows),
    "deleted_stores": lambda m: presence.removed_stores(m.events, m.rows, m.restored),
    "shown_stores": lambda m: presence.shown_stores(m.events),
    "created_stores": lambda m: presence.created_stores(m.events),
    "conflicts": lambda m: changes.conflicts(m.events),
    "clocks": lambda m: clocks(m.events),
    "steps": lambda m: steps.steps(m.events, m.nodes),
    "facts": lambda m: statements.facts(m.events, m.rows, m.nodes),
    "deferred": deferred,
}
"""Table name to the function that computes it."""

_PARTS: Final = 8
PARTS: Final = tuple(frozenset(sorted(TABLES)[part::_PARTS]) for part in range(_PARTS))
"""The tables whose checks run in one Spark job: few enough for a small plan, and enough to keep the number of jobs small."""
