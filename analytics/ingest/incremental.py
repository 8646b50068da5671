"""Read new segments, each once: a streaming query that reads what is new and ends.

Spark's checkpoint says which segments belong to which batch. If the process is killed, the batch is written again under the
same number and replaces what is there. A table and its checkpoint belong together: if one of them or a part of the table is
missing, or a segment has changed since it was read, both are removed, and all segments are read again. If one of their files is
damaged, the check ends with a message that names the file. It deletes nothing itself, because the segments may be gone.

Only a file that was found unreadable is called damaged. Every other failure, for example of memory, keeps its own message.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Final

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody names it

from analytics.errors import TablesDamaged
from analytics.ingest.bronze import LINES_OF_SEGMENTS, SEGMENTS, parse
from analytics.ingest.compaction import MANY, Parts
from analytics.ingest.file_system import FileSystem
from analytics.ingest.lines import FAMILIES
from analytics.ingest.session import in_a_line
from analytics.ingest.tables import Tables

SEGMENTS_AT_ONCE = 1000
"""How many segments a batch has at most. A killed run repeats one batch."""

_STREAM: Final = {
    **LINES_OF_SEGMENTS,
    # By default Spark passes over a file that is a week older than the newest file that it has read.
    "maxFileAge": "365000d",
    # The lab may remove an old segment after Spark has planned a batch with it. The batch would fail again at each start.
    "ignoreMissingFiles": "true",
}


_NAMES: Final = "a local file has a path without a scheme, and no name has escapes"
"""How the files of events are named."""

_OWN: Final = "[0-9a-f]{16}"
"""Matches the name of the table and of the checkpoint of a place."""

_OF_A_BATCH: Final = "FOREACH_BATCH"
"""A part of Spark's message if a batch could not be read or written: a segment or the disk is to blame."""


@contextmanager
def naming_damage(tables: Tables) -> Iterator[None]:
    """Raise TablesDamaged if inside the block a file cannot be read that has the events of segments."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        cause = in_a_line(error)
        match = re.search(rf"{re.escape(tables.path('bronze/'))}({_OWN})", cause)
        if match is None:
            raise
        raise _damaged(tables, match[1], cause) from error


def _damaged(tables: Tables, place_key: str, cause: str) -> TablesDamaged:
    both = f"{tables.path(f'bronze/{place_key}')} and {tables.path(f'checkpoints/{place_key}')}"
    return TablesDamaged(
        f"a file of the tables of earlier checks is damaged: {cause}. Restore this file; or, if the traces still have all"
        f" segments, delete {both}, and they are read again"
    )


def _cut_file(spark: SparkSession, checkpoint: str) -> str | None:
    """Return the path of a file of the checkpoint that is not whole; None if all are, or cannot be read now."""
    files = spark.read.option("recursiveFileLookup", "true").option("wholetext", "true").text(checkpoint)
    try:
        rows = files.select(F.col("_metadata.file_path").alias("path"), "value").orderBy("path").collect()
    except (PySparkException, Py4JError):
        return None
    return next((str(row.path) for row in rows if not _is_whole(row.value)), None)


def _is_whole(text: str) -> bool:
    """Return whether this is the text of a file of a checkpoint: lines of JSON, mostly below a line with the file's version."""
    first, _, others = text.partition("\n")
    try:
        for line in others.splitlines() if re.fullmatch(r"v\d+", first) else text.splitlines():
            if line != "-":  # Spark's mark for a source without an offset
                json.loads(line)
    except ValueError:
        return False
    return bool(text)


def take_new(
    tables: Tables, places: Sequence[str], *, segments_at_once: int = SEGMENTS_AT_ONCE, many: int = MANY
) -> DataFrame:
    """Read the new segments of these places, and return the bronze table of all segments. Each place has its own table.

    `many`: how many parts of a table are joined.
    """
    return reduce(DataFrame.unionByName, [_read_place(tables, place, segments_at_once, many) for place in places])


def _read_place(tables: Tables, place: str, segments_at_once: int, many: int) -> DataFrame:
    rows = parse(tables.spark.readStream.options(**_STREAM, maxFilesPerTrigger=segments_at_once).text(place))
    # Tables of another version of pflab have another name, so that they are never mixed.
    identity = json.dumps(
        [_NAMES, place, rows.schema.json(), sorted((name, sorted(tags)) for name, tags in FAMILIES.items())]
    )
    place_key = hashlib.sha256(identity.encode()).hexdigest()[:16]
    parts = Parts(tables, f"bronze/{place_key}", by="family", many=many)
    checkpoint = tables.path(f"checkpoints/{place_key}")
    writing = rows.writeStream.foreachBatch(parts.write).option("checkpointLocation", checkpoint)
    try:
        if (
            not parts.are_whole()
            or not FileSystem(tables.spark.sparkContext).exists(checkpoint)
            or _was_changed(tables.spark, place, checkpoint)
        ):
            parts.start_again(checkpoint)
        writing.trigger(availableNow=True).start().awaitTermination()
    except (PySparkException, Py4JError) as error:
        if _OF_A_BATCH in str(error):
            raise
        cut = _cut_file(tables.spark, checkpoint)
        if cut is None:
            raise
        raise _damaged(tables, place_key, f"{cut} was cut or overwritten") from error
    with naming_damage(tables):
        parts.join(rows.schema)
    return tables.whole(parts.read(rows.schema))


def _was_changed(spark: SparkSession, place: str, checkpoint: str) -> bool:
    """Return whether a segment has another time of modification than when it was read, for example because a new run has been
    recorded in the same folder. Spark remembers only the names of the files, and would not read it again."""
    one_slash = F.regexp_replace("path", "^([a-z0-9]+):/+", "$1:/")
    sources = spark.read.schema("path string, timestamp bigint").json(f"{checkpoint}/sources/0")
    files = spark.read.format("binaryFile").options(**SEGMENTS).load(place)
    present = files.select(
        F.col("_metadata.file_path").alias("path"), F.unix_millis("modificationTime").alias("modified")
    )
    both = sources.select(one_slash.alias("path"), "timestamp").join(present.withColumn("path", one_slash), "path")
    return not both.where("timestamp != modified").isEmpty()
