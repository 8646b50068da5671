"""Silver: the typed events of bronze, each once, and the doubts about traces that are not complete enough for a verdict.

The sequence numbers of a node run from 1 without a gap (SPEC.md section 16). The last event of a node says that it stopped, and
the last event of the lab says that the run ended. Otherwise events are missing, and a missing event proves nothing. While a run
has not ended, the lab says up to which instant its traces are complete, and for which stores this is unknown (`GoesOn`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from analytics.ingest.bronze import ASIDE, MALFORMED, OTHER_VERSION, UNKNOWN_TYPE
from analytics.ingest.schemas import FAMILIES, WIDE, struct_type
from traces.events import EVENT_TYPES

LAB: Final = "lab"
"""The node under whose name the lab itself records; known by its run.started."""

_KEY: Final = ("trace", "node", "seq")
_UNTOLD: Final = (MALFORMED, OTHER_VERSION)
"""Lines aside that leave a hole. A type of event that is unknown here leaves none: its number counts."""


@dataclass(frozen=True, slots=True)
class GoesOn:
    """The run has no end yet; its traces are whole up to an instant but for those of the stores `away`."""

    away: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Silver:
    """`events`: good lines, each event once; `doubts`: trace and, in words, why it cannot be judged; `types`: of which types
    there is an event in some trace."""

    events: DataFrame
    doubts: DataFrame
    types: frozenset[str]

    def has(self, *tags: str) -> bool:
        """Whether there is any event of these types."""
        return not self.types.isdisjoint(tags)

    def lines(self, *tags: str) -> DataFrame:
        """The events of these types, with every field as bronze has it."""
        if not self.has(*tags):
            # Spark sees through this before it plans anything, and with it goes whatever would be made of these events alone.
            return self.events.limit(0)
        families = {name for name, members in FAMILIES.items() if not members.isdisjoint(tags)}
        # The family is a partition: naming it spares reading the others.
        return self.events.where(F.col("family").isin(*families) & F.col("type").isin(*tags))

    def of(self, *tags: str) -> DataFrame:
        """The events of these types: header and the fields that the first of them has, each with its own type."""
        fields = struct_type(EVENT_TYPES[tags[0]]).fields
        return self.lines(*tags).select("trace", "type", *[_typed(field) for field in fields])


def _typed(field: T.StructField) -> Column:
    column = F.col(field.name)
    if WIDE[field.name].dataType == field.dataType:
        return column
    if isinstance(field.dataType, T.StructType | T.ArrayType):
        return F.from_json(column, field.dataType).alias(field.name)
    return column.cast(field.dataType).alias(field.name)


def silver(bronze: DataFrame, goes_on: GoesOn | None = None) -> Silver:
    """The events of bronze without those that came again, and the doubts about their traces."""
    heads = bronze.where(F.col("aside").isNull() | (F.col("aside") == UNKNOWN_TYPE))
    numbers = _numbers(heads).cache()
    events = bronze.where(F.col("family") != ASIDE)
    # One look at a table of a row for each 32,768 events decides whether anything came again at all, and what there is of.
    seen = numbers.agg(F.max(F.expr("found > distinct")), F.array_distinct(F.flatten(F.collect_set("types")))).collect()
    again, types = seen[0]
    if again:
        first = Window.partitionBy(*_KEY).orderBy("file", "hash")
        events = events.withColumn("_nth", F.row_number().over(first)).where("_nth = 1").drop("_nth")
    return Silver(events, doubts(bronze, heads, numbers, goes_on), frozenset(types))


def _numbers(heads: DataFrame) -> DataFrame:
    """By trace, node and bucket of sequence numbers: how many were found, how many of them are distinct, and the last."""
    bucket = F.bitmap_bucket_number("seq")
    return heads.groupBy("trace", "node", bucket.alias("bucket")).agg(
        F.count(F.lit(1)).alias("found"),
        F.bitmap_count(F.bitmap_construct_agg(F.bitmap_bit_position("seq"))).alias("distinct"),
        F.max("seq").alias("last"),
        F.max_by("type", "seq").alias("last_type"),
        F.max(F.col("type") == "run.started").alias("is_lab"),
        F.collect_set(F.when(F.col("aside").isNull(), F.col("type"))).alias("types"),
    )


def doubts(bronze: DataFrame, heads: DataFrame, numbers: DataFrame, goes_on: GoesOn | None = None) -> DataFrame:
    """Return trace, doubt: why a trace cannot be trusted, at most a few for each node."""
    nodes = numbers.groupBy("trace", "node").agg(
        F.sum("distinct").alias("distinct"),
        F.max("last").alias("last"),
        F.max_by("last_type", "last").alias("last_type"),
        F.max("is_lab").alias("is_lab"),
    )
    missing = F.col("last") - F.col("distinct")
    holes = nodes.where(missing > 0).select(
        "trace",
        F.format_string("%d of the events of %s up to %d are missing", missing, "node", "last").alias("doubt"),
    )
    cut = _endless(nodes) if goes_on is None else _away(nodes, goes_on.away)
    led = nodes.groupBy("trace").agg(F.max("is_lab").alias("led"))
    headless = led.where(~F.col("led")).select(
        "trace", F.lit("the event run.started is missing, and with it the topology").alias("doubt")
    )
    return (
        holes.unionByName(cut)
        .unionByName(headless)
        .unionByName(_unread(bronze))
        .unionByName(_spoilt(bronze))
        .unionByName(_twofold(heads, numbers))
    )


def _unread(bronze: DataFrame) -> DataFrame:
    """Without the topology nobody knows what stores and folders there were."""
    started = bronze.where("family = 'run' and type = 'run.started'")
    read = started.groupBy("trace").agg(
        F.max(F.expr("get_json_object(topology, '$.servers') is not null")).alias("read")
    )
    return read.where("not read").select("trace", F.lit("the topology in run.started cannot be read").alias("doubt"))


def _endless(nodes: DataFrame) -> DataFrame:
    ended = F.when(F.col("is_lab"), F.col("last_type") == "run.ended").otherwise(F.col("last_type") == "node.stopped")
    what = F.when(F.col("is_lab"), F.lit("the run has no end: its last events are missing, or it goes on"))
    return nodes.where(~ended).select(
        "trace",
        what.otherwise(F.format_string("the events of %s end without a stop", "node")).alias("doubt"),
    )


def _away(nodes: DataFrame, stores: Sequence[str]) -> DataFrame:
    words = F.array(*[F.lit(f"{store} does not answer, and its last events are missing") for store in stores])
    return nodes.select("trace").distinct().select("trace", F.explode(words.cast("array<string>")).alias("doubt"))


def _spoilt(bronze: DataFrame) -> DataFrame:
    """Lines that cannot be read belong to every run of their place; where nothing else is, to one that nobody can name."""
    aside = (
        bronze.where(F.col("aside").isin(*_UNTOLD))
        .groupBy("place")
        .agg(F.count(F.lit(1)).alias("lines"), F.min("file").alias("file"))
    )
    traces = bronze.where(F.col("aside").isNull()).select("place", "trace").distinct()
    words = F.format_string(
        "%d %s cannot be read, the first in %s",
        "lines",
        F.expr("if(lines = 1, 'line', 'lines')"),
        F.element_at(F.split("file", "/"), -1),
    )
    named = F.coalesce("trace", F.concat("place", F.lit("#?"))).alias("trace")
    return aside.join(traces, "place", "left").select(named, words.alias("doubt"))


def _twofold(heads: DataFrame, numbers: DataFrame) -> DataFrame:
    """Numbers that came again with other content: one of the two events is false."""
    again = numbers.where("found > distinct").select("trace", "node").distinct()
    events = heads.join(F.broadcast(again), ["trace", "node"], "left_semi").groupBy(*_KEY)
    false = events.agg(F.min("hash").alias("low"), F.max("hash").alias("high")).where("low != high")
    words = F.format_string("event %d of %s is there twice with other content", F.min("seq"), "node")
    return false.groupBy("trace", "node").agg(words.alias("doubt")).select("trace", "doubt")
