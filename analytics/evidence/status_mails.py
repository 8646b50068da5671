"""Statuses and status requests: what is due, what is repeated, what is answered, and what a status that came should have led to
(ST-1, ST-5 to ST-7, RP-3)."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.mails import excused
from analytics.evidence.number_sets import RANGES, by_kind, guid_of_kind, ranges
from analytics.evidence.organization import HIERARCHY, Organization
from analytics.ingest.silver import Silver
from traces.labtime import DAY_US, MINUTE_US

CHECK_US: Final = 15 * MINUTE_US
"""The first check of a day (ST-1)."""

_CASE: Final = ("trace", "node", "seq", "at", "folder")
_REPEAT: Final = "array_contains(coalesce(marks, array()), 'repeat')"


def statuses(events: Silver, listed: DataFrame) -> DataFrame:
    """A row for each folder that a status check found due (`what` due), and each of a status marked repeat (repeat): _CASE,
    due_at (at, of what is due), `to` (of a repeat), last_update_at (the last update here that the trace knows of),
    last_due_at (the status before), steady (the store never started again)."""
    updates = events.of("change.made", "version.applied").select(*_CASE, F.col("at").alias("updated_at"))
    due = events.of("status.due").select(
        "trace", "node", "seq", "at", F.explode("folders").alias("folder"), F.col("at").alias("due_at"),
        F.lit("due").alias("what"),
    )  # fmt: skip
    again = listed.where(f"what = 'mail' and message_type = 16 and {_REPEAT}").select(
        *_CASE, "to", F.lit("repeat").alias("what")
    )
    every = updates.unionByName(due, allowMissingColumns=True).unionByName(again, allowMissingColumns=True)
    before = Window.partitionBy("trace", "node", "folder").orderBy("seq").rowsBetween(Window.unboundedPreceding, -1)
    both = every.withColumns(
        {
            "last_update_at": F.last("updated_at", ignorenulls=True).over(before),
            "last_due_at": F.last("due_at", ignorenulls=True).over(before),
        }
    )
    starts = events.of("node.started").where("seq > 1").select("trace", "node").distinct()
    restarted = F.broadcast(starts.withColumn("restarted", F.lit(True)))
    rows = both.where("what is not null").join(restarted, ["trace", "node"], "left")
    return rows.withColumn("steady", F.col("restarted").isNull())


def repeats(events: Silver, listed: DataFrame) -> DataFrame:
    """A row for each folder of a mail marked repeat: sent (`what` sent: to, message_type, before_at: when the last of its kind
    went to that store; heard: a mail sent since then had come from it), or
    received (came: sender, holders, dead, answered: by a status to the sender alone, at once, that is itself no repeat). Of
    replicas that were dropped what came is left out."""
    mails = listed.where("what = 'mail'").withColumn("repeat", F.expr(_REPEAT))
    answers = mails.where("message_type = 16 and size(to) = 1 and not repeat").select(
        "trace", "node", "at", "folder", F.col("to")[0].alias("sender"), F.lit(True).alias("answered")
    )
    over = events.of("replica.dropped").select("trace", "node", "folder").distinct()
    came = listed.where(f"what = 'came' and {_REPEAT}").join(
        F.broadcast(over), ["trace", "node", "folder"], "left_anti"
    )
    keys = ["trace", "node", "at", "folder", "sender"]
    told = came.join(answers.dropDuplicates(keys), keys, "left").select(
        *_CASE, "mail", "message_type", "sender", "holders", "dead", "what",
        F.coalesce("answered", F.lit(False)).alias("answered"),
    )  # fmt: skip
    asked = mails.where("message_type = 32 or repeat").select(
        *_CASE, "mail", "message_type", "repeat", F.explode("to").alias("store")
    )
    kind = Window.partitionBy("trace", "node", "folder", "store", "message_type").orderBy("seq")
    dated = asked.withColumn("before_at", F.lag("at").over(kind)).where("repeat")
    rows = events.of("row.replaced").select(
        "trace", "node", "folder", "store", F.col("seq").alias("came_seq"), "sent_at"
    )
    heard = dated.join(rows, ["trace", "node", "folder", "store"], "left").groupBy(
        *_CASE, "mail", "message_type", "store", "before_at"
    ).agg(F.coalesce(F.bool_or(F.expr("came_seq < seq and sent_at >= before_at")), F.lit(False)).alias("heard"))  # fmt: skip
    return told.unionByName(heard.withColumn("what", F.lit("sent")), allowMissingColumns=True)


def newcomers(events: Silver, listed: DataFrame, org: Organization) -> DataFrame:
    """Stores that joined while the run went on, as they started first: trace, node, at, until_at (a day later), ended_at, asked
    (by then it had asked all others that its directory listed for the hierarchy's status)."""
    later = F.broadcast(org.servers.where("later").select("trace", F.col("store").alias("node")))
    first = (
        events.of("node.started").where("reason = 'first'").select("trace", "node", "at").join(later, ["trace", "node"])
    )
    requests = listed.where(
        f"what = 'mail' and message_type = 32 and folder = '{HIERARCHY}' and to = array_sort(filter(holders, h -> h != node))"
    ).select("trace", "node", F.col("at").alias("asked_at"))
    began = first.withColumn("until_at", F.col("at") + DAY_US).join(requests, ["trace", "node"], "left")
    in_time = F.coalesce(F.col("asked_at") <= F.col("until_at"), F.lit(False))
    ended = events.of("run.ended").groupBy("trace").agg(F.max("at").alias("ended_at"))
    found = began.groupBy("trace", "node", "at", "until_at").agg(F.max(in_time).alias("asked"))
    return found.join(F.broadcast(ended), "trace", "left")


SERVICE_PACK: Final = "Service Pack"
SP4: Final = 4
NIGHTS: Final = 36525
"""A hundred years: longer than anybody runs a store."""


def nights(events: Silver, listed: DataFrame) -> DataFrame:
    """For each 5.5 store before SP4, with the default hours, that never started again, each first check of a day that it saw:
    trace, node, at, told (a status of the hierarchy went to all others then)."""
    values = events.of("setting.value")
    old = values.where((F.col("name") == SERVICE_PACK) & (F.col("value").cast("int") < SP4)).select("trace", "node")
    moved = values.where(F.col("name").startswith("Replication Send Status")).select("trace", "node").distinct()
    few = F.broadcast(old.distinct().join(moved, ["trace", "node"], "left_anti"))
    lives = events.of("node.started").join(few, ["trace", "node"], "left_semi").groupBy("trace", "node").agg(
        F.min("at").alias("began_at"), F.count(F.lit(1)).alias("starts")
    ).where("starts = 1")  # fmt: skip
    stops = events.of("node.stopped").groupBy("trace", "node").agg(F.min("at").alias("ended_at"))
    first = f"(floor((began_at - {CHECK_US}) / {DAY_US}) + 1) * {DAY_US} + {CHECK_US}"
    # A sequence is made at once, and a trace can say any time: beyond so many nights something else is wrong.
    sane = f"{first} < ended_at and ended_at / {DAY_US} - ({first}) / {DAY_US} < {NIGHTS}"
    days = F.expr(f"case when {sane} then sequence({first}, ended_at - 1, {DAY_US}) else array() end")
    due = lives.join(stops, ["trace", "node"]).select("trace", "node", F.explode(days).alias("at"))
    told = listed.where(
        f"what = 'mail' and message_type = 16 and folder = '{HIERARCHY}' and to = array_sort(filter(holders, h -> h != node))"
    )
    sent = told.select("trace", "node", "at").distinct().withColumn("told", F.lit(True))
    return due.join(sent, ["trace", "node", "at"], "left").withColumn("told", F.coalesce("told", F.lit(False)))


_KEY: Final = guid_of_kind("r.guid", "r.kind")
_CLAIMED: Final = f"exists(s.row, c -> c.guid = {_KEY} and r.counter between c.low and c.high)"
_NOTED: Final = f"exists(s.noted, c -> c.guid = {_KEY} and r.counter between c.low and c.high)"
_HERE: Final = "x.store = s.node and x.act != 'forgot' and x.at <= s.at"
_STANDS_FOR: Final = (
    "(x.number = r.number or x.deleted or coalesce(try_element_at(x.pcl, r.guid) >= r.counter, false)"
    " or (alone and struct(x.modified_at, x.guid, x.counter) > struct(r.modified_at, r.guid, r.counter)))"
)


_LOOKED_AT: Final = 8


def heard(events: Silver, listed: DataFrame, things: DataFrame) -> DataFrame:
    """What became of the last _LOOKED_AT different statuses that came to a store from each other about a folder that it holds.

    A row for each change that such a status claims and that was not there at the end of that instant: trace, node, at, folder,
    sender, number, noted (it was in an entry of the array by then, or waited in the queue); and one row for the status
    itself, with number null and noted true.

    Left out: replicas that were dropped, folders that are deleted, and items that an age limit took.
    """
    row = events.of("row.replaced").select(
        "trace", "node", "mail", "folder", by_kind("cnset", "cnset_fai").alias("row")
    )
    held = "what = 'came' and message_type = 16 and array_contains(holders, node) and not dead"
    came = listed.where(held).select(*_CASE, "mail", "sender").join(row, ["trace", "node", "mail", "folder"])
    different = came.groupBy("trace", "node", "folder", "sender", "row").agg(F.min("at").alias("at"))
    last = different.groupBy("trace", "node", "folder", "sender").agg(
        F.explode(F.slice(F.reverse(F.array_sort(F.collect_list(F.struct("at", "row")))), 1, _LOOKED_AT)).alias("m")
    )
    dropped = events.of("replica.dropped").select("trace", "node", "folder").distinct()
    last = last.join(F.broadcast(dropped), ["trace", "node", "folder"], "left_anti")
    said = last.join(_noted(events), ["trace", "node", "folder"], "left").select(
        "trace", "folder",
        F.struct(
            "node", "sender", F.col("m.at").alias("at"), F.col("m.row").alias("row"),
            F.expr("flatten(transform(filter(coalesce(notes, array()), n -> n.at <= m.at), n -> n.ranges))").cast(RANGES)
            .alias("noted"),
        ).alias("s"),
    )  # fmt: skip
    saying = said.groupBy("trace", "folder").agg(F.collect_list("s").alias("saying"))
    expired = events.of("item.expired").select("trace", "folder", "object").distinct()
    about = things.where("not forgotten").join(F.broadcast(saying), ["trace", "folder"])
    about = about.join(F.broadcast(expired), ["trace", "folder", "object"], "left_anti")
    made = "filter(rows, r -> r.act = 'made' and r.store != 'Setup' and not r.went)"
    lacking = f"{_CLAIMED} and not exists(rows, x -> {_HERE} and {_STANDS_FOR})"
    case = f"struct(s.node as node, s.at as at, s.sender as sender, r.number as number, {_NOTED} as noted)"
    missing = F.expr(f"flatten(transform(saying, s -> transform(filter({made}, r -> {lacking}), r -> {case})))")
    found = about.select("trace", "folder", F.explode(missing).alias("c")).select("trace", "folder", "c.*")
    silent = said.select(
        "trace", "folder", "s.node", "s.at", "s.sender", F.lit(None).cast("string").alias("number"),
        F.lit(True).alias("noted"),
    )  # fmt: skip
    return found.unionByName(silent)


def _noted(events: Silver) -> DataFrame:
    """trace, node, folder, notes: what was known there to be missing (`ranges`), and since when (at): in an entry, held in the
    queue, or gone at every holder."""
    both = by_kind("cnset", "cnset_fai").alias("ranges")
    entries = events.of("entry.made").select("trace", "node", "folder", "at", both)
    waiting = ranges("stands_for", "kind").alias("ranges")
    held = events.of("version.held").select("trace", "node", "folder", "at", waiting)
    gone = excused(events).select(
        "trace",
        F.col("store").alias("node"),
        "folder",
        F.lit(0).cast("long").alias("at"),
        F.col("excused").alias("ranges"),
    )
    every = entries.unionByName(held).unionByName(gone)
    return every.groupBy("trace", "node", "folder").agg(F.collect_list(F.struct("at", "ranges")).alias("notes"))
