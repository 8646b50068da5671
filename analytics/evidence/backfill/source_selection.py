"""Choices of backfill sources, computed again from the state tables of that time (BF-1 to BF-4): what each candidate
had, what it cost, and whether it was down.

The event of a choice gives only the candidates, which of them have no address, and the missing changes. The row of a
candidate is the row in the last mail that arrived from the candidate. Its cost is the cost of the route in the
organization as the store had read it (RT-6). It is down if the time-out of a request to it ended and no newer mail has
arrived from it since.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.conditions import SORTED_LIST, unreached
from analytics.evidence.number_sets import RANGES, merged
from analytics.evidence.organization import HIERARCHY, Organization
from analytics.evidence.set_columns import by_kind
from analytics.ingest.silver import Silver

WEIGHING: Final = 64
"""How many mails the mean transmission time uses: an older mail adds less than a millisecond to a mean of a day."""

PREFERRED: Final = "Preferred Backfill Source"
_ASKING: Final = ("trace", "node", "seq", "at", "folder", "entry", "what")


def candidates(events: Silver, org: Organization, restored: DataFrame) -> DataFrame:
    """Return a row for each candidate of a choice (`what` choice), and for each store of the site when an entry is made
    (entry): _ASKING, method, store, place, stated, row, stale, claim, unsure, down, asked_at, transit, cost, affinity,
    version, preferred, leaving.

    place: in the node's order, from 1. stated: what the node recorded: down, preferred, cost, version, has,
    passed_over, ... row: ranges by kind; null if none arrived or it is stale. expired: ranges by kind of what the store
    said to have expired there. stale: a new replica list arrived after the row. claim, unsure: like row and stale, but
    for what the store last claimed, in a row or when it left the list (RP-2). asked_at: when it was last asked, or when
    the first of the six steps listed it; null for never. transit: its mean transmission time; null if no mail arrived.
    leaving: what it said when it left the list is newer than its row.
    """
    needs = _asked(events, org, restored)
    pairs = F.broadcast(needs.select("trace", "node", "store").distinct())
    known_rows = _known(events, pairs)
    lists = _lists(events).join(
        F.broadcast(needs.select("trace", "folder").distinct()), ["trace", "folder"], "left_semi"
    )
    every = needs
    for rows in (known_rows, lists, _preferred(events), _revisions(events)):
        every = every.unionByName(rows, allowMissingColumns=True)

    def before(*of: str) -> WindowSpec:
        return Window.partitionBy(*of).orderBy("seq").rowsBetween(Window.unboundedPreceding, -1)

    def last(column: str, *of: str) -> Column:
        return F.last(column, ignorenulls=True).over(before("trace", "node", *of))

    every = every.withColumn("life", F.expr(_LIFE))
    with_state = every.withColumn("prefers", last("prefers")["store"])
    with_state = with_state.withColumn("revision", F.coalesce(last("revision"), F.lit(0)))
    with_state = with_state.withColumn("listed_seq", last("listed_seq", "folder"))
    with_state = with_state.withColumn("down", F.coalesce(last("marked", "store", "life"), F.lit(False)))
    with_state = with_state.withColumn("asked_at", last("asked", "store", "life")).drop("asked")
    with_state = with_state.withColumn("transit", last("mean", "store", "life")).drop("mean")
    with_state = with_state.withColumn("latest", last("latest", "store", "life", "folder"))
    with_state = with_state.withColumn("said", last("said", "store", "life", "folder"))
    all_expired = F.flatten(F.collect_list("expired").over(before("trace", "node", "store", "life", "folder")))
    with_state = with_state.withColumn("expired", all_expired)
    with_state = with_state.where("what is not null")
    # A new list drops the rows of stores that left. Which stores left, and their last mails, are not examined.
    newest = F.greatest(F.col("latest"), F.col("said"))  # by seq
    is_leaving = F.col("said.seq").isNotNull() & (newest["seq"] == F.col("said.seq"))
    with_state = with_state.withColumn("leaving", is_leaving)
    for column, latest, old in (("row", F.col("latest"), "stale"), ("claim", newest, "unsure")):
        is_old = F.coalesce(latest["seq"] < F.col("listed_seq"), F.lit(False))
        with_state = with_state.withColumn(old, is_old).withColumn(column, F.when(~is_old, latest["row"]))
    with_state = with_state.drop("latest", "said", "deletion", "life")
    costs = F.broadcast(org.costs.select("trace", "revision", "node", "store", "cost", "affinity"))
    versions = F.broadcast(org.members.select("trace", "revision", "store", "version", "site"))
    homes = F.broadcast(org.servers.select("trace", F.col("store").alias("node"), F.col("site").alias("home")))
    result = with_state.join(costs, ["trace", "revision", "node", "store"], "left")
    result = result.join(versions, ["trace", "revision", "store"], "left").join(homes, ["trace", "node"])
    result = result.where("what = 'choice' or site = home").drop("marked", "revision", "home")
    return result.withColumn("preferred", F.coalesce(F.col("store") == F.col("prefers"), F.lit(False)))


def _asked(events: Silver, org: Organization, restored: DataFrame) -> DataFrame:
    """Return which store's row is needed at which event. Restored stores are left out, because the trace lacks what they
    know."""
    what, candidate = F.lit("choice").alias("what"), F.posexplode("candidates").alias("place", "stated")
    choices = events.of("sources.considered")
    choices = choices.select("trace", "node", "seq", "at", "folder", "entry", "method", what, candidate)
    choices = choices.withColumn("store", F.col("stated.store"))
    entries = events.of("entry.made").select(
        "trace",
        "node",
        "seq",
        "at",
        "folder",
        "entry",
        F.lit("entry").alias("what"),
    )
    sites = org.members.select("trace", "store", "site").distinct()
    mates = sites.join(sites.withColumnRenamed("store", "node"), ["trace", "site"]).where("store != node")
    near = entries.join(F.broadcast(mates.drop("site").distinct()), ["trace", "node"])
    return choices.unionByName(near, allowMissingColumns=True).join(
        F.broadcast(restored), ["trace", "node"], "left_anti"
    )


_LIFE: Final = "count(deletion) over (partition by trace, node, store order by seq)"
"""How often a node had found a store deleted: a store that is created under its name is another one (RP-7)."""


def _known(events: Silver, pairs: DataFrame) -> DataFrame:
    """Return what a node learned about a store, for these `pairs`: its row (latest), what it said when it left (said), that it
    was deleted (deletion), that it is down or up again (marked), its mean transmission time (mean), and when the node asked it
    (asked)."""
    rows = events.of("row.replaced").select(
        "trace",
        "node",
        "seq",
        "store",
        "folder",
        F.struct("seq", by_kind("cnset", "cnset_fai").alias("row")).alias("latest"),
    )
    down = events.of("source.down").select("trace", "node", "seq", "store", F.lit(True).alias("marked"))
    up = events.of("mail.received").select(
        "trace", "node", "seq", "at", "mail", F.col("sender").alias("store"), F.lit(False).alias("marked")
    )

    def of_pairs(events_of: DataFrame) -> DataFrame:
        return events_of.join(pairs, ["trace", "node", "store"], "left_semi")

    every = of_pairs(rows)
    deleted = events.of("store.deleted").select("trace", "node", "seq", "store", F.lit(True).alias("deletion"))
    mails = (
        of_pairs(down),
        _means(of_pairs(up), of_pairs(deleted), events),
        of_pairs(_turns(events)),
        of_pairs(_expired(events)),
    )
    for more in (*mails, of_pairs(_leavers(events)), of_pairs(deleted)):
        every = every.unionByName(more, allowMissingColumns=True)
    return every


def _leavers(events: Silver) -> DataFrame:
    """Return what stores that left a replica list said that they have (RP-2): nothing, once the node has answered them or they
    have no replica any more."""
    is_leaving = "array_contains(marks, 'delete-pending')"
    store, left, folder = (
        F.col("sender").alias("store"),
        F.expr(is_leaving).alias("left"),
        F.explode("folders").alias("f"),
    )
    came = events.of("mail.received").where(f"{is_leaving} or array_contains(marks, 'no replica')")
    came = came.select("trace", "node", "seq", store, left, folder)
    store = F.regexp_replace("to", r"(-IS)?@.*$", "").alias("store")
    went = (
        events.of("mail.submitted")
        .where("array_contains(marks, 'retained')")
        .select("trace", "node", "seq", F.explode("recipients").alias("to"), "folders")
        .select("trace", "node", "seq", store, F.lit(False).alias("left"), F.explode("folders").alias("f"))
    )
    row = F.when(F.col("left"), by_kind("f.row", "f.row_fai")).otherwise(F.expr(f"cast(array() as {RANGES})"))
    return came.unionByName(went).select(
        "trace",
        "node",
        "seq",
        "store",
        F.col("f.folder").alias("folder"),
        F.struct("seq", row.alias("row")).alias("said"),
    )


def _expired(events: Silver) -> DataFrame:
    """Return what stores said to have expired there (DL-3)."""
    expiries = events.of("mail.received").select(
        "trace", "node", "seq", F.col("sender").alias("store"), F.explode("folders").alias("f")
    )
    return expiries.where("f.expired != '' or f.expired_fai != ''").select(
        "trace",
        "node",
        "seq",
        "store",
        F.col("f.folder").alias("folder"),
        by_kind("f.expired", "f.expired_fai").alias("expired"),
    )


def _means(mails: DataFrame, deleted: DataFrame, events: Silver) -> DataFrame:
    """Return `mails` with mean: the running mean of the transmission times up to this mail, in which the newest time has a
    weight of one quarter. For a mail that a later one has overtaken, mean and marked are null: such a mail is not counted
    (RT-3), and does not mark its sender up, because anyone can send an old mail again (BF-4, ML-6).

    Only the last WEIGHING mails are used.
    """
    submissions = events.of("mail.submitted").select("trace", "mail", F.col("at").alias("sent_at"))
    of_lives = (
        mails.unionByName(deleted, allowMissingColumns=True).withColumn("life", F.expr(_LIFE)).where("deletion is null")
    )
    both = of_lives.join(submissions, ["trace", "mail"], "left")
    pair = Window.partitionBy("trace", "node", "store", "life").orderBy("seq")
    latest = F.max("sent_at").over(pair.rowsBetween(Window.unboundedPreceding, -1))
    news = both.withColumn("news", F.coalesce(F.col("sent_at") > latest, F.lit(True)))
    line = Window.partitionBy("trace", "node", "store", "life", "news").orderBy("seq").rowsBetween(-WEIGHING, 0)
    took = F.greatest(F.col("at") - F.col("sent_at"), F.lit(0))
    mean = "aggregate(slice(tooks, 2, size(tooks)), tooks[0], (a, t) -> a + cast(floor((t - a) / 4) as bigint))"
    weighed = news.withColumn("tooks", F.collect_list(took).over(line))
    means = weighed.withColumns(
        {"mean": F.when(F.col("news"), F.expr(mean)), "marked": F.when(F.col("news"), F.col("marked"))}
    )
    return means.select("trace", "node", "seq", "store", "marked", "mean")


def _turns(events: Silver) -> DataFrame:
    """Return when a node asked a store, by a request or in the first of the six steps for responders (BF-9, ST-4). The store
    then goes to the end of the queue."""
    requests = events.of("request.sent").select(
        "trace", "node", "seq", F.col("source").alias("store"), F.col("at").alias("asked")
    )
    first = F.explode(F.expr("filter(candidates, c -> c.group = 1)")).alias("c")
    listed = events.of("responders.considered").where("method = 'six steps'")
    listed = listed.select("trace", "node", "seq", first, F.col("at").alias("asked"))
    return requests.unionByName(listed.select("trace", "node", "seq", F.col("c.store").alias("store"), "asked"))


def _lists(events: Silver) -> DataFrame:
    """Return when a node got a new version of a folder, which may have a new replica list."""
    versions = events.of("change.made", "version.applied").where(F.col("folder") == HIERARCHY)
    return versions.select("trace", "node", "seq", F.col("object").alias("folder"), F.col("seq").alias("listed_seq"))


def _preferred(events: Silver) -> DataFrame:
    """Return when a node reads its preferred source (BF-7): trace, node, seq, prefers (struct of store).

    A start reads the setting, and an event follows only if it has a value. A directory setting is read again when it changes.
    """
    values = events.of("setting.value").where(F.col("name") == PREFERRED)
    readings = values.select("trace", "node", "seq", F.col("value").alias("store"))
    starts = events.of("node.started").select("trace", "node", "seq", F.lit(None).cast("string").alias("store"))
    return starts.unionByName(readings).select("trace", "node", "seq", F.struct("store").alias("prefers"))


def _revisions(events: Silver) -> DataFrame:
    """Return when a node reads a change of the organization (RT-6)."""
    return events.of("organization.read").select("trace", "node", "seq", "revision")


def entries_made(events: Silver, org: Organization, candidate_rows: DataFrame) -> DataFrame:
    """Return trace, node, at, folder, entry, local (as the node recorded it), near (ranges: what the stores of the site claim),
    missing (ranges), stale (it is unknown what one of these stores claims)."""
    entries = events.of("entry.made").select(
        "trace", "node", "seq", "entry", "local", by_kind("cnset", "cnset_fai").alias("missing")
    )
    rows = candidate_rows.where("what = 'entry'").join(entries, ["trace", "node", "seq", "entry"])
    by_entry = rows.groupBy("trace", "node", "seq", "at", "folder", "entry", "local").agg(
        F.min("missing").alias("missing"),
        F.flatten(F.collect_list(F.coalesce("claim", F.array().cast(RANGES)))).alias("claims"),
        F.max("unsure").alias("stale"),
    )
    return by_entry.withColumn("near", F.expr(merged("claims"))).drop("claims")


def requests_made(events: Silver, candidate_rows: DataFrame) -> DataFrame:
    """Return trace, node, at, folder, entry, source, asked (ranges), row (of the source), sorted (the choice used the sorted
    list), better (the earlier candidates that have some of `asked`: in their row, and not
    expired there), claimed (the row has all of `asked`), leaving (the source left the replica list, and what it claims is
    known), held (the holders that are up, have an address and some of `asked`).
    """
    requests = events.of("request.sent").select(
        "trace",
        "node",
        F.col("seq").alias("sent_seq"),
        "at",
        "entry",
        "source",
        by_kind("cnset", "cnset_fai").alias("asked"),
    )
    ahead = F.struct(
        F.col("down"),
        F.col("leaving"),
        (~F.col("preferred")).alias("not_preferred"),
        F.coalesce("cost", F.lit(2**31).cast("bigint")).alias("cost"),
        (-F.col("version").cast("double")).alias("newest"),
    )
    passable = ~F.expr(unreached("stated.passed_over"))
    sorted_lists = F.broadcast(
        events.of("sources.considered").where(SORTED_LIST).select("trace", "node", "seq", F.lit(True).alias("sorted"))
    )
    choices = (
        candidate_rows.where("what = 'choice'")
        .groupBy("trace", "node", "seq", "at", "folder", "entry")
        .agg(
            F.collect_list(
                F.struct("store", "row", "expired", "leaving", "unsure", ahead.alias("key"), passable.alias("passable"))
            ).alias("every")
        )
    )
    # A request belongs to the last choice for its entry at that instant.
    both = requests.join(choices, ["trace", "node", "at", "entry"]).where("sent_seq > seq")
    latest = F.max("seq").over(Window.partitionBy("trace", "node", "sent_seq"))
    both = both.withColumn("latest", latest).where("seq = latest").drop("latest")
    both = both.join(sorted_lists, ["trace", "node", "seq"], "left").withColumn("sorted", F.col("sorted").isNotNull())
    mine = F.expr("filter(every, c -> c.store = source)[0]")
    own = both.withColumn("mine", mine)
    has_some = _shares("asked", "coalesce(c.row, array())", but=merged("coalesce(c.expired, array())"))
    better, held = (
        F.expr(f"transform(filter(every, c -> c.passable and {which} and {has_some}), c -> c.store)")
        for which in ("c.key < mine.key", "not c.leaving and not c.key.down")
    )
    row, leaving = F.col("mine.row").alias("row"), F.expr("mine.leaving and not mine.unsure").alias("leaving")
    judged = (
        better.alias("better"),
        held.alias("held"),
        leaving,
        F.expr(_within("asked", "mine.row")).alias("claimed"),
    )
    return own.select("trace", "node", "at", "folder", "entry", "source", "asked", row, "sorted", *judged)


def marks_down(events: Silver) -> DataFrame:
    """Return trace, node, at, store, overdue: for each mark, whether the retry time of a request to that store had passed."""
    downs = events.of("source.down").select("trace", "node", "seq", "at", "store", F.lit("down").alias("what"))
    asks = events.of("request.sent").select(
        "trace", "node", "seq", "at", F.col("source").alias("store"), F.lit("ask").alias("what"), "retry_at"
    )
    pairs = asks.join(
        F.broadcast(downs.select("trace", "node", "store").distinct()), ["trace", "node", "store"], "left_semi"
    )
    grouped = (
        pairs.unionByName(downs, allowMissingColumns=True)
        .groupBy("trace", "node", "store")
        .agg(F.collect_list(F.struct("seq", "at", "what", "retry_at")).alias("all"))
    )
    mark = F.explode(F.expr("filter(all, d -> d.what = 'down')")).alias("mark")
    overdue = F.expr("exists(all, a -> a.what = 'ask' and a.seq < mark.seq and a.retry_at <= mark.at)")
    return grouped.select("*", mark).select(
        "trace", "node", "store", F.col("mark.at").alias("at"), overdue.alias("overdue")
    )


def _within(inner: str, outer: str) -> str:
    return f"forall({inner}, i -> exists({outer}, o -> o.guid = i.guid and o.low <= i.low and i.high <= o.high))"


def _shares(first: str, second: str, but: str) -> str:
    """Return SQL for whether two sets have a number in common that a third set, whose ranges are merged, does not have."""
    out = f"exists({but}, b -> b.guid = i.guid and b.low <= greatest(i.low, o.low) and least(i.high, o.high) <= b.high)"
    return f"exists({first}, i -> exists({second}, o -> o.guid = i.guid and o.low <= i.high and i.low <= o.high and not {out}))"


def turns(events: Silver, org: Organization, candidate_rows: DataFrame) -> DataFrame:
    """Return the choices by 2000's six groups in which a candidate that is up has all missing changes: trace, node, at, folder,
    entry, chosen, first (the first of these candidates, by group, then oldest last request, affinity or transmission time).

    Choices with an unknown row and runs in which items expire are left out, because a source's row lacks expired items.
    """
    missing = by_kind("coalesce(missing, '')", "coalesce(missing_fai, '')").alias("missing")
    choices = events.of("sources.considered").where("method = 'six groups'")
    choices = choices.select("trace", "node", "seq", "entry", missing, F.col("chosen")[0].alias("chosen"))
    choices = choices.join(F.broadcast(events.of("item.expired").select("trace").distinct()), "trace", "left_anti")
    homes = F.broadcast(org.servers.select("trace", F.col("store").alias("node"), F.col("site").alias("home")))
    every = candidate_rows.where("what = 'choice' and method = 'six groups'").join(homes, ["trace", "node"])
    every = every.join(choices, ["trace", "node", "seq", "entry"])
    kind = F.when(F.col("site") == F.col("home"), 1).when(F.col("affinity").isNotNull(), 2).otherwise(3)
    group = kind + F.when(F.col("version") == "5.5", 3).otherwise(0)
    far = F.coalesce("affinity", "transit", F.lit(2**62))
    order = F.when(F.col("site") == F.col("home"), F.coalesce("asked_at", F.lit(0))).otherwise(far)
    full = ~F.col("down") & F.expr(_within("missing", "coalesce(row, array())"))
    full = full & ~F.expr(unreached("stated.passed_over"))
    key = F.struct(group.alias("group"), order.alias("order"))
    grouped = every.groupBy("trace", "node", "seq", "at", "folder", "entry", "chosen").agg(
        F.collect_list(F.when(full, F.struct(key.alias("key"), "store"))).alias("fit"), F.max("stale").alias("stale")
    )
    first = F.expr("transform(filter(fit, f -> f.key = array_min(transform(fit, g -> g.key))), f -> f.store)")
    return grouped.where("not stale and size(fit) > 0").withColumn("first", first).drop("fit", "stale")
