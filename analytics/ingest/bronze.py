"""Bronze: the lines of the segments as they are, each read once. A line that is not an event is kept aside with the reason.

A trace is one run in one place. Its name is `place#run`: the folder of its segments (for a folder `traces`, the folder above
it) and the run's id. Runs of one seed have the same id, so the place is part of the name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody names it

from analytics.ingest.lines import ASIDE, FAMILIES, KEPT_OF_LINE, MALFORMED, OTHER_VERSION, SEGMENT_END, UNKNOWN_TYPE
from analytics.ingest.schemas import CORRUPT, LINE, WIDE, required
from traces.events import EVENT_TYPES
from traces.segments import END_TYPE
from traces.trace_version import TRACE_MAJOR

_OPTIONS: Final = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT}
_BITS: Final = 63
"""How many bits of a Spark bigint are used, all but the sign."""

_HEADER: Final = ("type", "run", "node", "incarnation", "seq", "lamport", "at")


def read_lines(spark: SparkSession, files: Sequence[str]) -> DataFrame:
    """Return text, file: the lines of these segments. Paths and globs may be in any file system that Spark knows."""
    read = spark.read.option("pathGlobFilter", "*.jsonl").option("recursiveFileLookup", "true")
    return named(read.text(list(files)))


def named(read: DataFrame) -> DataFrame:
    """Return text, file: the lines that Spark's text reader gives, in a batch or a stream. A file on this machine has a path
    without a scheme, as in `analytics.batches`."""
    path = F.regexp_replace("_metadata.file_path", "^file:/+", "/")
    lines = read.select(F.col("value").alias("text"), path.alias("file"))
    # The link to the latest run would read that run twice. If a user names the link, the caller resolves it first.
    is_latest = F.col("file").contains("/latest/") & F.col("file").rlike("/latest/(traces/)?[^/]*$")
    return lines.where(~is_latest)


def parse(lines: DataFrame) -> DataFrame:
    """Return the bronze table of lines: trace, place, file, family, aside (the reason, or null), text (of lines aside), and the
    fields of events."""
    read = lines.select("text", "file", _place().alias("place"), F.from_json("text", LINE, _OPTIONS).alias("e"))
    typed = read.withColumn("of", F.element_at(_types(), F.col("e.type")))
    judged = typed.withColumn("aside", _aside())
    keep = F.col("aside").isNull()
    fields = {name: F.col(f"e.{name}").alias(name) for name in WIDE.fieldNames()}
    return judged.select(
        F.concat_ws("#", "place", F.coalesce("e.run", F.lit("?"))).alias("trace"),
        "place",
        "file",
        "aside",
        F.when(~keep, F.substring("text", 1, KEPT_OF_LINE)).alias("text"),
        F.crc32("text").alias("hash"),  # as in `traces.segments.SegmentEnd`
        *{**fields, "v": F.coalesce("e.v", F.lit(1)).alias("v")}.values(),
        F.when(keep, F.col("of.family")).otherwise(ASIDE).alias("family"),
    )


def _place() -> Column:
    """Return the folder of a segment; for a folder `traces` the folder above it.

    Each line of a trace is a row here, and a regular expression would take longer than the checksum of the line.
    """
    name = "length(substring_index(file, '/', -1)) + 1"
    above = f"if(endswith(left(file, length(file) - ({name})), '/traces'), length('/traces'), 0)"
    return F.expr(f"left(file, length(file) - ({name}) - {above})")


def _types() -> Column:
    """Return a map from event type to its family and to the fields that it must have, as the bits of numbers (`_missing`)."""
    own = _own_fields()
    entries: list[Column] = []
    for tag in EVENT_TYPES:
        (family,) = (name for name, tags in FAMILIES.items() if tag in tags)
        musts = [
            F.lit(sum(1 << bit for bit, name in enumerate(part) if tag in own[name])).cast("long").alias(f"must{index}")
            for index, part in enumerate(_parts(own))
        ]
        entries += [F.lit(tag), F.struct(F.lit(family).alias("family"), *musts)]
    return F.create_map(*entries)


def _aside() -> Column:
    """Return why a line is not an event of this version; null if it is one."""
    headless = _any(F.col(f"e.{name}").isNull() for name in _HEADER)
    corrupt = F.col(f"e.{CORRUPT}").isNotNull()
    return (
        F.when(F.col("e.type") == END_TYPE, SEGMENT_END)
        .when(F.col("text").isNull() | corrupt & headless, MALFORMED)
        .when(headless | (F.col("e.seq") < 1), MALFORMED)
        .when(F.coalesce("e.v", F.lit(1)) != TRACE_MAJOR, OTHER_VERSION)
        .when(F.col("of").isNull(), UNKNOWN_TYPE)
        .when(corrupt | _incomplete(), MALFORMED)
    )


def _incomplete() -> Column:
    """Return whether a field is missing that this type of event must have. The types and their fields are data, not
    conditions: six hundred conditions made the slowest code of the check."""
    parts = enumerate(_parts(_own_fields()))
    return _any(F.col(f"of.must{index}").bitwiseAND(_missing(part)) != 0 for index, part in parts)


def _missing(names: Sequence[str]) -> Column:
    """Return which of these fields are missing, as the bits of a number."""
    bits = [F.when(F.col(f"e.{name}").isNull(), 1 << bit).otherwise(0).cast("long") for bit, name in enumerate(names)]
    return reduce(Column.bitwiseOR, bits)


def _own_fields() -> dict[str, frozenset[str]]:
    """Map each field that only some types of events must have to these types."""
    return {name: frozenset(tags) for name, tags in required().items() if len(tags) < len(EVENT_TYPES)}


def _parts(names: Iterable[str]) -> list[list[str]]:
    """Return the names in parts, with a bit for each in one number."""
    every = list(names)
    return [every[first : first + _BITS] for first in range(0, len(every), _BITS)]


def _any(conditions: Iterable[Column]) -> Column:
    return reduce(lambda left, right: left | right, conditions)
