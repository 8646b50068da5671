"""Judges traces in this process: reads the segments, computes the tables with DuckDB, and answers the queries about them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final

import duckdb
import pyarrow as pa  # type: ignore[import-untyped]

from analytics.embedded.product import FUNCTIONS, GIVEN, GOLD_RULES, RULES, Rules, Statement, product
from analytics.errors import AnalyticsError
from analytics.ingest.arrow_lines import LINES, table_of
from analytics.ingest.lines import read_lines
from analytics.ingest.places import contents_of
from analytics.rows import Findings, Given, Judged, Row, row_of
from traces.temporary_folder import temporary_folder

SMALL_BYTES: Final = 10_000_000
"""Up to this size of traces, optimizing the statements takes longer than it saves."""

NAME: Final = f"DuckDB {duckdb.__version__}"

STAGES: Final = ("reading the segments", "the tables", "the verdict")

Progress = Callable[[str], None]
"""Called with the name of each stage when the stage begins."""

_SETTINGS: Final[Mapping[str, Any]] = {
    # What does not fit goes to files. The process needs about 1.5 GB more, for example for the segments that are read.
    "memory_limit": "2GB",
    "preserve_insertion_order": False,
    # Pushing aggregates below joins takes seconds to plan for our largest statements, and saves nothing there.
    "disabled_optimizers": "partial_aggregate_pushdown",
}

FOR_SESSION: Final = "SET TimeZone = 'UTC'; SET enable_progress_bar = false"
"""DuckDB's bar of progress would be drawn on stdout, into the output of --json."""

_BATCH_BYTES: Final = 16_000_000
"""How much of the segments DuckDB reads at a time."""


def judge(places: Iterable[str], rules: Rules | None = None) -> Findings:
    """Judge the traces in these places (files and folders), and return the findings.

    rules: the chosen checks; None for all.

    Raises AnalyticsError as `judged` does.
    """
    with judged(contents_of(places), rules=rules) as outcome:
        return outcome.findings


@contextmanager
def judged(
    segments: Iterable[tuple[str, bytes]],
    progress: Progress = lambda _: None,
    settings: Mapping[str, Any] = MappingProxyType({}),
    rules: Rules | None = None,
) -> Iterator[Judged]:
    """Judge the traces in these segments, each with its path or URL and its content. A large segment may be there several
    times, each time with its next whole lines. The tables are there inside the block.

    settings: of DuckDB.
    progress: called with the name of each stage.
    rules: the chosen checks; None for all. Only what these and the published tables need is computed.

    Raises AnalyticsError with one line of text if DuckDB fails, for example because the disk is full.
    """
    with opened(settings) as engine:
        yield engine.judge(segments, progress, rules)


@contextmanager
def opened(settings: Mapping[str, Any] = MappingProxyType({})) -> Iterator[Engine]:
    """Yield an engine, which ends with the block.

    settings: of DuckDB.

    Raises AnalyticsError as `judged` does.
    """
    with temporary_folder("pflab-check-") as spilled:
        connection = duckdb.connect(config={**_SETTINGS, "temp_directory": spilled, **settings})
        try:
            with stoppable():
                yield Engine(connection)
        except duckdb.Error as error:
            line = str(error).strip().partition("\n")[0]
            raise AnalyticsError(f"DuckDB failed: {line}") from error
        finally:
            connection.close()


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise KeyboardInterrupt if a signal ends a statement of DuckDB in the block. DuckDB has several errors for this,
    depending on where the statement is; while it reads a table of Python, the name of Python's error is in the text."""
    try:
        yield
    except duckdb.Error as error:
        if not isinstance(error, duckdb.InterruptException) and KeyboardInterrupt.__name__ not in str(error):
            raise
        raise KeyboardInterrupt from None
    except RuntimeError as error:
        if "interrupted" not in str(error).lower():
            raise
        raise KeyboardInterrupt from None


class Engine:
    """A database with the tables of a check, which judges traces any number of times.

    Each time is one transaction, and the next one begins with its rollback: rows that are deleted would stay in memory.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._prepared = False
        self._used = False
        connection.execute(FOR_SESSION)
        connection.execute(FUNCTIONS.read_text("utf-8"))
        self._take([pa.Table.from_batches([], schema=LINES)], "CREATE TABLE bronze AS")
        for table in product().tables:
            connection.execute(f'CREATE TABLE "{table.name}"({table.columns})')
        for name, columns in product().given.items():
            connection.execute(f'CREATE TABLE "{GIVEN}{name}"({columns})')
        rules = (f'SELECT * FROM "{table.name}"' for table in product().tables if table.name.startswith(RULES))
        connection.execute(f'CREATE VIEW "{GOLD_RULES}" AS {" UNION ALL ".join(rules)}')

    def prepare(self) -> None:
        """Read the statements of a check, so that each time the engine judges, it need not read them again. This takes as long
        as judging a small run."""
        self._optimize_for(0)
        for statement in (*product().tables, *product().findings):
            self._connection.execute(f'PREPARE "{statement.name}" AS {_written(statement)}')
        self._prepared = True

    def judge(
        self,
        segments: Iterable[tuple[str, bytes]],
        progress: Progress = lambda _: None,
        rules: Rules | None = None,
    ) -> Judged:
        """Judge the traces in these segments (`judged`). The result can be asked until the engine judges again."""
        if self._used:
            self._connection.rollback()
        self._connection.begin()
        self._used = True
        progress(STAGES[0])
        size = self._read(segments)
        progress(STAGES[1])
        self._optimize_for(size)
        types = {name for (name,) in self._connection.execute("SELECT DISTINCT type FROM bronze").fetchall()}
        for table in product().tables_for(rules):
            if not table.needs or not types.isdisjoint(table.needs):
                self._run(table)
        if rules is not None:
            self._leave_out_others(rules)
        progress(STAGES[2])
        findings = {query.name: _rows(self._run(query)) for query in product().findings}
        return Judged(findings, self._answer, self._publish)

    def _leave_out_others(self, rules: Rules) -> None:
        """Delete the results of checks that were not chosen. The statement of a table has all checks of the table."""
        for table, checks in rules.items():
            self._connection.execute(f'DELETE FROM "{RULES}{table}" WHERE "check" NOT IN ?', [list(checks)])

    def _optimize_for(self, size: int) -> None:
        self._connection.execute("PRAGMA disable_optimizer" if size <= SMALL_BYTES else "PRAGMA enable_optimizer")

    def _run(self, statement: Statement) -> duckdb.DuckDBPyConnection:
        return self._connection.execute(f'EXECUTE "{statement.name}"' if self._prepared else _written(statement))

    def _read(self, segments: Iterable[tuple[str, bytes]]) -> int:
        """Fill the table bronze from the lines of these segments, and return their size in bytes."""
        size, batch_start = 0, 0
        batch: list[pa.Table] = []
        before = ""
        for file, content in segments:
            batch.append(table_of(read_lines(file, content, begins=file != before)))
            before = file
            size += len(content)
            if size - batch_start > _BATCH_BYTES:
                self._take(batch, "INSERT INTO bronze")
                batch, batch_start = [], size
        if batch:
            self._take(batch, "INSERT INTO bronze")
        return size

    def _take(self, lines: Sequence[pa.Table], into: str) -> None:
        self._connection.register("lines", pa.concat_tables(lines))
        self._connection.execute(f"{into} {_bronze()}", [json.dumps(product().shape)])
        self._connection.unregister("lines")

    def _answer(self, name: str, parameters: Given) -> list[Row]:
        for table, rows in parameters.items():
            self._connection.execute(f'DELETE FROM "{GIVEN}{table}"')
            if rows:
                places = ", ".join("?" for _ in rows[0])
                self._connection.executemany(f'INSERT INTO "{GIVEN}{table}" VALUES ({places})', rows)
        return _rows(self._connection.execute(product().query(name)))

    def _publish(self, folder: str) -> None:
        for table in product().published:
            self._connection.sql(table.sql).write_parquet(f"{folder}/{table.name}.parquet", compression="zstd")


def _bronze() -> str:
    """Return the SELECT of the table bronze, which has each field of an event as a column. It is given their shape."""
    shape = product().shape
    fields = ", ".join(f'coalesce(e."{name}", 1) AS "{name}"' if name == "v" else f'e."{name}"' for name in shape)
    columns = f"trace, place, file, aside, text, hash, {fields}, family"
    return f"SELECT {columns} FROM (SELECT *, from_json(event, ?) AS e FROM lines)"


def _written(statement: Statement) -> str:
    """Return a statement that fills a table or answers a query."""
    return f'INSERT INTO "{statement.name}" {statement.sql}' if statement.columns else statement.sql


def _rows(answer: duckdb.DuckDBPyConnection) -> list[Row]:
    columns = [column[0] for column in answer.description or ()]
    return [row_of(dict(zip(columns, values, strict=True))) for values in answer.fetchall()]
