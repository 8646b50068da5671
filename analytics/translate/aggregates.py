"""Aggregates and windows as SQL of DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from analytics.translate.expressions import Expressions, is_scalar
from analytics.translate.plan import Node, Untranslatable
from analytics.translate.types import DOUBLE, kind_of, type_of


class ColumnExpressions(Expressions):
    """Translates what a column of a plan may be: an expression, with aggregates and windows in it."""

    def sql(self, node: Node) -> str:
        match node.kind:
            case "AggregateExpression":
                return self._aggregate(node, "")
            case "WindowExpression":
                function, window = node.children
                over = f" OVER ({self._window(window)})"
                return (
                    self._aggregate(function, over)
                    if function.kind == "AggregateExpression"
                    else self.sql(function) + over
                )
            case "BitmapCount":
                return self._distinct_positions(node)
            case _:
                return super().sql(node)

    def order(self, node: Node) -> str:
        """Return a column of ORDER BY."""
        (of,) = node.children
        if not is_scalar(type_of(of)):
            raise Untranslatable(f"the order of rows by {kind_of(type_of(of))}")
        direction = "ASC" if node.choice("direction") == "Ascending" else "DESC"
        nulls = "FIRST" if node.choice("nullOrdering") == "NullsFirst" else "LAST"
        return f"{self.sql(of)} {direction} NULLS {nulls}"

    def _window(self, node: Node) -> str:
        """Return what stands in OVER (...)."""
        parts = [self.sql(each) for each in node.trees("partitionSpec")]
        orders = [self.order(each) for each in node.trees("orderSpec")]
        said = [f"PARTITION BY {', '.join(parts)}"] if parts else []
        if orders:
            frame = node.tree("frameSpecification")
            unit = "ROWS" if frame.choice("frameType") == "RowFrame" else "RANGE"
            lower, upper = (_bound(frame.tree(name)) for name in ("lower", "upper"))
            said += [f"ORDER BY {', '.join(orders)}", f"{unit} BETWEEN {lower} AND {upper}"]
        return " ".join(said)

    def _aggregate(self, node: Node, over: str) -> str:
        function, condition = node.children[0], node.part("filter")
        made = _AGGREGATES.get(function.kind)
        if made is None:
            raise Untranslatable(f"the aggregate {function.kind}")
        is_distinct = bool(node.fields["isDistinct"])
        if is_distinct and function.kind != "Count":
            raise Untranslatable(f"a distinct {function.kind}")
        arguments = tuple(self.sql(each) for each in function.children)
        order = self.order_key(function.children[-1]) if function.kind in _ORDERED else ""
        return made(_Call(function, arguments, order, self.sql(condition) if condition else "", over, is_distinct))

    def _distinct_positions(self, node: Node) -> str:
        """Return the number of bits of a bitmap: Spark counts the distinct numbers of a bucket with it."""
        try:
            (value,) = node.children[0].children[0].children[0].children
        except (ValueError, IndexError):
            raise Untranslatable("a bitmap that is not of positions") from None
        return f"count(DISTINCT {self.sql(value)})"


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of an aggregate function.

    order: SQL by which the rows are ordered.
    condition: SQL of its filter, or ''.
    over: SQL of its window, or ''.
    """

    function: Node
    arguments: tuple[str, ...]
    order: str
    condition: str
    over: str
    is_distinct: bool

    @property
    def end(self) -> str:
        return (f" FILTER (WHERE {self.condition})" if self.condition else "") + self.over

    def end_where(self, condition: str) -> str:
        """Return the end with one more condition."""
        both = " AND ".join(each for each in (self.condition, condition) if each)
        return f" FILTER (WHERE {both}){self.over}"


def _count(call: _Call) -> str:
    distinct = "DISTINCT " if call.is_distinct else ""
    if len(call.arguments) == 1:
        return f"count({distinct}{call.arguments[0]}){call.end}"
    known = " AND ".join(f"{each} IS NOT NULL" for each in call.arguments)
    return f"count({distinct}CASE WHEN {known} THEN ({', '.join(call.arguments)}) END){call.end}"


def _extreme(call: _Call) -> str:
    of, name, (argument,) = type_of(call.function.children[0]), call.function.kind.lower(), call.arguments
    if is_scalar(of):
        return f"{name}({argument}){call.end}"
    return f"arg_{name}({argument}, {call.order}){call.end}"


def _extreme_by(call: _Call) -> str:
    value, _ = call.arguments
    name = {"MaxBy": "arg_max_null", "MinBy": "arg_min_null"}[call.function.kind]
    return f"{name}({value}, {call.order}){call.end}"


def _sum(call: _Call) -> str:
    total = f"sum({call.arguments[0]}){call.end}"
    return total if type_of(call.function.children[0]) == DOUBLE else f"wrapped({total})"


def _collected(call: _Call) -> str:
    (value,) = call.arguments
    unique = "DISTINCT " if call.function.kind == "CollectSet" else ""
    if call.function.children[0].kind == "CreateNamedStruct":  # never null
        return f"coalesce(list({unique}{value}){call.end}, [])"
    return f"coalesce(list({unique}{value}){call.end_where(f'{value} IS NOT NULL')}, [])"


def _last(call: _Call) -> str:
    if not call.over:  # each engine would take another row
        raise Untranslatable("the last of rows without an order")
    nulls = " IGNORE NULLS" if call.function.fields["ignoreNulls"] else ""
    return f"last_value({call.arguments[0]}{nulls}){call.end}"


_ORDERED: Final = frozenset({"Max", "Min", "MaxBy", "MinBy"})
_AGGREGATES: Final[Mapping[str, Callable[[_Call], str]]] = {
    "Count": _count,
    "CountIf": lambda call: f"count(1){call.end_where(call.arguments[0])}",
    "Max": _extreme,
    "Min": _extreme,
    "MaxBy": _extreme_by,
    "MinBy": _extreme_by,
    "Sum": _sum,
    "CollectList": _collected,
    "CollectSet": _collected,
    "Last": _last,
    "BoolOr": lambda call: f"bool_or({call.arguments[0]}){call.end}",
}


def _bound(node: Node) -> str:
    """Return one end of the frame of a window."""
    match node.kind:
        case "UnboundedPreceding":
            return "UNBOUNDED PRECEDING"
        case "UnboundedFollowing":
            return "UNBOUNDED FOLLOWING"
        case "CurrentRow":
            return "CURRENT ROW"
        case "Literal":
            value = int(node.fields["value"])
        case "UnaryMinus":
            value = -int(node.children[0].fields["value"])
        case kind:
            raise Untranslatable(f"the frame {kind}")
    return f"{abs(value)} {'PRECEDING' if value < 0 else 'FOLLOWING'}"
