"""Changes and versions: as they were made, applied, kept and deferred, and the conflicts that stores saw."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.organization import Organization
from analytics.evidence.version_history import firsts, once_deleted_stores, pcl_map
from analytics.ingest.silver import Silver


def changes(events: Silver, history: DataFrame, org: Organization) -> DataFrame:
    """Return the changes made, each with the previous change under the same GUID, and with the versions that it replaced.
    author: the store that the GUID belongs to. stayed (of folders): the stores on the replica lists of the replaced versions,
    without deleted stores (RP-6)."""
    change_events = events.of("change.made").withColumn("guid", F.substring_index("number", ":", 1))
    change_events = change_events.withColumn("counter", F.substring_index("number", ":", -1).cast("long")).withColumn(
        "list", pcl_map()
    )
    by_guid = Window.partitionBy("trace", "guid").orderBy("seq")
    rows = change_events.select(
        "trace", "node", "seq", "at", "folder", "object", "number", "guid", "counter", "list", "kind", "operation",
        "modified_at", "replicas", "subject", "supersedes", "rivals", "digest",
        F.lag("counter").over(by_guid).alias("before"),
        F.count(F.lit(1)).over(Window.partitionBy("trace", "number")).alias("same"),
    )  # fmt: skip
    older = change_events.select(
        "trace",
        F.col("number").alias("replaced"),
        F.col("modified_at").alias("m"),
        F.col("list").alias("l"),
        F.col("rivals").alias("v"),
    )
    links = rows.select("trace", "node", "seq", F.explode("supersedes").alias("replaced"))
    pairs = F.array_sort(F.flatten(F.collect_list(F.map_entries("l"))))
    of = (
        links.join(older, ["trace", "replaced"])
        .groupBy("trace", "node", "seq")
        .agg(
            F.max("m").alias("replaced_at"),
            pairs.alias("replaced_lists"),
            F.flatten(F.collect_list("v")).alias("replaced_rivals"),
            F.count(F.lit(1)).alias("replaced_known"),
        )
    )
    lists = firsts(history.where("act = 'made' and folder = '1-1'"), "replicas").withColumnRenamed("number", "replaced")
    deleted = once_deleted_stores(events).groupBy("trace").agg(F.collect_set("store").alias("deleted"))
    were = F.flatten(F.collect_list("replicas")).alias("were")
    stayed = (
        links.join(lists, ["trace", "replaced"])
        .groupBy("trace", "node", "seq")
        .agg(were)
        .join(F.broadcast(deleted), "trace", "left")
        .select("trace", "node", "seq", F.expr("array_except(were, coalesce(deleted, array()))").alias("stayed"))
    )
    authors = org.guids.select("trace", "guid", F.col("store").alias("author"))
    rows = rows.join(F.broadcast(authors), ["trace", "guid"], "left")
    return rows.join(of, ["trace", "node", "seq"], "left").join(stayed, ["trace", "node", "seq"], "left")


def applied(events: Silver, rows: DataFrame) -> DataFrame:
    """Return the applied versions, each with the change that made it. deletions: the predecessor lists of all deletions of the
    object; null for other versions."""
    named = {
        "object": "made_object",
        "folder": "made_folder",
        "digest": "made_digest",
        "pcl": "made_pcl",
        "rivals": "made_rivals",
        "kind": "made_kind",
        "modified_at": "made_at",
        "deleted": "made_deleted",
        "store": "author",
    }
    first_changes = firsts(rows.where("act = 'made'"), *named).withColumnsRenamed(named)
    versions = rows.where("act = 'applied' and seq > 0")
    deleted = rows.where("act = 'made' and deleted").groupBy("trace", "folder", "object")
    lists = deleted.agg(F.collect_list("pcl").alias("deletions")).withColumn("deleted", F.lit(True))
    result = versions.join(first_changes, ["trace", "number"], "left")
    return result.join(lists, ["trace", "folder", "object", "deleted"], "left")


def at_stores(things: DataFrame) -> DataFrame:
    """Return trace, node, folder, object, kind, rows, at: the versions of an object that a store made or applied and has not
    lost since."""
    counts = "filter(rows, r -> r.seq > 0 and not r.undone and not r.dropped)"
    versions = things.select("trace", "folder", "object", "kind", F.expr(counts).alias("every"))
    stores = F.explode(F.expr("array_distinct(transform(every, r -> r.store))")).alias("node")
    mine = versions.select("*", stores).withColumn("rows", F.expr("filter(every, r -> r.store = node)"))
    return mine.drop("every").withColumn("at", F.expr("array_max(transform(rows, r -> r.at))"))


def conflicts(events: Silver) -> DataFrame:
    """Return the conflicts as a store saw them, each with the last writer of its versions."""
    conflict_events = events.of("conflict.arose").select(
        "trace", "node", "seq", "at", "folder", "object", "winner", F.explode("versions").alias("number")
    )
    change_events = events.of("change.made").select(
        "trace",
        "number",
        "modified_at",
        F.substring_index("number", ":", 1).alias("guid"),
        F.substring_index("number", ":", -1).cast("long").alias("counter"),
        F.col("object").alias("of_object"),
    )
    last = F.max_by("number", F.struct("modified_at", "guid", "counter"))
    return (
        conflict_events.join(change_events, ["trace", "number"], "left")
        .groupBy("trace", "node", "seq", "at", "folder", "object", "winner")
        .agg(last.alias("last_writer"), F.count("modified_at").alias("known"), F.count(F.lit(1)).alias("versions"))
    )
