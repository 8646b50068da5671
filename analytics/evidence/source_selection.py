"""Choices of backfill sources, computed independently from the state tables at that time (BF-1 to BF-4): what each candidate
had, at which cost, and whether it was down.

Of the trace of a choice only the names of the candidates are used. The row of a candidate is the last that came from it. Its
cost is that of the route in the topology. It is down if its time-out ended and no mail came from it since.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.number_sets import by_kind
from analytics.evidence.organization import HIERARCHY, Organization
from analytics.ingest.silver import Silver

SORTED_LIST: Final = "coalesce(method, '') in ('', 'sorted list')"
"""Choices by the list of 2003 and 2007; traces before 1.3 have no others."""

WEIGHING: Final = 64
"""Mails after which one counts for less than a millisecond in the mean of a day."""

PREFERRED: Final = "Preferred Backfill Source"
_ASKING: Final = ("trace", "node", "seq", "at", "folder", "entry", "what")


def candidates(events: Silver, org: Organization, restored: DataFrame) -> DataFrame:
    """A row for each store that could be asked at a choice (`what` choice), and each of the site as an entry was made (entry):

    _ASKING, method, store, place (in the node's order, from 1), told (the node's own words: down, preferred, cost, version,
    has, passed_over, ...), row (by kind, null where none came or it is stale), stale (another list came since), down, asked_at
    (when a request last went to it, or the first of the six steps listed it; null for never), transit (the mean of how long
    its mails took, null where none came), cost, affinity, version, preferred.
    """
    asked = _asked(events, org, restored)
    few = F.broadcast(asked.select("trace", "node", "store").distinct())
    known = _known(events, few)
    lists = _lists(events).join(
        F.broadcast(asked.select("trace", "folder").distinct()), ["trace", "folder"], "left_semi"
    )
    every = asked.unionByName(known, allowMissingColumns=True).unionByName(lists, allowMissingColumns=True)

    def before(*of: str) -> WindowSpec:
        return Window.partitionBy(*of).orderBy("seq").rowsBetween(Window.unboundedPreceding, -1)

    def last(column: str, *of: str) -> Column:
        return F.last(column, ignorenulls=True).over(before("trace", "node", *of))

    as_stood = every.withColumn("listed_seq", last("listed_seq", "folder"))
    as_stood = as_stood.withColumn("down", F.coalesce(last("marked", "store"), F.lit(False)))
    as_stood = as_stood.withColumn("asked_at", last("asked", "store")).drop("asked")
    as_stood = as_stood.withColumn("transit", last("mean", "store")).drop("mean")
    as_stood = as_stood.withColumn("came", last("came", "store", "folder")).where("what is not null")
    # A new list drops the rows of those who left; which of them it was, and what they said on leaving, is not looked at.
    stale = F.coalesce(F.col("came.seq") < F.col("listed_seq"), F.lit(False))
    as_stood = as_stood.withColumn("stale", stale).withColumn("row", F.when(~stale, F.col("came.row"))).drop("came")
    costs = F.broadcast(org.costs.select("trace", "node", "store", "cost", "affinity"))
    versions = F.broadcast(org.servers.select("trace", "store", "version", "site"))
    found = as_stood.join(costs, ["trace", "node", "store"], "left").join(versions, ["trace", "store"], "left")
    found = found.join(F.broadcast(_preferred(events)), ["trace", "node"], "left")
    return found.withColumn("preferred", F.coalesce(F.col("store") == F.col("prefers"), F.lit(False))).drop("marked")


def _asked(events: Silver, org: Organization, restored: DataFrame) -> DataFrame:
    """The questions: whose row, at which event. Stores that went back to a backup ask for what the trace no longer shows."""
    choices = events.of("sources.considered").select(
        "trace", "node", "seq", "at", "folder", "entry", "method", F.lit("choice").alias("what"),
        F.posexplode("candidates").alias("place", "told"),
    ).withColumn("store", F.col("told.store"))  # fmt: skip
    made = events.of("entry.made").select(
        "trace", "node", "seq", "at", "folder", "entry", F.lit("entry").alias("what"),
    )  # fmt: skip
    sites = org.servers.select("trace", "store", "site")
    mates = sites.join(sites.withColumnRenamed("store", "node"), ["trace", "site"]).where("store != node")
    near = made.join(F.broadcast(mates.drop("site")), ["trace", "node"])
    return choices.unionByName(near, allowMissingColumns=True).join(
        F.broadcast(restored), ["trace", "node"], "left_anti"
    )


def _known(events: Silver, few: DataFrame) -> DataFrame:
    """What a node learnt of a store of these `few`: a row of it, or that it is down (marked) or up again, how long its mails
    take (mean); and when it turned to it (asked)."""
    rows = events.of("row.replaced").select(
        "trace", "node", "seq", "store", "folder",
        F.struct("seq", by_kind("cnset", "cnset_fai").alias("row")).alias("came"),
    )  # fmt: skip
    down = events.of("source.down").select("trace", "node", "seq", "store", F.lit(True).alias("marked"))
    up = events.of("mail.received").select(
        "trace", "node", "seq", "at", "mail", F.col("sender").alias("store"), F.lit(False).alias("marked")
    )

    def of_few(told: DataFrame) -> DataFrame:
        return told.join(few, ["trace", "node", "store"], "left_semi")

    every = of_few(rows)
    for more in (of_few(down), _means(of_few(up), events), of_few(_turns(events))):
        every = every.unionByName(more, allowMissingColumns=True)
    return every


def _means(came: DataFrame, events: Silver) -> DataFrame:
    """`came` with mean: the running mean, newest weighted a quarter, of how long the store's mails took, after this one; null
    after one that was overtaken, for it says nothing new (RT-3).

    Of the mails before only so many are looked at as still weigh anything.
    """
    sent = events.of("mail.submitted").select("trace", "mail", F.col("at").alias("sent_at"))
    both = came.join(sent, ["trace", "mail"], "left")
    pair = Window.partitionBy("trace", "node", "store").orderBy("seq")
    latest = F.max("sent_at").over(pair.rowsBetween(Window.unboundedPreceding, -1))
    news = both.withColumn("news", F.coalesce(F.col("sent_at") > latest, F.lit(True)))
    line = Window.partitionBy("trace", "node", "store", "news").orderBy("seq").rowsBetween(-WEIGHING, 0)
    took = F.greatest(F.col("at") - F.col("sent_at"), F.lit(0))
    mean = "aggregate(slice(tooks, 2, size(tooks)), tooks[0], (a, t) -> a + cast(floor((t - a) / 4) as bigint))"
    weighed = news.withColumn("tooks", F.collect_list(took).over(line))
    told = weighed.withColumn("mean", F.when(F.col("news"), F.expr(mean)))
    return told.select("trace", "node", "seq", "store", "marked", "mean")


def _turns(events: Silver) -> DataFrame:
    """When a node turned to a store, which then goes to the end of the queue: by a request, or in the first of the six steps
    of responders (BF-9, ST-4)."""
    requests = events.of("request.sent").select(
        "trace", "node", "seq", F.col("source").alias("store"), F.col("at").alias("asked")
    )
    listed = events.of("responders.considered").where("method = 'six steps'").select(
        "trace", "node", "seq", F.explode(F.expr("filter(candidates, c -> c.group = 1)")).alias("c"),
        F.col("at").alias("asked"),
    )  # fmt: skip
    return requests.unionByName(listed.select("trace", "node", "seq", F.col("c.store").alias("store"), "asked"))


def _lists(events: Silver) -> DataFrame:
    """When a node had another version of a folder, and with it perhaps another list of replicas."""
    versions = events.of("change.made", "version.applied").where(F.col("folder") == HIERARCHY)
    return versions.select("trace", "node", "seq", F.col("object").alias("folder"), F.col("seq").alias("listed_seq"))


def _preferred(events: Silver) -> DataFrame:
    """trace, node, prefers: the preferred source of stores that have one (BF-7); one that changed is not judged: null."""
    values = events.of("setting.value").where(F.col("name") == PREFERRED)
    one = F.when(F.count_distinct("value") == 1, F.first("value"))
    return values.groupBy("trace", "node").agg(one.alias("prefers"))


def entries_made(events: Silver, org: Organization, found: DataFrame) -> DataFrame:
    """trace, node, at, folder, entry, local (as the node says), near (stores of the site whose rows have all of it), stale
    (the row of one cannot be told)."""
    made = events.of("entry.made").select(
        "trace", "node", "seq", "entry", "local", by_kind("cnset", "cnset_fai").alias("missing")
    )
    rows = found.where("what = 'entry'").join(made, ["trace", "node", "seq", "entry"])
    has_all = F.expr(_within("missing", "coalesce(row, array())"))
    return rows.groupBy("trace", "node", "seq", "at", "folder", "entry", "local").agg(
        F.count_if(has_all).alias("near"), F.max("stale").alias("stale")
    )


def requests_made(events: Silver, found: DataFrame) -> DataFrame:
    """trace, node, seq, at, folder, entry, source, asked (ranges), row (of the source), better: candidates that come before
    it, whose row has some of what it was asked for."""
    sent = events.of("request.sent").select(
        "trace", "node", F.col("seq").alias("sent_seq"), "at", "entry", "source",
        by_kind("cnset", "cnset_fai").alias("asked"),
    )  # fmt: skip
    ahead = F.struct(
        F.col("down"), (~F.col("preferred")).alias("not_preferred"),
        F.coalesce("cost", F.lit(2**31).cast("bigint")).alias("cost"),
        (-F.col("version").cast("double")).alias("newest"),
    )  # fmt: skip
    passable = ~F.coalesce(F.col("told.passed_over"), F.lit("")).like("%address%")
    sorted_lists = F.broadcast(
        events.of("sources.considered").where(SORTED_LIST).select("trace", "node", "seq", F.lit(True).alias("sorted"))
    )
    choices = (
        found.where("what = 'choice'")
        .groupBy("trace", "node", "seq", "at", "folder", "entry")
        .agg(F.collect_list(F.struct("store", "row", ahead.alias("key"), passable.alias("passable"))).alias("every"))
    )
    # A request belongs to the choice of that instant for its entry.
    both = sent.join(choices, ["trace", "node", "at", "entry"]).where("sent_seq > seq")
    both = both.join(sorted_lists, ["trace", "node", "seq"], "left").withColumn("sorted", F.col("sorted").isNotNull())
    mine = F.expr("filter(every, c -> c.store = source)[0]")
    own = both.withColumn("mine", mine)
    better = F.expr(
        "transform(filter(every, c -> c.passable and c.key < mine.key and "
        + _shares("asked", "coalesce(c.row, array())")
        + "), c -> c.store)"
    )
    return own.select(
        "trace", "node", "at", "folder", "entry", "source", "asked", F.col("mine.row").alias("row"), "sorted",
        better.alias("better"),
        F.expr(_within("asked", "mine.row")).alias("claimed"),
    )  # fmt: skip


def marks_down(events: Silver) -> DataFrame:
    """trace, node, at, store, overdue: at each mark, whether a request to that store had had no mail from it by its time."""
    downs = events.of("source.down").select("trace", "node", "seq", "at", "store", F.lit("down").alias("what"))
    asks = events.of("request.sent").select(
        "trace", "node", "seq", "at", F.col("source").alias("store"), F.lit("ask").alias("what"), "retry_at"
    )
    few = asks.join(
        F.broadcast(downs.select("trace", "node", "store").distinct()), ["trace", "node", "store"], "left_semi"
    )
    gathered = few.unionByName(downs, allowMissingColumns=True).groupBy("trace", "node", "store").agg(
        F.collect_list(F.struct("seq", "at", "what", "retry_at")).alias("all")
    )  # fmt: skip
    mark = F.explode(F.expr("filter(all, d -> d.what = 'down')")).alias("mark")
    overdue = F.expr("exists(all, a -> a.what = 'ask' and a.seq < mark.seq and a.retry_at <= mark.at)")
    return gathered.select("*", mark).select(
        "trace", "node", "store", F.col("mark.at").alias("at"), overdue.alias("overdue")
    )


def _within(inner: str, outer: str) -> str:
    return f"forall({inner}, i -> exists({outer}, o -> o.guid = i.guid and o.low <= i.low and i.high <= o.high))"


def _shares(one: str, other: str) -> str:
    return f"exists({one}, i -> exists({other}, o -> o.guid = i.guid and o.low <= i.high and i.low <= o.high))"


def turns(events: Silver, org: Organization, found: DataFrame) -> DataFrame:
    """Choices by 2000's six groups in which some candidate that is up has all that the store misses: trace, node, at, folder,
    entry, chosen, first (those of them that come first: by group, then oldest last request, affinity or transmission time).

    Left out: choices with a row that cannot be told, and runs in which items expire, for what has expired at a source is not
    in its row.
    """
    missing = by_kind("coalesce(missing, '')", "coalesce(missing_fai, '')").alias("missing")
    told = events.of("sources.considered").where("method = 'six groups'")
    told = told.select("trace", "node", "seq", "entry", missing, F.col("chosen")[0].alias("chosen"))
    told = told.join(F.broadcast(events.of("item.expired").select("trace").distinct()), "trace", "left_anti")
    homes = F.broadcast(org.servers.select("trace", F.col("store").alias("node"), F.col("site").alias("home")))
    every = found.where("what = 'choice' and method = 'six groups'").join(homes, ["trace", "node"])
    every = every.join(told, ["trace", "node", "seq", "entry"])
    kind = F.when(F.col("site") == F.col("home"), 1).when(F.col("affinity").isNotNull(), 2).otherwise(3)
    group = kind + F.when(F.col("version") == "5.5", 3).otherwise(0)
    far = F.coalesce("affinity", "transit", F.lit(2**62))
    order = F.when(F.col("site") == F.col("home"), F.coalesce("asked_at", F.lit(0))).otherwise(far)
    full = ~F.col("down") & F.expr(_within("missing", "coalesce(row, array())"))
    full = full & ~F.coalesce(F.col("told.passed_over"), F.lit("")).like("%address%")
    key = F.struct(group.alias("group"), order.alias("order"))
    gathered = every.groupBy("trace", "node", "seq", "at", "folder", "entry", "chosen").agg(
        F.collect_list(F.when(full, F.struct(key.alias("key"), "store"))).alias("fit"), F.max("stale").alias("stale")
    )
    first = F.expr("transform(filter(fit, f -> f.key = array_min(transform(fit, g -> g.key))), f -> f.store)")
    return gathered.where("not stale and size(fit) > 0").withColumn("first", first).drop("fit", "stale")
