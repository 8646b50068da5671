"""The lives of mails, entries, requests, versions, replicas and nodes, as automata: which event may follow which.

An automaton has a key (the copy of a mail in a queue, the entry of a store) and, for each state, the events that may follow. The
state is the last event with that key, with a detail where the type says too little. An event that cannot follow is a sign that
an event was removed, repeated or altered. A life may end only in certain states.

    a copy in a queue:  hop.failed -> hop.failed -> hop.sent, end
    the same without the end:  hop.failed -> hop.failed, but a copy is sent or expires

A restored store forgets what it did, so its lives are left out. In a deleted store a life may stop anywhere.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.version_history import deleted_stores
from analytics.ingest.silver import Silver

END: Final = "end"
BEGIN: Final = "begin"

STATE: Final = (
    "concat_ws(' ', type, case type"
    " when 'hop.received' then if(exists(recipients, r -> r like concat(node, '-IS@%')), if(mail like 'notice.%', 'of a notice', 'here'), null)"
    " when 'node.started' then if(reason = 'restart', 'again', null)"
    " when 'request.ended' then how"
    " when 'version.applied' then if(deleted, 'deletion', if(way = 'queue', 'from the queue', null))"
    " when 'change.made' then if(operation = 'delete', 'deletion', null) end)"
)
"""SQL for the state after an event: its type, and the detail that decides what may follow."""


@dataclass(frozen=True, slots=True)
class Automaton:
    """key: the fields that name one life at a node. follow: each state, and what may follow it, as words."""

    key: str
    follow: dict[str, tuple[str, ...]]


AUTOMATA: Final[dict[str, Automaton]] = {
    "copy of a mail": Automaton(
        "queue_id",
        {
            BEGIN: ("hop.sent", "hop.failed", "hop.expired"),
            # With another route, or when a server refuses some recipients, a copy goes on under another number.
            "hop.failed": ("hop.failed", "hop.sent", "hop.expired", END),
            "hop.sent": (END, "hop.failed", "hop.expired"),
            "hop.expired": (END,),
        },
    ),
    "mail": Automaton(
        "mail",
        {
            BEGIN: ("mail.submitted", "hop.received here", "hop.received of a notice", "hop.received", "mailbox.delivered", "hop.sent", "hop.failed"),
            "hop.received of a notice": ("hop.received of a notice", "hop.sent", "hop.failed", "hop.expired", "mailbox.delivered", END),
            "mail.submitted": ("hop.sent", "hop.failed", "hop.expired"),
            "hop.received here": ("mail.received", "mail.bad", "mailbox.delivered"),
            "hop.received": ("hop.sent", "hop.failed", "hop.expired", "mail.posted", "mail.not_posted", "mailbox.delivered", "hop.received", "hop.received here"),
            "mail.received": ("hop.sent", "hop.failed", "hop.expired", "hop.received here", "hop.received", END),
            "mail.bad": ("hop.sent", "hop.failed", "hop.expired", "hop.received here", "hop.received", END),
            "mail.posted": ("hop.sent", "hop.failed", "hop.expired", "mail.posted", "mailbox.delivered", "hop.received", END),
            "mail.not_posted": ("hop.sent", "hop.failed", "hop.expired", "mail.posted", "mail.not_posted", "mailbox.delivered", "hop.received", END),
            "mailbox.delivered": ("mailbox.delivered", "hop.sent", "hop.failed", "hop.expired", "hop.received", END),
            "hop.sent": ("hop.sent", "hop.failed", "hop.expired", "hop.received here", "hop.received", END),
            "hop.failed": ("hop.sent", "hop.failed", "hop.expired", "hop.received here", "hop.received", END),
            "hop.expired": ("hop.sent", "hop.failed", "hop.expired", "hop.received here", "hop.received", END),
        },
    ),
    "entry": Automaton(
        "entry",
        {
            BEGIN: ("entry.made",),
            "entry.made": ("entry.timed_out", "entry.satisfied", "entry.pruned"),
            "entry.timed_out": ("sources.considered", "entry.satisfied", "entry.pruned"),
            "sources.considered": ("request.sent", "request.deferred", "entry.satisfied", "entry.pruned", "entry.timed_out"),
            "request.deferred": ("sources.considered", "entry.satisfied", "entry.pruned"),
            "request.sent": (
                "request.sent", "request.ended satisfied", "request.ended retry", "request.ended empty", "request.ended pruned", "request.ended expired",
                "entry.pruned",
            ),
            "request.ended satisfied": ("entry.satisfied", "request.ended satisfied", "entry.timed_out", "sources.considered"),
            "request.ended retry": ("entry.timed_out", "request.ended retry"),
            "request.ended empty": ("entry.pruned", "entry.timed_out", "request.ended empty", "sources.considered", "entry.satisfied"),
            "request.ended pruned": ("entry.pruned", "request.ended pruned", END),
            "request.ended expired": ("sources.considered", "entry.timed_out", "entry.satisfied", "entry.pruned", "request.ended expired"),
            "entry.satisfied": (END,),
            "entry.pruned": ("request.ended pruned", "entry.timed_out", "entry.satisfied", "entry.pruned", "sources.considered", END),
        },
    ),
    "node": Automaton(
        "node",
        {
            BEGIN: ("node.started",),
            "node.started": ("node.stopped", "node.started again"),
            "node.started again": ("node.stopped", "node.started again"),
            "node.stopped": ("node.started again", END),
        },
    ),
    "replica": Automaton(
        "folder",
        {
            BEGIN: ("replica.added", "replica.pending", "replica.dropped"),
            "replica.added": ("replica.pending", "replica.dropped", END),
            "replica.pending": ("replica.dropped", "replica.added", END),
            "replica.dropped": ("replica.added", END),
        },
    ),
    "directory entry": Automaton(
        "store",
        {
            BEGIN: ("address.stamped",),
            "address.stamped": ("store.deleted", END),
            "store.deleted": ("address.stamped", END),
        },
    ),
    "version": Automaton(
        "number",
        {
            BEGIN: (
                "change.made", "change.made deletion", "version.applied", "version.applied from the queue", "version.ignored", "version.held",
                "tombstone.made",
            ),
            "change.made": ("item.expired", "version.applied", "version.ignored", END),
            "change.made deletion": ("tombstone.made",),
            "version.applied": ("item.expired", "version.ignored", "version.applied", END),
            "version.applied from the queue": ("item.expired", "version.ignored", "version.applied", END),
            "version.applied deletion": ("version.ignored", "tombstone.dropped", END),
            "version.ignored": ("version.ignored", "version.applied", "item.expired", "tombstone.made", "tombstone.dropped", END),
            "version.held": ("version.applied from the queue", "version.dropped", "version.held", "version.ignored", END),
            "version.dropped": ("version.applied", "version.held", "version.ignored", END),
            "tombstone.made": ("version.applied deletion", "version.ignored", "tombstone.dropped", END),
            "tombstone.dropped": ("version.ignored", "tombstone.made", "version.applied", END),
            "item.expired": ("version.ignored", "version.applied", END),
        },
    ),
    "visible folder": Automaton(
        "folder", {BEGIN: ("folder.shown",), "folder.shown": ("folder.shown", "folder.hidden", END), "folder.hidden": ("folder.shown", END)}
    ),
    "content": Automaton(
        "node", {BEGIN: ("content.suspended",), "content.suspended": ("content.resumed", END), "content.resumed": ("content.suspended", END)}
    ),
    "conflict": Automaton(
        "object",
        {
            BEGIN: ("conflict.arose", "conflict.notice"),
            "conflict.arose": ("conflict.notice", "conflict.arose", "conflict.ended", END),
            "conflict.notice": ("conflict.notice", "conflict.arose", "conflict.ended", END),
            "conflict.ended": ("conflict.aged", "conflict.arose", "conflict.notice", END),
            "conflict.aged": ("conflict.arose", "conflict.notice", END),
        },
    ),
    "silent source": Automaton(
        "store", {BEGIN: ("source.down",), "source.down": ("source.up", "source.down", END), "source.up": ("source.down", END)}
    ),
    "link": Automaton(
        "connector", {BEGIN: ("link.down",), "link.down": ("link.up", "link.down", END), "link.up": ("link.down", "link.up", END)}
    ),
    "fault": Automaton("fault", {BEGIN: ("fault.injected",), "fault.injected": ("fault.healed", "fault.altered", END), "fault.altered": ("fault.altered", "fault.healed", END), "fault.healed": ("fault.altered", END)}),
}  # fmt: skip
"""Each automaton by the name of what lives."""

_KEYS: Final = sorted({automaton.key for automaton in AUTOMATA.values()})


def _types(automaton: Automaton) -> set[str]:
    return {state.partition(" ")[0] for states in automaton.follow.values() for state in states} - {END, BEGIN}


def _lives() -> str:
    """Return the automata of each event type, as JSON: their names, and the positions of their keys."""
    found: dict[str, list[dict[str, object]]] = {}
    for name, automaton in AUTOMATA.items():
        for tag in sorted(_types(automaton)):
            found.setdefault(tag, []).append({"life": name, "key": _KEYS.index(automaton.key)})
    return json.dumps(found)


def _allowed() -> str:
    """Return what may follow each state of each automaton, as JSON."""
    return json.dumps(
        {f"{name}: {state}": states for name, each in AUTOMATA.items() for state, states in each.follow.items()}
    )


def steps(events: Silver, restored: DataFrame) -> DataFrame:
    """Return each step of each life: trace, node, seq, at, life, key, before, state, after, allowed, ends.

    before, after: the states before and after it, BEGIN and END at the ends. allowed: state may follow before. ends: after is END
    and the life may end here.
    """
    lives = F.from_json(F.lit(_lives()), "map<string, array<struct<life: string, key: int>>>")
    follow = F.from_json(F.lit(_allowed()), "map<string, array<string>>")
    tags = sorted({tag for automaton in AUTOMATA.values() for tag in _types(automaton)})
    rows = events.lines(*tags).select(
        "trace", "node", "seq", "at", F.expr(STATE).alias("state"),
        F.array(*[F.col(name).cast("string") for name in _KEYS]).alias("keys"),
        F.explode(F.element_at(lives, F.col("type"))).alias("of"),
    )  # fmt: skip
    rows = rows.select("trace", "node", "seq", "at", "state", "of.life", F.expr("keys[of.key]").alias("key"))
    rows = rows.where("key is not null").join(F.broadcast(restored), ["trace", "node"], "left_anti")
    gone = deleted_stores(events).select("trace", F.col("store").alias("node"), F.lit(True).alias("gone"))
    rows = rows.join(F.broadcast(gone), ["trace", "node"], "left")
    line = Window.partitionBy("trace", "node", "life", "key").orderBy("seq")
    near = rows.withColumn("before", F.coalesce(F.lag("state").over(line), F.lit(BEGIN)))
    near = near.withColumn("after", F.coalesce(F.lead("state").over(line), F.lit(END)))

    def may_follow(first: str, then: str) -> str:
        return f"coalesce(array_contains(try_element_at(follow, concat(life, ': ', {first})), {then}), false)"

    return near.withColumn("follow", follow).select(
        "trace", "node", "seq", "at", "life", "key", "before", "state", "after",
        F.expr(may_follow("before", "state")).alias("allowed"), F.expr(f"coalesce(gone, false) or {may_follow('state', 'after')}").alias("ends"),
    )  # fmt: skip
