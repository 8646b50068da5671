"""The lines of segments as tables of Arrow, the form in which both engines take them."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Final
from urllib.parse import unquote

import pyarrow as pa  # type: ignore[import-untyped]

from analytics.ingest.lines import Lines, is_segment

LINES: Final = pa.schema(
    [
        *((name, pa.large_string()) for name in ("trace", "place", "file", "aside", "text")),
        ("hash", pa.int64()),
        ("event", pa.large_string()),
        ("family", pa.large_string()),
    ]
)


def table_of(lines: Lines) -> pa.Table:
    """Return lines as a table with the columns of `LINES`."""
    count = len(lines.hash)
    hashes = pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(array("q", lines.hash))])
    columns: dict[str, Sequence[str | bytes | None]] = {
        "trace": lines.trace,
        "place": [lines.place] * count,
        "file": [lines.file] * count,
        "aside": lines.aside,
        "text": lines.text,
        "event": lines.event,
        "family": lines.family,
    }
    arrays = {"hash": hashes} | {name: _texts(values) for name, values in columns.items()}
    return pa.Table.from_arrays([arrays[name] for name in LINES.names], schema=LINES)


def _texts(values: Sequence[str | bytes | None]) -> pa.Array:
    """Return texts as an array. `pa.array` would import pandas, which takes half a second."""
    encoded = [text.encode() if isinstance(text, str) else text or b"" for text in values]
    validity = int("".join("01"[text is not None] for text in reversed(values)) or "0", 2)
    offsets = array("q", accumulate(map(len, encoded), initial=0))
    buffers = [validity.to_bytes(len(values) // 8 + 1, "little"), offsets, b"".join(encoded)]
    return pa.Array.from_buffers(pa.large_string(), len(values), [pa.py_buffer(buffer) for buffer in buffers])


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
