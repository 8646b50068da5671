"""Evidence tables for the checks. Each row is one case, with all columns that the checks of that table need.

Values that a node derived (costs, due times, missing changes) are in a table only to be checked. Nothing is computed
from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence import holders, presence, request_slots, source_selection, status_mails
from analytics.evidence import hops as hop_events
from analytics.evidence.agreement import lifecycles, statements
from analytics.evidence.agreement.node_facts import node_facts
from analytics.evidence.broadcasts import cycles
from analytics.evidence.claimed_sets import claims
from analytics.evidence.number_sets import ranges, ranges_of
from analytics.evidence.organization import Organization, node_states
from analytics.evidence.version_history import deleted_stores, firsts, pcl_map, restores
from analytics.ingest.silver import Silver
from analytics.ingest.tables import Tables

_SETTINGS: Final = (
    "settings map<string, string>, servers map<string, struct<version: string, settings: map<string, string>>>"
)


@dataclass(frozen=True, slots=True)
class Material:
    """The inputs of the evidence: events, histories (`rows`), objects (`things`), the organization, and tables that others
    need.

    restored: the stores (trace, node) that were restored. plain: the stores with the default settings. nodes: what is true of
    each store during the whole run (`node_facts`). candidates: the stores
    that could be asked for missing changes. listed: cases with the holders as the node knew them. node_states: the state of
    each node.
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


def material(tables: Tables, events: Silver, rows: DataFrame, things: DataFrame, org: Organization) -> Material:
    """Return the material. Tables that several other tables need are kept, so that Spark computes them once."""
    stores = {
        "restored": lambda: restores(events).select("trace", F.col("store").alias("node")),
        "plain": lambda: plain_stores(events).select("trace", F.col("store").alias("node")),
        "nodes": lambda: node_facts(events),
    }
    few = tables.keep_all("evidence", stores)
    if not events.has("backup.restored"):
        few["restored"] = few["restored"].limit(0)
    asked = {
        "candidates": lambda: source_selection.candidates(events, org, few["restored"]),
        "listed": lambda: holders.with_holders(holders.cases(events), events, rows, few["restored"]),
        "node_states": lambda: node_states(events, org, few["restored"]),
    }
    return Material(events, rows, things, org, **few, **tables.keep_all("evidence", asked))


def plain_stores(events: Silver) -> DataFrame:
    """Return trace, store: the stores with only default settings, to which the documented times apply. Stores of 5.5 have other
    times and are left out."""
    topologies = events.of("run.started").select("trace", F.from_json("topology", _SETTINGS).alias("t"))
    plain = topologies.where(F.coalesce(F.size("t.settings"), F.lit(0)) <= 0)
    stores = plain.select("trace", F.explode("t.servers").alias("store", "of"))
    stores = stores.where((F.coalesce(F.size("of.settings"), F.lit(0)) <= 0) & (F.col("of.version") != "5.5"))
    stores = stores.select("trace", "store")
    other = events.of("setting.value").where(F.col("value") != F.col("default"))
    return stores.join(other.select("trace", F.col("node").alias("store")).distinct(), ["trace", "store"], "left_anti")


def changes(events: Silver, history: DataFrame, org: Organization) -> DataFrame:
    """Return the changes made, each with the previous change under the same GUID, and with the versions that it replaced.
    author: the store that the GUID belongs to. stayed (of folders): the stores on the replica lists of the replaced versions,
    without deleted stores (RP-6)."""
    made = events.of("change.made").withColumn("guid", F.substring_index("number", ":", 1))
    made = made.withColumn("counter", F.substring_index("number", ":", -1).cast("long")).withColumn("list", pcl_map())
    own = Window.partitionBy("trace", "guid").orderBy("seq")
    rows = made.select(
        "trace", "node", "seq", "at", "folder", "object", "number", "guid", "counter", "list", "kind", "operation",
        "modified_at", "replicas", "subject", "supersedes", "digest",
        F.lag("counter").over(own).alias("before"),
        F.count(F.lit(1)).over(Window.partitionBy("trace", "number")).alias("same"),
    )  # fmt: skip
    older = made.select(
        "trace", F.col("number").alias("replaced"), F.col("modified_at").alias("m"), F.col("list").alias("l")
    )
    links = rows.select("trace", "node", "seq", F.explode("supersedes").alias("replaced"))
    pairs = F.array_sort(F.flatten(F.collect_list(F.map_entries("l"))))
    of = (
        links.join(older, ["trace", "replaced"])
        .groupBy("trace", "node", "seq")
        .agg(F.max("m").alias("replaced_at"), pairs.alias("replaced_lists"), F.count(F.lit(1)).alias("replaced_known"))
    )
    lists = firsts(history.where("act = 'made' and folder = '1-1'"), "replicas").withColumnRenamed("number", "replaced")
    deleted = deleted_stores(events).groupBy("trace").agg(F.collect_set("store").alias("deleted"))
    were = F.flatten(F.collect_list("replicas")).alias("were")
    stayed = (
        links.join(lists, ["trace", "replaced"]).groupBy("trace", "node", "seq").agg(were)
        .join(F.broadcast(deleted), "trace", "left")
        .select("trace", "node", "seq", F.expr("array_except(were, coalesce(deleted, array()))").alias("stayed"))
    )  # fmt: skip
    authors = org.guids.select("trace", "guid", F.col("store").alias("author"))
    rows = rows.join(F.broadcast(authors), ["trace", "guid"], "left")
    return rows.join(of, ["trace", "node", "seq"], "left").join(stayed, ["trace", "node", "seq"], "left")


def applied(events: Silver, rows: DataFrame) -> DataFrame:
    """Return the applied versions, each with the change that made it. deletions: the predecessor lists of all deletions of the
    object; null for other versions."""
    named = {
        "object": "made_object", "folder": "made_folder", "digest": "made_digest", "pcl": "made_pcl",
        "kind": "made_kind", "modified_at": "made_at", "deleted": "made_deleted", "store": "author",
    }  # fmt: skip
    made = firsts(rows.where("act = 'made'"), *named).withColumnsRenamed(named)
    versions = rows.where("act = 'applied' and seq > 0")
    deleted = rows.where("act = 'made' and deleted").groupBy("trace", "folder", "object")
    lists = deleted.agg(F.collect_list("pcl").alias("deletions")).withColumn("deleted", F.lit(True))
    found = versions.join(made, ["trace", "number"], "left")
    return found.join(lists, ["trace", "folder", "object", "deleted"], "left")


def at_stores(things: DataFrame) -> DataFrame:
    """Return trace, node, folder, object, kind, rows, at: the versions of an object that a store made or applied and has not
    lost since."""
    counts = "filter(rows, r -> r.seq > 0 and not r.undone and not r.dropped)"
    kept = things.select("trace", "folder", "object", "kind", F.expr(counts).alias("every"))
    stores = F.explode(F.expr("array_distinct(transform(every, r -> r.store))")).alias("node")
    mine = kept.select("*", stores).withColumn("rows", F.expr("filter(every, r -> r.store = node)"))
    return mine.drop("every").withColumn("at", F.expr("array_max(transform(rows, r -> r.at))"))


def sent(events: Silver) -> DataFrame:
    """Return the replication mails as submitted, with what each says about its folders, and when the store started."""
    mails = events.of("mail.submitted")
    plain = F.transform(
        "folders",
        lambda f: F.struct(
            f["folder"].alias("folder"), f["cnset"].alias("cnset"), f["row"].alias("row"),
            f["cnset_fai"].alias("cnset_fai"), f["row_fai"].alias("row_fai"), f["updates"].alias("updates"),
        ),
    )  # fmt: skip
    starts = events.of("node.started").groupBy("trace", "node", "incarnation").agg(F.max("at").alias("started_at"))
    return mails.withColumn("says", plain).join(F.broadcast(starts), ["trace", "node", "incarnation"], "left")


def received(events: Silver, nodes: DataFrame) -> DataFrame:
    """Return the replication mails as received, each with what its sender submitted. exact: both lab times are exact."""
    left = events.of("mail.submitted").select(
        "trace", "mail", F.col("node").alias("wrote"), F.col("folders").alias("wrote_folders"),
        F.col("number").alias("wrote_number"),
        F.col("message_type").alias("wrote_type"), F.col("at").alias("wrote_at"), F.col("lamport").alias("wrote_lamport"),
    )  # fmt: skip
    found = events.of("mail.received").join(left, ["trace", "mail"], "left")
    return _with_exact(found, nodes, {"node": "at", "wrote": "wrote_at"})


def _with_exact(rows: DataFrame, nodes: DataFrame, times: Mapping[str, str]) -> DataFrame:
    """Return the rows with exact: each of the stores named by a column had an exact clock at its lab time in another column."""
    found = rows.withColumn("exact", F.lit(True))
    for store, at in times.items():
        clocks = nodes.select("trace", F.col("node").alias(store), F.col("exact").alias("comparable"), "skews")
        wrong = f"exists(coalesce(skews, array()), s -> {at} between s.since and s.until)"
        right = F.expr(f"exact and coalesce(comparable and not {wrong}, false)")
        found = found.join(F.broadcast(clocks), ["trace", store], "left").withColumn("exact", right)
        found = found.drop("comparable", "skews")
    return found


def rows_replaced(events: Silver) -> DataFrame:
    """Return the rows that stores keep of other stores, each with what the other store said in that mail."""
    sent_rows = (
        events.of("mail.submitted")
        .select(
            "trace",
            "mail",
            F.col("node").alias("wrote"),
            F.col("number").alias("wrote_number"),
            F.explode("folders").alias("f"),
        )
        .select(
            "trace",
            "mail",
            "wrote",
            "wrote_number",
            F.col("f.folder").alias("folder"),
            F.col("f.row").alias("sent_row"),
            F.col("f.row_fai").alias("sent_row_fai"),
        )
    )
    found = events.of("row.replaced").join(sent_rows, ["trace", "mail", "folder"], "left")
    same = (F.col("cnset") == F.col("sent_row")) & (F.col("cnset_fai") == F.col("sent_row_fai"))
    its = (F.col("wrote") == F.col("store")) & (F.col("wrote_number") == F.col("sent_number"))
    return found.groupBy("trace", "node", "seq", "at", "folder", "store", "mail").agg(
        F.max(F.coalesce(same & its, F.lit(False))).alias("said_so")
    )


def hops(events: Silver, nodes: DataFrame) -> DataFrame:
    """Return trace, mail, node, next_hop, connector, copies, at, landed, arrived_at, exact, arrivals, given_up, last_at,
    links_at, named, cut, by_relay.

    landed: the next server has the mail, or a fault lost it there. arrived_at: when it first came there. exact: arrived_at and
    last_at are exact. arrivals: how often the mail came to this node, by a hop or because it was submitted there. given_up:
    the copies that never reached a next server, so that new copies took their recipients. links_at: when the node first learned
    that a link was down or up. named: how many of the mail's recipients are named by a fault; each of these recipients gets a
    copy of its own. cut: how often a transmission of the mail to this node failed. The mail may have arrived although the
    answer was lost, and then it is sent again. by_relay: a foreign relay accepted the mail.
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
    here = events.lines("hop.received", "hop.dropped", "mail.bad", "mail.submitted").groupBy("trace", "mail", "node").agg(
        arrivals, F.min(F.when(F.col("type") != "mail.submitted", F.col("at"))).alias("arrived_at")
    )  # fmt: skip
    landed = here.where("arrived_at is not null")
    landed = landed.select("trace", "mail", F.col("node").alias("next_hop"), "arrived_at", F.lit(True).alias("landed"))
    cut = (
        events.of("hop.failed")
        .groupBy("trace", "mail", F.col("next_hop").alias("node"))
        .agg(F.count(F.lit(1)).alias("cut"))
    )
    here = here.drop("arrived_at").join(cut, ["trace", "mail", "node"], "left")
    links = events.of("link.down", "link.up").groupBy("trace", "node").agg(F.min("at").alias("links_at"))
    found = hops_sent.join(landed, ["trace", "mail", "next_hop"], "left").join(here, ["trace", "mail", "node"], "left")
    found = found.join(F.broadcast(links), ["trace", "node"], "left")
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
    found = found.join(F.broadcast(named), ["trace", "mail"], "left")
    found = found.withColumn("landed", F.coalesce("landed", F.lit(False)))
    relays = F.broadcast(nodes.select("trace", "node", "relays"))
    by_relay = F.expr("coalesce(array_contains(relays, connector), false)")
    found = found.join(relays, ["trace", "node"], "left").withColumn("by_relay", by_relay).drop("relays")
    return _with_exact(found, nodes, {"node": "last_at", "next_hop": "arrived_at"})


def requests(m: Material) -> DataFrame:
    """Return the received backfill requests, each with the change numbers that it asks for and the answers to it."""
    asked = (
        m.events.of("mail.received")
        .where("message_type = 8")
        .groupBy("trace", "node", "mail")
        .agg(
            F.min("at").alias("at"),
            F.min("seq").alias("seq"),
            F.first("sender").alias("sender"),
            F.count(F.lit(1)).alias("times"),
            F.first("folders").alias("folders"),
        )
    )
    answers = (
        m.events.of("request.answered")
        .groupBy("trace", "node", F.col("request_mail").alias("mail"))
        .agg(F.count(F.lit(1)).alias("answers"), F.min("at").alias("answered_at"), F.first("cnset").alias("answer"))
    )
    refused = (
        m.events.of("request.refused")
        .groupBy("trace", "node", F.col("request_mail").alias("mail"))
        .agg(F.count(F.lit(1)).alias("refused"))
    )
    answers = answers.join(refused, ["trace", "node", "mail"], "full")
    # A restored store may have answered before, or answer again, so its answers cannot be judged.
    wanted = F.expr(f"flatten(transform(folders, f -> concat({ranges_of('f.cnset')}, {ranges_of('f.cnset_fai')})))")
    rows = asked.join(answers, ["trace", "node", "mail"], "left").join(
        F.broadcast(m.restored), ["trace", "node"], "left_anti"
    )
    return _with_node_state(rows, m).withColumn("wanted", wanted).withColumn("given", ranges("coalesce(answer, '')"))


def entries(m: Material) -> DataFrame:
    """Return when each backfill entry was made, timed out, requested, satisfied or pruned. found_at: when its changes were
    found missing; for a divided entry, when its parent was made. in_parts: its first request went to a source with a part
    of the numbers, and the rest had to wait. deleted: its store was deleted. Restored stores are left out."""
    choice = "sources.considered"
    tags = ("entry.made", "entry.timed_out", "entry.satisfied", "entry.pruned", "request.sent", "request.ended", choice)
    rows = m.events.lines(*tags)
    of = rows.join(F.broadcast(m.restored), ["trace", "node"], "left_anti").withColumn(
        "entry", F.col("entry").cast("long")
    )

    def when(tag: str, column: str) -> Column:
        return F.when(F.col("type") == tag, F.col(column))

    line = Window.partitionBy("trace", "node", "entry").orderBy("seq")
    of = of.withColumn("in_parts", F.last(when(choice, "one_by_one"), ignorenulls=True).over(line))
    lives = of.groupBy("trace", "node", "entry").agg(
        F.min(when("entry.made", "folder")).alias("folder"),
        F.min(when("entry.made", "at")).alias("at"),
        F.min(when("entry.made", "due_at")).alias("due_at"),
        F.max(when("entry.made", "local")).alias("local"),
        F.max(when("entry.made", "parent")).alias("parent"),
        F.min(when("entry.timed_out", "at")).alias("timed_out_at"),
        F.min(when("request.sent", "at")).alias("asked_at"),
        F.min_by(when("request.sent", "retry_at"), when("request.sent", "seq")).alias("retry_at"),
        F.coalesce(F.min_by(when("request.sent", "in_parts"), when("request.sent", "seq")), F.lit(False)).alias(
            "in_parts"
        ),
        F.count_if(F.col("type") == "request.sent").alias("asked"),
        F.count_if(F.col("type") == "request.ended").alias("ended"),
        F.max(F.col("type").isin("entry.satisfied", "entry.pruned")).alias("over"),
    )
    root = F.when(F.col("parent") > 0, F.col("parent")).otherwise(F.col("entry"))
    lives = lives.withColumn("found_at", F.min("at").over(Window.partitionBy("trace", "node", root)))
    deleted = deleted_stores(m.events).select("trace", F.col("store").alias("node"), F.lit(True).alias("deleted"))
    lives = lives.join(F.broadcast(deleted), ["trace", "node"], "left")
    return _with_plain(lives.withColumn("deleted", F.coalesce("deleted", F.lit(False))), m)


def decisions(events: Silver) -> DataFrame:
    """Return the choices of backfill sources and of responders, each with its candidates in order."""
    return events.of("sources.considered", "responders.considered")


def conflicts(events: Silver) -> DataFrame:
    """Return the conflicts as a store saw them, each with the last writer of its versions."""
    seen = events.of("conflict.arose").select(
        "trace", "node", "seq", "at", "folder", "object", "winner", F.explode("versions").alias("number")
    )
    made = events.of("change.made").select(
        "trace",
        "number",
        "modified_at",
        F.substring_index("number", ":", 1).alias("guid"),
        F.substring_index("number", ":", -1).cast("long").alias("counter"),
        F.col("object").alias("of_object"),
    )
    last = F.max_by("number", F.struct("modified_at", "guid", "counter"))
    return (
        seen.join(made, ["trace", "number"], "left")
        .groupBy("trace", "node", "seq", "at", "folder", "object", "winner")
        .agg(last.alias("last_writer"), F.count("modified_at").alias("known"), F.count(F.lit(1)).alias("versions"))
    )


def clocks(events: Silver) -> DataFrame:
    """Return the times of each event, and the times of the previous event on the same node (`at_before` and so on).

    Between the two is an event of an unknown type if `seq` is more than `seq_before` + 1.
    """
    line = Window.partitionBy("trace", "node").orderBy("seq")
    heads = events.events.select("trace", "node", "seq", "at", "lamport", "type")
    return heads.withColumns({f"{name}_before": F.lag(name).over(line) for name in ("seq", "at", "lamport")})


def deferred(m: Material) -> DataFrame:
    """Return the deferred versions of stores with the default settings."""
    return m.events.of("version.held").join(F.broadcast(m.plain), ["trace", "node"], "left_semi")


def _with_plain(rows: DataFrame, m: Material) -> DataFrame:
    known = F.broadcast(m.plain.withColumn("plain", F.lit(True)))
    return rows.join(known, ["trace", "node"], "left").withColumn("plain", F.coalesce("plain", F.lit(False)))


def _with_punctual(rows: DataFrame, m: Material) -> DataFrame:
    """Return the rows with punctual: no fault made the store late at that time."""
    known = rows.join(F.broadcast(m.nodes.select("trace", "node", "hindered")), ["trace", "node"], "left")
    late = F.expr("exists(coalesce(hindered, array()), f -> at between f.since and f.until)")
    return known.withColumn("punctual", ~late).drop("hindered")


def _with_node_state(rows: DataFrame, m: Material) -> DataFrame:
    return rows.join(F.broadcast(m.node_states), ["trace", "node"], "left")


TABLES: Final[Mapping[str, Callable[[Material], DataFrame]]] = {
    "changes": lambda m: changes(m.events, m.rows, m.org),
    "applied": lambda m: applied(m.events, m.rows),
    "at_stores": lambda m: at_stores(m.things),
    "claims": lambda m: claims(m.events, m.things, m.restored),
    "candidates": lambda m: m.candidates.where("what = 'choice'"),
    "entries_made": lambda m: source_selection.entries_made(m.events, m.org, m.candidates),
    "requests_made": lambda m: source_selection.requests_made(m.events, m.candidates),
    "turns": lambda m: source_selection.turns(m.events, m.org, m.candidates),
    "marks_down": lambda m: source_selection.marks_down(m.events),
    "mailed_folders": lambda m: _with_punctual(_with_plain(holders.mailed_folders(m.listed, m.events, m.org), m), m),
    "responders": lambda m: m.listed.where("what = 'responders'"),
    "notices": lambda m: _with_plain(holders.notices(m.listed, m.org), m),
    "resolutions": lambda m: holders.resolutions(m.listed, m.org),
    "resolving_changes": lambda m: holders.resolving_changes(m.events),
    "aged_conflicts": lambda m: holders.aged_conflicts(m.listed, m.events),
    "recoveries": lambda m: presence.recoveries(m.events),
    "drops": lambda m: _with_plain(holders.drops(m.listed, m.events, m.rows), m),
    "expected_statuses": lambda m: holders.expected_statuses(m.listed, m.events),
    "sent": lambda m: _with_node_state(_with_punctual(_with_plain(sent(m.events), m), m), m),
    "received": lambda m: _with_node_state(received(m.events, m.nodes), m),
    "rows_replaced": lambda m: rows_replaced(m.events),
    "hops": lambda m: hops(m.events, m.nodes),
    "requests": requests,
    "entries": entries,
    "decisions": lambda m: decisions(m.events),
    "statuses": lambda m: _with_punctual(_with_plain(status_mails.statuses(m.events, m.listed), m), m),
    "repeats": lambda m: _with_plain(status_mails.repeats(m.events, m.listed), m),
    "new_stores": lambda m: status_mails.new_stores(m.events, m.listed, m.org),
    "nightly_statuses": lambda m: _with_punctual(status_mails.nightly_statuses(m.events, m.listed), m),
    "status_claims": lambda m: status_mails.status_claims(m.events, m.listed, m.things),
    "cycles": lambda m: _with_plain(cycles(m.events, m.listed, m.org), m),
    "slots": lambda m: _with_node_state(_with_plain(request_slots.slots(m.events, m.node_states, m.restored), m), m),
    "attempts": lambda m: _with_plain(hop_events.attempts(m.events), m),
    "overtakings": lambda m: hop_events.overtakings(m.events, m.listed, holders.topology_folders(m.org, "priority")),
    "ordinary_mails": lambda m: hop_events.ordinary_mails(m.events),
    "posts": lambda m: hop_events.posts(m.events),
    "unknown_peers": lambda m: hop_events.unknown_peers(m.events),
    "presence": lambda m: presence.presence(m.rows, m.restored),
    "shown_folders": lambda m: presence.shown_folders(m.events, m.rows, m.restored),
    "deletions": lambda m: presence.deletions(m.events, m.rows),
    "deleted_stores": lambda m: presence.removed_stores(m.events, m.rows, m.restored),
    "conflicts": lambda m: conflicts(m.events),
    "clocks": lambda m: clocks(m.events),
    "steps": lambda m: lifecycles.steps(m.events, m.nodes),
    "facts": lambda m: statements.facts(m.events, m.rows, m.nodes),
    "deferred": deferred,
}
"""Table name to the function that computes it."""

_PARTS: Final = 8
PARTS: Final = tuple(frozenset(sorted(TABLES)[part::_PARTS]) for part in range(_PARTS))
"""The tables whose checks run in one Spark job: few enough for a small plan, and enough to keep the number of jobs small."""
