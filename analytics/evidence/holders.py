"""Evidence that depends on the holders of a folder: the replica list as a store knew it at the time of an event.

A store knows the versions of a folder that it made or applied; the last of them has the list (HI-5). The holders of the
hierarchy (1-1) are the stores in the directory (HI-1, ML-1). Restored stores are left out, because a
restored store has lost what it recorded after the backup.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.number_sets import RANGES, guid_of_kind, without_kind
from analytics.evidence.organization import HIERARCHY, Organization
from analytics.evidence.set_columns import by_kind, ranges
from analytics.evidence.version_history import firsts, once_deleted_stores
from analytics.ingest.schemas import MAIL_FOLDERS
from analytics.ingest.silver import Silver
from traces.labtime import DAY_US

_CASE: Final = ("trace", "node", "seq", "at", "folder")


def cases(events: Silver) -> DataFrame:
    """Return the cases that depend on the replica list: _CASE, `what` (the kind of case), and the fields of this kind.

    what:
    - mail: one for each folder that a sent mail lists;
    - received: one for each folder listed in a received status, or in a received mail marked repeat;
    - due: one for each folder whose status became due;
    - added, pending, dropped: the node's own replica of the folder;
    - responders, conflict, notice, aged, resolved, tombstone: one for each event of this kind.
    """
    submissions = events.lines("mail.submitted")
    to = F.array_sort(F.transform("recipients", lambda recipient: F.regexp_replace(recipient, r"(-IS)?@.*$", "")))
    folder = F.explode(F.transform(F.from_json("folders", MAIL_FOLDERS), lambda f: f["folder"])).alias("folder")
    of_mail = ("mail", "message_type", "marks")
    mails = submissions.select(
        "trace", "node", "seq", "at", "incarnation", *of_mail, to.alias("to"), folder, F.lit("mail").alias("what")
    )
    chosen = events.of("responders.considered").select(
        *_CASE, "chosen", "method", "limit", F.lit("responders").alias("what")
    )
    conflict = F.when(F.col("type") == "conflict.arose", "conflict").otherwise("notice")
    conflicts = events.of("conflict.arose", "conflict.notice").select(
        *_CASE, "object", F.array_sort("versions").alias("versions"), conflict.alias("what")
    )
    aged = events.of("conflict.aged").select(
        *_CASE, "object", "number", "winner", "since_at", "limit_us", F.lit("aged").alias("what")
    )
    resolved = (
        events.of("conflict.ended")
        .where("by != ''")
        .select(*_CASE, "object", "number", "by", F.lit("resolved").alias("what"))
    )
    dropped = events.of("tombstone.dropped").select(*_CASE, "object", "number", F.lit("tombstone").alias("what"))
    due = events.of("status.due").select(
        "trace", "node", "seq", "at", F.explode("folders").alias("folder"), F.lit("due").alias("what")
    )
    added = events.of("replica.added").where("store = node").select(*_CASE, F.lit("added").alias("what"))
    pending = events.of("replica.pending").select(*_CASE, F.lit("pending").alias("what"))
    replicas_dropped = events.of("replica.dropped").select(
        *_CASE, F.lit("dropped").alias("what"), F.col("cnset").alias("had")
    )
    folder = F.explode(F.transform("folders", lambda f: f["folder"])).alias("folder")
    received = events.of("mail.received").where("message_type = 16 or array_contains(marks, 'repeat')")
    received = received.select(
        "trace", "node", "seq", "at", *of_mail, "sender", folder, F.lit("received").alias("what")
    )
    every = mails
    for more in (received, chosen, conflicts, aged, resolved, dropped, due, added, pending, replicas_dropped):
        every = every.unionByName(more, allowMissingColumns=True)
    return every


def with_holders(cases: DataFrame, events: Silver, rows: DataFrame, restored: DataFrame) -> DataFrame:
    """Return `cases` with `holders` (the list as the node knew it), `reached` (those of them that had an address), `answerable`
    (the node, and the sender of a received mail, had an address), `untouched` (the node knew only one version of the folder),
    `dead` (the node knew that the folder is deleted), `in_tree` (the recipients of a mail may get mail about the folder, as far
    as trees matter; null if the node always saw all objects linked), and `alone_at` (when the node next knew a list without
    other stores)."""
    hierarchy = rows.where((F.col("folder") == HIERARCHY) & F.col("act").isin("made", "applied"))
    lists = firsts(hierarchy.where("act = 'made'"), "replicas", "deleted")
    lists = lists.withColumnsRenamed({"number": "version", "replicas": "list"})
    node_versions = hierarchy.select(
        "trace",
        F.col("store").alias("node"),
        "seq",
        "at",
        F.col("object").alias("folder"),
        F.col("number").alias("version"),
    )
    versions = node_versions.join(F.broadcast(lists), ["trace", "version"]).drop("version")
    stamped = events.of("address.stamped", "address.missing").select(
        "trace", "node", "seq", F.lit(HIERARCHY).alias("folder"), F.col("store").alias("joined")
    )
    lists = versions.unionByName(stamped, allowMissingColumns=True)
    both = cases.unionByName(lists, allowMissingColumns=True)
    before = Window.partitionBy("trace", "node", "folder").orderBy("seq").rowsBetween(Window.unboundedPreceding, -1)
    holders = F.when(F.col("folder") == HIERARCHY, F.array_sort(F.collect_set("joined").over(before))).otherwise(
        F.last("list", ignorenulls=True).over(before)
    )
    untouched = F.count("list").over(before) <= 1
    dead = F.coalesce(F.max("deleted").over(before), F.lit(False))
    after = Window.partitionBy("trace", "node", "folder").orderBy("seq").rowsBetween(1, Window.unboundedFollowing)
    alone_at = F.min(F.expr("if(size(array_except(list, array(node))) = 0, at, null)")).over(after)
    columns = {"holders": holders, "untouched": untouched, "dead": dead, "alone_at": alone_at}
    result = both.withColumns(columns).where("what is not null")
    result = result.join(F.broadcast(_deleted(events)), ["trace", "node"], "left")
    there = F.expr("filter(holders, h -> not exists(removed, g -> g.store = h and seq between g.seq + 1 and g.until))")
    result = result.withColumn("holders", F.when(F.col("removed").isNull(), F.col("holders")).otherwise(there))
    result = result.join(F.broadcast(_addresses(events)), ["trace", "node"], "left")
    if events.has("tree.linked"):
        result = result.join(F.broadcast(_links(events)), ["trace", "node"], "left")
    else:
        result = result.withColumn(
            "links", F.expr("cast(null as array<struct<seq: bigint, store: string, linked: boolean>>)")
        )
    with_address = F.expr(f"filter(holders, h -> {_HAD.format(store='h')})")
    reached = F.when(F.col("addresses").isNull(), F.col("holders")).otherwise(with_address)
    result = result.withColumn("reached", reached).withColumn(
        "reached", F.expr(f"filter(reached, h -> {_in_tree('h')})")
    )
    return (
        result.withColumn("in_tree", F.expr(f"if(links is null, null, forall(to, h -> {_in_tree('h')}))"))
        .withColumn("answerable", F.expr(f"({_ANSWERABLE}) and {_in_tree('sender')}"))
        .join(F.broadcast(restored), ["trace", "node"], "left_anti")
        .drop("list", "joined", "deleted", "removed", "addresses", "links")
    )


_HAD: Final = "coalesce(try_element_at(filter(addresses, a -> a.store = {store} and a.seq < seq), -1).has, false)"
_ANSWERABLE: Final = f"addresses is null or {_HAD.format(store='node')} and {_HAD.format(store='sender')}"


_LINKED: Final = "coalesce(try_element_at(filter(links, l -> l.store = {store} and l.seq < seq), -1).linked, true)"
_LINKED_HOLDERS: Final = f"forall(coalesce(holders, array()), o -> o = node or {_LINKED.format(store='o')})"


def _in_tree(store: str) -> str:
    """Return SQL for whether a node can send mail about a folder to a store, as far as trees matter (ML-8)."""
    linked = f"{store} = node or {_LINKED.format(store=store)}"
    return f"(links is null or if(folder = '{HIERARCHY}', {linked}, {_LINKED_HOLDERS}))"


def _links(events: Silver) -> DataFrame:
    """Return trace, node, links (seq, store, linked): whether the object of a store named its tree (ML-8). Nodes that always
    saw all objects linked are left out."""
    listed = F.array_sort(F.collect_list(F.struct("seq", "store", "linked"))).alias("links")
    return events.of("tree.linked").groupBy("trace", "node").agg(listed)


def with_answerable(cases: DataFrame, events: Silver) -> DataFrame:
    """Return `cases` with `answerable`: whether the node and the sender of a received mail had an address (ML-1), and the node
    did not record that it could send nothing about the folder (ML-8)."""
    with_addresses = cases.join(F.broadcast(_addresses(events)), ["trace", "node"], "left")
    answerable = with_addresses.withColumn("answerable", F.expr(_ANSWERABLE)).drop("addresses")
    if not events.has("tree.lacking"):
        return answerable
    lacking = events.of("tree.lacking").groupBy("trace", "node", "at").agg(F.collect_set("folder").alias("lacking"))
    both = answerable.join(F.broadcast(lacking), ["trace", "node", "at"], "left")
    is_blocked = F.expr("coalesce(exists(folders, f -> array_contains(lacking, f.folder)), false)")
    return both.withColumn("answerable", F.col("answerable") & ~is_blocked).drop("lacking")


def _addresses(events: Silver) -> DataFrame:
    """Return trace, node, addresses (seq, store, has): whether the directory of a node had an address of each store (ML-1).
    Nodes that always had all addresses are left out."""
    changes = events.of("address.stamped", "address.missing").withColumn("has", F.col("type") == "address.stamped")
    listed = F.array_sort(F.collect_list(F.struct("seq", "store", "has"))).alias("addresses")
    return changes.groupBy("trace", "node").agg(listed).where("exists(addresses, a -> not a.has)")


def _deleted(events: Silver) -> DataFrame:
    """Return trace, node, removed (seq, until, store): the stores that a node deleted from its directory (RP-6), until the
    entry of a new store came into it (RP-7). They hold no folder, even if a replica list still has them."""
    entries = events.of("store.deleted", "address.stamped", "address.missing")
    of_store = Window.partitionBy("trace", "node", "store").orderBy("seq")
    until = F.coalesce(F.lead("seq").over(of_store), F.lit(2**62))
    gone = entries.withColumn("until", until).where("type = 'store.deleted'")
    return gone.groupBy("trace", "node").agg(F.collect_list(F.struct("seq", "until", "store")).alias("removed"))


def mailed_folders(listed: DataFrame, events: Silver, org: Organization) -> DataFrame:
    """Return the folders in sent mails, with started_at, and schedule (of the topology; null for a folder made later)."""
    starts = events.of("node.started").groupBy("trace", "node", "incarnation").agg(F.max("at").alias("started_at"))
    mails = listed.where("what = 'mail'").join(F.broadcast(starts), ["trace", "node", "incarnation"], "left")
    return mails.join(F.broadcast(topology_folders(org, "schedule")), ["trace", "folder"], "left")


def notices(listed: DataFrame, org: Organization) -> DataFrame:
    """Return conflicts and notices, with resolve (of the topology), notified (the same instant has a notice of the
    conflict), arose_at (when the message first got into conflict there) and author (of the first version)."""
    both = listed.where("what in ('conflict', 'notice')")
    beside = Window.partitionBy("trace", "node", "at", "object")
    notices_then = F.collect_set(F.when(F.col("what") == "notice", F.col("versions"))).over(beside)
    cases = both.withColumn("notified", F.array_contains(notices_then, F.col("versions")))
    before = Window.partitionBy("trace", "node", "object").orderBy("seq").rowsBetween(Window.unboundedPreceding, -1)
    arose_at = F.min(F.when(F.col("what") == "conflict", F.col("at"))).over(before)
    cases = cases.withColumn("arose_at", arose_at)
    author = F.broadcast(org.guids.select("trace", "guid", F.col("store").alias("author")))
    cases = cases.withColumn("guid", F.substring_index(F.col("versions")[0], ":", 1)).join(
        author, ["trace", "guid"], "left"
    )
    return cases.join(F.broadcast(topology_folders(org, "resolve")), ["trace", "folder"], "left")


def resolutions(listed: DataFrame, org: Organization) -> DataFrame:
    """Return the conflicts that a contact resolved (`by`), with contacts (of the folder in the topology; null for a folder made
    later)."""
    contacts = F.broadcast(topology_folders(org, "contacts"))
    return listed.where("what = 'resolved'").join(contacts, ["trace", "folder"], "left")


def aged_conflicts(listed: DataFrame, events: Silver) -> DataFrame:
    """Return the conflicts that a store ended because of their age, with two columns from the store's earlier events:
    arose_at (when the conflict arose there) and shown (its winner).
    """
    ends = ("conflict.ended", "tombstone.made", "item.expired")
    steps = events.of("conflict.arose", "conflict.aged", *ends).select(
        "trace", "node", "seq", "at", "object", "type", "winner", F.col("type").isin(*ends).cast("int").alias("ends")
    )
    before = Window.partitionBy("trace", "node", "object").orderBy("seq").rowsBetween(Window.unboundedPreceding, -1)
    turns = steps.withColumn("turn", F.coalesce(F.sum("ends").over(before), F.lit(0)))
    arisen = (
        turns.where("type = 'conflict.arose'")
        .groupBy("trace", "node", "object", "turn")
        .agg(F.min("at").alias("arose_at"), F.max_by("winner", "seq").alias("shown"))
    )
    # The event of the change that ended the conflict comes before the event conflict.aged.
    mine = turns.where("type = 'conflict.aged'").select(
        "trace", "node", "seq", "object", (F.col("turn") - 1).alias("turn")
    )
    since = mine.join(arisen, ["trace", "node", "object", "turn"]).drop("turn")
    return listed.where("what = 'aged'").join(since, ["trace", "node", "object", "seq"], "left")


def resolving_changes(events: Silver) -> DataFrame:
    """Return the changes that ended a conflict in the store that made them: trace, node, seq, at, object, number, supersedes,
    and versions (those of the conflict when it last arose there). Left out are conflicts that arose before the store was last
    started, because a backup may have brought them back."""
    ended = events.of("conflict.ended").select("trace", "node", "number").distinct()
    change_events = events.of("change.made").select(
        "trace", "node", "incarnation", "seq", "at", "object", "number", "supersedes"
    )
    arose = events.of("conflict.arose").select(
        "trace", "node", "incarnation", "object", F.col("seq").alias("arose_seq"), "versions"
    )
    pairs = change_events.join(F.broadcast(ended), ["trace", "node", "number"], "left_semi").join(
        F.broadcast(arose), ["trace", "node", "incarnation", "object"]
    )
    return (
        pairs.where("arose_seq < seq")
        .groupBy("trace", "node", "seq", "at", "object", "number")
        .agg(F.min("supersedes").alias("supersedes"), F.max_by("versions", "arose_seq").alias("versions"))
    )


def expected_statuses(listed: DataFrame, events: Silver) -> DataFrame:
    """Return the due statuses (`what` due) and begun replicas (`what` added) of folders with other holders. kept: the due
    status was sent at that instant, or the holders were asked for their status by until_at. This is a day later, or a day
    after the store runs again, and has an address again, if it was stopped or lost its address in that day. Left out are
    replicas that the store had to give up in this time, those whose store became the only holder, which has nobody to ask,
    and those whose store stopped for good or was deleted."""
    mails = listed.where("what = 'mail' and message_type = 16").select("trace", "node", "at", "folder").distinct()
    statuses = mails.withColumn("kept", F.lit(True))
    due = listed.where("what = 'due'").join(statuses, ["trace", "node", "at", "folder"], "left")
    asks = listed.where("what in ('responders', 'pending', 'dropped')").groupBy("trace", "node", "folder")
    requests = asks.agg(
        F.collect_set(F.when(F.col("what") == "responders", F.col("at"))).alias("asked"),
        F.collect_set(F.when(F.col("what") != "responders", F.col("at"))).alias("ends"),
    )
    added = listed.where("what = 'added'").join(requests, ["trace", "node", "folder"], "left")
    added = added.join(F.broadcast(_absences(events)), ["trace", "node"], "left")
    added = added.join(F.broadcast(_stopped_for_good(events)), ["trace", "node"], "left")
    later = f"case when a.back_at > at and a.left_at <= u then greatest(u, a.back_at + {DAY_US}) else u end"
    until_at = F.expr(f"aggregate(coalesce(absences, array()), at + {DAY_US}, (u, a) -> {later})")
    added = added.withColumn("until_at", until_at).where(
        "not exists(coalesce(ends, array()), d -> d between at and until_at) and not coalesce(alone_at <= until_at, false)"
        " and not coalesce(last_stop_at <= until_at, false)"
    )
    in_time = F.expr("exists(asked, a -> a between at and until_at)")
    both = due.withColumn("until_at", F.col("at")).unionByName(
        added.withColumn("kept", in_time).drop("asked", "ends", "absences", "last_stop_at")
    )
    ended = events.of("run.ended").groupBy("trace").agg(F.max("at").alias("ended_at"))
    deletions = once_deleted_stores(events).groupBy("trace").agg(F.collect_set("store").alias("gone"))
    others = both.join(F.broadcast(deletions), "trace", "left").where(
        "size(array_except(reached, coalesce(gone, array()))) > 1 and array_contains(reached, node)"
        " and (what = 'due' or not array_contains(coalesce(gone, array()), node))"
    )
    return others.drop("gone").join(F.broadcast(ended), "trace", "left")


def _absences(events: Silver) -> DataFrame:
    """Return trace, node, absences (back_at, left_at), in order: when the store started again, and its last event before that;
    and when it got an address again, and when it had lost it (ML-1)."""
    lives = events.events.groupBy("trace", "node", "incarnation").agg(
        F.min("at").alias("back_at"), F.max("at").alias("last_at")
    )
    left_at = F.lag("last_at").over(Window.partitionBy("trace", "node").orderBy("incarnation"))
    absences = lives.select("trace", "node", "back_at", left_at.alias("left_at")).where("left_at is not null")
    if events.has("address.missing"):
        stamps = events.of("address.stamped", "address.missing").where("store = node")
        later = Window.partitionBy("trace", "node").orderBy("seq").rowsBetween(1, Window.unboundedFollowing)
        stamped_at = F.min(F.when(F.col("type") == "address.stamped", F.col("at"))).over(later)
        never = F.lit(2**62)
        stamps = stamps.select(
            "trace", "node", "type", F.coalesce(stamped_at, never).alias("back_at"), F.col("at").alias("left_at")
        )
        absences = absences.unionByName(stamps.where("type = 'address.missing'").drop("type"))
    spans = F.array_sort(F.collect_list(F.struct("back_at", "left_at"))).alias("absences")
    return absences.groupBy("trace", "node").agg(spans)


def _stopped_for_good(events: Silver) -> DataFrame:
    """Return trace, node, last_stop_at: when a store stopped that did not start again."""
    ends = events.of("node.started", "node.stopped").groupBy("trace", "node")
    stop_at = F.when(F.col("type") == "node.stopped", F.col("at"))
    last = ends.agg(F.max_by(stop_at, F.struct("incarnation", "seq")).alias("last_stop_at"))
    return last.where("last_stop_at is not null")


def drops(listed: DataFrame, events: Silver, rows: DataFrame) -> DataFrame:
    """Return dropped tombstones (`what` tombstone) and dropped replicas (dropped): _CASE, what, object, number, modified_at (of
    a tombstone), holders, dead, others (how many other holders), unknown_to: the holders whose row at that time lacked
    the tombstone's number, or some number of the dropped replica."""
    versions = firsts(rows.where("act = 'made'"), "modified_at", "kind")
    counter = F.substring_index("number", ":", -1).cast("long")
    guid = F.expr(guid_of_kind("substring_index(number, ':', 1)", "kind"))
    number = F.struct(guid.alias("guid"), counter.alias("low"), counter.alias("high"))
    all_of = F.when(F.col("what") == "dropped", ranges("coalesce(had, '')")).otherwise(F.array(number))
    cases = listed.where("what in ('tombstone', 'dropped')").join(versions, ["trace", "number"], "left")
    other_store = F.explode_outer(F.expr("filter(holders, h -> h != node)")).alias("store")
    needs = cases.withColumn("all", all_of).select(
        *_CASE, "what", "object", "number", "modified_at", "holders", "dead", "all", other_store
    )
    few = F.broadcast(needs.select("trace", "node", "folder", "store").distinct())
    stated_rows = (
        events.of("row.replaced")
        .join(few, ["trace", "node", "folder", "store"], "left_semi")
        .select("trace", "node", "seq", "folder", "store", by_kind("cnset", "cnset_fai").alias("row"))
    )
    before = (
        Window.partitionBy("trace", "node", "folder", "store").orderBy("seq").rowsBetween(Window.unboundedPreceding, -1)
    )
    as_stated = needs.unionByName(stated_rows, allowMissingColumns=True).withColumn(
        "stated_row", F.coalesce(F.last("row", ignorenulls=True).over(before), F.expr(f"cast(array() as {RANGES})"))
    )
    # The event replica.dropped has the numbers of both kinds in one set.
    as_stated = as_stated.withColumn(
        "stated_row",
        F.when(F.col("what") == "dropped", F.expr(without_kind("stated_row"))).otherwise(F.col("stated_row")),
    )
    has = F.expr("forall(all, i -> exists(stated_row, r -> r.guid = i.guid and r.low <= i.low and i.high <= r.high))")
    return (
        as_stated.where("what is not null")
        .groupBy(*_CASE, "what", "object", "number", "modified_at", "holders", "dead")
        .agg(
            F.array_sort(F.collect_set(F.when(~has, F.col("store")))).alias("unknown_to"),
            F.count("store").alias("others"),
        )
    )


def topology_folders(org: Organization, column: str) -> DataFrame:
    """Return trace, folder and a column of the folder in the topology."""
    listed = org.genesis.join(F.broadcast(org.setup), "trace")
    return listed.select("trace", F.concat_ws(":", "guid", "n").alias("folder"), column)
