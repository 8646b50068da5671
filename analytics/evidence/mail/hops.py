"""Mails between servers: failed attempts, copies over slow connectors, replication mails sent as ordinary mail, and mails that
became posts (OUT-7, OUT-8, RT-2, ML-3, ML-5, ML-7)."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.agreement.node_facts import RELAYS, with_exact
from analytics.evidence.organization import topologies
from analytics.evidence.version_history import is_undone
from analytics.ingest.silver import Silver

_ATTEMPTS: Final = ("hop.sent", "hop.failed", "hop.expired")
_LIMITS: Final = (
    "connectors array<struct<name: string, kind: string, size_limit: string, senders: array<string>, bandwidth: string,"
    " relay: string>>, domain string"
)


_ORDINARY: Final = (
    "coalesce(reason, '') like '%; it was sent as ordinary mail: %'"
    " or coalesce(size(array_remove(lost_at, node)) > 0, false)"
)


def _topology(events: Silver) -> DataFrame:
    return events.of("run.started").select("trace", F.from_json("topology", _LIMITS).alias("t"))


def attempts(events: Silver) -> DataFrame:
    """Return the attempts of copies that failed at least once, and of copies that were given up: trace, node, seq, at, what
    (the type of the event), mail, next_hop, connector, reason, retry_at, queue_id, before, queued_at, returned, system,
    limited, ordinary, by_relay.

    before: the copy's previous attempt (what, at, next_hop, connector, incarnation), null if a restore undid it.
    queued_at: when this server first had the mail. returned: the mail was returned to its sender at that time or later.
    system: it is a replication mail. limited: the connectors whose limits apply to replication mails, at any time: those
    through an ordinary mail server. ordinary: the mail had lost its XEXCH50 at this attempt or at an earlier hop, so it
    counts as mail of a user. by_relay: a foreign relay, whose limits nobody knows, was to take the copy.
    """
    what, of_copy = F.col("type").alias("what"), ("mail", "next_hop", "connector", "reason")
    numbers = [F.col(name).cast("long").alias(name) for name in ("retry_at", "queue_id")]
    rows = events.lines(*_ATTEMPTS).select("trace", "node", "incarnation", "seq", "at", what, *of_copy, *numbers)
    failing = rows.where("what != 'hop.sent'").select("trace", "node", "queue_id").distinct()
    few = rows.join(F.broadcast(failing), ["trace", "node", "queue_id"], "left_semi")
    copy = Window.partitionBy("trace", "node", "queue_id").orderBy("seq")
    before = F.lag(F.struct("what", "at", "next_hop", "connector", "incarnation")).over(copy)
    restores = events.of("node.started").where("reason = 'restored'")
    restores = restores.select("trace", "node", "incarnation", F.lit(True).alias("restored"))
    few = few.join(F.broadcast(restores), ["trace", "node", "incarnation"], "left")
    tried = few.withColumns(
        {
            # The queue of a backup does not know of the attempts after it.
            "before": F.when(F.col("restored").isNull() | (before["incarnation"] == F.col("incarnation")), before),
            "returned": F.max(F.when(F.col("what") == "hop.expired", F.col("at"))).over(
                copy.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
            )
            >= F.col("at"),
        }
    )
    mails = tried.select("trace", "mail").distinct()
    ends = events.of("mail.submitted", "hop.received").where("mail is not null")
    ends = ends.join(F.broadcast(mails), ["trace", "mail"], "left_semi")
    queued = ends.groupBy("trace", "node", "mail").agg(F.min("at").alias("queued_at"))
    system = ends.where("type = 'mail.submitted'").select("trace", "mail").distinct()
    result = tried.join(queued, ["trace", "node", "mail"], "left")
    result = result.join(system.withColumn("system", F.lit(True)), ["trace", "mail"], "left")
    lost = events.of("hop.sent").where("ordinary != '' and mail is not null")
    lost = lost.groupBy("trace", "mail").agg(F.collect_set("node").alias("lost_at"))
    result = result.join(lost, ["trace", "mail"], "left").withColumn("ordinary", F.expr(_ORDINARY)).drop("lost_at")
    binds = "(c.size_limit is not null or c.senders is not null) and c.kind = 'smtp-relay'"
    limits = F.expr(f"transform(filter(coalesce(t.connectors, array()), c -> {binds}), c -> c.name)")
    every = topologies(events).select("trace", F.from_json("topology", _LIMITS).alias("t"))
    topology = every.groupBy("trace").agg(
        *[
            F.flatten(F.collect_set(names)).alias(name)
            for name, names in {"limited": limits, "relays": F.expr(RELAYS)}.items()
        ]
    )
    result = result.join(F.broadcast(topology), "trace", "left")
    by_relay = F.expr("coalesce(array_contains(relays, coalesce(connector, before.connector)), false)")
    return result.withColumn("by_relay", by_relay).drop("relays")


def frozen_servers(events: Silver, nodes: DataFrame) -> DataFrame:
    """Return the attempts of servers on which an administrator has frozen anything: trace, node, at, mail, next_hop, begun_at,
    frozen_at (when the copy or its queue was frozen, null if it is not frozen now).

    What a restore has undone is left out, and so is what a store did that came before the present one.
    """
    frozen = events.of("queue.frozen").select("trace", "node").distinct()
    born = events.of("node.started").where("reason = 'first'").groupBy("trace", "node").agg(F.max("seq").alias("born"))
    numbers = [F.col(name).cast("long").alias(name) for name in ("queue_id", "begun_at")]
    rows = events.lines("queue.frozen", "queue.unfrozen", "hop.sent", "hop.failed")
    rows = rows.select("trace", "node", "seq", "at", "type", "mail", "next_hop", *numbers)
    rows = rows.join(F.broadcast(frozen), ["trace", "node"], "left_semi").join(F.broadcast(born), ["trace", "node"])
    rows = rows.join(F.broadcast(nodes.select("trace", "node", "undone_spans")), ["trace", "node"], "left")
    rows = rows.where((F.col("seq") > F.col("born")) & ~is_undone(F.col("seq")))
    orders = rows.withColumn(
        "order", F.when(F.col("type").isin("queue.frozen", "queue.unfrozen"), F.struct("type", "at"))
    )
    queue = Window.partitionBy("trace", "node", "next_hop").orderBy("seq")
    copy = Window.partitionBy("trace", "node", "queue_id").orderBy("seq")
    of_queue = F.last(F.when(F.col("queue_id").isNull(), F.col("order")), ignorenulls=True).over(queue)
    of_copy = F.last(F.when(F.col("queue_id").isNotNull(), F.col("order")), ignorenulls=True).over(copy)
    states = orders.withColumns({"of_queue": of_queue, "of_copy": of_copy})
    since = [F.expr(f"if({name}.type = 'queue.frozen', {name}.at, null)") for name in ("of_queue", "of_copy")]
    attempts_only = states.where("type in ('hop.sent', 'hop.failed') and coalesce(next_hop, '') != ''")
    return attempts_only.select(
        "trace", "node", "at", "mail", "next_hop", "begun_at", F.least(*since).alias("frozen_at")
    )


def overtakings(events: Silver, listed: DataFrame, priorities: DataFrame) -> DataFrame:
    """Return the content mails that were sent at the first attempt over connectors of limited bandwidth: trace, node, at, mail,
    connector, priority, before (less urgent mails queued at the same time and sent earlier), after (less urgent mails queued
    later and sent earlier), others (mails of another priority queued at the same time).

    The folders have a priority in the topology (`priorities`: trace, folder, priority) and were never changed. Runs in which
    a fault delays mails are left out, and runs in which connectors change, because copies then get new places (RT-6).
    """
    slow = F.expr("filter(coalesce(t.connectors, array()), c -> c.bandwidth is not null)")
    lines = (
        _topology(events)
        .select("trace", F.explode(slow).alias("c"))
        .select("trace", F.col("c.name").alias("connector"))
    )
    delayed = events.of("fault.injected").where("kind = 'delay'").select("trace").distinct()
    changed = events.of("organization.changed").select("trace").distinct()
    lines = F.broadcast(lines.join(delayed, "trace", "left_anti").join(changed, "trace", "left_anti"))
    first_attempts = events.of("hop.sent").where("attempt = 1").join(lines, ["trace", "connector"], "left_semi")
    rank = F.create_map(
        *[F.lit(value) for pair in (("not urgent", -1), ("normal", 0), ("urgent", 1)) for value in pair]
    )
    mails = listed.where("what = 'mail' and message_type in (4, 2147483652) and untouched").select(
        "trace", "node", "mail", F.col("at").alias("queued_at"), "folder"
    )
    ranked = mails.join(F.broadcast(priorities), ["trace", "folder"]).withColumn("rank", rank[F.col("priority")])
    copies = first_attempts.select("trace", "node", "at", "mail", "connector", "next_hop").join(
        ranked, ["trace", "node", "mail"]
    )
    other = copies.select(
        "trace",
        "node",
        "connector",
        "next_hop",
        *[F.col(name).alias(f"other_{name}") for name in ("at", "queued_at", "rank", "mail")],
    )
    pairs = copies.join(other, ["trace", "node", "connector", "next_hop"])
    overtaken = "other_rank < rank and other_at < at"

    def many(when: str) -> Column:
        return F.count_if(F.expr(f"{overtaken} and other_queued_at {when} queued_at"))

    return pairs.groupBy("trace", "node", "at", "mail", "connector", "priority").agg(
        many("=").alias("before"),
        many(">").alias("after"),
        F.count_if(F.expr("other_rank != rank and other_queued_at = queued_at")).alias("others"),
    )


def ordinary_mails(events: Silver) -> DataFrame:
    """Return the replication mails that were sent to the next server only as ordinary mail: trace, node, at, mail,
    next_hop, read (that server read it as a replication mail)."""
    ordinary_hops = events.of("hop.sent").where("ordinary != '' and mail is not null")
    well = events.of("hop.sent").where("coalesce(ordinary, '') = ''").select("trace", "mail", "next_hop")
    keys = ["trace", "mail", "next_hop"]
    only = ordinary_hops.select("trace", "node", "at", "mail", "next_hop").join(well, keys, "left_anti")
    receipts = events.of("mail.received").select("trace", "mail", F.col("node").alias("next_hop")).distinct()
    result = only.join(receipts.withColumn("read", F.lit(True)), keys, "left")
    return result.withColumn("read", F.coalesce("read", F.lit(False)))


def posts(events: Silver) -> DataFrame:
    """Return the ordinary mails that became posts: trace, node, at, mail, folder, object, before_at (when the same mail last
    became a post in that folder on that server), made (the post was made there at that instant)."""
    posted = events.of("mail.posted")
    same = Window.partitionBy("trace", "node", "folder", "mail").orderBy("seq")
    keys = ["trace", "node", "at", "folder", "object"]
    creations = events.of("change.made").where("operation = 'create'").select(*keys).distinct()
    repeated = posted.select(*keys, "mail", "seq").withColumn(
        "before_at", F.when(F.col("mail").isNotNull(), F.lag("at").over(same))
    )
    result = repeated.join(creations.withColumn("made", F.lit(True)), keys, "left")
    return result.withColumn("made", F.coalesce("made", F.lit(False)))


def unknown_peers(events: Silver) -> DataFrame:
    """Return the mails from peers that are not authenticated as a store: trace, node, at, mail, peer, recipients, domain."""
    mails = events.of("hop.received").where("not authenticated")
    return mails.join(F.broadcast(_topology(events).select("trace", "t.domain")), "trace", "left")


def hops(events: Silver, nodes: DataFrame) -> DataFrame:
    """Return trace, mail, node, next_hop, connector, copies, at, landed, arrived_at, exact, arrivals, given_up, last_at,
    links_at, named, cut, by_relay.

    landed: the next server has the mail, or a fault lost it there. arrived_at: when it first came there. exact: arrived_at and
    last_at are exact. arrivals: how often the mail came to this node, by a hop or because it was submitted there. given_up:
    the copies that never reached a next server, so that new copies took their recipients. links_at: when the node first learned
    that a link was down or up, or that the organization had changed. named: how many of the mail's recipients are named by a
    fault; each of these recipients gets a copy of its own. cut: how often a transmission of the mail to this node failed. The
    mail may have arrived although the answer was lost, and then it is sent again. by_relay: a foreign relay accepted the mail.
    """
    copies = (
        events.of("hop.sent", "hop.failed")
        .where("mail is not null")
        .groupBy("trace", "mail", "node", "queue_id")
        .agg(
            F.max_by(F.struct("next_hop", "connector"), F.when(F.col("type") == "hop.sent", F.col("at"))).alias("to"),
            F.min(F.when(F.col("type") == "hop.sent", F.col("at"))).alias("at"),
        )
    )
    of_node = Window.partitionBy("trace", "mail", "node")
    hops_sent = (
        copies.withColumn("given_up", F.count_if(F.col("at").isNull()).over(of_node))
        .where("at is not null")
        .groupBy("trace", "mail", "node", "to.next_hop", "to.connector")
        .agg(
            F.count(F.lit(1)).alias("copies"),
            F.min("at").alias("at"),
            F.max("at").alias("last_at"),
            F.max("given_up").alias("given_up"),
        )
    )
    arrivals = F.count_if(F.col("type").isin("hop.received", "mail.submitted")).alias("arrivals")
    here = (
        events.lines("hop.received", "hop.dropped", "mail.bad", "mail.submitted")
        .groupBy("trace", "mail", "node")
        .agg(arrivals, F.min(F.when(F.col("type") != "mail.submitted", F.col("at"))).alias("arrived_at"))
    )
    landed = here.where("arrived_at is not null")
    landed = landed.select("trace", "mail", F.col("node").alias("next_hop"), "arrived_at", F.lit(True).alias("landed"))
    cut = (
        events.of("hop.failed")
        .groupBy("trace", "mail", F.col("next_hop").alias("node"))
        .agg(F.count(F.lit(1)).alias("cut"))
    )
    here = here.drop("arrived_at").join(cut, ["trace", "mail", "node"], "left")
    links = (
        events.lines("link.down", "link.up", "organization.read")
        .groupBy("trace", "node")
        .agg(F.min("at").alias("links_at"))
    )
    result = hops_sent.join(landed, ["trace", "mail", "next_hop"], "left").join(here, ["trace", "mail", "node"], "left")
    result = result.join(F.broadcast(links), ["trace", "node"], "left")
    addresses = events.of("address.stamped").select("trace", "store", F.col("address").alias("recipient")).distinct()
    faults = (
        events.of("fault.injected")
        .where("kind in ('lose', 'alter', 'delay', 'duplicate', 'reorder')")
        .select("trace", F.col("details")["to"].alias("store"), F.col("details")["from"].alias("of"))
        .join(addresses, ["trace", "store"])
    )
    mails = events.of("mail.submitted").where("size(recipients) > 1")
    mails = mails.select("trace", "mail", "node", F.explode("recipients").alias("recipient"))
    named = mails.join(F.broadcast(faults), ["trace", "recipient"]).where("coalesce(of, node) = node")
    named = named.groupBy("trace", "mail").agg(F.count_distinct("recipient").alias("named"))
    result = result.join(F.broadcast(named), ["trace", "mail"], "left")
    result = result.withColumn("landed", F.coalesce("landed", F.lit(False)))
    relays = F.broadcast(nodes.select("trace", "node", "relays"))
    by_relay = F.expr("coalesce(array_contains(relays, connector), false)")
    result = result.join(relays, ["trace", "node"], "left").withColumn("by_relay", by_relay).drop("relays")
    return with_exact(result, nodes, {"node": "last_at", "next_hop": "arrived_at"})
