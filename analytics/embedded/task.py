"""A task of the Spark job: it judges a batch of segments, and sends the findings to the driver as bytes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]

from analytics.embedded.engine import judged
from analytics.ingest.places import checksum, contents
from analytics.rows import Findings, Judged, row_of
from traces.temporary_folder import temporary_folder

RESULT: Final = "findings"
"""The column of a task's only row."""

MARKS: Final = "file string, mark string"
"""The columns with the checksums of files."""

_SETTINGS: Final[Mapping[str, object]] = {"threads": 1}
"""A task has one core."""


def judge_batch(
    batches: Iterable[pa.RecordBatch],
    figures: Sequence[str],
    *,
    is_published: bool,
    rules: Collection[str] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Judge segments, and yield a row with the findings; none if there are no segments.

    batches: of file, content. A content that is null is read here.
    figures: the names of queries whose rows are returned with the findings.
    is_published: whether the row also has the published tables.
    rules: the names of the evidence tables whose checks run; None for all.
    """
    # Spark reads a file twice that is in two of the places.
    segments = {file.as_py(): content.as_py() for rows in batches for file, content in zip(*rows.columns, strict=True)}
    if not segments:
        return
    here = contents(file for file, content in segments.items() if content is None)
    sent = ((file, content) for file, content in segments.items() if content is not None)
    with judged(chain(here, sent), settings=_SETTINGS, rules=rules) as found:
        rows: dict[str, Any] = {**found.findings, **{name: found.answers(name, {}) for name in figures}}
        tables = _tables(found) if is_published else {}
    encoded = msgspec.msgpack.encode(_Result(rows, tables))
    yield pa.record_batch({RESULT: pa.array([encoded], pa.binary())})


def checksum_files(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the columns MARKS for each batch of files.

    batches: of paths on this machine.
    """
    for rows in batches:
        files = rows.column(0).to_pylist()
        marks = [checksum(file) for file in files]
        yield pa.record_batch({"file": pa.array(files, pa.string()), "mark": pa.array(marks, pa.string())})


def _tables(found: Judged) -> dict[str, bytes]:
    with temporary_folder("pflab-check-") as folder:
        found.publish(folder)
        return {file.stem: file.read_bytes() for file in Path(folder).iterdir()}


class _Result(msgspec.Struct, frozen=True):
    """The result of a task.

    tables: the Parquet files of the published tables, by name.
    """

    findings: dict[str, list[dict[str, object]]]
    tables: dict[str, bytes]


def result_in(content: bytes) -> tuple[Findings, dict[str, bytes]]:
    """Return the findings and the tables (the content of Parquet files) in the row of a task."""
    result = msgspec.msgpack.decode(content, type=_Result)
    return {name: [row_of(row) for row in rows] for name, rows in result.findings.items()}, result.tables
