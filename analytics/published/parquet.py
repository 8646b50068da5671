"""Parquet files of a table put together."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import duckdb

from analytics.embedded.engine import FOR_SESSION
from analytics.errors import AnalyticsError


def put_together(parts: Sequence[str], file: str, *, without: Collection[str] = ()) -> None:
    """Write the rows of these Parquet files (or patterns of files) into one, without those of some places.

    Timestamps are in UTC and have no zone: DuckDB's Python package reads one with a zone only beside another package. Raises
    AnalyticsError if a file is damaged or cannot be written.
    """
    try:
        _write(parts, file, without)
    except duckdb.Error as error:
        line = str(error).strip().partition("\n")[0]
        raise AnalyticsError(f"tables cannot be put together: {line}") from error


def _write(parts: Sequence[str], file: str, without: Collection[str]) -> None:
    with duckdb.connect() as connection:
        connection.execute(FOR_SESSION)
        rows = connection.read_parquet(list(parts), union_by_name=True)
        columns = [
            f'"{name}" AT TIME ZONE \'UTC\' AS "{name}"' if str(kind) == "TIMESTAMP WITH TIME ZONE" else f'"{name}"'
            for name, kind in zip(rows.columns, rows.types, strict=True)
        ]
        chosen = connection.sql(
            f"SELECT {', '.join(columns)} FROM rows WHERE NOT list_contains(?, regexp_replace(trace, '#[^#]*$', ''))",
            params=[sorted(without)],
        )
        chosen.write_parquet(file, compression="zstd")
