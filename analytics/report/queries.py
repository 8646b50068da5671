"""The queries of a report, as PySpark: both engines answer them (`make sql` translates them).

FIGURES have rows of single runs, as the findings have, so the figures of several checks can be put together. DETAILS are about
a few runs, folders or moments that they are given as small tables (GIVEN), and have a limited number of rows for each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.drawing import timeline
from analytics.evidence.version_history import firsts
from analytics.report.surroundings import MARKED
from analytics.verdicts.gold import Gold
from analytics.verdicts.judgements import NOT_CONVERGED
from traces.labtime import HOUR_US, MINUTE_US, SECOND_US

GIVEN: Final[Mapping[str, str]] = {
    "runs": "trace string",
    "folders": "trace string, folder string",
    "moments": "nth int, trace string, moment bigint",
}
"""The tables that queries get as input, with their columns."""

Given = Mapping[str, DataFrame]

MAILS: Final = 40
"""How many mails a picture has, the nearest ones; more would be hard to tell apart."""

EVENTS: Final = 40
AROUND_US: Final = 36 * HOUR_US

LAB_EVENTS: Final = 800
"""How many events of the lab are read for a run: its start, its end, the last changes of its organization, and the first
faults."""

_OF_LAB: Final = ("run.started", "run.ended", "organization.changed", "fault.injected", "fault.healed")
"""The types of these events. The first three come first, whatever their times."""

FOLDERS: Final = 480
"""How many stores of folders with differences are looked at in a run."""

CHANGES: Final = 40
"""How many changes of a folder are shown: the last ones. The tables have all changes."""

CLOCKED: Final = 5000
"""How many events a file for ShiViz has, counted from the first event of the trace. The viewer cannot draw more."""

_WITH_CLOCK: Final = (
    "node.started", "node.stopped", "change.made", "version.applied", "mail.submitted", "mail.received", "hop.dropped",
    "conflict.arose", "entry.made", "request.sent", "request.answered", "replica.added", "replica.dropped",
)  # fmt: skip


# --- figures


def latencies(gold: Gold, _: Given) -> DataFrame:
    """Return trace, way (broadcast, backfill, queue), took_us, applied (how many), longest_us: the time from a change to each
    replica, to the second below an hour and to the minute above, so that a run has few rows.

    If a store applied a version more than once, for example after a restore, the first time counts.
    """
    rows = gold.histories
    changes = firsts(rows.where("act = 'made' and seq > 0"), "at").withColumnRenamed("at", "made_at")
    arrivals = (
        rows.where("act = 'applied' and seq > 0")
        .groupBy("trace", "store", "number")
        .agg(F.min("at").alias("at"), F.min_by("way", "seq").alias("way"))
    )
    took = arrivals.join(changes, ["trace", "number"]).withColumn("took", F.col("at") - F.col("made_at"))
    unit = F.when(F.abs("took") < HOUR_US, SECOND_US).otherwise(MINUTE_US)
    rounded = took.withColumn("took_us", F.col("took") - F.col("took") % unit)
    return rounded.groupBy("trace", "way", "took_us").agg(
        F.count(F.lit(1)).alias("applied"), F.max("took").alias("longest_us")
    )


def fates(gold: Gold, _: Given) -> DataFrame:
    """Return trace, fate, changes (how many): stable (every holder got it by broadcast), late (every holder got it, some by
    backfill), superseded (another version or a deletion replaced it), never read (some holder never got it), lost (with a
    restored store), folder deleted.

    spec: DU-1, CV-1
    """
    changes = gold.histories.where("act = 'made' and seq > 0").select("trace", "folder", "object", "number").distinct()
    arrivals = (
        gold.histories.where("act in ('made', 'applied') and not undone and not dropped")
        .groupBy("trace", "folder", "object", "number")
        .agg(
            F.collect_set("store").alias("at"),
            F.max(F.coalesce(F.col("way"), F.lit("")) == "backfill").alias("backfilled"),
        )
    )
    due = gold.objects.select(
        "trace", "folder", "object", "lost", F.expr("transform(versions, v -> v.number)").alias("due"), "tombstone"
    )
    holders = F.broadcast(gold.folders.select("trace", "folder", "holders"))
    every = (
        changes.join(arrivals, ["trace", "folder", "object", "number"], "left")
        .join(due, ["trace", "folder", "object"])
        .join(holders, ["trace", "folder"], "left")
    )
    missing = F.size(F.array_except("holders", F.coalesce("at", F.array().cast("array<string>"))))
    fate = (
        F.when(F.array_contains("lost", F.col("number")), "lost")
        .when(F.col("holders").isNull(), "folder deleted")
        .when(
            ~F.array_contains("due", F.col("number"))
            & ~F.coalesce(F.col("tombstone") == F.col("number"), F.lit(False)),
            "superseded",
        )
        .when(missing > 0, "never read")
        .when(F.coalesce("backfilled", F.lit(False)), "late")
        .otherwise("stable")
    )
    return every.groupBy("trace", fate.alias("fate")).agg(F.count(F.lit(1)).alias("changes"))


def traffic(gold: Gold, _: Given) -> DataFrame:
    """Return trace, message_type, mails, bytes, copies (one for each recipient), arrived, lost, bad, redundant_bytes (of copies
    that arrived again)."""
    mails = gold.mails.where("sender is not null")
    return mails.groupBy("trace", "message_type").agg(
        F.count_distinct("mail").alias("mails"),
        F.count(F.lit(1)).alias("copies"),
        F.sum("size").alias("bytes"),
        F.count_if(F.col("times") > 0).alias("arrived"),
        F.count_if(F.col("dropped_at").isNotNull()).alias("lost"),
        F.count_if(F.col("bad_at").isNotNull()).alias("bad"),
        F.sum(F.when(F.col("times") > 1, F.col("size") * (F.col("times") - 1)).otherwise(0)).alias("redundant_bytes"),
    )


# --- a few runs


def _of_runs(rows: DataFrame, parameters: Given) -> DataFrame:
    return rows.join(F.broadcast(parameters["runs"]), "trace", "left_semi")


def lab_events(gold: Gold, parameters: Given) -> DataFrame:
    """Return trace, type, at, seed, version, topology, revision, settings, fault, kind, details: the start and the end of each
    run, the last change of its organization, and its first faults."""
    lab = _of_runs(gold.events.events, parameters).where((F.col("family") == "run") & F.col("type").isin(*_OF_LAB))
    last = F.col("revision").eqNullSafe(F.max("revision").over(Window.partitionBy("trace", "type")))
    lab = lab.withColumn("is_last", last).where("type != 'organization.changed' or is_last")
    started, ended, changed = (F.col("type") == name for name in _OF_LAB[:3])
    rank = F.when(started, 0).when(ended, 1).when(changed, 2).otherwise(3)
    nth = F.row_number().over(Window.partitionBy("trace").orderBy(rank, "at", "seq"))
    events = lab.withColumn("nth", nth).where(F.col("nth") <= LAB_EVENTS)
    columns = ("seed", "version", "topology", "revision", "settings", "fault", "kind", "details")
    return events.select("trace", "type", "at", *columns)


def mail_slots(gold: Gold, parameters: Given) -> DataFrame:
    """Return trace, message_type, slot, at (of the first), copies, lost. A long run has longer slots later on the page."""
    # The driver knows the length of a run only after another query, so the slots come from the mails themselves.
    mine = _of_runs(gold.mails, parameters).where(F.col("submitted_at").isNotNull() & F.col("sender").isNotNull())
    span = mine.groupBy("trace").agg(F.min("submitted_at").alias("low"), F.max("submitted_at").alias("high"))
    width = F.greatest((F.col("high") - F.col("low")) / F.lit(8 * timeline.BARS), F.lit(1_000_000))
    never = F.col("received_at").isNull() & F.coalesce("dropped_at", "bad_at", "expired_at", "deleted_at").isNotNull()
    slots = mine.join(F.broadcast(span), "trace").groupBy(
        "trace", "message_type", F.floor((F.col("submitted_at") - F.col("low")) / width).alias("slot")
    )
    return slots.agg(
        F.min("submitted_at").alias("at"), F.count(F.lit(1)).alias("copies"), F.count_if(never).alias("lost")
    )


def differing_stores(gold: Gold, parameters: Given) -> DataFrame:
    """Return trace, folder, path, store, many, first_at and number (of the first version that differs), for folders that have
    not converged."""
    judged = _of_runs(gold.verdicts, parameters).where(F.col("judgement") == NOT_CONVERGED).select("trace", "folder")
    changes = _of_runs(gold.histories, parameters).where(F.col("act") == "made").groupBy("trace", "number")
    first = changes.agg(F.min("at").alias("made_at"))
    wrong = gold.mismatches.join(F.broadcast(judged), ["trace", "folder"], "left_semi")
    per_store = wrong.join(first, ["trace", "number"], "left").groupBy("trace", "folder", "path", "store")
    every = per_store.agg(
        F.count(F.lit(1)).alias("many"),
        F.min("made_at").alias("first_at"),
        F.min_by("number", "made_at").alias("number"),
    )
    nth = F.row_number().over(Window.partitionBy("trace").orderBy("path", "folder", "store"))
    return every.withColumn("nth", nth).where(F.col("nth") <= FOLDERS).drop("nth")


def violated_checks(gold: Gold, parameters: Given) -> DataFrame:
    """Return trace, check, violations, at, witness of each violated check; none of a trace that is incomplete."""
    broken = _of_runs(gold.rules, parameters).where(F.col("violations") > 0)
    sure = broken.join(gold.events.doubts.select("trace").distinct(), "trace", "left_anti")
    return sure.select("trace", "check", "violations", "at", "witness")


def store_guids(gold: Gold, parameters: Given) -> DataFrame:
    """Return trace, guid, name of the stores."""
    return _of_runs(gold.org.guids, parameters).select("trace", "guid", "name")


def clocked_events(gold: Gold, parameters: Given) -> DataFrame:
    """Return type, node, seq, lamport, at, mail, number, folder, source, sender of the first events of a run, in the order of
    Lamport numbers, which puts causes first."""
    chosen = _of_runs(gold.events.events, parameters).where(F.col("type").isin(*_WITH_CLOCK))
    nth = F.row_number().over(Window.partitionBy("trace").orderBy("lamport", "node", "seq"))
    events = chosen.withColumn("nth", nth).where(F.col("nth") <= CLOCKED)
    return events.select("type", "node", "seq", "lamport", "at", "mail", "number", "folder", "source", "sender")


# --- a few moments


def _nearest(rows: DataFrame, at: Column, tie: tuple[str, ...], most: int) -> DataFrame:
    """Return the rows of each moment that are nearest to it."""
    near = Window.partitionBy("nth").orderBy(F.abs(at - F.col("moment")), *tie)
    return rows.withColumn("near", F.row_number().over(near)).where(F.col("near") <= most)


def moment_mails(gold: Gold, parameters: Given) -> DataFrame:
    """Return nth (of the moment) and what is known of each of the mails that were sent nearest to it."""
    mails = gold.mails.where(F.col("sender").isNotNull()).join(F.broadcast(parameters["moments"]), "trace")
    at = F.col("submitted_at")
    within = mails.where(at.between(F.col("moment") - AROUND_US, F.col("moment") + AROUND_US))
    near = _nearest(within, at, ("mail", "store"), MAILS)
    return near.select(
        "nth", "mail", "sender", "store", "message_type",
        "submitted_at", "received_at", "dropped_at", "bad_at", "expired_at", "deleted_at",
    )  # fmt: skip


def moment_events(gold: Gold, parameters: Given) -> DataFrame:
    """Return nth (of the moment), node, type, at, seq, mail, number, object, folder, subject: the events at the very time of a
    moment, and the marked events around it."""
    at = F.col("at")
    columns = ("node", "type", "at", "seq", "mail", "number", "object", "folder", "subject")
    around = gold.events.events.select("trace", *columns).join(F.broadcast(parameters["moments"]), "trace")
    within = at.between(F.col("moment") - AROUND_US, F.col("moment") + AROUND_US)
    marked = F.col("type").isin(*MARKED)
    near = _nearest(around.where((at == F.col("moment")) | (marked & within)), at, ("node", "seq"), EVENTS)
    return near.select("nth", *columns)


# --- a few folders


def last_changes(gold: Gold, parameters: Given) -> DataFrame:
    """Return trace, folder, number, guid, counter, name (of its store), made_at, subject, deleted, all (how many changes the
    folder has) and arrivals (store, at, way, act) of the last changes of each folder."""
    mine = gold.histories.where("act in ('made', 'applied') and store != 'Setup'").join(
        F.broadcast(parameters["folders"]), ["trace", "folder"], "left_semi"
    )
    arrivals = (
        mine.where("not undone and not dropped")
        .groupBy("trace", "folder", "number", "store")
        .agg(F.min("at").alias("at"), F.min_by("way", "seq").alias("way"), F.min_by("act", "seq").alias("act"))
    )
    by_change = arrivals.groupBy("trace", "folder", "number").agg(
        F.collect_list(F.struct("store", "at", "way", "act")).alias("arrivals")
    )
    changes = mine.where("act = 'made'").select(
        "trace", "folder", "number", "guid", "counter", F.col("at").alias("made_at"), "subject", "deleted"
    )
    within = Window.partitionBy("trace", "folder")
    changes = changes.withColumn("all", F.count(F.lit(1)).over(within)).withColumn(
        "nth", F.row_number().over(within.orderBy(F.desc("made_at"), "number"))
    )
    latest = changes.where(F.col("nth") <= CHANGES).join(by_change, ["trace", "folder", "number"], "left")
    return latest.join(F.broadcast(gold.org.guids.select("trace", "guid", "name")), ["trace", "guid"], "left").select(
        "trace", "folder", "number", "guid", "counter", "name", "made_at", "subject", "deleted", "all", "arrivals"
    )


FIGURES: Final[Mapping[str, Callable[[Gold, Given], DataFrame]]] = {
    query.__name__: query for query in (latencies, fates, traffic)
}
"""The queries about all runs, by name."""

DETAILS: Final[Mapping[str, Callable[[Gold, Given], DataFrame]]] = {
    query.__name__: query
    for query in (
        lab_events, mail_slots, differing_stores, violated_checks, store_guids, clocked_events, moment_mails, moment_events,
        last_changes,
    )
}  # fmt: skip
"""The queries about what they are given, by name."""
