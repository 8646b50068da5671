"""Slots of backfill requests: how many requests were open at each event, and which entries overtook a waiting one (BF-6)."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.conditions import IS_SUSPENDED
from analytics.evidence.organization import HIERARCHY
from analytics.ingest.silver import Silver

LIMIT: Final = "Replication Outstanding Backfill Limit"
DEFAULT_LIMIT: Final = 50
_CASE: Final = ("trace", "node", "seq", "at", "folder", "entry")
_OF_ENTRY: Final = ("entry.timed_out", "entry.satisfied", "entry.pruned", "sources.considered")
_OF_REQUEST: Final = ("request.sent", "request.ended", "request.deferred")


def slots(events: Silver, node_states: DataFrame, restored: DataFrame) -> DataFrame:
    """Return a row for each request that was sent, ended or deferred: _CASE, what (the type of its event), source, how, out,
    most, sent, before, waits, open, next. Restored stores are left out.

    out: the number of open requests, including this one. most: the limit that the node read at its start. sent: when an
    ended request was sent (null if never). before: for a deferred request, the entries that came due later and took the
    last slot meanwhile. waits: the entry waited for a slot. open: the number of open requests of the entry. next: the type of
    the entry's next event. While content is suspended, only the hierarchy is requested, and the time-outs of content are
    paused (RP-5).
    """
    line = Window.partitionBy("trace", "node").orderBy("seq")
    step = F.when(F.col("what") == "request.sent", 1).when(F.col("what") == "request.ended", -1)
    counted = _steps(events).withColumns(
        {
            "out": F.sum(step).over(line),
            "most": F.last("read", ignorenulls=True).over(line),
            "resumed_at": F.last(F.when(F.col("what") == "content.resumed", F.col("at")), ignorenulls=True).over(line),
        }
    )
    counted = counted.where("entry is not null")
    life = Window.partitionBy("trace", "node", "entry").orderBy("seq")
    # An entry is due when its time-out ends, or earlier, when a source says that the items expired there.
    request_type = F.when(F.col("what").isin("request.sent", "request.deferred"), F.col("what"))
    waits = (
        F.last(request_type, ignorenulls=True).over(life.rowsBetween(Window.unboundedPreceding, -1))
        == "request.deferred"
    )
    asks = (F.col("what") == "sources.considered") & ~F.coalesce("waits", F.lit(False))
    due = F.when((F.col("what") == "entry.timed_out") | asks, F.col("at"))
    # An entry that finds no source that it can ask waits for its next time-out, and for no slot.
    served = F.col("what").isin("request.sent", "entry.satisfied", "entry.pruned") | F.coalesce(
        "sourceless", F.lit(False)
    )
    after = life.rowsBetween(1, Window.unboundedFollowing)
    dated = counted.withColumn("waits", waits).withColumns(
        {
            "due": F.last(due, ignorenulls=True).over(life),
            "until": F.min(F.when(served, F.col("seq"))).over(after),
            "open": F.sum(step).over(life),
            "next": F.lead("what").over(life),
        }
    )
    request_window = Window.partitionBy("trace", "node", "entry", "source").orderBy("seq")
    sent_at = F.when(F.col("what") == "request.sent", F.col("at"))
    requests = dated.withColumn("sent", F.last(sent_at, ignorenulls=True).over(request_window)).where(
        F.col("what").isin(*_OF_REQUEST)
    )
    rows = requests.join(_served_before(requests, node_states), ["trace", "node", "seq"], "left").drop(
        "read", "due", "until", "resumed_at", "sourceless"
    )
    return rows.join(F.broadcast(restored), ["trace", "node"], "left_anti")


def _steps(events: Silver) -> DataFrame:
    rows = events.lines(*_OF_ENTRY, *_OF_REQUEST, "content.resumed")
    # `source` and `entry` are fields of several events: the wide schema may have them as text.
    entry, what = F.col("entry").cast("long").alias("entry"), F.col("type").alias("what")
    sourceless = (F.size("chosen") == 0).alias("sourceless")  # null where the event has no choice
    steps = rows.select("trace", "node", "seq", "at", "folder", entry, "source", "how", what, sourceless)
    # The limit is a registry value. If a start has no event for it, the default applies (SE-1).
    starts = events.of("node.started").select("trace", "node", "seq", F.lit(DEFAULT_LIMIT).cast("long").alias("read"))
    limits = events.of("setting.value").where(F.col("name") == LIMIT)
    limits = limits.select("trace", "node", "seq", F.col("value").cast("long").alias("read"))
    return steps.unionByName(starts, allowMissingColumns=True).unionByName(limits, allowMissingColumns=True)


def _served_before(requests: DataFrame, node_states: DataFrame) -> DataFrame:
    """Return trace, node, seq (of a deferred request), before: the entries that came due later and took the last slot."""
    waiting = requests.where("what = 'request.deferred'").select(
        "trace", "node", "seq", "folder", "entry", "due", "until"
    )
    others = {"seq": "served", "entry": "other", "due": "other_due", "folder": "other_folder"}
    named = [F.col(name).alias(other) for name, other in others.items()]
    served = requests.where("what = 'request.sent' and out >= most").join(node_states, ["trace", "node"], "left")
    served = served.select("trace", "node", *named, F.expr(IS_SUSPENDED).alias("suspended"), "resumed_at")
    late = "served > seq and (until is null or served < until) and other != entry and other_due > due"
    ahead = f"folder != '{HIERARCHY}' and other_folder = '{HIERARCHY}' and (suspended or other_due <= resumed_at)"
    both = waiting.join(served, ["trace", "node"]).where(f"{late} and not coalesce({ahead}, false)")
    return both.groupBy("trace", "node", "seq").agg(F.array_sort(F.collect_set("other")).alias("before"))
