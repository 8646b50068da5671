"""Witnesses: how a missing change should have reached the holder, and what happened to that mail.

A limited number of folders and rows is chosen first, and only these are looked up among the mails.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, GroupedData, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.number_sets import guid_of_kind
from analytics.evidence.set_columns import by_kind
from analytics.ingest.silver import Silver
from analytics.verdicts.conclusion import MAX_WITNESSES
from analytics.verdicts.judgements import NOT_CONVERGED, UNKNOWN

_GROUP: Final = ("trace", "folder", "path", "store", "what", "kind")


def rank() -> Column:
    """Return the rank of a folder's judgement, the worst first: not converged, unknown, converged."""
    return F.when(F.col("judgement") == NOT_CONVERGED, 0).when(F.col("judgement") == UNKNOWN, 1).otherwise(2)


def witness_rows(mismatches: DataFrame, guids: DataFrame) -> DataFrame:
    """Return the mismatches, with one row for a run of consecutive counters: _GROUP, name (of the GUID), guid, low, high,
    subject (of the first), nth (in its folder), all (the number of rows in the folder)."""
    split = mismatches.withColumn("guid", F.substring_index("number", ":", 1)).withColumn(
        "counter", F.substring_index("number", ":", -1).cast("bigint")
    )
    line = Window.partitionBy(*_GROUP, "guid").orderBy("counter")
    run = F.col("counter") - F.row_number().over(line)
    spans = (
        split.withColumn("run", F.coalesce(run, F.lit(0)))
        .groupBy(*_GROUP, "guid", "run")
        .agg(
            F.min("counter").alias("low"),
            F.max("counter").alias("high"),
            F.min_by("subject", F.struct("counter", "subject")).alias("subject"),
        )
    )
    within = Window.partitionBy("trace", "folder")
    nth = F.row_number().over(within.orderBy("store", "what", "guid", "low"))
    few = (
        spans.withColumn("nth", nth)
        .withColumn("all", F.count(F.lit(1)).over(within))
        .where(F.col("nth") <= MAX_WITNESSES)
    )
    return few.join(F.broadcast(guids.select("trace", "guid", "name")), ["trace", "guid"], "left").drop("run")


def fates(few: DataFrame, folders: DataFrame, ends: DataFrame, events: Silver) -> DataFrame:
    """Return for each missing change among `few`: trace, folder, store, guid, low, sent (how many mails carried it), mails (how
    many of them to the store), received (how many of these arrived), first (the first such mail, and what happened to it),
    asked (the last request: source and at), requests, due_at (of its last entry in the backfill array)."""
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
        .select("trace", "mail", "folder", "store", "guid", "low", "kind")
    )
    arrivals = carrying.join(ends, ["trace", "mail", "store"])
    first = F.min_by(
        F.struct(
            "mail",
            "sender",
            "submitted_at",
            "received_at",
            "dropped_at",
            "fault",
            "expired_at",
            "deleted_at",
            "bad_at",
            "reason",
        ),
        F.struct("submitted_at", "mail"),
    )
    key = ["trace", "folder", "store", "guid", "low", "kind"]
    mails = arrivals.groupBy(*key).agg(
        F.count(F.lit(1)).alias("mails"),
        F.count_if(F.col("received_at").isNotNull()).alias("received"),
        first.alias("first"),
    )
    mail_counts = carrying.groupBy(*key).agg(F.count_distinct("mail").alias("sent"))
    about = ("trace", "folder", F.col("node").alias("store"), by_kind("cnset", "cnset_fai").alias("stands_for"))

    def of_lacks(rows: DataFrame) -> GroupedData:
        return rows.join(F.broadcast(lacks), ["trace", "folder", "store"]).where(within).groupBy(*key)

    requests = of_lacks(events.of("request.sent").select(*about, "source", "at")).agg(
        F.max_by(F.struct("source", "at"), "at").alias("asked"), F.count(F.lit(1)).alias("requests")
    )
    waits = of_lacks(events.of("entry.made").select(*about, "seq", "due_at")).agg(
        F.max_by("due_at", "seq").alias("due_at")
    )
    return (
        lacks.join(mail_counts, key, "left")
        .join(mails, key, "left")
        .join(requests, key, "left")
        .join(waits, key, "left")
    )
