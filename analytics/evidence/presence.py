"""Content without a replica, deleted stores, deletions without a tombstone, and folders as stores show them (HI-1, HI-7, RP-6,
DL-1)."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.organization import HIERARCHY
from analytics.evidence.version_history import firsts
from analytics.ingest.silver import Silver


def presence(rows: DataFrame, restored: DataFrame) -> DataFrame:
    """trace, node, folder, at, first (the first version of its content that the store made or applied, by its seq), listed (the
    first version of the folder's own that the store knew and that lists it), of stores never restored."""
    mine = rows.where("seq > 0 and act in ('made', 'applied')").withColumnRenamed("store", "node")
    content = mine.where(F.col("folder") != HIERARCHY).groupBy("trace", "node", "folder").agg(
        F.min("seq").alias("first"), F.min("at").alias("at")
    )  # fmt: skip
    hierarchy = rows.where((F.col("folder") == HIERARCHY) & F.col("act").isin("made", "applied"))
    lists = hierarchy.where("act = 'made' and not deleted").select(
        "trace", "number", F.explode("replicas").alias("node")
    )
    known = hierarchy.select(
        "trace", F.col("store").alias("node"), F.col("object").alias("folder"), "number", F.col("seq").alias("known")
    )
    listed = known.join(F.broadcast(lists.distinct()), ["trace", "node", "number"])
    since = listed.groupBy("trace", "node", "folder").agg(F.min("known").alias("listed"))
    found = content.join(since, ["trace", "node", "folder"], "left")
    return found.join(F.broadcast(restored), ["trace", "node"], "left_anti")


def deaths(events: Silver, rows: DataFrame) -> DataFrame:
    """Deletions made or applied: trace, node, seq, at, folder, object, number, buried (a tombstone with that number was made
    there at that instant)."""
    deletions = rows.where("deleted and seq > 0 and act in ('made', 'applied')").select(
        "trace", F.col("store").alias("node"), "seq", "at", "folder", "object", "number"
    )
    buried = events.of("tombstone.made").select("trace", "node", "at", "folder", "object", "number").distinct()
    keys = ["trace", "node", "at", "folder", "object", "number"]
    found = deletions.join(buried.withColumn("buried", F.lit(True)), keys, "left")
    return found.withColumn("buried", F.coalesce("buried", F.lit(False)))


def removals(events: Silver, rows: DataFrame, restored: DataFrame) -> DataFrame:
    """Stores deleted from the directory: trace, node (where it was done by force, else one of those that know fewest lists),
    at, store, forced, listing (folders that listed it, by the versions known there), left (of these, those that the node did
    not take it off at that instant).

    All stores learn of a deletion at the same time. A store that has not got the new version of a folder still lists it.
    """
    gone = events.of("store.deleted").select("trace", "node", "seq", "at", "store", "forced")
    gone = gone.join(F.broadcast(restored), ["trace", "node"], "left_anti")
    hierarchy = rows.where((F.col("folder") == HIERARCHY) & F.col("act").isin("made", "applied"))
    texts = firsts(hierarchy.where("act = 'made'"), "replicas", "deleted").withColumnRenamed("replicas", "list")
    known = hierarchy.select("trace", F.col("store").alias("node"), "object", "number", F.col("seq").alias("known"))
    known = known.join(F.broadcast(gone.select("trace", "node").distinct()), ["trace", "node"], "left_semi")
    versions = known.join(texts, ["trace", "number"])
    both = F.broadcast(gone).join(versions, ["trace", "node"], "left")
    was = F.max_by(F.struct("list", "deleted"), F.when(F.col("known") < F.col("seq"), F.col("known")))
    stood = both.groupBy("trace", "node", "at", "store", "forced", "object").agg(was.alias("was"))
    off = (
        events.of("change.made").where(F.col("folder") == HIERARCHY).select("trace", "node", "at", "object", "replicas")
    )
    off = off.join(F.broadcast(gone.select("trace", "node", "at").distinct()), ["trace", "node", "at"], "left_semi")
    taken = off.groupBy("trace", "node", "at", "object").agg(F.collect_list("replicas").alias("lists"))
    found = stood.join(taken, ["trace", "node", "at", "object"], "left").withColumn(
        "held", F.expr("coalesce(not was.deleted and array_contains(was.list, store), false)")
    )
    still = F.expr("held and not exists(coalesce(lists, array()), l -> not array_contains(l, store))")
    of = found.groupBy("trace", "node", "at", "store", "forced").agg(
        F.array_sort(F.collect_set(F.when(F.col("held"), F.col("object")))).alias("listing"),
        F.array_sort(F.collect_set(F.when(still, F.col("object")))).alias("left"),
    )
    place = F.struct((~F.col("forced")).alias("willing"), F.size("listing").alias("many"), "node")
    one = F.min_by(F.struct("node", "at", "forced", "listing", "left"), place)
    return of.groupBy("trace", "store").agg(one.alias("of")).select("trace", "store", "of.*")


def shown(events: Silver, rows: DataFrame, restored: DataFrame) -> DataFrame:
    """Folders as they came to be seen at a store: trace, node, seq, at, folder, path, name and parent (of the version known
    there then), namesakes (other folders that the store had known by that name under that parent); of stores never restored."""
    seen = events.of("folder.shown").select("trace", "node", "seq", "at", "folder", "path")
    hierarchy = rows.where((F.col("folder") == HIERARCHY) & F.col("act").isin("made", "applied"))
    texts = firsts(hierarchy.where("act = 'made' and not deleted"), "subject", "parent")
    few = F.broadcast(seen.select("trace", "node").distinct())
    known = hierarchy.select("trace", F.col("store").alias("node"), "object", "number", F.col("seq").alias("known"))
    known = known.join(few, ["trace", "node"], "left_semi").join(texts, ["trace", "number"])
    both = seen.join(known.withColumnRenamed("object", "folder"), ["trace", "node", "folder"]).where("known < seq")
    own = both.groupBy("trace", "node", "seq", "at", "folder", "path").agg(
        F.max_by(F.struct("subject", "parent"), "known").alias("of")
    ).select("trace", "node", "seq", "at", "folder", "path", F.col("of.subject").alias("name"), "of.parent")  # fmt: skip
    others = known.select("trace", "node", "known", "object", F.col("subject").alias("name"), "parent")
    beside = own.join(others, ["trace", "node", "name", "parent"], "left")
    of = [name for name in own.columns if name not in ("name", "parent")]
    found = beside.groupBy(*of, "name", "parent").agg(
        F.count_if(F.expr("object != folder and known < seq")).alias("namesakes")
    )
    return found.join(F.broadcast(restored), ["trace", "node"], "left_anti")
