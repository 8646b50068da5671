"""Aggregates and windows as SQL of DuckDB."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from analytics.translate.expressions import Expressions, Template, literal
from analytics.translate.plan import Node, Untranslatable
from analytics.translate.types import is_scalar

_NOT_NULL: Final = " FILTER (WHERE {0} IS NOT NULL)"

AGGREGATES: Final[Mapping[str, Template]] = {
    "Count": "count({0}){over}",
    "distinct Count": "count(DISTINCT {0}){over}",
    "CountIf": "count(1) FILTER (WHERE {0}){over}",
    "Max": {"scalar": "max({0}){over}", **dict.fromkeys(("array", "struct"), "arg_max({0}, {0:key}){over}")},
    "Min": {"scalar": "min({0}){over}", **dict.fromkeys(("array", "struct"), "arg_min({0}, {0:key}){over}")},
    "MaxBy": "arg_max_null({0}, {1:key}){over}",
    "MinBy": "arg_min_null({0}, {1:key}){over}",
    "Sum": {"double": "sum({0}){over}", "scalar": "wrapped(sum({0}){over})"},
    "CollectList": f"coalesce(list({{0}}){_NOT_NULL}{{over}}, [])",
    "CollectSet": f"coalesce(list(DISTINCT {{0}}){_NOT_NULL}{{over}}, [])",
    "Last": "last_value({0} IGNORE NULLS){over}",
    "BoolOr": "bool_or({0}){over}",
}
"""SQL of aggregates; see `Template`. {over} is the window, or nothing."""


class ColumnExpressions(Expressions):
    """Translates what a column of a plan may be: an expression, with aggregates and windows in it."""

    def sql(self, node: Node) -> str:
        match node.kind, node.children:
            case "AggregateExpression", _:
                return self._aggregate(node, "")
            case "WindowExpression", (function, window):
                over = f" OVER ({self._window(window)})"
                if function.kind != "AggregateExpression":
                    return self.sql(function) + over
                return self._aggregate(function, over)
            case "BitmapCount", (bitmap,):
                return self._distinct_positions(bitmap)
            case _:
                return super().sql(node)

    def _aggregate(self, node: Node, over: str) -> str:
        function, *condition = node.children
        if condition:
            raise Untranslatable("an aggregate with FILTER")
        name = f"distinct {function.kind}" if node.fields["isDistinct"] else function.kind
        if name not in AGGREGATES:
            raise Untranslatable(f"the aggregate {name}")
        if name == "Last" and not over:  # each engine would take another row
            raise Untranslatable("the last of rows without an order")
        template = AGGREGATES[name]
        if isinstance(template, str) and function.children[0].kind == "CreateNamedStruct":  # never null
            template = template.replace(_NOT_NULL, "")
        return self.filled(function, template, over=over)

    def _distinct_positions(self, bitmap: Node) -> str:
        """Return the number of bits of a bitmap: Spark counts the distinct numbers of a bucket with it."""
        (construct,) = bitmap.children
        if construct.kind != "BitmapConstructAgg" or construct.children[0].kind != "BitmapBitPosition":
            raise Untranslatable("a bitmap that is not of positions")
        return f"count(DISTINCT {self.sql(construct.children[0].children[0])})"

    def _window(self, node: Node) -> str:
        """Return what stands in OVER (...)."""
        parts, orders = self.all(node.trees("partitionSpec")), ", ".join(map(self._order, node.trees("orderSpec")))
        clauses = [f"PARTITION BY {parts}"] if parts else []
        if orders:
            frame = node.tree("frameSpecification")
            unit = "ROWS" if str(frame.setting("frameType")) == "RowFrame" else "RANGE"
            lower, upper = map(_bound, frame.children)
            clauses += [f"ORDER BY {orders}", f"{unit} BETWEEN {lower} AND {upper}"]
        return " ".join(clauses)

    def _order(self, node: Node) -> str:
        """Return a column of ORDER BY."""
        of = node.children[0]
        if not is_scalar(of.type):
            raise Untranslatable(f"the order of rows by {of.type.typeName()}")
        direction = "ASC" if str(node.setting("direction")) == "Ascending" else "DESC"
        nulls = "FIRST" if str(node.setting("nullOrdering")) == "NullsFirst" else "LAST"
        return f"{self.sql(of)} {direction} NULLS {nulls}"


_BOUNDS: Final = {
    "UnboundedPreceding": "UNBOUNDED PRECEDING", "UnboundedFollowing": "UNBOUNDED FOLLOWING", "CurrentRow": "CURRENT ROW"
}  # fmt: skip


def _bound(node: Node) -> str:
    """Return one end of the frame of a window."""
    if node.kind in _BOUNDS:
        return _BOUNDS[node.kind]
    value = int(literal(node) or 0)
    return f"{abs(value)} {'PRECEDING' if value < 0 else 'FOLLOWING'}"
