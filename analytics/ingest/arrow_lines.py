"""The lines of segments as tables of Arrow, the form in which both engines take them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, Final
from urllib.parse import unquote

import pyarrow as pa  # type: ignore[import-untyped]

from analytics.ingest.lines import Lines, is_segment

LINES: Final = pa.schema(
    [
        *((name, pa.string()) for name in ("trace", "place", "file", "aside", "text")),
        ("hash", pa.int64()),
        ("event", pa.string()),
        ("family", pa.string()),
    ]
)


def table_of(lines: Lines) -> pa.Table:
    """Return lines as a table with the columns of `LINES`."""
    count = len(lines.hash)
    place, file = (pa.repeat(text, count) for text in (lines.place, lines.file))
    columns = [lines.trace, place, file, lines.aside, lines.text, lines.hash, lines.event, lines.family]
    return pa.table([_column(each, of.type) for each, of in zip(columns, LINES, strict=True)], schema=LINES)


def _column(values: Any, of: Any) -> Any:
    return pa.array(values, of) if isinstance(values, list) else values


@lru_cache
def _file_of(uri: str) -> str:
    """Return the path of a file on this machine, and the URL of another one without escapes, as in `analytics.batches`."""
    return re.sub("^file:/+", "/", unquote(uri))


def read_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Read lines in a task of Spark: from rows of a line (bytes) and its file (a URI) to rows with the columns of `LINES`."""
    for rows in batches:
        pairs = zip(*(column.to_pylist() for column in rows.columns), strict=True)
        for uri, of_file in groupby(pairs, itemgetter(1)):
            if is_segment(file := _file_of(uri)):
                yield from table_of(Lines(file).take(line for line, _ in of_file)).to_batches()
