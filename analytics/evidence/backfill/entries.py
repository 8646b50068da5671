"""The backfill array and its requests: the life of each entry, and the answers to each request that arrived."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.number_sets import ranges_of
from analytics.evidence.set_columns import ranges
from analytics.evidence.version_history import deleted_stores
from analytics.ingest.silver import Silver


def requests(events: Silver, restored: DataFrame) -> DataFrame:
    """Return the received backfill requests, each with the change numbers that it asks for and the answers to it."""
    received_requests = (
        events.of("mail.received")
        .where("message_type = 8")
        .groupBy("trace", "node", "mail")
        .agg(
            F.min("at").alias("at"),
            F.min("seq").alias("seq"),
            F.min_by("sender", "seq").alias("sender"),
            F.count(F.lit(1)).alias("times"),
            F.min_by("folders", "seq").alias("folders"),
        )
    )
    answers = (
        events.of("request.answered")
        .groupBy("trace", "node", F.col("request_mail").alias("mail"))
        .agg(
            F.count(F.lit(1)).alias("answers"),
            F.min("at").alias("answered_at"),
            F.min_by("cnset", "seq").alias("answer"),
        )
    )
    refused = (
        events.of("request.refused")
        .groupBy("trace", "node", F.col("request_mail").alias("mail"))
        .agg(F.count(F.lit(1)).alias("refused"))
    )
    answers = answers.join(refused, ["trace", "node", "mail"], "full")
    # A restored store may have answered before, or answer again, so its answers cannot be judged.
    requested_ranges = F.expr(
        f"flatten(transform(folders, f -> concat({ranges_of('f.cnset')}, {ranges_of('f.cnset_fai')})))"
    )
    rows = received_requests.join(answers, ["trace", "node", "mail"], "left").join(
        F.broadcast(restored), ["trace", "node"], "left_anti"
    )
    return rows.withColumn("wanted", requested_ranges).withColumn("given", ranges("coalesce(answer, '')"))


def entries(events: Silver, restored: DataFrame) -> DataFrame:
    """Return when each backfill entry was made, timed out, requested, satisfied or pruned. found_at: when its changes were
    found missing; for a divided entry, when its parent was made. in_parts: its first request went to a source with a part
    of the numbers, and the rest had to wait. deleted: its store was deleted. Restored stores are left out."""
    choice = "sources.considered"
    tags = ("entry.made", "entry.timed_out", "entry.satisfied", "entry.pruned", "request.sent", "request.ended", choice)
    rows = events.lines(*tags)
    of = rows.join(F.broadcast(restored), ["trace", "node"], "left_anti").withColumn(
        "entry", F.col("entry").cast("long")
    )

    def when(tag: str, column: str) -> Column:
        return F.when(F.col("type") == tag, F.col(column))

    line = Window.partitionBy("trace", "node", "entry").orderBy("seq")
    of = of.withColumn("in_parts", F.last(when(choice, "one_by_one"), ignorenulls=True).over(line))
    lives = of.groupBy("trace", "node", "entry").agg(
        F.min(when("entry.made", "folder")).alias("folder"),
        F.min(when("entry.made", "at")).alias("at"),
        F.min(when("entry.made", "due_at")).alias("due_at"),
        F.max(when("entry.made", "local")).alias("local"),
        F.max(when("entry.made", "parent")).alias("parent"),
        F.min(when("entry.timed_out", "at")).alias("timed_out_at"),
        F.min(when("request.sent", "at")).alias("asked_at"),
        F.min_by(when("request.sent", "retry_at"), when("request.sent", "seq")).alias("retry_at"),
        F.coalesce(F.min_by(when("request.sent", "in_parts"), when("request.sent", "seq")), F.lit(False)).alias(
            "in_parts"
        ),
        F.count_if(F.col("type") == "request.sent").alias("asked"),
        F.count_if(F.col("type") == "request.ended").alias("ended"),
        F.max(F.col("type").isin("entry.satisfied", "entry.pruned")).alias("over"),
    )
    root = F.when(F.col("parent") > 0, F.col("parent")).otherwise(F.col("entry"))
    lives = lives.withColumn("found_at", F.min("at").over(Window.partitionBy("trace", "node", root)))
    deleted = deleted_stores(events).select("trace", F.col("store").alias("node"), F.lit(True).alias("deleted"))
    lives = lives.join(F.broadcast(deleted), ["trace", "node"], "left")
    return lives.withColumn("deleted", F.coalesce("deleted", F.lit(False)))
