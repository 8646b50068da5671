"""Changes of the organization (RT-6): which stores have read them, over which connectors mails go afterwards, which addresses
the recipient policies give (ML-1), and what servers do that are not part of it (RP-9)."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.agreement.node_facts import with_exact
from analytics.evidence.conditions import TOLERANCE_US
from analytics.evidence.organization import Organization, topologies
from analytics.evidence.version_history import is_undone
from analytics.ingest.silver import Silver
from traces.labtime import HOUR_US

_CONNECTORS: Final = "connectors array<struct<name: string>>"

_POLICIES: Final = (
    "domain string, recipient_policies array<struct<domain: string,"
    " filter: struct<sites: array<string>, servers: array<string>, versions: array<string>>>>"
)

_BEHIND_US: Final = HOUR_US
"""A process that gave no sign of life may act until this time without a change that it missed. In a lab whose servers share a
clock, a store reads each change at once."""


def revisions(events: Silver, nodes: DataFrame) -> DataFrame:
    """Return each change of the organization at each store that does something later: trace, node, at (of the change),
    revision, made (the lab recorded the change), late_at (when the store first did something without having read this change
    or a later one, null if it never did; to read a change late is to do something).

    A store acts late only after its last start, and not while a fault makes it late. What a restore has undone it has not read
    (RP-4). Deleted stores are left out. A change that a store read, and that nobody had made, is in the table too.
    """
    changed = events.of("organization.changed").groupBy("trace", "revision").agg(F.min("at").alias("changed_at"))
    few = F.broadcast(changed.select("trace").distinct())
    stores = nodes.where("not gone").select("trace", "node", "exact", "hindered", "undone_spans")
    acts = events.events.select("trace", "node", "seq", "at", "type", F.col("revision").alias("read"))
    acts = acts.join(few, "trace", "left_semi").join(F.broadcast(stores), ["trace", "node"])
    so_far = Window.partitionBy("trace", "node").orderBy("seq")
    before = so_far.rowsBetween(Window.unboundedPreceding, -1)
    undone = is_undone(F.col("seq"))
    read = F.when(F.col("type") == "organization.read", F.col("read"))
    known = F.when(undone, F.max(read).over(before)).otherwise(F.max(F.when(~undone, read)).over(before))
    started_at = F.last(F.when(F.col("type") == "node.started", F.col("at")), ignorenulls=True).over(so_far)
    states = acts.withColumns({"known": F.coalesce(known, F.lit(0)), "started_at": started_at})
    later = states.join(F.broadcast(changed), "trace").where("at > changed_at")
    in_time = f"at <= greatest(changed_at, started_at) + if(exact, {TOLERANCE_US}, {_BEHIND_US})"
    hindered = "exists(coalesce(hindered, array()), f -> at between f.since and f.until)"
    is_late = f"known < revision and not {in_time} and not {hindered}"
    missed = later.groupBy("trace", "node", "revision").agg(
        F.min("changed_at").alias("at"), F.min(F.when(F.expr(is_late), F.col("at"))).alias("late_at")
    )
    reads = with_exact(events.of("organization.read").select("trace", "node", "revision", "at"), nodes, {"node": "at"})
    unmade = reads.join(F.broadcast(changed), ["trace", "revision"], "left")
    unmade = unmade.where(f"changed_at is null or exact and at < changed_at - {TOLERANCE_US}").drop(
        "changed_at", "exact"
    )
    return missed.withColumn("made", F.lit(True)).unionByName(
        unmade.withColumn("made", F.lit(False)), allowMissingColumns=True
    )


def crossings(events: Silver, nodes: DataFrame, restored: DataFrame) -> DataFrame:
    """Return the attempts of copies to cross a connector, in runs in which connectors change: trace, node, at, mail, connector,
    exists (the organization had the connector, as the server knew it when the attempt began or later until its end).

    Restored stores are left out, because nothing says what they knew.
    """
    changed = events.of("organization.changed").select("trace").distinct()
    reads = events.of("organization.read").select("trace", "node", F.col("seq").alias("from_seq"), "at", "revision")
    began = nodes.select("trace", "node", F.lit(0).alias("from_seq"), F.lit(0).alias("revision"))
    periods = reads.unionByName(began, allowMissingColumns=True)
    until_at = F.lead("at").over(Window.partitionBy("trace", "node").orderBy("from_seq"))
    periods = periods.withColumn("until_at", until_at).drop("at")
    names = F.transform(F.from_json("topology", _CONNECTORS)["connectors"], lambda connector: connector["name"])
    connectors = topologies(events).select("trace", "revision", names.alias("names"))
    periods = periods.join(F.broadcast(connectors), ["trace", "revision"], "left").drop("revision")
    attempts = events.of("hop.sent", "hop.failed").where("coalesce(connector, '') != ''")
    attempts = attempts.select("trace", "node", "seq", "at", "mail", "connector", "begun_at")
    attempts = attempts.join(F.broadcast(changed), "trace", "left_semi")
    attempts = attempts.join(F.broadcast(restored), ["trace", "node"], "left_anti")
    both = attempts.join(F.broadcast(periods), ["trace", "node"])
    both = both.where("from_seq < seq and coalesce(until_at >= coalesce(begun_at, at), true)")
    there = F.coalesce(F.array_contains("names", F.col("connector")), F.lit(True))
    return both.groupBy("trace", "node", "seq", "at", "mail", "connector").agg(F.max(there).alias("exists"))


def stamps(events: Silver, org: Organization, nodes: DataFrame) -> DataFrame:
    """Return the addresses that stores found in the directory: trace, node, seq, at, store, address, given (the recipient
    policies gave the store an address of this domain then).

    A store that starts finds addresses that were given while it did not run. While a fault makes a store late, or its clock
    wrong, the policies of any time may have given the address.
    """
    began = events.of("run.started").select(
        "trace", F.lit(0).alias("seq"), F.lit(0).alias("from_at"), F.from_json("topology", _POLICIES).alias("t")
    )
    flat = (
        "transform(coalesce(t.recipient_policies, array()), p -> struct(p.domain as domain, p.filter.sites as sites,"
        " p.filter.servers as servers, p.filter.versions as versions))"
    )
    first = began.select("trace", "seq", "from_at", "t.domain", F.expr(flat).alias("policies"))
    changed = events.of("recipient.policy").select(
        "trace",
        "seq",
        F.col("at").alias("from_at"),
        "domain",
        F.expr(
            "transform(coalesce(policies, array()), p -> struct(p.domain as domain, p.sites as sites,"
            " p.servers as servers, p.versions as versions))"
        ).alias("policies"),
    )
    lists = first.unionByName(changed)
    until_at = F.lead("from_at").over(Window.partitionBy("trace").orderBy("from_at", "seq"))
    lists = lists.withColumn("until_at", until_at).drop("seq")
    stores = org.servers.select("trace", "store", "site", "version")
    applies = " and ".join(
        f"(coalesce(size(p.{names}), 0) <= 0 or array_contains(p.{names}, {name}))"
        for names, name in (("sites", "site"), ("servers", "store"), ("versions", "version"))
    )
    right = F.expr(f"coalesce(try_element_at(filter(policies, p -> {applies}), 1).domain, domain)")
    rights = F.broadcast(stores).join(F.broadcast(lists), "trace")
    rights = rights.select("trace", "store", "from_at", "until_at", right.alias("right"))
    so_far = Window.partitionBy("trace", "node").orderBy("seq")
    started_at = F.last(F.when(F.col("type") == "node.started", F.col("at")), ignorenulls=True).over(so_far)
    seen = events.lines("address.stamped", "node.started").select(
        "trace", "node", "seq", "at", "type", "store", "address"
    )
    addresses = seen.withColumn("started_at", started_at).where("type = 'address.stamped'").drop("type")
    clocks = nodes.select("trace", "node", "exact", "hindered")
    addresses = addresses.join(F.broadcast(clocks), ["trace", "node"], "left")
    late_us = f"if(coalesce(exact, false), {TOLERANCE_US}, {_BEHIND_US})"
    is_given = F.expr(
        "right = substring_index(address, '@', -1) and (exists(coalesce(hindered, array()), f -> at between f.since and"
        f" f.until) or from_at <= at + {late_us} and (until_at is null or at <= greatest(until_at, started_at) + {late_us}))"
    )
    both = addresses.join(F.broadcast(rights), ["trace", "store"], "left").withColumn(
        "given", F.coalesce(is_given, F.lit(False))
    )
    return both.groupBy("trace", "node", "seq", "at", "store", "address").agg(F.max("given").alias("given"))


def absences(events: Silver, nodes: DataFrame) -> DataFrame:
    """Return the spans in which the organization does not have a server that it has earlier or later (RP-9): trace, node, at
    (of the change that removes or adds the server), acts (how many events the server has in the span)."""
    named = events.of("organization.changed").where("subject like 'server %'")
    changes = named.select("trace", F.substring_index("subject", " ", -1).alias("node"), "revision", "at", "change")
    in_order = Window.partitionBy("trace", "node").orderBy("revision")
    spans = changes.withColumns({"before": F.lag("change").over(in_order), "next_at": F.lead("at").over(in_order)})
    spans = spans.where("change = 'removed' or before is null").select(
        "trace",
        "node",
        "at",
        F.expr("if(change = 'removed', at, -1)").alias("since"),
        F.expr(f"if(change = 'removed', coalesce(next_at, {2**62}), at)").alias("until"),
    )
    clocks = nodes.select("trace", "node", "exact", "hindered")
    spans = spans.join(F.broadcast(clocks), ["trace", "node"], "left")
    acts = events.events.select("trace", "node", F.col("at").alias("acted_at"))
    acts = acts.join(F.broadcast(spans), ["trace", "node"])
    slack = f"if(coalesce(exact, false), {TOLERANCE_US}, {_BEHIND_US})"
    hindered = "exists(coalesce(hindered, array()), f -> acted_at between f.since and f.until)"
    inside = acts.where(f"acted_at > since + {slack} and acted_at < until - {slack} and not {hindered}")
    counts = inside.groupBy("trace", "node", "at").agg(F.count("acted_at").alias("acts"))
    both = spans.select("trace", "node", "at").join(F.broadcast(counts), ["trace", "node", "at"], "left")
    return both.withColumn("acts", F.coalesce("acts", F.lit(0)))
