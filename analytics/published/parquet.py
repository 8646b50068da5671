"""Parquet files of a table put together."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import duckdb

from analytics.embedded.engine import FOR_SESSION, stoppable
from analytics.errors import AnalyticsError, PartDamaged


def put_together(parts: Sequence[str], file: str, *, without: Collection[str] = ()) -> None:
    """Write the rows of these Parquet files into one, without those of some places.

    Timestamps are in UTC and have no zone: DuckDB's Python package reads one with a zone only beside another package. Raises
    PartDamaged, which names the file, if one cannot be read; AnalyticsError if the new one cannot be written.
    """
    try:
        with stoppable():
            _write(parts, file, without)
    except duckdb.Error as error:
        for part in parts:
            _read_all(part)
        raise AnalyticsError(f"{file}: cannot be written: {_line_of(error)}") from error


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


def _read_all(part: str) -> None:
    """Raise PartDamaged if a file cannot be read."""
    try:
        with stoppable(), duckdb.connect() as connection:
            rows = connection.read_parquet([part]).to_arrow_reader()
            while rows.read_next_batch():
                pass
    except StopIteration:
        return
    except (duckdb.Error, OSError) as error:
        raise PartDamaged(part, f"it is damaged: {_line_of(error)}") from error


def _line_of(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
