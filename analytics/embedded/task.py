"""What a task of the Spark job does: it judges a batch of segments, and sends the findings to the driver as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]

from analytics.embedded.engine import judged
from analytics.rows import Findings, row_of

RESULT: Final = "findings"
"""The column of a task's only row."""

_SETTINGS: Final[Mapping[str, object]] = {"threads": 1, "memory_limit": "2GB"}
"""A task has one core. What does not fit into its memory goes to files."""


def judge_batch(batches: Iterable[pa.RecordBatch], figures: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Judge segments (file, content), and yield a row with the findings; none if there are no segments. figures: the names of
    queries whose rows are returned with the findings."""
    # Spark reads a file twice that is in two of the places.
    segments = {file.as_py(): content.as_py() for rows in batches for file, content in zip(*rows.columns, strict=True)}
    if not segments:
        return
    with judged(segments.items(), settings=_SETTINGS) as found:
        rows = {**found.findings, **{name: found.answers(name, {}) for name in figures}}
    yield pa.record_batch({RESULT: pa.array([msgspec.msgpack.encode(rows)], pa.binary())})


def findings_in(content: bytes) -> Findings:
    """Return the findings in the row of a task."""
    decoded = msgspec.msgpack.decode(content, type=dict[str, list[dict[str, object]]])
    return {name: [row_of(row) for row in rows] for name, rows in decoded.items()}
