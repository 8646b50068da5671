"""Claims: what stores say that they have, compared with what they have.

The row in the last mail of a store about a folder is compared with what the store had made and applied by then. If two stores
have equal rows and unequal contents, one of them claims a change that it never got (CN-7). If they have equal contents and
unequal rows, one of them does not claim a change that it has applied (IN-1).
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.mail.mails import excused
from analytics.evidence.number_sets import by_kind, guid_of_kind
from analytics.evidence.objects import GONE
from analytics.ingest.schemas import MAIL_FOLDERS
from analytics.ingest.silver import Silver

_KEY: Final = guid_of_kind("r.guid", "r.kind")
_CLAIMED: Final = f"exists(s.stated, c -> c.guid = {_KEY} and r.counter between c.low and c.high)"
_HERE: Final = "x.store = s.store and x.act != 'tombstone dropped' and x.seq < s.seq"
_EXCUSED: Final = f"exists(coalesce(s.excused, array()), c -> c.guid = {_KEY} and r.counter between c.low and c.high)"
_INCLUDES: Final = (
    "({v}.number = r.number or {v}.deleted or coalesce(try_element_at({v}.pcl, r.guid) >= r.counter, false)"
    " or alone and struct({v}.modified_at, {v}.guid, {v}.counter) > struct(r.modified_at, r.guid, r.counter))"
)
"""SQL for whether version v includes the change r, or is it. Of a folder or an associated message, the last writer's version
includes all others (HI-5, CN-9)."""
_EXPIRED: Final = (
    f"exists(rows, w -> w.act = 'made' and {_INCLUDES.format(v='w')} and {GONE.format(number='w.number', at='s.at')})"
)
"""The change or a version that includes it has expired. The change's number then comes without a version (CN-9, DL-3)."""


def last_rows(events: Silver, restored: DataFrame) -> DataFrame:
    """Return trace, folder, stated_rows (store, seq, at, stated): the row in each store's last mail that names the folder.

    Stores that were restored, or that once dropped the replica, are left out, because they no longer have what they had.
    """
    sent = events.lines("mail.submitted")
    named = sent.select("trace", "node", "seq", "at", F.explode(F.from_json("folders", MAIL_FOLDERS)).alias("f"))
    last = F.max_by(F.struct("seq", "at", "f.row", "f.row_fai"), "seq").alias("m")
    rows = named.groupBy("trace", F.col("node").alias("store"), F.col("f.folder").alias("folder")).agg(last)
    dropped = events.of("replica.dropped").select("trace", F.col("node").alias("store"), "folder").distinct()
    known = rows.join(F.broadcast(restored.withColumnRenamed("node", "store")), ["trace", "store"], "left_anti")
    known = known.join(F.broadcast(dropped), ["trace", "store", "folder"], "left_anti")
    stated = by_kind("m.row", "m.row_fai").alias("stated")
    known = known.join(F.broadcast(excused(events)), ["trace", "store", "folder"], "left")
    row = F.struct("store", "excused", F.col("m.seq").alias("seq"), F.col("m.at").alias("at"), stated)
    return (
        known.select("trace", "folder", row.alias("row"))
        .groupBy("trace", "folder")
        .agg(F.collect_list("row").alias("stated_rows"))
    )


def claims(events: Silver, things: DataFrame, restored: DataFrame) -> DataFrame:
    """Compare each change with the last stated row of each store. Columns: trace, node, at, folder, subject, number; claimed:
    the stated row has the number; had: at that time the store had a version that includes the change, or the change or
    the version in its place had expired (DL-3); applied: the store applied the change.

    spec: CN-7, IN-1, CV-1
    """
    made = "filter(rows, r -> r.act = 'made' and r.store != 'Setup' and not r.undone)"
    about = things.where("not forgotten").join(F.broadcast(last_rows(events, restored)), ["trace", "folder"])
    case = (
        "struct(s.store as node, s.at as at, r.number as number,"
        f" {_CLAIMED} as claimed, exists(rows, x -> {_HERE} and {_INCLUDES.format(v='x')}) or {_EXCUSED}"
        f" or {_EXPIRED} as had,"
        f" exists(rows, x -> {_HERE} and x.act = 'applied' and x.number = r.number and not x.undone) as applied)"
    )
    cases = F.expr(f"flatten(transform(stated_rows, s -> transform({made}, r -> {case})))")
    return about.select("trace", "folder", "subject", F.explode(cases).alias("c")).select(
        "trace", "folder", "subject", "c.*"
    )
