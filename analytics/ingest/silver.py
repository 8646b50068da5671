"""Silver: the typed events of bronze, each once, and the doubts about traces that are not complete enough for a verdict.

The sequence numbers of a node run from 1 without a gap (SPEC.md section 16). The last event of a node says that it stopped, and
the last event of the lab says that the run ended. Otherwise events are missing, and the trace proves nothing. One exception: a
store that was killed and then deleted from the directory never starts again, so nothing follows its last committed event. While
a run has not ended, the lab says up to which instant its traces are complete, and for which stores this is unknown
(`Unfinished`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from analytics.ingest.lines import (
    ASIDE,
    FAMILIES,
    MALFORMED,
    OTHER_VERSION,
    SEGMENT_END,
    UNKNOWN_TYPE,
    UNNAMED,
    trace_of,
)
from analytics.ingest.schemas import WIDE, struct_type
from analytics.ingest.tables import Tables
from traces.events import EVENT_TYPES
from traces.segments import IS_CUT, WAS_CHANGED

LAB: Final = "lab"
"""The name of the node that records the lab's own events. It has the event run.started."""

_KEY: Final = ("trace", "node", "seq")
_UNREADABLE: Final = (MALFORMED, OTHER_VERSION)
"""Reasons that leave a hole in a trace. A line with an unknown event type leaves none, because its sequence number counts."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The run has not ended. Its traces are complete up to an instant, except those of the stores `away`."""

    away: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Silver:
    """events: the readable events, each once.
    doubts: trace, and why it cannot be judged, as text.
    types: the event types that occur in some trace.
    """

    events: DataFrame
    doubts: DataFrame
    types: frozenset[str]

    def has(self, *tags: str) -> bool:
        """Return whether there is an event of one of these types."""
        return not self.types.isdisjoint(tags)

    def lines(self, *tags: str) -> DataFrame:
        """Return the events of these types, with every field as in bronze."""
        if not self.has(*tags):
            # Spark knows before it plans that this table is empty, and drops all steps that need it.
            return self.events.limit(0)
        families = {name for name, members in FAMILIES.items() if not members.isdisjoint(tags)}
        # The family is a partition, so Spark does not read the others.
        return self.events.where(F.col("family").isin(*sorted(families)) & F.col("type").isin(*tags))

    def of(self, *tags: str) -> DataFrame:
        """Return the events of these types: the header and the fields of the first type, each with its own Spark type."""
        fields = struct_type(EVENT_TYPES[tags[0]]).fields
        return self.lines(*tags).select("trace", "type", *[_typed(field) for field in fields])


def _typed(field: T.StructField) -> Column:
    column = F.col(field.name)
    if WIDE[field.name].dataType == field.dataType:
        return column
    if isinstance(field.dataType, T.StructType | T.ArrayType):
        return F.from_json(column, field.dataType).alias(field.name)
    return column.cast(field.dataType).alias(field.name)


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known about the events before the tables are planned.

    repeated: some event occurs twice.
    types: those that occur.
    """

    repeated: bool = True
    types: frozenset[str] = frozenset(EVENT_TYPES)


def seen(numbers: DataFrame) -> Seen:
    """Return what is known about the events, from a small table with a row for each 32,768 events."""
    repeated, types = numbers.agg(
        F.max(F.expr("found > distinct")), F.array_distinct(F.flatten(F.collect_set("types")))
    ).collect()[0]
    return Seen(bool(repeated), frozenset(types))


def silver(
    bronze: DataFrame,
    tables: Tables,
    unfinished: Unfinished | None = None,
    look: Callable[[DataFrame], Seen] = seen,
) -> Silver:
    """Return the events of bronze, each once, and the doubts about their traces.

    look: computes what is known about them.
    """
    heads = bronze.where(F.col("aside").isNull() | (F.col("aside") == UNKNOWN_TYPE))
    numbers = tables.keep("silver/numbers", _numbers(heads))
    summary = look(numbers)
    events = bronze.where(F.col("family") != ASIDE)
    if summary.repeated:
        events = _each_once(events, numbers)
    events = tables.view("silver/events", events)
    dead = _killed_and_deleted(events) if summary.types >= {"store.deleted", "fault.injected"} else None
    return Silver(events, doubts(bronze, heads, numbers, unfinished, dead), summary.types)


def _each_once(events: DataFrame, numbers: DataFrame) -> DataFrame:
    """Return the events without repetitions. Only those of the buckets with a repetition are sorted."""
    bucket = ("trace", "node", "bucket")
    repeated = F.broadcast(numbers.where("found > distinct").select(*bucket))
    events = events.withColumn("bucket", F.bitmap_bucket_number("seq"))
    first = Window.partitionBy(*_KEY).orderBy("file", "hash")
    nth = events.join(repeated, [*bucket], "left_semi").withColumn("_nth", F.row_number().over(first))
    once = nth.where("_nth = 1").drop("_nth")
    return events.join(repeated, [*bucket], "left_anti").unionByName(once).drop("bucket")


def _killed_and_deleted(events: DataFrame) -> DataFrame:
    """Return trace, node: the stores that were killed, and deleted from the directory (RP-6)."""
    kills = events.where("family = 'run' and type = 'fault.injected' and kind = 'kill'")
    deletions = events.where("family = 'replication' and type = 'store.deleted'")
    killed = kills.select("trace", F.expr("details['server']").alias("node")).distinct()
    return killed.join(deletions.select("trace", F.col("store").alias("node")), ["trace", "node"], "left_semi")


def _numbers(heads: DataFrame) -> DataFrame:
    """Return for each trace, node and bucket of sequence numbers: how many were found, how many are distinct, and the last."""
    bucket = F.bitmap_bucket_number("seq")
    return heads.groupBy("trace", "node", bucket.alias("bucket")).agg(
        F.count(F.lit(1)).alias("found"),
        F.bitmap_count(F.bitmap_construct_agg(F.bitmap_bit_position("seq"))).alias("distinct"),
        F.max("seq").alias("last"),
        F.max_by("type", "seq").alias("last_type"),
        F.max(F.col("type") == "run.started").alias("is_lab"),
        F.collect_set(F.when(F.col("aside").isNull(), F.col("type"))).alias("types"),
    )


def doubts(
    bronze: DataFrame,
    heads: DataFrame,
    numbers: DataFrame,
    unfinished: Unfinished | None = None,
    dead: DataFrame | None = None,
) -> DataFrame:
    """Return trace, doubt: why a trace cannot be trusted, at most a few for each node.

    dead: trace, node; the stores that never start again after they were killed, so that their events may end without a stop.
    """
    nodes = numbers.groupBy("trace", "node").agg(
        F.sum("distinct").alias("distinct"),
        F.max("last").alias("last"),
        F.max_by("last_type", "last").alias("last_type"),
        F.max("is_lab").alias("is_lab"),
    )
    missing = F.col("last") - F.col("distinct")
    holes = nodes.where(missing > 0).select(
        "trace",
        F.format_string("%d of the first %d events of %s are missing", missing, "last", "node").alias("doubt"),
    )
    cut = _without_end(nodes, dead) if unfinished is None else _away(nodes, unfinished.away)
    with_lab = nodes.groupBy("trace").agg(F.max("is_lab").alias("with_lab"))
    headless = with_lab.where(~F.col("with_lab")).select(
        "trace", F.lit("the event run.started is missing, and with it the topology").alias("doubt")
    )
    return (
        holes.unionByName(cut)
        .unionByName(headless)
        .unionByName(_without_topology(bronze))
        .unionByName(_damaged_segments(bronze))
        .unionByName(_unreadable_lines(bronze))
        .unionByName(_contradicting_events(heads, numbers))
    )


def _without_topology(bronze: DataFrame) -> DataFrame:
    """Return the traces without a readable topology, so that the stores and folders are unknown."""
    started = bronze.where("family = 'run' and type = 'run.started'")
    topologies = started.groupBy("trace").agg(
        F.max(F.expr("get_json_object(topology, '$.servers') is not null")).alias("read")
    )
    return topologies.where("not read").select(
        "trace", F.lit("the topology in run.started cannot be read").alias("doubt")
    )


def _without_end(nodes: DataFrame, dead: DataFrame | None) -> DataFrame:
    ended = F.when(F.col("is_lab"), F.col("last_type") == "run.ended").otherwise(F.col("last_type") == "node.stopped")
    what = F.when(F.col("is_lab"), F.lit("the run has no end: its last events are missing, or it is still running"))
    cut = nodes.where(~ended)
    if dead is not None:
        cut = cut.join(F.broadcast(dead), ["trace", "node"], "left_anti")
    return cut.select(
        "trace",
        what.otherwise(F.format_string("the events of %s end without a stop", "node")).alias("doubt"),
    )


def _away(nodes: DataFrame, stores: Sequence[str]) -> DataFrame:
    words = F.array(*[F.lit(f"{store} does not answer, and its last events are missing") for store in stores])
    return nodes.select("trace").distinct().select("trace", F.explode(words.cast("array<string>")).alias("doubt"))


def _damaged_segments(bronze: DataFrame) -> DataFrame:
    """Return the segments that were cut, or changed after they were written (`traces.segments`)."""
    is_end = F.col("aside").eqNullSafe(SEGMENT_END)
    files = bronze.groupBy("place", "file").agg(
        F.max(F.when(F.col("aside").isNull(), F.col("trace"))).alias("trace"),
        F.count_if(~is_end).alias("events"),
        F.sum(F.when(~is_end, F.col("hash"))).alias("crc32_sum"),
        F.from_json(F.max(F.when(is_end, F.col("text"))), "events bigint, crc32_sum bigint").alias("end"),
    )
    same = F.col("end.events").eqNullSafe(F.col("events")) & F.col("end.crc32_sum").eqNullSafe(F.col("crc32_sum"))
    what = F.when(F.col("end").isNull(), IS_CUT).otherwise(WAS_CHANGED)
    words = F.concat(F.lit("segment "), F.element_at(F.split("file", "/"), -1), F.lit(" "), what)
    return _of_runs(files.where(~same).withColumn("doubt", words), bronze)


def _unreadable_lines(bronze: DataFrame) -> DataFrame:
    """Return the doubts from unreadable lines."""
    aside = (
        bronze.where(F.col("aside").isin(*_UNREADABLE))
        .groupBy("place")
        .agg(F.count(F.lit(1)).alias("lines"), F.min("file").alias("file"))
    )
    words = F.format_string(
        "%d %s cannot be read, the first in %s",
        "lines",
        F.expr("if(lines = 1, 'line', 'lines')"),
        F.element_at(F.split("file", "/"), -1),
    )
    return _of_runs(aside.select("place", F.lit(None).cast("string").alias("trace"), words.alias("doubt")), bronze)


def _of_runs(rows: DataFrame, bronze: DataFrame) -> DataFrame:
    """Return trace, doubt, from a table with place, trace, doubt. Where the trace is unknown, the doubt concerns every run of
    the folder, or an unnamed run if there is none."""
    runs = bronze.where(F.col("aside").isNull()).select("place", F.col("trace").alias("run")).distinct()
    unnamed = F.concat("place", F.lit(trace_of("", UNNAMED)))
    named = F.coalesce("trace", "run", unnamed).alias("trace")
    return rows.join(runs, "place", "left").select(named, "doubt").distinct()


def _contradicting_events(heads: DataFrame, numbers: DataFrame) -> DataFrame:
    """Return the sequence numbers that appear twice with different content: one of the two events is false."""
    repeated = numbers.where("found > distinct").select("trace", "node").distinct()
    events = heads.join(F.broadcast(repeated), ["trace", "node"], "left_semi").groupBy(*_KEY)
    false = events.agg(F.min("hash").alias("low"), F.max("hash").alias("high")).where("low != high")
    words = F.format_string("event %d of %s appears twice with different content", F.min("seq"), "node")
    return false.groupBy("trace", "node").agg(words.alias("doubt")).select("trace", "doubt")
