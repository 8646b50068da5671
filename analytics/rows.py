"""The rows of a query, the same from both engines, and what an engine is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol


class Row(dict[str, Any]):
    """A row: its columns as attributes or as items. A struct in it is a row too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def row_of(columns: Mapping[str, Any]) -> Row:
    """Return a row, with rows in place of all mappings that have only texts as keys."""
    return Row((name, _value(value)) for name, value in columns.items())


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return row_of(value)
    if isinstance(value, list | tuple):
        return [_value(each) for each in value]
    return value


Given = Mapping[str, Sequence[Sequence[Any]]]
"""Tables that a query is given, by their names: rows of plain values."""


class Engine(Protocol):
    """What has judged traces, and answers queries about them."""

    @property
    def name(self) -> str:
        """Return the name and the version of the engine."""
        ...

    def rows(self, query: str, given: Given | None = None) -> list[Row]:
        """Return the rows of a query. given: the tables that it is given (`analytics.queries`)."""
        ...


def in_order(rows: Iterable[Row], *columns: str) -> list[Row]:
    """Return the rows in the order of these columns; nulls come first."""
    return sorted(rows, key=lambda row: [(row[name] is not None, row[name]) for name in columns])
