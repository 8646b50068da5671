"""The organization of a run: stores, their names and addresses, the folders of the topology; and the state of a node at a time.

The state of a node is which stores its directory lists, and whether content is suspended there. It follows from what was done
to the node (stores joined and deleted, settings changed), not from what the node says. Restored stores are left out,
because a restored store knows only what it knew at the backup.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.ingest.silver import Silver

HIERARCHY: Final = "1-1"
SETUP: Final = "Setup"
"""The displayed name of the GUID under which the topology's folders are numbered."""

_SERVERS: Final = "servers map<string, struct<site: string, version: string, joins: string>>"
_TOPOLOGY: Final = (
    "folders map<string, struct<replicas: array<string>, schedule: string, resolve: string, priority: string, "
    "contacts: array<string>>>"
)
_ROUTES: Final = "routes array<struct<home: string, there: string, cost: bigint, affinity: bigint>>"


@dataclass(frozen=True, slots=True)
class Organization:
    """The parts of an organization, as tables.

    servers: trace, store, site, version, later (joins during the run): also those that were added (RT-6) or removed (RP-9). If
        a server got the name of a removed one, site and version are those of the last one.
    members: trace, revision, store, site, version: the servers after each change of the organization; revisions as in costs
    guids: trace, guid, store, name (A, or A.2 for its second GUID)
    genesis: trace, n, path, name, parent_path, replicas, schedule, resolve, priority, contacts,
        start_at: the topology's folders, from 1
    setup: trace, guid: the GUID of their numbers
    costs: trace, revision, node, store, cost (of mail between two stores), affinity (of referrals, over connectors that allow
        them): 0 within a site, null if there is no route. The revision is 0 for the organization as the run began, and follows
        `organization.changed` after that (RT-6).
    """

    servers: DataFrame
    members: DataFrame
    guids: DataFrame
    genesis: DataFrame
    setup: DataFrame
    costs: DataFrame


def parts(events: Silver) -> dict[str, Callable[[], DataFrame]]:
    """Return the functions that compute the parts of an Organization, by name."""
    started = events.of("run.started").select("trace", "at", F.from_json("topology", _TOPOLOGY).alias("t"))
    every = topologies(events).select("trace", "revision", F.from_json("topology", _SERVERS).alias("t"))
    members = every.select("trace", "revision", F.explode("t.servers").alias("store", "of")).select(
        "trace", "revision", "store", "of.site", "of.version", (F.col("of.joins") == "later").alias("later")
    )
    servers = members.groupBy("trace", "store").agg(
        F.max_by("site", "revision").alias("site"),
        F.max_by("version", "revision").alias("version"),
        F.min("later").alias("later"),
    )
    return {
        "servers": lambda: servers,
        "members": lambda: members.drop("later"),
        "guids": lambda: _guids(events),
        "genesis": lambda: _genesis(started),
        "setup": lambda: _setup(events),
        "costs": lambda: _costs(events, members),
    }


def topologies(events: Silver) -> DataFrame:
    """Return the organization as the run began, and after each change (RT-6): trace, node, at, type (of the event), revision
    (0: as the run began), topology (JSON)."""
    every = events.lines("run.started", "organization.changed")
    revision = F.coalesce("revision", F.lit(0)).alias("revision")
    return every.select("trace", "node", "at", "type", revision, "topology")


def _costs(events: Silver, members: DataFrame) -> DataFrame:
    """Return the least costs over all connectors (RT-1), even if a link is down, and over the connectors that allow referrals
    (RT-4), from the routes between sites (`analytics.ingest.routes`)."""
    every = topologies(events).select("trace", "revision", F.from_json("topology", _ROUTES).alias("t"))
    routes = every.select("trace", "revision", F.explode("t.routes").alias("way")).select(
        "trace", "revision", "way.home", "way.there", "way.cost", "way.affinity"
    )
    here = members.select("trace", "revision", F.col("store").alias("node"), F.col("site").alias("home"))
    there = members.select("trace", "revision", "store", F.col("site").alias("there"))
    pairs = here.join(routes, ["trace", "revision", "home"]).join(there, ["trace", "revision", "there"])
    return pairs.select("trace", "revision", "node", "store", "cost", "affinity")


def _guids(events: Silver) -> DataFrame:
    starts = events.of("node.started").groupBy("trace", "node", "replica_guid").agg(F.min("seq").alias("first"))
    nth = F.row_number().over(Window.partitionBy("trace", "node").orderBy("first"))
    named = starts.select("trace", F.col("replica_guid").alias("guid"), F.col("node").alias("store"), nth.alias("nth"))
    name = F.when(F.col("nth") == 1, F.col("store")).otherwise(
        F.concat("store", F.lit("."), F.col("nth").cast("string"))
    )
    return named.select("trace", "guid", "store", name.alias("name"))


def _genesis(started: DataFrame) -> DataFrame:
    """Return the topology's folders: the n-th folder of the file has n in its object id and in its change number, under
    the GUID named Setup."""
    listed = started.select("trace", F.col("at").alias("start_at"), F.posexplode("t.folders").alias("n", "path", "of"))
    parent = F.regexp_extract("path", "^(.*)/[^/]*$", 1)
    return listed.select(
        "trace",
        "start_at",
        (F.col("n") + 1).alias("n"),
        "path",
        F.element_at(F.split("path", "/"), -1).alias("name"),
        F.when(parent != "", parent).alias("parent_path"),
        F.col("of.replicas").alias("replicas"),
        F.coalesce("of.schedule", F.lit("")).alias("schedule"),
        F.coalesce("of.resolve", F.lit("default")).alias("resolve"),
        F.coalesce("of.priority", F.lit("normal")).alias("priority"),
        F.coalesce("of.contacts", F.array()).alias("contacts"),
    )


def _setup(events: Silver) -> DataFrame:
    """Return the one GUID of folder ids that belongs to no store; no row if the run never names a folder of the topology."""
    store_guids = events.of("node.started").select("trace", F.col("replica_guid").alias("guid")).distinct()
    folders = events.events.select("trace", F.col("folder").alias("id"))
    tree = events.events.where(F.col("folder") == HIERARCHY).select("trace", F.col("object").alias("id"))
    due = events.lines("status.due").select("trace", F.explode(F.from_json("folders", "array<string>")).alias("id"))
    ids = folders.unionByName(tree).unionByName(due).where(F.col("id").isNotNull() & (F.col("id") != HIERARCHY))
    guids = ids.select("trace", F.substring_index("id", ":", 1).alias("guid")).distinct()
    return guids.join(store_guids, ["trace", "guid"], "left_anti").groupBy("trace").agg(F.min("guid").alias("guid"))


SUSPENDED: Final = "Content Replication Suspended"


def node_states(events: Silver, org: Organization, restored: DataFrame) -> DataFrame:
    """Return trace, node, version, directory, switches.

    directory: mail address to store, first and last (when its entry got or lost an address), deleted (when it was deleted),
    stamps (the addresses of the entry: seq, address; null if it lost them). switches: the changes of the setting SUSPENDED:
    seq, on. Times are sequence numbers of the node's events.
    """
    # The directory is asked by address, so an entry that never had one gets a text that is no address.
    entered = events.of("address.stamped", "address.missing")
    key = F.coalesce(F.max("address"), F.concat(F.lit("no address of "), F.col("store")))
    keys = entered.groupBy("trace", "node", "store").agg(
        F.array_sort(F.collect_list(F.struct("seq", "address"))).alias("stamps"),
        F.min("seq").alias("first"),
        F.max("seq").alias("last"),
        F.array_union(F.array(key), F.array_sort(F.collect_set("address"))).alias("addresses"),
    )
    entries = keys.withColumn("address", F.explode("addresses")).drop("addresses")
    deleted = events.of("store.deleted").groupBy("trace", "node", "store").agg(F.max("seq").alias("deleted"))
    by_address = entries.join(deleted, ["trace", "node", "store"], "left").groupBy("trace", "node", "address")
    entry = by_address.agg(F.min(F.struct("store", "first", "last", "deleted", "stamps")).alias("of"))
    listed = entry.groupBy("trace", "node").agg(
        F.map_from_entries(F.collect_list(F.struct("address", "of"))).alias("directory")
    )
    set_ = events.of("setting.value").where(F.col("name") == SUSPENDED)
    switches = set_.groupBy("trace", "node").agg(
        F.array_sort(F.collect_list(F.struct("seq", (F.col("value") == "1").alias("on")))).alias("switches")
    )
    versions = org.servers.select("trace", F.col("store").alias("node"), "version")
    return (
        listed.join(switches, ["trace", "node"], "left")
        .join(versions, ["trace", "node"], "left")
        .join(restored, ["trace", "node"], "left_anti")
    )
