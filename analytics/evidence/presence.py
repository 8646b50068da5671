"""Content without a replica, deleted stores, deletions without a tombstone, and folders as stores show them (HI-1, HI-7, RP-6,
DL-1)."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.organization import HIERARCHY
from analytics.evidence.version_history import firsts
from analytics.ingest.silver import Silver


def presence(rows: DataFrame, restored: DataFrame) -> DataFrame:
    """Return trace, node, folder, at, first (the seq of the first content that the store made or applied), listed (the seq
    of the first folder version at the store that lists it). Restored stores are left out."""
    mine = rows.where("seq > 0 and act in ('made', 'applied')").withColumnRenamed("store", "node")
    content = (
        mine.where(F.col("folder") != HIERARCHY)
        .groupBy("trace", "node", "folder")
        .agg(F.min("seq").alias("first"), F.min("at").alias("at"))
    )
    hierarchy = rows.where((F.col("folder") == HIERARCHY) & F.col("act").isin("made", "applied"))
    lists = hierarchy.where("act = 'made' and not deleted").select(
        "trace", "number", F.explode("replicas").alias("node")
    )
    node_versions = hierarchy.select(
        "trace", F.col("store").alias("node"), F.col("object").alias("folder"), "number", F.col("seq").alias("known")
    )
    listed = node_versions.join(F.broadcast(lists.distinct()), ["trace", "node", "number"])
    since = listed.groupBy("trace", "node", "folder").agg(F.min("known").alias("listed"))
    result = content.join(since, ["trace", "node", "folder"], "left")
    return result.join(F.broadcast(restored), ["trace", "node"], "left_anti")


def deletions(events: Silver, rows: DataFrame) -> DataFrame:
    """Return the deletions made or applied: trace, node, seq, at, folder, object, number, has_tombstone (the store made a
    tombstone with that number at that instant)."""
    deleted = rows.where("deleted and seq > 0 and act in ('made', 'applied')").select(
        "trace", F.col("store").alias("node"), "seq", "at", "folder", "object", "number"
    )
    has_tombstone = events.of("tombstone.made").select("trace", "node", "at", "folder", "object", "number").distinct()
    keys = ["trace", "node", "at", "folder", "object", "number"]
    result = deleted.join(has_tombstone.withColumn("has_tombstone", F.lit(True)), keys, "left")
    return result.withColumn("has_tombstone", F.coalesce("has_tombstone", F.lit(False)))


def removed_stores(events: Silver, rows: DataFrame, restored: DataFrame) -> DataFrame:
    """Return the stores deleted from the directory, a row for each directory object: trace, node (the node where it was deleted
    by force, or else a node that knows the fewest lists), at, store, forced, listing (the folders that listed it in the
    versions known there), left (those of them whose list the node did not change at that instant).

    All stores learn of a deletion at the same time. A store that does not have the new version of a folder still lists
    the deleted store.
    """
    removed = events.of("store.deleted").select(
        "trace",
        "node",
        "seq",
        "at",
        "store",
        "forced",
        F.coalesce("directory_object", F.lit(0)).alias("directory_object"),
    )
    # A deletion by force is judged only where it was done: a restored store does not say which lists it knew.
    by_force = removed.where("forced").select("trace", "store", "directory_object").distinct()
    by_choice = removed.where("not forced").join(
        F.broadcast(by_force), ["trace", "store", "directory_object"], "left_anti"
    )
    removed = removed.where("forced").unionByName(by_choice)
    removed = removed.join(F.broadcast(restored), ["trace", "node"], "left_anti")
    hierarchy = rows.where((F.col("folder") == HIERARCHY) & F.col("act").isin("made", "applied"))
    texts = firsts(hierarchy.where("act = 'made'"), "replicas", "deleted").withColumnRenamed("replicas", "list")
    node_versions = hierarchy.select(
        "trace", F.col("store").alias("node"), "object", "number", F.col("seq").alias("known")
    )
    node_versions = node_versions.join(
        F.broadcast(removed.select("trace", "node").distinct()), ["trace", "node"], "left_semi"
    )
    versions = node_versions.join(texts, ["trace", "number"])
    removal = ("trace", "node", "at", "store", "forced", "directory_object")
    both = F.broadcast(removed).join(versions, ["trace", "node"], "left")
    was = F.max_by(F.struct("list", "deleted"), F.when(F.col("known") < F.col("seq"), F.col("known")))
    listings = both.groupBy(*removal, "object").agg(was.alias("was"))
    off = (
        events.of("change.made").where(F.col("folder") == HIERARCHY).select("trace", "node", "at", "object", "replicas")
    )
    off = off.join(F.broadcast(removed.select("trace", "node", "at").distinct()), ["trace", "node", "at"], "left_semi")
    removals = off.groupBy("trace", "node", "at", "object").agg(F.collect_list("replicas").alias("lists"))
    result = listings.join(removals, ["trace", "node", "at", "object"], "left").withColumn(
        "held", F.expr("coalesce(not was.deleted and array_contains(was.list, store), false)")
    )
    still = F.expr("held and not exists(coalesce(lists, array()), l -> not array_contains(l, store))")
    of = result.groupBy(*removal).agg(
        F.array_sort(F.collect_set(F.when(F.col("held"), F.col("object")))).alias("listing"),
        F.array_sort(F.collect_set(F.when(still, F.col("object")))).alias("left"),
    )
    place = F.struct((~F.col("forced")).alias("by_choice"), F.size("listing").alias("many"), "node")
    first = F.min_by(F.struct("node", "at", "forced", "listing", "left"), place)
    return of.groupBy("trace", "store", "directory_object").agg(first.alias("of")).select("trace", "store", "of.*")


def _replacements(events: Silver) -> DataFrame:
    """Return what replaced the stores of servers: trace, node, at, type, directory_object, reason (of the start that follows;
    null if none does), is_new (this start is the first with its GUID), from_seq and to_seq (of this start, and of the next
    one that is not a restart).

    The n-th restore or creation of a store belongs to its n-th start that is not a restart.
    """
    orders = events.of("store.created", "backup.elsewhere", "backup.restored").select(
        "trace", F.col("store").alias("node"), "seq", "at", "type", "directory_object"
    )
    in_order = Window.partitionBy("trace", "node").orderBy("seq")
    orders = orders.withColumn("nth", F.row_number().over(in_order)).drop("seq")
    starts = events.of("node.started").select("trace", "node", "seq", "reason", "replica_guid")
    earlier = Window.partitionBy("trace", "node", "replica_guid").orderBy("seq")
    starts = starts.withColumn("is_new", F.row_number().over(earlier) == 1).where("reason != 'restart' and seq > 1")
    starts = starts.withColumns({"nth": F.row_number().over(in_order), "to_seq": F.lead("seq").over(in_order)})
    starts = starts.withColumnRenamed("seq", "from_seq").drop("replica_guid")
    return orders.join(starts, ["trace", "node", "nth"], "left").drop("nth")


def created_stores(events: Silver) -> DataFrame:
    """Return the stores that were created again (spec: RP-7): trace, node, at, directory_object, reason, is_new, and
    was_deleted (a store has recorded that the object before it was deleted)."""
    deleted = events.of("store.deleted").select(
        "trace",
        F.col("store").alias("node"),
        (F.coalesce("directory_object", F.lit(0)) + 1).alias("directory_object"),
    )
    deleted = deleted.distinct().withColumn("was_deleted", F.lit(True))
    created = _replacements(events).where("type = 'store.created'")
    result = created.join(deleted, ["trace", "node", "directory_object"], "left")
    return result.withColumn("was_deleted", F.coalesce("was_deleted", F.lit(False)))


def shown_stores(events: Silver) -> DataFrame:
    """Return the stores of other servers that were restored from a backup (spec: RP-8): trace, node, at, acts (how many changes
    the store made or applied, and replication mails it sent, until another store replaced it)."""
    acts = events.lines("change.made", "version.applied", "mail.submitted").select(
        "trace", "node", F.col("seq").alias("act")
    )
    copies = _replacements(events).where("type = 'backup.elsewhere'")
    both = copies.join(acts, ["trace", "node"], "left")
    is_here = F.expr("act > from_seq and act < coalesce(to_seq, 9223372036854775807)")
    return both.groupBy("trace", "node", "at").agg(F.count_if(F.coalesce(is_here, F.lit(False))).alias("acts"))


def shown_folders(events: Silver, rows: DataFrame, restored: DataFrame) -> DataFrame:
    """Return the folders as stores show them: trace, node, seq, at, folder, path, name and parent (of the version that the
    store knew), namesakes (other folders that the store has known under that name and parent). Restored stores are left out."""
    displays = events.of("folder.shown", "folder.moved").select("trace", "node", "seq", "at", "folder", "path")
    hierarchy = rows.where((F.col("folder") == HIERARCHY) & F.col("act").isin("made", "applied"))
    texts = firsts(hierarchy.where("act = 'made' and not deleted"), "subject", "parent")
    few = F.broadcast(displays.select("trace", "node").distinct())
    node_versions = hierarchy.select(
        "trace", F.col("store").alias("node"), "object", "number", F.col("seq").alias("known")
    )
    node_versions = node_versions.join(few, ["trace", "node"], "left_semi").join(texts, ["trace", "number"])
    both = displays.join(node_versions.withColumnRenamed("object", "folder"), ["trace", "node", "folder"]).where(
        "known < seq"
    )
    own = (
        both.groupBy("trace", "node", "seq", "at", "folder", "path")
        .agg(F.max_by(F.struct("subject", "parent"), "known").alias("of"))
        .select("trace", "node", "seq", "at", "folder", "path", F.col("of.subject").alias("name"), "of.parent")
    )
    namesakes = node_versions.select("trace", "node", "known", "object", F.col("subject").alias("name"), "parent")
    beside = own.join(namesakes, ["trace", "node", "name", "parent"], "left")
    of = [name for name in own.columns if name not in ("name", "parent")]
    result = beside.groupBy(*of, "name", "parent").agg(
        F.count_if(F.expr("object != folder and known < seq")).alias("namesakes")
    )
    return result.join(F.broadcast(restored), ["trace", "node"], "left_anti")


def recoveries(events: Silver) -> DataFrame:
    """Return the recovered messages and folders (spec: DL-5), with made (the store created the new object with that change) and
    deleted (the store deleted the old object at deleted_at)."""
    recovered = events.of("item.recovered").select(
        "trace", "node", "seq", "at", "folder", "object", "number", "of", "deleted_at", "retention_us"
    )
    creates = events.of("change.made").where("operation = 'create'")
    creations = creates.select("trace", "node", "folder", "object", "number", F.lit(True).alias("made")).distinct()
    tombstones = events.of("tombstone.made").select(
        "trace", "node", F.col("object").alias("of"), F.col("at").alias("deleted_at"), F.lit(True).alias("deleted")
    )
    both = recovered.join(creations, ["trace", "node", "folder", "object", "number"], "left")
    both = both.join(tombstones.distinct(), ["trace", "node", "of", "deleted_at"], "left")
    return both.withColumns({column: F.coalesce(column, F.lit(False)) for column in ("made", "deleted")})
