"""Gold measures: the latency of changes to each replica by way, the fate of each change, and the traffic of mails."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.version_history import firsts

QUANTILES: Final = (0.5, 0.9, 0.99)
ACCURACY: Final = 10_000


def latency(rows: DataFrame) -> DataFrame:
    """Return way (broadcast, backfill, queue), applied, p50_us, p90_us, p99_us, longest_us: the time from a change to each
    replica, over all runs.

    If a store applied a version more than once, for example after a restore, the first time counts.
    """
    made = firsts(rows.where("act = 'made' and seq > 0"), "at").withColumnRenamed("at", "made_at")
    arrivals = (
        rows.where("act = 'applied' and seq > 0")
        .groupBy("trace", "store", "number")
        .agg(F.min("at").alias("at"), F.min_by("way", "seq").alias("way"))
    )
    took = arrivals.join(made, ["trace", "number"]).withColumn("took", F.col("at") - F.col("made_at"))
    share = F.percentile_approx("took", list(QUANTILES), ACCURACY)
    return (
        took.groupBy("way")
        .agg(F.count(F.lit(1)).alias("applied"), share.alias("q"), F.max("took").alias("longest_us"))
        .select(
            "way",
            "applied",
            *[F.col("q")[index].alias(f"p{round(100 * each)}_us") for index, each in enumerate(QUANTILES)],
            "longest_us",
        )
    )


def fates(rows: DataFrame, objects: DataFrame, folders: DataFrame) -> DataFrame:
    """Return trace, folder, number, fate: stable (every holder got it by broadcast), late (every holder got it, some by
    backfill), superseded (another version or a deletion replaced it), never read (some holder never got it), lost (with a
    restored store), folder deleted.

    spec: DU-1, CV-1
    """
    made = rows.where("act = 'made' and seq > 0").select("trace", "folder", "object", "number").distinct()
    arrivals = (
        rows.where("act in ('made', 'applied') and not undone and not dropped")
        .groupBy("trace", "folder", "object", "number")
        .agg(
            F.collect_set("store").alias("at"),
            F.max(F.coalesce(F.col("way"), F.lit("")) == "backfill").alias("backfilled"),
        )
    )
    due = objects.select(
        "trace", "folder", "object", "lost", F.expr("transform(versions, v -> v.number)").alias("due"), "tombstone"
    )
    holders = F.broadcast(folders.select("trace", "folder", "holders"))
    every = (
        made.join(arrivals, ["trace", "folder", "object", "number"], "left")
        .join(due, ["trace", "folder", "object"])
        .join(holders, ["trace", "folder"], "left")
    )
    missing = F.size(F.array_except("holders", F.coalesce("at", F.array().cast("array<string>"))))
    fate = (
        F.when(F.array_contains("lost", F.col("number")), "lost")
        .when(F.col("holders").isNull(), "folder deleted")
        .when(
            ~F.array_contains("due", F.col("number"))
            & ~F.coalesce(F.col("tombstone") == F.col("number"), F.lit(False)),
            "superseded",
        )
        .when(missing > 0, "never read")
        .when(F.coalesce("backfilled", F.lit(False)), "late")
        .otherwise("stable")
    )
    return every.select("trace", "folder", "number", fate.alias("fate"))


def traffic(ends: DataFrame) -> DataFrame:
    """Return trace, message_type, mails, bytes, copies (one for each recipient), arrived, lost, bad, redundant_bytes (of copies
    that arrived again)."""
    sent = ends.where("sender is not null")
    return sent.groupBy("trace", "message_type").agg(
        F.count_distinct("mail").alias("mails"),
        F.count(F.lit(1)).alias("copies"),
        F.sum("size").alias("bytes"),
        F.count_if(F.col("times") > 0).alias("arrived"),
        F.count_if(F.col("dropped_at").isNotNull()).alias("lost"),
        F.count_if(F.col("bad_at").isNotNull()).alias("bad"),
        F.sum(F.when(F.col("times") > 1, F.col("size") * (F.col("times") - 1)).otherwise(0)).alias("redundant_bytes"),
    )
