"""The inputs of the evidence tables, and columns about stores that many of these tables have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence import holders
from analytics.evidence.agreement.node_facts import node_facts
from analytics.evidence.backfill import source_selection
from analytics.evidence.organization import Organization, node_states, topologies
from analytics.evidence.version_history import restores
from analytics.ingest.silver import Silver
from analytics.ingest.tables import Tables

_SETTINGS: Final = (
    "settings map<string, string>, servers map<string, struct<version: string, settings: map<string, string>>>"
)


@dataclass(frozen=True, slots=True)
class Material:
    """The inputs of the evidence: events, histories (`rows`), objects (`things`), the organization, and tables that others
    need.

    restored: the stores (trace, node) that were restored.
    plain: the stores with the default settings.
    nodes: facts about each store that hold during the whole run (`node_facts`).
    candidates: the stores that could be asked for missing changes.
    listed: cases with the holders as the node knew them.
    node_states: the state of each node.
    """

    events: Silver
    rows: DataFrame
    things: DataFrame
    org: Organization
    restored: DataFrame
    plain: DataFrame
    nodes: DataFrame
    candidates: DataFrame
    listed: DataFrame
    node_states: DataFrame


def material_of(tables: Tables, events: Silver, rows: DataFrame, things: DataFrame, org: Organization) -> Material:
    """Return the material. Tables that several other tables need are kept, so that Spark computes them once."""
    stores = {
        "restored": lambda: restores(events).select("trace", F.col("store").alias("node")),
        "plain": lambda: plain_stores(events).select("trace", F.col("store").alias("node")),
        "nodes": lambda: node_facts(events),
    }
    few = tables.keep_all("evidence", stores)
    if not events.has("backup.restored", "backup.elsewhere", "store.created"):
        few["restored"] = few["restored"].limit(0)
    plans = {
        "candidates": lambda: source_selection.candidates(events, org, few["restored"]),
        "listed": lambda: holders.with_holders(holders.cases(events), events, rows, few["restored"]),
        "node_states": lambda: node_states(events, org, few["restored"]),
    }
    return Material(events, rows, things, org, **few, **tables.keep_all("evidence", plans))


def plain_stores(events: Silver) -> DataFrame:
    """Return trace, store: the stores with only default settings, to which the documented times apply. Stores of 5.5 have other
    times and are left out."""
    every = topologies(events).select("trace", F.from_json("topology", _SETTINGS).alias("t"))
    plain = every.where(F.coalesce(F.size("t.settings"), F.lit(0)) <= 0)
    stores = plain.select("trace", F.explode("t.servers").alias("store", "of"))
    stores = stores.where((F.coalesce(F.size("of.settings"), F.lit(0)) <= 0) & (F.col("of.version") != "5.5"))
    stores = stores.select("trace", "store").distinct()
    changed_settings = events.of("setting.value").where(F.col("value") != F.col("default"))
    return stores.join(
        changed_settings.select("trace", F.col("node").alias("store")).distinct(), ["trace", "store"], "left_anti"
    )


def with_plain(rows: DataFrame, m: Material) -> DataFrame:
    plain_nodes = F.broadcast(m.plain.withColumn("plain", F.lit(True)))
    return rows.join(plain_nodes, ["trace", "node"], "left").withColumn("plain", F.coalesce("plain", F.lit(False)))


def with_punctual(rows: DataFrame, m: Material) -> DataFrame:
    """Return the rows with punctual: no fault made the store late at that time."""
    with_faults = rows.join(F.broadcast(m.nodes.select("trace", "node", "hindered")), ["trace", "node"], "left")
    late = F.expr("exists(coalesce(hindered, array()), f -> at between f.since and f.until)")
    return with_faults.withColumn("punctual", ~late).drop("hindered")


def with_node_state(rows: DataFrame, m: Material) -> DataFrame:
    return rows.join(F.broadcast(m.node_states), ["trace", "node"], "left")
