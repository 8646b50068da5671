"""The rows of a query, the same from both engines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class Row(dict[str, Any]):
    """A row: its columns as attributes or as items. A struct in it is a row too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def row_of(columns: Mapping[str, Any]) -> Row:
    """Return a row, with rows in place of the mappings in it."""
    return Row((name, _value(value)) for name, value in columns.items())


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return row_of(value)
    if isinstance(value, list | tuple):
        return [_value(element) for element in value]
    return value


Findings = Mapping[str, Sequence[Row]]
"""What a check has found: the rows of each query of `analytics.verdicts.findings`, by its name."""


Given = Mapping[str, Sequence[tuple[Any, ...]]]
"""The rows of the small tables that a query is given, by the table's name (`analytics.report.queries.GIVEN`)."""

Answers = Callable[[str, Given], list[Row]]
"""Answers a query of `analytics.report.queries`, which has a name and is given tables."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a check has found, what answers the queries of a report about it, and what writes its published tables into a
    folder, a file `NAME.parquet` for each."""

    findings: Findings
    answers: Answers
    publish: Callable[[str], None]


def in_order(rows: Iterable[Row], *columns: str) -> list[Row]:
    """Return the rows in the order of these columns; nulls come first."""
    return sorted(rows, key=lambda row: [(row[name] is not None, row[name]) for name in columns])
