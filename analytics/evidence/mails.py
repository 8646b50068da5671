"""Evidence: every replication mail joined end to end, one row for each recipient, and what it says of each folder."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.ingest.schemas import MAIL_FOLDERS
from analytics.ingest.silver import Silver

_ENDS: Final = ("mail.submitted", "hop.dropped", "hop.expired", "mail.received", "mail.bad")

RANGES: Final = "array<struct<guid: string, low: bigint, high: bigint>>"


_FAI: Final = " fai"
"""After a GUID: its numbers in a folder's set of associated messages (CN-9)."""


def ranges(column: str, kind: str = "'message'") -> Column:
    """A traced set as an array of its ranges (guid, low, high). kind: SQL for the kind of what the set is of; the GUIDs of
    associated messages' sets bear names of their own (`of_kind`)."""
    low, high = (f"cast(split_part(i, '-', {part}) as bigint) as {name}" for part, name in ((1, "low"), (-1, "high")))
    guid = of_kind("split_part(p, ':', 1)", kind)
    one = f"i -> struct({guid} as guid, {low}, {high})"
    every = f"flatten(transform(split({column}, ';'), p -> transform(split(split_part(p, ':', 2), ','), {one})))"
    return F.expr(f"case when {column} = '' then cast(array() as {RANGES}) else {every} end")


def by_kind(cnset: str, cnset_fai: str) -> Column:
    """Both sets of a folder as one array of ranges. A post's number is a hole in the set of associated messages, which their
    store has closed, and the reverse: so the ranges of the second have GUIDs of their own (spec: CN-6, CN-9)."""
    return F.concat(ranges(cnset), ranges(cnset_fai, "'fai'"))


def of_kind(guid: str, kind: str) -> str:
    """SQL: the GUID under which `by_kind` has a number of this GUID of something of this kind."""
    return f"if({kind} = 'fai', concat({guid}, '{_FAI}'), {guid})"


def whatever_kind(ranges_: str) -> str:
    """SQL: ranges of `by_kind` under the plain GUIDs, for what was traced in one set."""
    return f"transform({ranges_}, r -> struct(replace(r.guid, '{_FAI}', '') as guid, r.low as low, r.high as high))"


def merged(ranges_: str) -> str:
    """SQL: ranges of several sets, in any order, as those of their union."""
    empty = f"cast(array() as {RANGES})"
    touches = "size(n) > 0 and n[size(n) - 1].guid = r.guid and n[size(n) - 1].high >= r.low - 1"
    longer = "struct(r.guid as guid, n[size(n) - 1].low as low, greatest(n[size(n) - 1].high, r.high) as high)"
    return (
        f"aggregate(array_sort(transform({ranges_}, r -> struct(r.guid, r.low, r.high))), {empty}, (n, r) ->"
        f" case when {touches} then concat(slice(n, 1, size(n) - 1), array({longer})) else concat(n, array(r)) end)"
    )


def mail_ends(events: Silver) -> DataFrame:
    """trace, mail, store (the recipient), sender, message_type, size, number, marks, submitted_at, received_at, times
    (received), dropped_at, fault, expired_at, bad_at, reason.

    One shuffle: every event of a mail's ends knows the mail and the store that it is about.
    """
    rows = events.lines(*_ENDS).where(F.col("mail").isNotNull())
    told = F.col("type").isin("mail.submitted", "hop.dropped", "hop.expired")
    to = F.when(told, F.col("recipients")).otherwise(F.array("node"))
    about = rows.select("*", F.explode(to).alias("end")).withColumn("store", F.regexp_replace("end", r"(-IS)?@.*$", ""))

    def of(tag: str, column: str, how: Column | None = None) -> Column:
        return F.min(F.when(F.col("type") == tag, F.col(column) if how is None else how))

    return about.groupBy("trace", "mail", "store").agg(
        of("mail.submitted", "node").alias("sender"),
        of("mail.submitted", "message_type").alias("message_type"),
        of("mail.submitted", "size").alias("size"),
        of("mail.submitted", "number", F.col("number").cast("bigint")).alias("number"),
        F.first(F.when(F.col("type") == "mail.submitted", F.col("marks")), ignorenulls=True).alias("marks"),
        of("mail.submitted", "at").alias("submitted_at"),
        of("mail.received", "at").alias("received_at"),
        F.count_if(F.col("type") == "mail.received").alias("times"),
        of("hop.dropped", "at").alias("dropped_at"),
        of("hop.dropped", "fault").alias("fault"),
        of("hop.expired", "at").alias("expired_at"),
        of("mail.bad", "at").alias("bad_at"),
        of("mail.bad", "reason").alias("reason"),
    )


def excused(events: Silver) -> DataFrame:
    """trace, store, folder, excused: numbers, `by_kind`, that a store accounts for without what they stood for, for it has
    expired at every holder (DL-3)."""
    # spec: DL-3
    gone = events.of("expired.everywhere")
    some = gone.select("trace", F.col("node").alias("store"), "folder", by_kind("cnset", "cnset_fai").alias("ranges"))
    return some.groupBy("trace", "store", "folder").agg(F.flatten(F.collect_list("ranges")).alias("excused"))


def mail_folders(events: Silver) -> DataFrame:
    """trace, mail, sender, at, message_type, folder, updates, stands_for and row: arrays of ranges, `by_kind`."""
    sent = events.lines("mail.submitted")
    named = sent.select(
        "trace", "mail", F.col("node").alias("sender"), "at", "message_type",
        F.explode(F.from_json("folders", MAIL_FOLDERS)).alias("f"),
    ).select("trace", "mail", "sender", "at", "message_type", "f.*")  # fmt: skip
    return named.select(
        "trace", "mail", "sender", "at", "message_type", "folder", "updates",
        by_kind("cnset", "cnset_fai").alias("stands_for"),
        by_kind("row", "row_fai").alias("row"),
    )  # fmt: skip
