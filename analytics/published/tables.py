"""The tables that `pflab check --tables` and `pflab tables` write, as PySpark: both engines write them (`make sql` translates
them). `docs/reference/tables.md` describes their columns.

Every table has a column `trace`, so the tables of several checks can be put together, and the rows of a run taken out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.ingest.lines import SEGMENT_END
from analytics.verdicts.gold import Gold
from analytics.verdicts.judgements import BROKEN, CONVERGED, NOT_CONVERGED, UNKNOWN

FIRST_US: Final = -62_135_596_800_000_000
"""The year 1, the first of Python and of SQL."""

LAST_US: Final = 253_402_300_799_999_999
"""The end of the year 9999. A time outside is null: only an altered trace has it, and most programs cannot read it."""


def runs(gold: Gold) -> DataFrame:
    """Return a row for each run: what it was, how large, and the verdict on it."""
    events = F.count_if(F.col("aside").isNull()).alias("events")
    of_run = gold.bronze.where(F.col("aside").isNull() | (F.col("aside") != SEGMENT_END))
    lines = of_run.groupBy("trace", "place").agg(F.count(F.lit(1)).alias("lines"), events)
    started = (
        gold.events.of("run.started")
        .groupBy("trace")
        .agg(F.min("at").alias("started_at"), F.min("seed").alias("seed"), F.min("version").alias("version"))
    )
    ended = gold.events.of("run.ended").groupBy("trace").agg(F.max("at").alias("ended_at"))
    judged = gold.verdicts.groupBy("trace").agg(
        F.count(F.lit(1)).alias("folders"),
        F.count_if(F.col("judgement") == NOT_CONVERGED).alias("not_converged"),
        F.count_if(F.col("judgement") == UNKNOWN).alias("unknown"),
    )
    broken = gold.rules.groupBy("trace").agg(F.sum("violations").alias("violations"))
    doubtful = gold.events.doubts.groupBy("trace").agg(F.count(F.lit(1)).alias("doubts"))
    every = lines
    for part in (started, ended, judged, broken, doubtful):
        every = every.join(part, "trace", "left")
    # Lines without an event belong to the runs of their folder. If it has none, they are a run that cannot be judged.
    of_place = F.max("events").over(Window.partitionBy("place"))
    every = every.withColumn("of_place", of_place).where("events > 0 or of_place = 0")
    run = F.substring_index("trace", "#", -1)  # written by `analytics.ingest.lines.trace_of`
    run = F.replace(F.replace(run, F.lit("%23"), F.lit("#")), F.lit("%25"), F.lit("%"))
    counts = ("folders", "not_converged", "unknown", "doubts")
    # Violations in incomplete runs do not count, because a missing event may look like a violation.
    violations = F.when(F.col("doubts") > 0, 0).otherwise(F.coalesce("violations", F.lit(0))).cast("bigint")
    counted = every.select(
        "trace", "place", run.alias("run"), "seed", "version", "started_at", "ended_at",
        "lines", "events", *[F.coalesce(name, F.lit(0)).alias(name) for name in counts],
        violations.alias("violations"),
    )  # fmt: skip
    judgement = (
        F.when(F.col("not_converged") > 0, NOT_CONVERGED)
        .when(F.col("violations") > 0, BROKEN)
        .when((F.col("unknown") > 0) | (F.col("folders") == 0) | (F.col("doubts") > 0), UNKNOWN)
        .otherwise(CONVERGED)
    )
    return _timed(counted.withColumn("judgement", judgement).drop("unknown", "doubts", "not_converged"))


def verdicts(gold: Gold) -> DataFrame:
    """Return a row for each folder: the verdict on it."""
    return gold.verdicts.select("trace", "folder", "path", "holders", "judgement", "wrong", "reasons")


def mismatches(gold: Gold) -> DataFrame:
    """Return a row for each difference between what a holder has and what it must have."""
    return gold.mismatches.select("trace", "folder", "path", "object", "store", "kind", "subject", "what", "number")


def losses(gold: Gold) -> DataFrame:
    """Return a row for each permitted loss (DU-1)."""
    return gold.losses.select("trace", "folder", "path", "object", "number", "subject")


def rules(gold: Gold) -> DataFrame:
    """Return a row for each rule check over a run."""
    check = F.col("check").alias("rule_check")  # `check` is reserved in SQL
    return _timed(gold.rules.select("trace", check, "consumed", "violations", "at", "witness"))


def doubts(gold: Gold) -> DataFrame:
    """Return a row for each reason why a run cannot be judged."""
    return gold.events.doubts.select("trace", "doubt")


def servers(gold: Gold) -> DataFrame:
    """Return a row for each server of the topology."""
    return gold.org.servers


def guids(gold: Gold) -> DataFrame:
    """Return a row for each replica GUID, which names the store in change numbers."""
    return gold.org.guids.select("trace", "guid", "store", "name")


def genesis(gold: Gold) -> DataFrame:
    """Return a row for each folder of the topology."""
    setup = gold.org.setup.withColumnRenamed("guid", "setup")
    return _timed(gold.org.genesis.join(F.broadcast(setup), "trace", "left"))


def costs(gold: Gold) -> DataFrame:
    """Return a row for each pair of servers: the least costs between them."""
    return gold.org.costs


def folders(gold: Gold) -> DataFrame:
    """Return a row for each folder that exists at the end."""
    return gold.folders.select("trace", "folder", "path", "holders", "doubtful")


def versions(gold: Gold) -> DataFrame:
    """Return a row for each version that a store made or applied, or tombstone that it dropped."""
    return _timed(gold.histories)


def objects(gold: Gold) -> DataFrame:
    """Return a row for each object: the versions that must exist, and those that each store has."""
    # Lists are in no order; sorted, the same object is the same row.
    lists = ("made", "versions", "lost", "gone")
    states = F.transform(
        F.array_sort("states"),
        lambda state: F.struct(
            state["store"].alias("store"),
            F.array_sort(state["versions"]).alias("versions"),
            state["has_tombstone"].alias("has_tombstone"),
            state["had_tombstone"].alias("had_tombstone"),
        ),
    )
    return gold.objects.select(
        "trace", "folder", "object", "kind", "subject", "alone", "tombstone", "forgotten",
        *[F.array_sort(name).alias(name) for name in lists], states.alias("states"),
    )  # fmt: skip


def mails(gold: Gold) -> DataFrame:
    """Return a row for each replication mail to one of its recipients."""
    return _timed(gold.mails)


def mail_folders(gold: Gold) -> DataFrame:
    """Return a row for each folder of a mail: what the mail says about it."""
    return _timed(gold.mail_folders)


def _timed(frame: DataFrame) -> DataFrame:
    """Return the frame with its columns `at` and `*_at` as timestamps."""
    return frame.select(
        [_time(name) if name == "at" or name.endswith("_at") else F.col(name) for name in frame.columns]
    )


def _time(name: str) -> Column:
    return F.when(F.col(name).between(FIRST_US, LAST_US), F.timestamp_micros(name)).alias(name)


PUBLISHED: Final[Mapping[str, Callable[[Gold], DataFrame]]] = {
    query.__name__: query
    for query in (
        runs, verdicts, mismatches, losses, rules, doubts, servers, guids, genesis, costs, folders, versions, objects,
        mails, mail_folders,
    )
}  # fmt: skip
"""The tables, by name."""
