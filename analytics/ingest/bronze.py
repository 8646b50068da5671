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

from analytics.ingest.schemas import CORRUPT, FAMILIES, LINE, WIDE, required
from traces.events import EVENT_TYPES
from traces.segments import END_TYPE
from traces.trace_version import TRACE_MAJOR

ASIDE: Final = "aside"
"""The family of lines that are not events of a known type."""

MALFORMED: Final = "malformed"
OTHER_VERSION: Final = "other version"
UNKNOWN_TYPE: Final = "unknown type"
SEGMENT_END: Final = "segment end"
"""The reasons why a line is kept aside. The end of a segment is no event, but nothing is wrong with it."""

_KEPT_OF_LINE: Final = 2000
"""How many characters of a line kept aside are stored."""

_OPTIONS: Final = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT}
_HEADER: Final = ("type", "run", "node", "incarnation", "seq", "lamport", "at")


def read_lines(spark: SparkSession, files: Sequence[str]) -> DataFrame:
    """Return text, file: the lines of these segments. Paths and globs may be in any file system that Spark knows."""
    read = spark.read.option("pathGlobFilter", "*.jsonl").option("recursiveFileLookup", "true")
    return named(read.text(list(files)))


def named(read: DataFrame) -> DataFrame:
    """Return text, file: the lines that Spark's text reader gives, in a batch or a stream."""
    lines = read.select(F.col("value").alias("text"), F.col("_metadata.file_path").alias("file"))
    # The link to the latest run would read that run twice. If a user names the link, the caller resolves it first.
    return lines.where(~F.col("file").rlike("/latest/(traces/)?[^/]*$"))


def parse(lines: DataFrame) -> DataFrame:
    """Return the bronze table of lines: trace, place, file, family, aside (the reason, or null), text (of lines aside), and the
    fields of events."""
    read = lines.withColumn("e", F.from_json("text", LINE, _OPTIONS))
    place = F.regexp_replace(F.regexp_replace("file", r"/[^/]*$", ""), r"/traces$", "")
    named = read.select("text", "file", place.alias("place"), "e.*").withColumn("v", F.coalesce("v", F.lit(1)))
    judged = named.withColumn("aside", _aside())
    keep = F.col("aside").isNull()
    return judged.select(
        F.concat_ws("#", "place", F.coalesce("run", F.lit("?"))).alias("trace"),
        "place",
        "file",
        "aside",
        F.when(~keep, F.substring("text", 1, _KEPT_OF_LINE)).alias("text"),
        F.crc32("text").alias("hash"),  # as in `traces.segments.SegmentEnd`
        *[F.col(name) for name in WIDE.fieldNames()],
        F.when(keep, _family()).otherwise(ASIDE).alias("family"),
    )


def _aside() -> Column:
    """Return why a line is not an event of this version; null if it is one."""
    headless = _any(F.col(name).isNull() for name in _HEADER)
    known = F.col("type").isin(*EVENT_TYPES)
    return (
        F.when(F.col("type") == END_TYPE, SEGMENT_END)
        .when(F.col("text").isNull() | F.col(CORRUPT).isNotNull() & headless, MALFORMED)
        .when(headless | (F.col("seq") < 1), MALFORMED)
        .when(F.col("v") != TRACE_MAJOR, OTHER_VERSION)
        .when(~known, UNKNOWN_TYPE)
        .when(F.col(CORRUPT).isNotNull() | _incomplete(), MALFORMED)
    )


def _incomplete() -> Column:
    """Return whether a field is missing that this type of event must have."""
    everywhere = len(EVENT_TYPES)
    own = {name: tags for name, tags in required().items() if len(tags) < everywhere}
    return _any(F.col(name).isNull() & F.col("type").isin(*tags) for name, tags in own.items())


def _family() -> Column:
    pairs = [(tag, family) for family, tags in FAMILIES.items() for tag in sorted(tags)]
    table = F.create_map(*[F.lit(word) for pair in pairs for word in pair])
    return F.element_at(table, F.col("type"))


def _any(conditions: Iterable[Column]) -> Column:
    return reduce(lambda left, right: left | right, conditions)
