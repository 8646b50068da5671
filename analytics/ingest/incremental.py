"""Read new segments, each once: a streaming query that reads what is new and ends.

Spark's checkpoint says which segments belong to which batch. If the process is killed, the batch is written again under the
same number and replaces what is there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame

from analytics.ingest.bronze import named, parse
from analytics.ingest.compaction import MANY, Parts
from analytics.ingest.tables import Tables

SEGMENTS_AT_ONCE = 1000
"""How many segments a batch has at most. A killed run repeats one batch."""


def take_new(
    tables: Tables, places: Sequence[str], *, segments_at_once: int = SEGMENTS_AT_ONCE, many: int = MANY
) -> DataFrame:
    """Read the new segments of these places, and return the bronze table of all segments. Each place has its own table.
    `many`: how many parts of a table are joined."""
    return reduce(DataFrame.unionByName, [_read_place(tables, place, segments_at_once, many) for place in places])


def _read_place(tables: Tables, place: str, segments_at_once: int, many: int) -> DataFrame:
    own = hashlib.sha256(place.encode()).hexdigest()[:16]
    read = tables.spark.readStream.option("pathGlobFilter", "*.jsonl").option("recursiveFileLookup", "true")
    rows = parse(named(read.option("maxFilesPerTrigger", segments_at_once).text(place)))
    parts = Parts(tables, f"bronze/{own}", by="family", many=many)
    query = (
        rows.writeStream.foreachBatch(parts.write)
        .option("checkpointLocation", tables.path(f"checkpoints/{own}"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    parts.join(rows.schema)
    return tables.whole(parts.read(rows.schema))
