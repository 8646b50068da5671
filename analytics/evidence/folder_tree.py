"""The folder tree as it must be: each folder with its path and holders, computed from the versions of the folders.

A folder below a deleted folder is deleted with its content (HI-6). The tree of a run is one small map. A path is found by
following the parents upwards.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.organization import HIERARCHY, Organization
from analytics.evidence.version_history import deleted_stores, firsts
from analytics.ingest.silver import Silver

DEEPEST: Final = 64
"""Folders deeper than this are treated as children of 1-1. A cycle of concurrent moves ends here too (HI-7)."""


def stores(events: Silver, org: Organization) -> DataFrame:
    """Return trace, store, seen (it has events): the stores that were not deleted. All of them hold 1-1."""
    first = org.servers.where("not later").select("trace", "store")
    started = events.of("node.started").select("trace", F.col("node").alias("store")).distinct()
    present = started.withColumn("seen", F.lit(True))
    every = first.unionByName(started).distinct().join(deleted_stores(events), ["trace", "store"], "left_anti")
    return every.join(present, ["trace", "store"], "left").withColumn("seen", F.coalesce("seen", F.lit(False)))


def folders(objects: DataFrame, rows: DataFrame, all_stores: DataFrame, deleted: DataFrame) -> DataFrame:
    """Return trace, folder, path, holders, doubtful: 1-1, and each folder that is not deleted and not below a deleted folder.

    doubtful: it was once below a folder that is deleted, so its older content may be deleted too (HI-6).
    """
    folder_changes = rows.where((F.col("folder") == HIERARCHY) & (F.col("act") == "made"))
    versions = folder_changes.select("trace", F.col("object").alias("id"), "number", "subject", "parent", "replicas")
    parents = versions.groupBy("trace", "id").agg(F.collect_set("parent").alias("parents"))
    tree = objects.where(F.col("folder") == HIERARCHY).select(
        "trace",
        F.col("object").alias("id"),
        F.col("tombstone").isNotNull().alias("dead"),
        F.try_element_at("versions", F.lit(1))["number"].alias("number"),
    )
    current = firsts(folder_changes, "subject", "parent", "replicas", of=("trace", "object", "number"))
    current = current.withColumnRenamed("object", "id")
    nodes = (
        tree.where("dead or number is not null")
        .join(current, ["trace", "id", "number"], "left")
        .join(parents, ["trace", "id"])
    )
    entries = F.map_from_entries(F.collect_list(F.struct("id", F.struct("parent", "dead", "subject"))))
    trees = nodes.groupBy("trace").agg(entries.alias("tree"))
    walked = nodes.where("not dead").join(trees, "trace")
    tree_rows = walked.withColumn("above", F.expr(_above("parent"))).withColumn(
        "doubtful", F.expr(f"exists(parents, p -> {_above('p')}.dead)")
    )
    path = F.array_join(F.concat(F.reverse("above.names"), F.array("subject")), "/")
    living = tree_rows.where("not above.dead").select(
        "trace", F.col("id").alias("folder"), path.alias("path"), "replicas", "doubtful"
    )
    root = (
        all_stores.groupBy("trace")
        .agg(F.array_sort(F.collect_set("store")).alias("holders"))
        .select(
            "trace",
            F.lit(HIERARCHY).alias("folder"),
            F.lit(HIERARCHY).alias("path"),
            "holders",
            F.lit(False).alias("doubtful"),
        )
    )
    # A list may still name a deleted store (RP-6).
    deletions = F.broadcast(deleted.groupBy("trace").agg(F.collect_set("store").alias("gone")))
    listed = F.expr("filter(replicas, r -> not array_contains(coalesce(gone, array()), r))").alias("holders")
    living = living.join(deletions, "trace", "left").select("trace", "folder", "path", listed, "doubtful")
    return root.unionByName(living)


def _above(parent: str) -> str:
    """Return SQL for a walk upwards from `parent`: the names on the way, and whether one of the folders is deleted."""
    start = f"named_struct('at', {parent}, 'names', cast(array() as array<string>), 'dead', false, 'seen', array(id))"
    here = "try_element_at(tree, w.at)"
    on = (
        f"w.at is not null and w.at != '{HIERARCHY}' and not w.dead and {here} is not null"
        " and not array_contains(w.seen, w.at)"
    )
    step = (
        f"named_struct('at', {here}.parent, 'names', concat(w.names, array(coalesce({here}.subject, ''))), "
        f"'dead', coalesce({here}.dead, false), 'seen', concat(w.seen, array(w.at)))"
    )
    return f"aggregate(sequence(1, {DEEPEST}), {start}, (w, _i) -> case when {on} then {step} else w end)"
