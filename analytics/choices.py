"""Choices of backfill sources, worked out anew from the rows as they stood (BF-1 to BF-4): who had what, at what cost, up
or down.

Of what a node wrote down about a choice only the candidates' names are taken. A candidate's row is the last that came from
it, its cost that of the topology's routes, and it is down if its time-out ended and no mail came from it since.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812

from analytics.mails import ranges
from analytics.organization import HIERARCHY, Organization
from analytics.silver import Silver

SORTED_LIST: Final = "coalesce(method, '') in ('', 'sorted list')"
"""Choices by the list of 2003 and 2007; traces before 1.3 have no others."""

PREFERRED: Final = "Preferred Backfill Source"
_ASKING: Final = ("trace", "node", "seq", "at", "folder", "entry", "what")


def candidates(events: Silver, org: Organization, restored: DataFrame) -> DataFrame:
    """A row for each store that could be asked at a choice (`what` choice), and each of the site as an entry was made (entry):

    _ASKING, store, place (in the node's order, from 1), told (the node's own words: down, preferred, cost, version, has,
    passed_over), row (ranges, null where none came or it is stale), stale (another list came since), down, cost, version,
    preferred.
    """
    asked = _asked(events, org, restored)
    few = F.broadcast(asked.select("trace", "node", "store").distinct())
    known = _known(events).join(few, ["trace", "node", "store"], "left_semi")
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
    as_stood = as_stood.withColumn("came", last("came", "store", "folder")).where("what is not null")
    # A new list drops the rows of those who left; which of them it was, and what they said on leaving, is not looked at.
    stale = F.coalesce(F.col("came.seq") < F.col("listed_seq"), F.lit(False))
    as_stood = as_stood.withColumn("stale", stale).withColumn("row", F.when(~stale, F.col("came.row"))).drop("came")
    costs = F.broadcast(org.costs.select("trace", "node", "store", "cost"))
    versions = F.broadcast(org.servers.select("trace", "store", "version", "site"))
    found = as_stood.join(costs, ["trace", "node", "store"], "left").join(versions, ["trace", "store"], "left")
    found = found.join(F.broadcast(_preferred(events)), ["trace", "node"], "left")
    return found.withColumn("preferred", F.coalesce(F.col("store") == F.col("prefers"), F.lit(False))).drop("marked")


def _asked(events: Silver, org: Organization, restored: DataFrame) -> DataFrame:
    """The questions: whose row, at which event. Stores that went back to a backup ask for what the trace no longer shows."""
    choices = events.of("sources.considered").select(
        "trace", "node", "seq", "at", "folder", "entry", F.lit("choice").alias("what"),
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


def _known(events: Silver) -> DataFrame:
    """What a node learnt of a store: a row of it, or that it is down (marked) or up again."""
    rows = events.of("row.replaced").select(
        "trace", "node", "seq", "store", "folder",
        F.struct("seq", F.concat(ranges("cnset"), ranges("cnset_fai")).alias("row")).alias("came"),
    )  # fmt: skip
    down = events.of("source.down").select("trace", "node", "seq", "store", F.lit(True).alias("marked"))
    up = events.of("mail.received").select(
        "trace", "node", "seq", F.col("sender").alias("store"), F.lit(False).alias("marked")
    )
    return rows.unionByName(down.unionByName(up), allowMissingColumns=True)


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
        "trace", "node", "seq", "entry", "local", F.concat(ranges("cnset"), ranges("cnset_fai")).alias("missing")
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
        F.concat(ranges("cnset"), ranges("cnset_fai")).alias("asked"),
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
