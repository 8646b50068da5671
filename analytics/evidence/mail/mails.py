"""Replication mails from their sender to each recipient, one row for each, and what a mail says about each folder."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.set_columns import by_kind
from analytics.ingest.schemas import MAIL_FOLDERS
from analytics.ingest.silver import Silver

_ENDS: Final = ("mail.submitted", "hop.dropped", "hop.expired", "hop.deleted", "mail.received", "mail.bad")


def mail_ends(events: Silver) -> DataFrame:
    """Return trace, mail, store (the recipient), sender, message_type, size, number, marks, submitted_at, received_at, times
    (how often it was received), dropped_at, fault, expired_at, deleted_at, bad_at, reason.

    This needs one shuffle, because each of these events names the mail and the store.
    """
    rows = events.lines(*_ENDS).where(F.col("mail").isNotNull())
    has_recipients = F.col("type").isin("mail.submitted", "hop.dropped", "hop.expired", "hop.deleted")
    to = F.when(has_recipients, F.col("recipients")).otherwise(F.array("node"))
    about = rows.select("*", F.explode(to).alias("end")).withColumn("store", F.regexp_replace("end", r"(-IS)?@.*$", ""))

    def of(tag: str, column: str, how: Column | None = None) -> Column:
        return F.min(F.when(F.col("type") == tag, F.col(column) if how is None else how))

    return about.groupBy("trace", "mail", "store").agg(
        of("mail.submitted", "node").alias("sender"),
        of("mail.submitted", "message_type").alias("message_type"),
        of("mail.submitted", "size").alias("size"),
        of("mail.submitted", "number", F.col("number").cast("bigint")).alias("number"),
        of("mail.submitted", "marks").alias("marks"),
        of("mail.submitted", "at").alias("submitted_at"),
        of("mail.received", "at").alias("received_at"),
        F.count_if(F.col("type") == "mail.received").alias("times"),
        of("hop.dropped", "at").alias("dropped_at"),
        of("hop.dropped", "fault").alias("fault"),
        of("hop.expired", "at").alias("expired_at"),
        of("hop.deleted", "at").alias("deleted_at"),
        of("mail.bad", "at").alias("bad_at"),
        of("mail.bad", "reason").alias("reason"),
    )


def excused(events: Silver) -> DataFrame:
    """Return trace, store, folder, excused: numbers (`by_kind`) that a store may claim without having the item, because the
    item has expired at every holder (DL-3)."""
    # spec: DL-3
    expired = events.of("expired.everywhere")
    some = expired.select(
        "trace", F.col("node").alias("store"), "folder", by_kind("cnset", "cnset_fai").alias("ranges")
    )
    return some.groupBy("trace", "store", "folder").agg(F.flatten(F.collect_list("ranges")).alias("excused"))


def mail_folders(events: Silver) -> DataFrame:
    """Return trace, mail, sender, at, message_type, folder, updates, and stands_for and row as arrays of ranges (`by_kind`)."""
    submissions = events.lines("mail.submitted")
    named = submissions.select(
        "trace",
        "mail",
        F.col("node").alias("sender"),
        "at",
        "message_type",
        F.explode(F.from_json("folders", MAIL_FOLDERS)).alias("f"),
    ).select("trace", "mail", "sender", "at", "message_type", "f.*")
    return named.select(
        "trace",
        "mail",
        "sender",
        "at",
        "message_type",
        "folder",
        "updates",
        by_kind("cnset", "cnset_fai").alias("stands_for"),
        by_kind("row", "row_fai").alias("row"),
    )
