"""Statuses and status requests: those that are due, repeated and answered, and the effects that a received status should have
had (ST-1, ST-5 to ST-7, RP-3)."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.conditions import COVERS
from analytics.evidence.mail.mails import excused
from analytics.evidence.number_sets import RANGES, guid_of_kind
from analytics.evidence.organization import HIERARCHY, Organization
from analytics.evidence.set_columns import by_kind, ranges
from analytics.ingest.silver import Silver
from traces.labtime import DAY_US, MINUTE_US

CHECK_US: Final = 15 * MINUTE_US
"""The time of the first check of a day (ST-1)."""

_CASE: Final = ("trace", "node", "seq", "at", "folder")
_REPEAT: Final = "array_contains(coalesce(marks, array()), 'repeat')"


def statuses(events: Silver, listed: DataFrame) -> DataFrame:
    """Return a row for each folder whose status was due at a check (`what` due), and for each folder of a status marked repeat
    (repeat): _CASE, due_at (of a due status), `to` (of a repeat), last_update_at (the last update in the store), last_made_at
    (the last change made at it), last_due_at (when the previous status was due), steady (the store never restarted, and always
    had an address), own_only (a 5.5 store from SP4 on, which owes a status only of changes made at it)."""
    updates = events.of("change.made", "version.applied").select(
        *_CASE, F.col("at").alias("updated_at"), F.when(F.col("type") == "change.made", F.col("at")).alias("made_at")
    )
    due = events.of("status.due").select(
        "trace",
        "node",
        "seq",
        "at",
        F.explode("folders").alias("folder"),
        F.col("at").alias("due_at"),
        F.lit("due").alias("what"),
    )
    again = listed.where(f"what = 'mail' and message_type = 16 and {_REPEAT}").select(
        *_CASE, "to", F.lit("repeat").alias("what")
    )
    every = updates.unionByName(due, allowMissingColumns=True).unionByName(again, allowMissingColumns=True)
    before = Window.partitionBy("trace", "node", "folder").orderBy("seq").rowsBetween(Window.unboundedPreceding, -1)
    both = every.withColumns(
        {
            "last_update_at": F.last("updated_at", ignorenulls=True).over(before),
            "last_made_at": F.last("made_at", ignorenulls=True).over(before),
            "last_due_at": F.last("due_at", ignorenulls=True).over(before),
        }
    )
    starts = events.of("node.started").where("seq > 1").select("trace", "node")
    mute = events.of("address.missing").where("store = node").select("trace", "node")
    restarted = F.broadcast(starts.unionByName(mute).distinct().withColumn("restarted", F.lit(True)))
    old = events.of("node.started").where("version = '5.5'").select("trace", "node").distinct()
    own_only = F.broadcast(
        old.join(_before_sp4(events), ["trace", "node"], "left_anti").withColumn("own_only", F.lit(True))
    )
    rows = both.where("what is not null").join(restarted, ["trace", "node"], "left")
    rows = rows.join(own_only, ["trace", "node"], "left").withColumn("own_only", F.coalesce("own_only", F.lit(False)))
    return rows.withColumn("steady", F.col("restarted").isNull())


def _before_sp4(events: Silver) -> DataFrame:
    """Return trace, node of the servers that at some time had a service pack before SP4."""
    values = events.of("setting.value").where((F.col("name") == SERVICE_PACK) & (F.col("value").cast("int") < SP4))
    return values.select("trace", "node").distinct()


def repeats(events: Silver, listed: DataFrame) -> DataFrame:
    """Return a row for each folder of each mail that is marked repeat. what: whether the node sent or received the mail.

    sent: store, message_type, before_at (when the last mail of its type went to that store), answered_since (a mail that the
    store sent since then has arrived). received: sender, holders, dead, answerable, answered (at once, by a status that goes
    only to the sender and is not marked repeat). Mails received while the node had no replica of the folder, because it had
    dropped the replica or the folder was hidden, are left out.
    """
    mails = listed.where("what = 'mail'").withColumn("repeat", F.expr(_REPEAT))
    answers = mails.where("message_type = 16 and size(to) = 1 and not repeat").select(
        "trace", "node", "at", "folder", F.col("to")[0].alias("sender"), F.lit(True).alias("answered")
    )
    arrivals = _with_replica(listed.where(f"what = 'received' and {_REPEAT}"), events)
    keys = ["trace", "node", "at", "folder", "sender"]
    answered = F.coalesce("answered", F.lit(False)).alias("answered")
    judged = arrivals.join(answers.dropDuplicates(keys), keys, "left").select(
        *_CASE, "mail", "message_type", "sender", "holders", "dead", "answerable", "what", answered
    )
    requests = mails.where("message_type = 32 or repeat").select(
        *_CASE, "mail", "message_type", "repeat", F.explode("to").alias("store")
    )
    kind = Window.partitionBy("trace", "node", "folder", "store", "message_type").orderBy("seq")
    dated = requests.withColumns({"before_at": F.lag("at").over(kind), "before_seq": F.lag("seq").over(kind)}).where(
        "repeat"
    )
    rows = events.of("row.replaced").select(
        "trace", "node", "folder", "store", F.col("seq").alias("came_seq"), "sent_at"
    )
    # A mail of the same instant may have come before the request, and then is no answer to it.
    later = F.coalesce(
        F.bool_or(F.expr("came_seq > before_seq and came_seq < seq and sent_at >= before_at")), F.lit(False)
    )
    dated = (
        dated.join(rows, ["trace", "node", "folder", "store"], "left")
        .groupBy(*_CASE, "mail", "message_type", "store", "before_at")
        .agg(later.alias("answered_since"))
    )
    return judged.unionByName(dated.withColumn("what", F.lit("sent")), allowMissingColumns=True)


def _with_replica(arrivals: DataFrame, events: Silver) -> DataFrame:
    """Return the arrivals at stores that then had a replica of the folder. A store drops its replica of a folder that gets
    below a deleted one, and begins none while the folder is hidden (spec: HI-6)."""
    turns = (
        events.of("replica.added", "folder.shown", "replica.dropped", "folder.hidden")
        .where("type != 'replica.added' or store = node")
        .select(*_CASE, F.col("type").isin("replica.added", "folder.shown").alias("begun"))
    )
    before = Window.partitionBy("trace", "node", "folder").orderBy("seq").rowsBetween(Window.unboundedPreceding, -1)
    # The replicas of the topology have no event of their beginning.
    there = F.coalesce(F.last("begun", ignorenulls=True).over(before), F.lit(True))
    both = arrivals.unionByName(turns, allowMissingColumns=True).withColumn("there", there)
    return both.where("what is not null and there").drop("begun", "there")


def new_stores(events: Silver, listed: DataFrame, org: Organization, restored: DataFrame) -> DataFrame:
    """Return the first start of each store that joined during the run: trace, node, at, until_at (a day after it had an
    address), ended_at, asked (by until_at it had asked all others in its directory for the status of the hierarchy).
    Restored stores are left out."""
    later = F.broadcast(org.servers.where("later").select("trace", F.col("store").alias("node")))
    first = (
        events.of("node.started").where("reason = 'first'").select("trace", "node", "at").join(later, ["trace", "node"])
    )
    first = first.join(F.broadcast(restored), ["trace", "node"], "left_anti")
    requests = listed.where(
        f"what = 'mail' and message_type = 32 and folder = '{HIERARCHY}' and to = array_sort(filter(reached, h -> h != node))"
    ).select("trace", "node", F.col("at").alias("asked_at"))
    # A store asks as soon as it has an address (ML-1).
    stamps = (
        events.of("address.stamped").where("store = node").groupBy("trace", "node").agg(F.min("at").alias("stamped_at"))
    )
    first = first.join(F.broadcast(stamps), ["trace", "node"])
    began = first.withColumn("until_at", F.col("stamped_at") + DAY_US).join(requests, ["trace", "node"], "left")
    in_time = F.coalesce(F.col("asked_at") <= F.col("until_at"), F.lit(False))
    ended = events.of("run.ended").groupBy("trace").agg(F.max("at").alias("ended_at"))
    starts = began.groupBy("trace", "node", "at", "until_at").agg(F.max(in_time).alias("asked"))
    return starts.join(F.broadcast(ended), "trace", "left")


SERVICE_PACK: Final = "Service Pack"
SP4: Final = 4
NIGHTS: Final = 36525
"""A limit of a hundred years; no run is longer."""


def nightly_statuses(events: Silver, listed: DataFrame) -> DataFrame:
    """Return trace, node, at, sent for each first check of a day in a 5.5 store before SP4 with the default hours that never
    restarted and always had an address. sent: at that time a status of the hierarchy went to all others."""
    values = events.of("setting.value")
    moved = values.where(F.col("name").startswith("Replication Send Status")).select("trace", "node").distinct()
    mute = events.of("address.missing").where("store = node").select("trace", "node").distinct()
    few = F.broadcast(_before_sp4(events).join(moved.unionByName(mute), ["trace", "node"], "left_anti"))
    lives = (
        events.of("node.started")
        .join(few, ["trace", "node"], "left_semi")
        .groupBy("trace", "node")
        .agg(F.min("at").alias("began_at"), F.count(F.lit(1)).alias("starts"))
        .where("starts = 1")
    )
    stops = events.of("node.stopped").groupBy("trace", "node").agg(F.min("at").alias("ended_at"))
    first = f"(floor((began_at - {CHECK_US}) / {DAY_US}) + 1) * {DAY_US} + {CHECK_US}"
    # The whole sequence is in memory, and a trace may have any times; so the number of nights has a limit.
    sane = f"{first} < ended_at and ended_at / {DAY_US} - ({first}) / {DAY_US} < {NIGHTS}"
    days = F.expr(f"case when {sane} then sequence({first}, ended_at - 1, {DAY_US}) else array() end")
    due = lives.join(stops, ["trace", "node"]).select("trace", "node", F.explode(days).alias("at"))
    statuses_sent = listed.where(
        f"what = 'mail' and message_type = 16 and folder = '{HIERARCHY}' and to = array_sort(filter(reached, h -> h != node))"
    )
    senders = statuses_sent.select("trace", "node", "at").distinct().withColumn("sent", F.lit(True))
    return due.join(senders, ["trace", "node", "at"], "left").withColumn("sent", F.coalesce("sent", F.lit(False)))


_KEY: Final = guid_of_kind("r.guid", "r.kind")
_CLAIMED: Final = f"exists(s.row, c -> c.guid = {_KEY} and r.counter between c.low and c.high)"
_NOTED: Final = f"exists(s.noted, c -> c.guid = {_KEY} and r.counter between c.low and c.high)"
_HERE: Final = "x.store = s.node and x.act != 'tombstone dropped' and x.at <= s.at"
_INCLUDES: Final = (
    f"(x.number = r.number or x.deleted or {COVERS.format(v='x', u='r')}"
    " or (alone and struct(x.modified_at, x.guid, x.counter) > struct(r.modified_at, r.guid, r.counter)))"
)


_LAST_STATUSES: Final = 8


def status_claims(events: Silver, listed: DataFrame, things: DataFrame) -> DataFrame:
    """Return what became of the last _LAST_STATUSES different statuses from each sender about a folder that the store holds.

    There is a row for each change that such a status claims and that the store lacks at the end of that instant: trace, node,
    at, folder, sender, number, noted (it was then in an entry of the backfill array or in the queue). There is one more row
    for the status itself, with number null and noted true.

    Dropped replicas, deleted folders and expired items are left out.
    """
    row = events.of("row.replaced").select(
        "trace", "node", "mail", "folder", by_kind("cnset", "cnset_fai").alias("row")
    )
    condition = "what = 'received' and message_type = 16 and array_contains(holders, node) and not dead"
    arrivals = listed.where(condition).select(*_CASE, "mail", "sender").join(row, ["trace", "node", "mail", "folder"])
    different = arrivals.groupBy("trace", "node", "folder", "sender", "row").agg(F.min("at").alias("at"))
    last = different.groupBy("trace", "node", "folder", "sender").agg(
        F.explode(F.slice(F.reverse(F.array_sort(F.collect_list(F.struct("at", "row")))), 1, _LAST_STATUSES)).alias("m")
    )
    dropped = events.of("replica.dropped").select("trace", "node", "folder").distinct()
    last = last.join(F.broadcast(dropped), ["trace", "node", "folder"], "left_anti")
    statuses_in = last.join(_noted(events), ["trace", "node", "folder"], "left").select(
        "trace",
        "folder",
        F.struct(
            "node",
            "sender",
            F.col("m.at").alias("at"),
            F.col("m.row").alias("row"),
            F.expr("flatten(transform(filter(coalesce(notes, array()), n -> n.at <= m.at), n -> n.ranges))")
            .cast(RANGES)
            .alias("noted"),
        ).alias("s"),
    )
    stated = statuses_in.groupBy("trace", "folder").agg(F.collect_list("s").alias("stated"))
    expired = events.of("item.expired").select("trace", "folder", "object").distinct()
    about = things.where("not forgotten").join(F.broadcast(stated), ["trace", "folder"])
    about = about.join(F.broadcast(expired), ["trace", "folder", "object"], "left_anti")
    changes = "filter(rows, r -> r.act = 'made' and r.store != 'Setup' and not r.undone)"
    lacking = f"{_CLAIMED} and not exists(rows, x -> {_HERE} and {_INCLUDES})"
    case = f"struct(s.node as node, s.at as at, s.sender as sender, r.number as number, {_NOTED} as noted)"
    missing = F.expr(f"flatten(transform(stated, s -> transform(filter({changes}, r -> {lacking}), r -> {case})))")
    claims = about.select("trace", "folder", F.explode(missing).alias("c")).select("trace", "folder", "c.*")
    silent = statuses_in.select(
        "trace",
        "folder",
        "s.node",
        "s.at",
        "s.sender",
        F.lit(None).cast("string").alias("number"),
        F.lit(True).alias("noted"),
    )
    return claims.unionByName(silent)


def _noted(events: Silver) -> DataFrame:
    """Return trace, node, folder, notes: the changes that the store knew to be missing (`ranges`), and since when (at): in
    an entry, deferred in the queue, or expired at every holder."""
    both = by_kind("cnset", "cnset_fai").alias("ranges")
    entries = events.of("entry.made").select("trace", "node", "folder", "at", both)
    waiting = ranges("stands_for", "kind").alias("ranges")
    held_versions = events.of("version.held").select("trace", "node", "folder", "at", waiting)
    expired_ranges = excused(events).select(
        "trace",
        F.col("store").alias("node"),
        "folder",
        F.lit(0).cast("long").alias("at"),
        F.col("excused").alias("ranges"),
    )
    every = entries.unionByName(held_versions).unionByName(expired_ranges)
    return every.groupBy("trace", "node", "folder").agg(F.collect_list(F.struct("at", "ranges")).alias("notes"))
