"""The tasks of the Spark job: each judges batches of segments, and sends the findings to the driver as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]

from analytics.embedded.engine import judged
from analytics.embedded.product import Rules
from analytics.ingest.places import checksum, contents
from analytics.rows import Findings, Judged, row_of
from traces.temporary_folder import temporary_folder

RESULT: Final = "findings"
"""The column of a task's only row."""

MARKS: Final = "file string, mark string"
"""The columns with the checksums of files."""

_SETTINGS: Final[Mapping[str, object]] = {"threads": 1}
"""A task has one core."""


def judge_files(
    numbers: Iterable[pa.RecordBatch], batches: Sequence[Sequence[str]], **options: Any
) -> Iterator[pa.RecordBatch]:
    """Judge batches of segments that this machine can open, and yield a row for each.

    numbers: which of the batches.
    batches: the paths of their segments.
    options: those of `_result`.
    """
    for rows in numbers:
        for number in rows.column(0).to_pylist():
            yield _result(contents(batches[number]), **options)


def judge_contents(rows: Iterable[pa.RecordBatch], **options: Any) -> Iterator[pa.RecordBatch]:
    """Judge segments that Spark has read, and yield a row; none if there are no segments.

    rows: file, content.
    options: those of `_result`.
    """
    # Spark reads a file twice that is in two of the places.
    segments = {file.as_py(): content.as_py() for batch in rows for file, content in zip(*batch.columns, strict=True)}
    if segments:
        yield _result(segments.items(), **options)


def _result(
    segments: Iterable[tuple[str, bytes]],
    figures: Sequence[str],
    *,
    is_published: bool,
    rules: Rules | None = None,
) -> pa.RecordBatch:
    """Judge a batch of segments, and return a row with the findings.

    figures: the names of queries whose rows are returned with the findings.
    is_published: whether the row also has the published tables.
    rules: the chosen checks; None for all.
    """
    with judged(segments, settings=_SETTINGS, rules=rules) as outcome:
        rows: dict[str, Any] = {**outcome.findings, **{name: outcome.answers(name, {}) for name in figures}}
        tables = _tables(outcome) if is_published else {}
    encoded = msgspec.msgpack.encode(_Result(rows, tables))
    return pa.record_batch({RESULT: pa.array([encoded], pa.binary())})


def checksum_files(numbers: Iterable[pa.RecordBatch], files: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield the columns MARKS of files that this machine can open.

    numbers: which of the files.
    """
    for rows in numbers:
        chosen = [files[number] for number in rows.column(0).to_pylist()]
        marks = [checksum(file) for file in chosen]
        yield pa.record_batch({"file": pa.array(chosen, pa.string()), "mark": pa.array(marks, pa.string())})


def _tables(outcome: Judged) -> dict[str, bytes]:
    with temporary_folder("pflab-check-") as folder:
        outcome.publish(folder)
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
