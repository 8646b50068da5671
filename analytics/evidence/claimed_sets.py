"""Claims: the changes that stores say they have, compared with the changes that they have.

The row in the last mail of a store about a folder is compared with what the store had made and applied by then. If two stores
have equal rows and unequal contents, one of them claims a change that it never got (CN-7). If they have equal contents and
unequal rows, one of them does not claim a change that it has applied (IN-1).
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.conditions import COVERS
from analytics.evidence.mail.mails import excused
from analytics.evidence.number_sets import guid_of_kind
from analytics.evidence.objects import GONE
from analytics.evidence.set_columns import by_kind
from analytics.ingest.schemas import MAIL_FOLDERS
from analytics.ingest.silver import Silver

_KEY: Final = guid_of_kind("r.guid", "r.kind")
_INSIDE: Final = f"exists({{}}, c -> c.guid = {_KEY} and r.counter between c.low and c.high)"
_INCLUDES: Final = (
    f"({{v}}.number = r.number or {{v}}.deleted or {COVERS.format(v='{v}', u='r')}"
    " or alone and struct({v}.modified_at, {v}.guid, {v}.counter) > struct(r.modified_at, r.guid, r.counter))"
)
"""SQL for whether version v includes the change r, or is it. Of a folder or an associated message, the last writer's version
includes all others (HI-5, CN-9)."""
_EXPIRED: Final = (
    f"exists(rows, w -> w.act = 'made' and {_INCLUDES.format(v='w')} and {GONE.format(number='w.number', at='at')})"
)
"""The change or a version that includes it has expired. The change's number then comes without a version (CN-9, DL-3)."""


def last_rows(events: Silver, restored: DataFrame) -> DataFrame:
    """Return trace, folder, node, sent (seq), at, stated, excused: the row in each store's last mail that names the folder.

    Stores that were restored, or that once dropped the replica, are left out, because they no longer have what they had.
    """
    mails = events.lines("mail.submitted")
    named = mails.select("trace", "node", "seq", "at", F.explode(F.from_json("folders", MAIL_FOLDERS)).alias("f"))
    last = F.max_by(F.struct("seq", "at", "f.row", "f.row_fai"), "seq").alias("m")
    rows = named.groupBy("trace", F.col("node").alias("store"), F.col("f.folder").alias("folder")).agg(last)
    dropped = events.of("replica.dropped").select("trace", F.col("node").alias("store"), "folder").distinct()
    last_mails = rows.join(F.broadcast(restored.withColumnRenamed("node", "store")), ["trace", "store"], "left_anti")
    last_mails = last_mails.join(F.broadcast(dropped), ["trace", "store", "folder"], "left_anti")
    stated = by_kind("m.row", "m.row_fai").alias("stated")
    last_mails = last_mails.join(F.broadcast(excused(events)), ["trace", "store", "folder"], "left")
    return last_mails.select(
        "trace", "folder", F.col("store").alias("node"), F.col("m.seq").alias("sent"), "m.at", stated, "excused"
    )


def claims(events: Silver, things: DataFrame, restored: DataFrame) -> DataFrame:
    """Compare each change with the last stated row of each store. Columns: trace, node, at, folder, subject, number; claimed:
    the stated row has the number; had: at that time the store had a version that includes the change, or the change or
    the version in its place had expired (DL-3); applied: the store applied the change.

    spec: CN-7, IN-1, CV-1
    """
    changes = F.expr("filter(rows, r -> r.act = 'made' and r.store != 'Setup' and not r.undone)")
    here = F.expr("filter(rows, x -> x.store = node and x.act != 'tombstone dropped' and x.seq < sent)")
    about = things.where("not forgotten").withColumn("changes", changes)
    pairs = about.join(F.broadcast(last_rows(events, restored)), ["trace", "folder"]).withColumn("here", here)
    cases = pairs.select("*", F.explode("changes").alias("r"))
    # Nearly always the store has the change itself, and then nothing else need be looked at.
    had = (
        "case when exists(here, x -> x.number = r.number) then true"
        f" else exists(here, x -> {_INCLUDES.format(v='x')}) or {_INSIDE.format('coalesce(excused, array())')}"
        f" or size(expiries) > 0 and {_EXPIRED} end"
    )
    return cases.select(
        "trace",
        "folder",
        "subject",
        "node",
        "at",
        F.col("r.number").alias("number"),
        F.expr(_INSIDE.format("stated")).alias("claimed"),
        F.expr(had).alias("had"),
        F.expr("exists(here, x -> x.act = 'applied' and x.number = r.number and not x.undone)").alias("applied"),
    )
