"""Sets of change numbers (`analytics.evidence.number_sets`) as columns."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.number_sets import ranges_by_kind, ranges_of


def ranges(column: str, kind: str = "'message'") -> Column:
    """Return `ranges_of` as a column."""
    return F.expr(ranges_of(column, kind))


def by_kind(messages: str, associated: str) -> Column:
    """Return `ranges_by_kind` as a column."""
    return F.expr(ranges_by_kind(messages, associated))
