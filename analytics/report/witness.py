"""Witnesses: how a missing change should have reached the holder, and what happened to that mail.

A limited number of folders and rows is chosen first, and only these are looked up among the mails.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.number_sets import by_kind, guid_of_kind
from analytics.ingest.silver import Silver

FOLDERS_TOLD: Final = 200
"""Folders named in a verdict, the worst first; the tables have all."""

WITNESSES_TOLD: Final = 12
"""Witnesses of a folder; one in which everything is missing needs no longer list."""

_GROUP: Final = ("trace", "folder", "path", "store", "what", "kind")


def told_folders(verdicts: DataFrame) -> DataFrame:
    """The folders to name: not converged, then unknown, then converged."""
    rank = F.when(F.col("judgement") == "not converged", 0).when(F.col("judgement") == "unknown", 1).otherwise(2)
    return verdicts.withColumn("rank", rank).orderBy("rank", "trace", "path").limit(FOLDERS_TOLD)


def told(mismatches: DataFrame, guids: DataFrame) -> DataFrame:
    """What is wrong, runs of counters as one row: _GROUP, name (of the GUID), guid, low, high, subject (of the first),
    more (rows left out of this folder)."""
    split = mismatches.withColumn("guid", F.substring_index("number", ":", 1)).withColumn(
        "counter", F.substring_index("number", ":", -1).cast("bigint")
    )
    line = Window.partitionBy(*_GROUP, "guid").orderBy("counter")
    island = F.col("counter") - F.row_number().over(line)
    spans = (
        split.withColumn("island", F.coalesce(island, F.lit(0)))
        .groupBy(*_GROUP, "guid", "island")
        .agg(
            F.min("counter").alias("low"),
            F.max("counter").alias("high"),
            F.min_by("subject", "counter").alias("subject"),
        )
    )
    within = Window.partitionBy("trace", "folder")
    nth = F.row_number().over(within.orderBy("store", "what", "guid", "low"))
    few = (
        spans.withColumn("nth", nth)
        .withColumn("all", F.count(F.lit(1)).over(within))
        .where(F.col("nth") <= WITNESSES_TOLD)
    )
    return few.join(F.broadcast(guids.select("trace", "guid", "name")), ["trace", "guid"], "left").drop("island")


def fates(few: DataFrame, folders: DataFrame, ends: DataFrame, events: Silver) -> DataFrame:
    """For each lack among the told: the mails to the store that carried it and what became of the first, and the last
    request for it: trace, folder, store, guid, low, mails, first (mail, sender, fate times), asked (source, at), answered."""
    lacks = (
        few.where(F.col("what").isin("lacks", "lacks deletion"))
        .select("trace", "folder", "store", "guid", "low", "kind")
        .distinct()
    )
    guid = guid_of_kind("guid", "kind")
    within = F.expr(f"exists(stands_for, r -> r.guid = {guid} and low between r.low and r.high)")
    carrying = (
        folders.join(F.broadcast(lacks), ["trace", "folder"])
        .where(within)
        .select("trace", "mail", "folder", "store", "guid", "low")
    )
    came = carrying.join(ends, ["trace", "mail", "store"])
    first = F.min_by(
        F.struct(
            "mail", "sender", "submitted_at", "received_at", "dropped_at", "fault", "expired_at", "bad_at", "reason"
        ),
        "submitted_at",
    )
    key = ["trace", "folder", "store", "guid", "low"]
    mails = came.groupBy(*key).agg(
        F.count(F.lit(1)).alias("mails"),
        F.count_if(F.col("received_at").isNotNull()).alias("received"),
        first.alias("first"),
    )
    requests = events.of("request.sent").select(
        "trace",
        "folder",
        F.col("node").alias("store"),
        "source",
        "at",
        by_kind("cnset", "cnset_fai").alias("stands_for"),
    )
    asked = (
        requests.join(F.broadcast(lacks), ["trace", "folder", "store"])
        .where(within)
        .groupBy(*key)
        .agg(F.max_by(F.struct("source", "at"), "at").alias("asked"), F.count(F.lit(1)).alias("requests"))
    )
    return lacks.join(mails, key, "left").join(asked, key, "left")
