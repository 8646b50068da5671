"""Facts about a store that excuse its events: restores, deletion, new routes, silence, a skewed clock.

The lab times of two stores can be compared if both clocks are exact (TM-1). The simulator and the lab in one process set all
clocks together. A lab of several processes passes over a process that gives no sign of life, and the clock of that process is
then behind. A clock that runs fast shows other times in two stores within one real instant.

A fault may skew a clock. Its store then shows wrong times, and does things late that were due when the clock jumped. The times
of a store never go back, so after the fault the store stays at its latest time until the lab gets there. For example, a fault
sets the clock of A ahead by 3 h at 02:00, and ends at 04:00:

    lab   01:59  02:00  04:00  04:01  06:59  07:01
    A     01:59  05:00  07:00  07:00  07:00  07:01

The times of A may be wrong from 02:00 to 07:00. If the fault sets the clock back by 3 h, they may be wrong from 23:00 to 04:00.
The checks leave out both spans in each case.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.organization import topologies
from analytics.evidence.version_history import deleted_stores, duration_us, restores
from analytics.ingest.silver import Silver
from traces.labtime import DAY_US, MINUTE_US

_FAST: Final = 60
"""Lab seconds in a real second. With a faster clock, times are not compared."""

_IN_TRANSIT_US: Final = DAY_US
"""A mail leaves the queue in this time, or an attempt fails, if no fault holds it and its connector opens at intervals."""

_CYCLE_US: Final = 15 * MINUTE_US
"""A store that was silent, or whose clock was wrong, does within this time what was due meanwhile."""

_CONNECTORS: Final = (
    "connectors array<struct<name: string, schedule: string, latency: string, bandwidth: string, relay: string>>"
)
RELAYS: Final = "transform(filter(coalesce(t.connectors, array()), c -> c.relay is not null), c -> c.name)"
"""SQL for the names of the connectors with a foreign relay, from the topology `t`."""
_IS_SLOW: Final = (
    "c.bandwidth is not null or c.latency like '% d' or c.schedule not rlike '^(always|every [0-9]+ (s|min|h))$'"
)
_DRIVERS: Final = ("simulator", "live")


def node_facts(events: Silver) -> DataFrame:
    """Return trace, node, exact, skews, hindered, gone, rerouted, altered, relays, sent_until, undone_spans: a row for each
    store that started.

    exact: its lab times are exact outside `skews`.
    skews: the spans (since, until) of its lab times in which they may be wrong, because a fault skewed its clock.
    hindered: those spans, and the spans in which it may act later than is due because a fault silenced it. Both are null if
    there are none.
    gone: it was deleted from the directory.
    rerouted: it learned that a link was down or up, or that the organization had changed, so the routes of copies may have
    changed.
    altered: a fault of the run alters mails.
    relays: the connectors that had a foreign relay at any time.
    sent_until: nothing that the store had queued until this lab time waited to the end without an event; null if it may have
    waited.
    undone_spans: see `version_history.is_undone`.
    """
    started = events.lines("run.started")
    driver = F.col("settings")["driver"]
    slow = F.expr(f"exists(coalesce(t.connectors, array()), c -> coalesce({_IS_SLOW}, false))")
    runs = started.select("trace", F.coalesce(driver.isin(*_DRIVERS), F.lit(False)).alias("together"))
    every = topologies(events).withColumn("t", F.from_json("topology", _CONNECTORS))
    organizations = every.groupBy("trace").agg(
        F.max(slow).alias("slow"), F.flatten(F.collect_set(F.expr(RELAYS))).alias("relays")
    )
    fast = events.of("clock.changed").where(F.col("rate") > _FAST).select("trace").distinct()
    faults = events.of("fault.injected")
    healed = events.of("fault.healed").groupBy("trace", "fault").agg((F.max("at") + _CYCLE_US).alias("healed_at"))
    skewed = F.col("kind") == "skew"
    by_us = F.when(skewed, duration_us(F.col("details")["by"])).otherwise(0)
    span = F.struct(
        F.coalesce(F.col("at") - by_us, F.lit(0)).alias("since"),
        F.coalesce(F.col("healed_at") + by_us, F.lit(2**62)).alias("until"),
    )
    hindered = faults.where("kind in ('stall', 'skew')").join(healed, ["trace", "fault"], "left")
    hindered = hindered.groupBy("trace", F.col("details")["server"].alias("node")).agg(
        F.collect_set(span).alias("hindered"), F.collect_set(F.when(skewed, span)).alias("skews")
    )
    altered = faults.where("kind = 'alter'").select("trace").distinct()
    delays = faults.where("kind in ('delay', 'hold', 'reorder')").select("trace")
    # A mail waits for another connector if it has no route (RT-6).
    removals = events.of("organization.changed").where("change = 'removed'").select("trace")
    delays = delays.unionByName(removals).distinct()
    links = events.lines("link.down", "link.up", "organization.read").select("trace", "node").distinct()
    deletions = deleted_stores(events).withColumnRenamed("store", "node")
    spans = restores(events).withColumnRenamed("store", "node")
    ends = (
        events.lines("node.started", "node.stopped")
        .groupBy("trace", "node")
        .agg(
            F.max(F.when(F.col("type") == "node.started", F.col("at"))).alias("started_at"),
            F.max(F.when(F.col("type") == "node.stopped", F.col("at"))).alias("stopped_at"),
        )
    )
    nodes = ends.join(runs, "trace", "left").join(organizations, "trace", "left")
    nodes = nodes.withColumn("until", F.col("stopped_at") - _IN_TRANSIT_US)
    for name, table in {"fast": fast, "altered": altered, "held": delays}.items():
        nodes = nodes.join(F.broadcast(table.withColumn(name, F.lit(True))), "trace", "left")
    for name, table in {"rerouted": links, "gone": deletions}.items():
        nodes = nodes.join(F.broadcast(table.withColumn(name, F.lit(True))), ["trace", "node"], "left")
    nodes = nodes.join(F.broadcast(hindered), ["trace", "node"], "left")
    if events.has("backup.restored", "backup.elsewhere", "store.created"):
        nodes = nodes.join(F.broadcast(spans), ["trace", "node"], "left")
    else:
        nodes = nodes.withColumn("undone_spans", F.lit(None).cast("array<struct<after: bigint, before: bigint>>"))
    return nodes.select(
        "trace",
        "node",
        F.expr("coalesce(together and fast is null, false)").alias("exact"),
        "skews",
        "hindered",
        *[F.expr(f"{name} is not null").alias(name) for name in ("gone", "rerouted", "altered")],
        "relays",
        F.expr("case when held is null and not slow and started_at <= until then until end").alias("sent_until"),
        "undone_spans",
    )


def with_exact(rows: DataFrame, nodes: DataFrame, times: Mapping[str, str]) -> DataFrame:
    """Return the rows with exact: each of the stores named by a column had an exact clock at its lab time in another column."""
    result = rows.withColumn("exact", F.lit(True))
    for store, at in times.items():
        clocks = nodes.select("trace", F.col("node").alias(store), F.col("exact").alias("comparable"), "skews")
        wrong = f"exists(coalesce(skews, array()), s -> {at} between s.since and s.until)"
        right = F.expr(f"exact and coalesce(comparable and not {wrong}, false)")
        result = result.join(F.broadcast(clocks), ["trace", store], "left").withColumn("exact", right)
        result = result.drop("comparable", "skews")
    return result
