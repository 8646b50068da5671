"""Evidence that depends on who held a folder when something was done: the replica list as a store knew it at that event.

A store knows the versions of a folder that it made or applied; the last of them has the list (HI-5). Of 1-1 the holders are
the stores that the directory has addresses of (HI-1, ML-1). Stores that went back to a backup are left out: what they know
is not what the events before say.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.mails import ranges
from analytics.organization import HIERARCHY, Organization
from analytics.schemas import MAIL_FOLDERS
from analytics.silver import Silver

_CASE: Final = ("trace", "node", "seq", "at", "folder")


def cases(events: Silver) -> DataFrame:
    """What is to be judged by the list: _CASE and `what`: mail (for each folder that a mail names), responders, conflict,
    notice, tombstone; with the fields of its kind."""
    sent = events.events.where((F.col("family") == "mail") & (F.col("type") == "mail.submitted"))
    to = F.array_sort(F.transform("recipients", lambda each: F.regexp_replace(each, r"(-IS)?@.*$", "")))
    mails = sent.select(
        "trace", "node", "seq", "at", "incarnation", "mail", "message_type", "marks", to.alias("to"),
        F.explode(F.transform(F.from_json("folders", MAIL_FOLDERS), lambda f: f["folder"])).alias("folder"),
        F.lit("mail").alias("what"),
    )  # fmt: skip
    chosen = events.of("responders.considered").select(*_CASE, "chosen", F.lit("responders").alias("what"))
    conflict = F.when(F.col("type") == "conflict.arose", "conflict").otherwise("notice")
    conflicts = events.of("conflict.arose", "conflict.notice").select(
        *_CASE, "object", F.array_sort("versions").alias("versions"), conflict.alias("what")
    )
    dropped = events.of("tombstone.dropped").select(*_CASE, "object", "number", F.lit("tombstone").alias("what"))
    every = mails
    for more in (chosen, conflicts, dropped):
        every = every.unionByName(more, allowMissingColumns=True)
    return every


def with_holders(cases: DataFrame, events: Silver, rows: DataFrame, restored: DataFrame) -> DataFrame:
    """`cases` with `holders`, the list as the node knew it, and `untouched`: it knew of one version of the folder only."""
    hierarchy = rows.where((F.col("folder") == HIERARCHY) & F.col("act").isin("made", "applied"))
    lists = hierarchy.where("act = 'made'").select(
        "trace", F.col("number").alias("version"), F.col("replicas").alias("list")
    )
    known = hierarchy.select(
        "trace", F.col("store").alias("node"), "seq", F.col("object").alias("folder"), F.col("number").alias("version")
    )
    versions = known.join(F.broadcast(lists.dropDuplicates(["trace", "version"])), ["trace", "version"]).drop("version")
    stamped = events.of("address.stamped").select(
        "trace", "node", "seq", F.lit(HIERARCHY).alias("folder"), F.col("store").alias("joined")
    )
    told = versions.unionByName(stamped, allowMissingColumns=True)
    both = cases.unionByName(told, allowMissingColumns=True)
    before = Window.partitionBy("trace", "node", "folder").orderBy("seq").rowsBetween(Window.unboundedPreceding, -1)
    holders = F.when(F.col("folder") == HIERARCHY, F.array_sort(F.collect_set("joined").over(before))).otherwise(
        F.last("list", ignorenulls=True).over(before)
    )
    untouched = F.count("list").over(before) <= 1
    found = both.withColumn("holders", holders).withColumn("untouched", untouched).where("what is not null")
    return found.join(F.broadcast(restored), ["trace", "node"], "left_anti").drop("list", "joined")


def named(listed: DataFrame, events: Silver, org: Organization) -> DataFrame:
    """Folders that mails name, with started_at, and schedule (of the topology, null for a folder made later)."""
    starts = events.of("node.started").groupBy("trace", "node", "incarnation").agg(F.max("at").alias("started_at"))
    mails = listed.where("what = 'mail'").join(F.broadcast(starts), ["trace", "node", "incarnation"], "left")
    return mails.join(F.broadcast(_topology_folders(org, "schedule")), ["trace", "folder"], "left")


def notices(listed: DataFrame, org: Organization) -> DataFrame:
    """Conflicts and notices of them, with resolve (of the topology) and told (whether a conflict's notice stands beside it)."""
    both = listed.where("what in ('conflict', 'notice')")
    beside = Window.partitionBy("trace", "node", "at", "object")
    said = F.collect_set(F.when(F.col("what") == "notice", F.col("versions"))).over(beside)
    told = both.withColumn("told", F.array_contains(said, F.col("versions")))
    return told.join(F.broadcast(_topology_folders(org, "resolve")), ["trace", "folder"], "left")


def tombstones(listed: DataFrame, events: Silver, rows: DataFrame) -> DataFrame:
    """Tombstones dropped: _CASE, object, number, modified_at, unknown_to: other holders whose row, as it stood, had not the
    number."""
    dropped = listed.where("what = 'tombstone'").select(*_CASE, "object", "number", "holders")
    made = rows.where("act = 'made'").select("trace", "number", "modified_at").dropDuplicates(["trace", "number"])
    cases = dropped.join(made, ["trace", "number"], "left")
    others = F.explode_outer(F.expr("filter(holders, h -> h != node)")).alias("store")
    asked = cases.select("*", others)
    few = F.broadcast(asked.select("trace", "node", "folder", "store").distinct())
    known = events.of("row.replaced").join(few, ["trace", "node", "folder", "store"], "left_semi").select(
        "trace", "node", "seq", "folder", "store", F.concat(ranges("cnset"), ranges("cnset_fai")).alias("row"), "sent_at"
    )  # fmt: skip
    before = Window.partitionBy("trace", "node", "folder", "store").orderBy("seq").rowsBetween(
        Window.unboundedPreceding, -1
    )  # fmt: skip
    both = asked.unionByName(known, allowMissingColumns=True)
    as_stood = both.withColumn("stood", F.last("row", ignorenulls=True).over(before)).withColumn(
        "said_at", F.last("sent_at", ignorenulls=True).over(before)
    )
    has = F.expr(
        "exists(coalesce(stood, array()), r -> r.guid = substring_index(number, ':', 1)"
        " and cast(substring_index(number, ':', -1) as bigint) between r.low and r.high)"
    )
    return (
        as_stood.where("number is not null")
        .groupBy(*_CASE, "object", "number", "modified_at")
        .agg(
            F.array_sort(F.collect_set(F.when(~has, F.col("store")))).alias("unknown_to"),
            F.min("said_at").alias("said_at"),
        )
    )


def _topology_folders(org: Organization, column: str) -> DataFrame:
    listed = org.genesis.join(F.broadcast(org.setup), "trace")
    return listed.select("trace", F.concat_ws(":", "guid", "n").alias("folder"), column)
