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

NO_SETUP: Final = "setup"
"""Stands for the GUID of the topology's folders in a run that never named one."""


def pcl_map(column: str = "pcl") -> Column:
    """A predecessor list as a map from GUID to counter."""
    return F.transform_values(F.str_to_map(F.col(column), F.lit(";"), F.lit(":")), lambda _, value: value.cast("long"))


def histories(events: Silver, org: Organization) -> DataFrame:
    """A row for each version made (`act` made), applied at a store (applied), or tombstone dropped there (forgot):

    trace, folder, object, store, act, seq, at, kind, number, guid, counter, pcl, modified_at, digest, deleted, subject,
    supersedes, replicas, parent, way; went: undone by a restore; dropped: gone with its replica.
    """
    rows = _made(events).unionByName(_applied(events)).unionByName(_forgot(events)).unionByName(_genesis(events, org))
    lives = _lives(events)
    rows = rows.join(F.broadcast(lives), ["trace", "store"], "left")
    rows = rows.withColumn("went", went(F.col("seq"))).drop("undone")
    drops = (
        events.of("replica.dropped")
        .select("trace", F.col("node").alias("store"), "folder", "seq")
        .join(F.broadcast(lives), ["trace", "store"], "left")
        .where(~went(F.col("seq")))
        .groupBy("trace", "store", "folder")
        .agg(F.max("seq").alias("last_drop"))
    )
    rows = rows.join(F.broadcast(drops), ["trace", "store", "folder"], "left")
    gone = F.coalesce(F.col("seq") < F.col("last_drop"), F.lit(False))
    return rows.withColumn("dropped", gone).drop("last_drop")


def firsts(made: DataFrame, *columns: str, of: Sequence[str] = ("trace", "number")) -> DataFrame:
    """These columns of the first change of each number. One that was given twice is told elsewhere; here it must not matter
    in which order Spark comes upon the two."""
    first = F.min_by(F.struct(*columns), F.struct("at", "store", "seq")).alias("first")
    return made.groupBy(*of).agg(first).select(*of, "first.*")


def went(seq: Column) -> Column:
    """Whether a store's event is undone by a restore; `undone` comes from `restores`."""
    return F.coalesce(F.exists("undone", lambda each: (seq > each["after"]) & (seq < each["before"])), F.lit(False))


def deleted_stores(events: Silver) -> DataFrame:
    """trace, store: those that were taken out of the directory for good (RP-6)."""
    return events.of("store.deleted").select("trace", "store").distinct()


def _lives(events: Silver) -> DataFrame:
    """As `restores`, and of a deleted store all that it ever did: what it alone had went with it (RP-6)."""
    gone = deleted_stores(events)
    ever = F.expr(f"array(struct(cast(-1 as bigint) as after, cast({2**62} as bigint) as before))")
    back = restores(events).join(F.broadcast(gone), ["trace", "store"], "left_anti")
    return back.unionByName(gone.withColumn("undone", ever))


def restores(events: Silver) -> DataFrame:
    """trace, store, undone: the spans (after, before) of its events that restores have undone.

    The n-th backup put back for a store belongs to its n-th start that is no restart; a store that began as new instead has
    nothing of before, not even the topology's folders.
    """
    made = events.of("backup.made").select("trace", "store", "backup", "through")
    back = (
        events.of("backup.restored").select("trace", "store", "backup", "seq").join(made, ["trace", "store", "backup"])
    )
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
    # From the last restore back: one that a later restore has undone itself undoes nothing.
    nothing = F.expr("cast(array() as array<struct<after: bigint, before: bigint>>)")
    chain = F.aggregate(
        spans,
        nothing,
        lambda kept, span: F.when(
            F.exists(kept, lambda each: (span["before"] > each["after"]) & (span["before"] < each["before"])), kept
        ).otherwise(
            F.concat(kept, F.array(F.struct(span["after"].cast("long").alias("after"), span["before"].alias("before"))))
        ),
    )
    return starts.join(backs, ["trace", "store"]).select("trace", "store", chain.alias("undone"))


def _numbered(rows: DataFrame) -> DataFrame:
    guid = F.substring_index("number", ":", 1)
    return rows.withColumn("guid", guid).withColumn("counter", F.substring_index("number", ":", -1).cast("long"))


_COMMON: Final = (
    "trace", "folder", "object", "store", "act", "seq", "at", "kind", "number", "guid", "counter", "pcl", "modified_at",
    "digest", "deleted", "subject", "supersedes", "replicas", "parent", "way",
)  # fmt: skip


def _made(events: Silver) -> DataFrame:
    made = events.of("change.made").select(
        "*",
        F.col("node").alias("store"),
        F.lit("made").alias("act"),
        (F.col("operation") == "delete").alias("deleted"),
        F.lit(None).cast("string").alias("way"),
    )
    return _numbered(made.withColumn("pcl", pcl_map())).select(*_COMMON)


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


def _forgot(events: Silver) -> DataFrame:
    dropped = events.of("tombstone.dropped").select(
        "*",
        F.col("node").alias("store"),
        F.lit("forgot").alias("act"),
        F.lit(None).cast("string").alias("kind"),
        F.lit(None).cast("map<string, bigint>").alias("pcl"),
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
    """The topology's folders: made by nobody's hand, and in place on every store that was there from the start."""
    listed = org.genesis.join(F.broadcast(org.setup), "trace", "left").withColumn(
        "guid", F.coalesce("guid", F.lit(NO_SETUP))
    )
    number = F.concat_ws(":", "guid", "n")
    parents = listed.select("trace", F.col("path").alias("parent_path"), number.alias("parent_id"))
    made = listed.join(parents, ["trace", "parent_path"], "left").select(
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
        F.col("start_at").alias("modified_at"),
        F.lit("").alias("digest"),
        F.lit(False).alias("deleted"),
        F.col("name").alias("subject"),
        F.lit(None).cast("array<string>").alias("supersedes"),
        "replicas",
        F.coalesce("parent_id", F.lit(HIERARCHY)).alias("parent"),
        F.lit(None).cast("string").alias("way"),
    )
    had = made.drop("store", "act").join(org.servers.where("not later").select("trace", "store"), "trace")
    return made.select(*_COMMON).unionByName(had.withColumn("act", F.lit("applied")).select(*_COMMON))
