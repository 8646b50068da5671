"""Bronze on Spark: the lines of the segments, with the fields of events as columns. A line that is not an event is kept aside
with the reason.

`analytics.ingest.lines` reads the lines, in Spark's workers, so both engines have the same table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody names it

from analytics.ingest.arrow_lines import read_batches
from analytics.ingest.schemas import WIDE
from analytics.ingest.worker import in_worker

LINES: Final = (
    "trace string, place string, file string, aside string, text string, hash bigint, event string, family string"
)
"""The columns of `analytics.ingest.arrow_lines.LINES`, in Spark's words."""

SEGMENTS: Final = {"pathGlobFilter": "*.jsonl", "recursiveFileLookup": "true"}
"""Options of Spark's readers for the segments in a folder."""

LINES_OF_SEGMENTS: Final = {**SEGMENTS, "lineSep": "\n"}
"""The same for their lines. Without the last option, a carriage return inside a line would end the line."""


def read_lines(spark: SparkSession, files: Sequence[str]) -> DataFrame:
    """Return the table bronze of these segments. Paths and globs may be in any file system that Spark knows."""
    return parse(spark.read.options(**LINES_OF_SEGMENTS).text(list(files)))


def parse(texts: DataFrame) -> DataFrame:
    """Return bronze from what Spark's text reader gives, in a batch or a stream."""
    lines = texts.select(F.col("value").cast("binary").alias("line"), F.col("_metadata.file_path").alias("file"))
    return typed(lines.mapInArrow(in_worker(read_batches), LINES))


def typed(lines: DataFrame) -> DataFrame:
    """Return bronze from a table with the columns `LINES`.

    Its columns: trace, place, file, aside (the reason, or null), text (of lines aside), hash (the CRC-32 of the line), the
    fields of events, family.
    """
    fields = {name: F.col(f"e.{name}").alias(name) for name in WIDE.fieldNames()}
    return lines.withColumn("e", F.from_json("event", WIDE)).select(
        "trace",
        "place",
        "file",
        "aside",
        "text",
        "hash",
        *{**fields, "v": F.coalesce("e.v", F.lit(1)).alias("v")}.values(),
        "family",
    )
