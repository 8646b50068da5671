"""Judges traces in this process: reads the segments, computes the tables with DuckDB, and answers the queries about them."""

from __future__ import annotations

import glob
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import duckdb
import pyarrow as pa  # type: ignore[import-untyped]

from analytics.embedded.product import FUNCTIONS, GIVEN, GOLD_RULES, RULES, product
from analytics.errors import AnalyticsError
from analytics.ingest.lines import Lines, is_segment, read_lines
from analytics.rows import Findings, Given, Judged, Row, row_of

SMALL_BYTES: Final = 2_000_000
"""Up to this size of traces, optimizing the statements takes longer than it saves."""

NAME: Final = f"DuckDB {duckdb.__version__}"

STAGES: Final = ("reading the segments", "the tables", "the verdict")

Progress = Callable[[str], None]
"""Called with the name of each stage when it begins."""

_SETTINGS: Final[Mapping[str, Any]] = {
    "preserve_insertion_order": False,
    # Pushing aggregates below joins takes seconds to plan for our largest statements, and saves nothing there.
    "disabled_optimizers": "partial_aggregate_pushdown",
}

FOR_SESSION: Final = "SET TimeZone = 'UTC'; SET enable_progress_bar = false"
"""DuckDB's bar of progress would be drawn on stdout, into the output of --json."""

_LINES: Final = pa.schema(
    [
        *((name, pa.string()) for name in ("trace", "place", "file", "aside", "text")),
        ("hash", pa.int64()),
        ("event", pa.string()),
        ("family", pa.string()),
    ]
)


def segments(places: Iterable[str]) -> list[str]:
    """Return the segments in these places: files, folders, or patterns of them. Hidden files and folders are left out."""
    found: set[str] = set()
    for place in places:
        if not glob.has_magic(place):
            found.update(_segments_of(place))
            continue
        matches = glob.glob(place, recursive=True)  # noqa: PTH207 - a pattern may begin anywhere
        for path in (each for each in matches if not _is_hidden(each.rpartition("/")[2])):
            found.update(_segments_of(path))
    return sorted(found)


def _segments_of(path: str) -> Iterator[str]:
    if not Path(path).is_dir():
        yield from (each for each in [path] if is_segment(each))
        return
    for folder, folders, files in os.walk(path):
        folders[:] = [each for each in folders if not _is_hidden(each)]
        paths = (f"{folder}/{each}" for each in files if not _is_hidden(each))
        yield from filter(is_segment, paths)


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def contents_of(places: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the content of each segment in these places. Raises AnalyticsError for one that cannot be read."""
    for file in segments(places):
        try:
            yield file, Path(file).read_bytes()
        except OSError as error:
            raise AnalyticsError(f"{error.filename}: cannot be read: {error.strerror}") from error


def judge(places: Iterable[str]) -> Findings:
    """Judge the traces in these places (files, folders, or patterns of them), and return the findings.

    Raises AnalyticsError as `judged` does.
    """
    with judged(contents_of(places)) as found:
        return found.findings


@contextmanager
def judged(
    segments: Iterable[tuple[str, bytes]],
    progress: Progress = lambda _: None,
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> Iterator[Judged]:
    """Judge the traces in these segments, each with its path or URL and its content. The tables are there inside the block.

    settings: of DuckDB. progress: called with the name of each stage. Raises AnalyticsError with one line of text if DuckDB
    fails, for example because the disk is full.
    """
    with tempfile.TemporaryDirectory(prefix="pflab-check-") as spilled:
        connection = duckdb.connect(config={**_SETTINGS, "temp_directory": spilled, **settings})
        try:
            connection.execute(FOR_SESSION)
            connection.execute(FUNCTIONS.read_text("utf-8"))
            progress(STAGES[0])
            size = _read(connection, segments)
            progress(STAGES[1])
            if size <= SMALL_BYTES:
                connection.execute("PRAGMA disable_optimizer")
            _compute(connection)
            progress(STAGES[2])
            answers = partial(_answer, connection)
            found = {query.name: answers(query.name, {}) for query in product().findings}
            yield Judged(found, answers, partial(_publish, connection))
        except duckdb.Error as error:
            line = str(error).strip().partition("\n")[0]
            raise AnalyticsError(f"DuckDB failed: {line}") from error
        except RuntimeError as error:  # DuckDB ends a statement in this way when it is interrupted by a signal
            if "interrupted" not in str(error).lower():
                raise
            raise KeyboardInterrupt from None
        finally:
            connection.close()


def _answer(connection: duckdb.DuckDBPyConnection, name: str, given: Given) -> list[Row]:
    for table, rows in given.items():
        connection.execute(f'CREATE OR REPLACE TABLE "{GIVEN}{table}"({product().given[table]})')
        if rows:
            places = ", ".join("?" for _ in rows[0])
            connection.executemany(f'INSERT INTO "{GIVEN}{table}" VALUES ({places})', rows)
    answer = connection.execute(product().query(name))
    columns = [each[0] for each in answer.description or ()]
    return [row_of(dict(zip(columns, values, strict=True))) for values in answer.fetchall()]


def _publish(connection: duckdb.DuckDBPyConnection, folder: str) -> None:
    for table in product().published:
        connection.sql(table.sql).write_parquet(f"{folder}/{table.name}.parquet", compression="zstd")


def _read(connection: duckdb.DuckDBPyConnection, segments: Iterable[tuple[str, bytes]]) -> int:
    """Make the table bronze from the lines of these segments, and return their size in bytes."""
    size = 0
    columns = ", ".join(f"{each.name} {'BIGINT' if each.name == 'hash' else 'VARCHAR'}" for each in _LINES)
    connection.execute(f"CREATE TABLE lines({columns})")
    for file, content in segments:
        size += len(content)
        connection.register("segment", _table(read_lines(file, content)))
        connection.execute("INSERT INTO lines SELECT * FROM segment")
        connection.unregister("segment")
    shape = product().shape
    fields = ", ".join(f'coalesce(e."{name}", 1) AS "{name}"' if name == "v" else f'e."{name}"' for name in shape)
    connection.execute(
        f"CREATE TABLE bronze AS SELECT trace, place, file, aside, text, hash, {fields}, family"
        " FROM (SELECT *, from_json(event, ?) AS e FROM lines)",
        [json.dumps(shape)],
    )
    connection.execute("DROP TABLE lines")
    return size


def _table(lines: Lines) -> pa.Table:
    events = pa.array(lines.event, pa.binary()).cast(pa.string())
    columns = [lines.trace, lines.place, lines.file, lines.aside, lines.text, lines.hash, events, lines.family]
    return pa.table([pa.array(each, of.type) for each, of in zip(columns, _LINES, strict=True)], schema=_LINES)


def _compute(connection: duckdb.DuckDBPyConnection) -> None:
    """Compute all tables for which there are events."""
    types = {name for (name,) in connection.execute("SELECT DISTINCT type FROM bronze").fetchall()}
    rules = []
    for table in product().tables:
        if table.needs and types.isdisjoint(table.needs):
            continue
        connection.execute(f'CREATE TABLE "{table.name}" AS {table.sql}')
        if table.name.startswith(RULES):
            rules.append(f'SELECT * FROM "{table.name}"')
    connection.execute(f'CREATE VIEW "{GOLD_RULES}" AS {" UNION ALL ".join(rules)}')
