"""`pflab check` as a process, and its verdicts on all traces of the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from analytics.embedded.product import product
from analytics.rows import Row, row_of
from tests.support.random_traces import RandomRun
from tests.support.trace_faults import Planted

PFLAB = [sys.executable, "-c", "from pflab.cli import main; main()", "check"]
PATIENCE_S = 1800.0


def pflab_check(root: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run `pflab check` in a process of its own, as a user does."""
    return subprocess.run(
        [*PFLAB, *args], capture_output=True, text=True, check=False, timeout=PATIENCE_S,
        env={**os.environ, "PYTHONPATH": str(root), **env},
    )  # fmt: skip


def rows_of(tables: Path, name: str, where: str = "true") -> list[Row]:
    """Return the rows of a table that pflab check keeps."""
    return rows_in(f"{tables}/{name}/*.parquet", where)


def rows_in(files: str, where: str = "true") -> list[Row]:
    """Return the rows of Parquet files for which a condition in SQL is true."""
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT * FROM '{files}' WHERE {where}")
        columns = [each[0] for each in found.description or ()]
        return [row_of(dict(zip(columns, values, strict=True))) for values in found.fetchall()]


def assert_same_tables(one: str, other: str) -> None:
    """All published tables have the same rows in both places.

    one, other: patterns of files, with {name} for the table.
    """
    with duckdb.connect() as connection:
        for name in (table.name for table in product().published):
            rows = [f"SELECT * FROM '{place.format(name=name)}'" for place in (one, other)]
            assert len({str(connection.execute(f"DESCRIBE {each}").fetchall()) for each in rows}) == 1, name
            for left, right in (rows, reversed(rows)):
                assert connection.execute(f"({left}) EXCEPT ALL ({right}) LIMIT 3").fetchall() == [], name


@dataclass(frozen=True, slots=True)
class Judged:
    """All traces and their verdicts, from one run of `pflab check`.

    document: the output of --json.
    tables, report, shiviz: the files that it wrote.
    judgements: by place, path to judgement.
    complaints: its stderr.
    """

    root: Path
    planted: dict[str, Planted]
    random_runs: dict[str, RandomRun]
    document: dict[str, Any]
    exit_code: int
    tables: Path
    report: str
    shiviz: str
    judgements: dict[str, dict[str, str]]
    complaints: str

    def rows(self, table: str, where: str = "true") -> list[Row]:
        """Return the rows of a table for which a condition in SQL is true."""
        return rows_of(self.tables, table, where)

    def place(self, name: str) -> str:
        return str(self.root / name)

    def verdicts(self, name: str) -> dict[str, str]:
        """Return path to judgement for one trace."""
        return self.judgements[self.place(name)]

    def runs(self, group: str) -> dict[str, dict[str, Any]]:
        """Return the verdicts of all runs below a folder of the root, by the name of their trace."""
        return {each["trace"]: each for each in self.document["runs"] if each["trace"].startswith(f"{group}/")}
