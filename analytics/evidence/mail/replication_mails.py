"""Replication mails as they were submitted and received, and the rows that stores keep of what other stores said in them."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.agreement.node_facts import with_exact
from analytics.evidence.number_sets import ranges_of
from analytics.ingest.silver import Silver


def sent(events: Silver) -> DataFrame:
    """Return the replication mails as submitted, with what each says about its folders (folder, updates, numbers and row, which
    are ranges), and when the store started."""
    mails = events.of("mail.submitted")
    plain = F.expr(
        f"transform(folders, f -> struct(f.folder, f.updates, {ranges_of('f.cnset')} as numbers, {ranges_of('f.row')} as row))"
    )
    starts = events.of("node.started").groupBy("trace", "node", "incarnation").agg(F.max("at").alias("started_at"))
    return mails.withColumn("says", plain).join(F.broadcast(starts), ["trace", "node", "incarnation"], "left")


def received(events: Silver, nodes: DataFrame) -> DataFrame:
    """Return the replication mails as received, each with what its sender submitted. exact: both lab times are exact."""
    submissions = events.of("mail.submitted").select(
        "trace",
        "mail",
        F.col("node").alias("wrote"),
        F.col("folders").alias("wrote_folders"),
        F.col("number").alias("wrote_number"),
        F.col("message_type").alias("wrote_type"),
        F.col("at").alias("wrote_at"),
        F.col("lamport").alias("wrote_lamport"),
    )
    result = events.of("mail.received").join(submissions, ["trace", "mail"], "left")
    return with_exact(result, nodes, {"node": "at", "wrote": "wrote_at"})


def rows_replaced(events: Silver) -> DataFrame:
    """Return the rows that stores keep of other stores, each with what the other store said in that mail."""
    sent_rows = (
        events.of("mail.submitted")
        .select(
            "trace",
            "mail",
            F.col("node").alias("wrote"),
            F.col("number").alias("wrote_number"),
            F.explode("folders").alias("f"),
        )
        .select(
            "trace",
            "mail",
            "wrote",
            "wrote_number",
            F.col("f.folder").alias("folder"),
            F.col("f.row").alias("sent_row"),
            F.col("f.row_fai").alias("sent_row_fai"),
        )
    )
    rows = events.of("row.replaced").join(sent_rows, ["trace", "mail", "folder"], "left")
    same = (F.col("cnset") == F.col("sent_row")) & (F.col("cnset_fai") == F.col("sent_row_fai"))
    its = (F.col("wrote") == F.col("store")) & (F.col("wrote_number") == F.col("sent_number"))
    return rows.groupBy("trace", "node", "seq", "at", "folder", "store", "mail").agg(
        F.max(F.coalesce(same & its, F.lit(False))).alias("said_so")
    )
