"""The versions of each object: which store made or applied each, and which of them a store lost later.

A restored store goes back to its backup and loses what it got since (RP-4). A store that drops a replica loses its content
(RP-2). Both are events of the trace, so each row of a history says whether it still counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.organization import HIERARCHY, SETUP, Organization
from analytics.ingest.silver import Silver
from traces.labtime import DAY_US

_RECORD_AGE: Final = "Replication Folder Tombstone Age Limit"
_DEFAULT_RECORD_AGE_US: Final = 180 * DAY_US
_UNITS: Final = (("us", 1), ("ms", 1_000), ("s", 1_000_000), ("min", 60_000_000), ("h", 3_600_000_000), ("d", DAY_US))
_PART: Final = f"[0-9]+ ({'|'.join(unit for unit, _ in _UNITS)})"

NO_SETUP: Final = "setup"
"""The GUID of the topology's folders in a run whose events never name one of them."""


def pcl_map(column: str = "pcl") -> Column:
    """Return a predecessor list as a map from GUID to counter."""
    return F.transform_values(F.str_to_map(F.col(column), F.lit(";"), F.lit(":")), lambda _, value: value.cast("long"))


def duration_us(text: Column) -> Column:
    """Return the length of a duration such as `6 h` or `-1 h 30 min` in microseconds, without its sign; null for other text."""
    sizes = F.create_map(*[F.lit(value) for pair in _UNITS for value in pair])
    parts = F.when(text.rlike(f"^-?{_PART}( {_PART})*$"), F.regexp_extract_all(text, F.lit(_PART), F.lit(0)))
    sizes_us = F.transform(
        parts,
        lambda part: (
            F.split_part(part, F.lit(" "), F.lit(1)).cast("long") * sizes[F.split_part(part, F.lit(" "), F.lit(2))]
        ),
    )
    return F.aggregate(sizes_us, F.lit(0).cast("long"), lambda total_us, each_us: total_us + each_us)


def histories(events: Silver, org: Organization) -> DataFrame:
    """Return a row for each version made (`act` made) or applied in a store (applied), and each tombstone dropped there
    (tombstone dropped):

    trace, folder, object, store, act, seq, at, kind, number, guid, counter, pcl, rivals, modified_at, digest, deleted, subject,
    supersedes, replicas, parent, way; undone: a restore has undone it; dropped: the store dropped the replica later.
    """
    rows = (
        _made(events)
        .unionByName(_applied(events))
        .unionByName(_dropped_tombstones(events))
        .unionByName(_genesis(events, org))
    )
    return _with_losses(rows, events)


def expiries(events: Silver) -> DataFrame:
    """Return the items that expired, as in `histories`: trace, folder, object, store, seq, at, number, undone, forgotten_at.

    forgotten_at: when the store may drop its record that the item expired (DL-3); null if the run ends before.
    """
    expired = events.of("item.expired").select(
        "trace", "folder", "object", F.col("node").alias("store"), "seq", "at", "number", "modified_at"
    )
    limits = events.of("setting.value").where(F.col("name") == _RECORD_AGE)
    ages = limits.groupBy("trace", F.col("node").alias("store")).agg(F.min(duration_us(F.col("value"))).alias("age_us"))
    ends = events.of("run.ended").groupBy("trace").agg(F.max("at").alias("ended_at"))
    expired_items = expired.join(F.broadcast(ages), ["trace", "store"], "left").join(F.broadcast(ends), "trace", "left")
    forgotten_at = F.col("modified_at") + F.coalesce("age_us", F.lit(_DEFAULT_RECORD_AGE_US))
    expired_items = expired_items.withColumn("forgotten_at", F.when(forgotten_at <= F.col("ended_at"), forgotten_at))
    return _with_losses(expired_items, events).drop("dropped", "age_us", "ended_at", "modified_at")


def _with_losses(rows: DataFrame, events: Silver) -> DataFrame:
    """Return `rows` with undone and dropped: whether the store lost the row later."""
    spans = _undone_spans(events)
    rows = rows.join(F.broadcast(spans), ["trace", "store"], "left")
    rows = rows.withColumn("undone", is_undone(F.col("seq"))).drop("undone_spans")
    drops = (
        events.of("replica.dropped")
        .select("trace", F.col("node").alias("store"), "folder", "seq")
        .join(F.broadcast(spans), ["trace", "store"], "left")
        .where(~is_undone(F.col("seq")))
        .groupBy("trace", "store", "folder")
        .agg(F.max("seq").alias("last_drop"))
    )
    rows = rows.join(F.broadcast(drops), ["trace", "store", "folder"], "left")
    is_dropped = F.coalesce(F.col("seq") < F.col("last_drop"), F.lit(False))
    return rows.withColumn("dropped", is_dropped).drop("last_drop")


def firsts(changes: DataFrame, *columns: str, of: Sequence[str] = ("trace", "number")) -> DataFrame:
    """Return these columns of the first change with each number. A rule check reports numbers that were given out
    twice. Here the result must not depend on the order in which Spark reads the two changes.
    """
    first = F.min_by(F.struct(*columns), F.struct("at", "store", "seq")).alias("first")
    return changes.groupBy(*of).agg(first).select(*of, "first.*")


def is_undone(seq: Column) -> Column:
    """Return whether a restore has undone a store's event; `undone_spans` comes from `restores`."""
    return F.coalesce(
        F.exists("undone_spans", lambda span: (seq > span["after"]) & (seq < span["before"])), F.lit(False)
    )


def deleted_stores(events: Silver) -> DataFrame:
    """Return trace, store: the stores that were deleted from the directory (RP-6), or that another server's store has replaced
    (RP-8), and were not created again (RP-7)."""
    number = F.coalesce("directory_object", F.lit(0))
    replaced = events.of("backup.elsewhere").select("trace", "store", "directory_object")
    gone = events.of("store.deleted").select("trace", "store", "directory_object").unionByName(replaced)
    deleted = gone.groupBy("trace", "store").agg(F.max(number).alias("gone"))
    created = events.of("store.created").groupBy("trace", "store").agg(F.max("directory_object").alias("present"))
    both = deleted.join(created, ["trace", "store"], "left")
    return both.where("gone >= coalesce(present, 0)").select("trace", "store")


def once_deleted_stores(events: Silver) -> DataFrame:
    """Return trace, store: the stores that were ever deleted from the directory, or replaced by another server's store."""
    replaced = events.of("backup.elsewhere").select("trace", "store")
    return events.of("store.deleted").select("trace", "store").unionByName(replaced).distinct()


def _undone_spans(events: Silver) -> DataFrame:
    """Return `restores`, with one span over all events of each deleted store: what only that store had is lost (RP-6)."""
    deleted = deleted_stores(events)
    ever = F.expr(f"array(struct(cast(-1 as bigint) as after, cast({2**62} as bigint) as before))")
    back = restores(events).join(F.broadcast(deleted), ["trace", "store"], "left_anti")
    return back.unionByName(deleted.withColumn("undone_spans", ever))


def restores(events: Silver) -> DataFrame:
    """Return trace, store, undone_spans: the spans (after, before) of its sequence numbers that restores have undone.

    The n-th restored backup of a store, or store in its place (RP-7, RP-8), belongs to the n-th start of the store
    that is not a restart. A store that began as new has nothing from before, not even the topology's folders.
    """
    backups = events.of("backup.made").select("trace", "store", "backup", "through")
    back = (
        events.of("backup.restored")
        .select("trace", "store", "backup", "seq")
        .join(backups, ["trace", "store", "backup"])
        .select("trace", "store", "seq", "through")
    )
    created = events.of("store.created").select("trace", "store", "seq", F.lit(-1).cast("long").alias("through"))
    replaced = events.of("backup.elsewhere").select("trace", "store", "seq", F.lit(-1).cast("long").alias("through"))
    back = back.unionByName(created).unionByName(replaced)
    backs = back.groupBy("trace", "store").agg(F.array_sort(F.collect_list(F.struct("seq", "through"))).alias("backs"))
    starts = (
        events.of("node.started")
        .where((F.col("reason") != "restart") & (F.col("seq") > 1))
        .groupBy("trace", F.col("node").alias("store"))
        .agg(F.array_sort(F.collect_list(F.struct("seq", "reason"))).alias("starts"))
    )
    spans = F.reverse(
        F.zip_with(
            "starts",
            "backs",
            lambda start, back: F.struct(
                F.when(start["reason"] == "restored", back["through"]).otherwise(F.lit(-1)).alias("after"),
                start["seq"].alias("before"),
            ),
        )
    )
    # Go from the last restore to the first: a restore that a later restore has undone has no effect.
    nothing = F.expr("cast(array() as array<struct<after: bigint, before: bigint>>)")
    chain = F.aggregate(
        spans,
        nothing,
        lambda spans, span: F.when(
            F.exists(spans, lambda earlier: (span["before"] > earlier["after"]) & (span["before"] < earlier["before"])),
            spans,
        ).otherwise(
            F.concat(
                spans, F.array(F.struct(span["after"].cast("long").alias("after"), span["before"].alias("before")))
            )
        ),
    )
    return starts.join(backs, ["trace", "store"]).select("trace", "store", chain.alias("undone_spans"))


def _numbered(rows: DataFrame) -> DataFrame:
    guid = F.substring_index("number", ":", 1)
    return rows.withColumn("guid", guid).withColumn("counter", F.substring_index("number", ":", -1).cast("long"))


_COMMON: Final = (
    "trace", "folder", "object", "store", "act", "seq", "at", "kind", "number", "guid", "counter", "pcl", "rivals",
    "modified_at", "digest", "deleted", "subject", "supersedes", "replicas", "parent", "way",
)  # fmt: skip


def _made(events: Silver) -> DataFrame:
    change_events = events.of("change.made").select(
        "*",
        F.col("node").alias("store"),
        F.lit("made").alias("act"),
        (F.col("operation") == "delete").alias("deleted"),
        F.lit(None).cast("string").alias("way"),
    )
    return _numbered(change_events.withColumn("pcl", pcl_map())).select(*_COMMON)


def _applied(events: Silver) -> DataFrame:
    applied = events.of("version.applied").select(
        "*",
        F.col("node").alias("store"),
        F.lit("applied").alias("act"),
        F.lit(None).cast("string").alias("subject"),
        F.lit(None).cast("string").alias("parent"),
        F.lit(None).cast("array<string>").alias("supersedes"),
        F.lit(None).cast("array<string>").alias("replicas"),
    )
    return _numbered(applied.withColumn("pcl", pcl_map())).select(*_COMMON)


def _dropped_tombstones(events: Silver) -> DataFrame:
    dropped = events.of("tombstone.dropped").select(
        "*",
        F.col("node").alias("store"),
        F.lit("tombstone dropped").alias("act"),
        F.lit(None).cast("string").alias("kind"),
        F.lit(None).cast("map<string, bigint>").alias("pcl"),
        F.lit(None).cast("array<string>").alias("rivals"),
        F.lit(None).cast("bigint").alias("modified_at"),
        F.lit(None).cast("string").alias("digest"),
        F.lit(True).alias("deleted"),
        F.lit(None).cast("string").alias("subject"),
        F.lit(None).cast("string").alias("parent"),
        F.lit(None).cast("array<string>").alias("supersedes"),
        F.lit(None).cast("array<string>").alias("replicas"),
        F.lit(None).cast("string").alias("way"),
    )
    return _numbered(dropped).select(*_COMMON)


def _genesis(events: Silver, org: Organization) -> DataFrame:
    """Return the topology's folders: made at setup, and applied in every store that takes part from the start."""
    listed = org.genesis.join(F.broadcast(org.setup), "trace", "left").withColumn(
        "guid", F.coalesce("guid", F.lit(NO_SETUP))
    )
    number = F.concat_ws(":", "guid", "n")
    parents = listed.select("trace", F.col("path").alias("parent_path"), number.alias("parent_id"))
    folders = listed.join(parents, ["trace", "parent_path"], "left").select(
        "trace",
        F.lit(HIERARCHY).alias("folder"),
        number.alias("object"),
        F.lit(SETUP).alias("store"),
        F.lit("made").alias("act"),
        F.lit(0).cast("bigint").alias("seq"),
        F.col("start_at").alias("at"),
        F.lit("folder").alias("kind"),
        number.alias("number"),
        "guid",
        F.col("n").cast("bigint").alias("counter"),
        F.create_map("guid", F.col("n").cast("bigint")).alias("pcl"),
        F.lit(None).cast("array<string>").alias("rivals"),
        F.col("start_at").alias("modified_at"),
        F.lit("").alias("digest"),
        F.lit(False).alias("deleted"),
        F.col("name").alias("subject"),
        F.lit(None).cast("array<string>").alias("supersedes"),
        "replicas",
        F.coalesce("parent_id", F.lit(HIERARCHY)).alias("parent"),
        F.lit(None).cast("string").alias("way"),
    )
    had = folders.drop("store", "act").join(org.servers.where("not later").select("trace", "store"), "trace")
    return folders.select(*_COMMON).unionByName(had.withColumn("act", F.lit("applied")).select(*_COMMON))
