"""Operators of Spark's plans as SQL of DuckDB: the statement of a table.

A table of an earlier plan is a view with its name (`analytics.translate.record`). A plan is written from the inside to the
outside: each operator is a SELECT from the SELECT of its child. Only columns that an outer operator needs are selected. Columns
are named c1, c2, ... in the order in which they occur, so that the statement of a table changes only with its plan.

Example: `events.where("type = 'a'").groupBy("trace").count()` becomes

    SELECT c1 AS "trace", c2 AS "count" FROM (SELECT c1, count(1) AS c2 FROM
    (SELECT "trace" AS c1, "type" AS c3 FROM "events") WHERE (c3 = 'a') GROUP BY c1)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from analytics.translate.aggregates import ColumnExpressions
from analytics.translate.plan import Node, Untranslatable, columns_of, parsed
from analytics.translate.types import kind_of, quoted, type_of

_JOINS: Final = {
    "Inner": "JOIN",
    "Cross": "JOIN", "LeftOuter": "LEFT JOIN", "FullOuter": "FULL JOIN", "LeftSemi": "SEMI JOIN", "LeftAnti": "ANTI JOIN",
}  # fmt: skip
_TRANSPARENT: Final = frozenset({"ResolvedHint", "SubqueryAlias"})

Columns = frozenset[int]


class _Translation:
    """The translation of one plan."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._expressions = ColumnExpressions(self._name)

    def sql(self, plan: Node) -> str:
        """Return the statement for a plan. Raises Untranslatable."""
        columns = self._output(plan)
        body = self._select(plan, frozenset(number for number, _ in columns))
        return (
            f"SELECT {', '.join(f'{self._name(number)} AS {quoted(name)}' for number, name in columns)} FROM ({body})"
        )

    def _name(self, number: int) -> str:
        return self._names.setdefault(number, f"c{len(self._names) + 1}")

    def _output(self, plan: Node) -> list[tuple[int, str]]:
        """Return the number and the name of each column of a plan."""
        match plan.kind:
            case "Project":
                return [(each.id, each.name) for each in plan.trees("projectList")]
            case "Aggregate":
                return [(each.id, each.name) for each in plan.trees("aggregateExpressions")]
            case "LogicalRDD":
                return [(each.id, each.name) for each in plan.trees("output")]
            case "Join" if plan.choice("joinType") in {"LeftSemi", "LeftAnti"}:
                return self._output(plan.children[0])
            case "Join":
                return [each for child in plan.children for each in self._output(child)]
            case "Generate":
                return self._output(plan.children[0]) + [(each.id, each.name) for each in plan.trees("generatorOutput")]
            case "Window":
                return self._output(plan.children[0]) + [
                    (each.id, each.name) for each in plan.trees("windowExpressions")
                ]
            case _:
                return self._output(plan.children[0])

    def _numbers(self, plan: Node) -> list[int]:
        return [number for number, _ in self._output(plan)]

    def _select(self, plan: Node, need: Columns) -> str:
        """Return a SELECT with at least the columns `need` of a plan."""
        if plan.kind in _TRANSPARENT:
            return self._select(plan.children[0], need)
        function = _OPERATORS.get(plan.kind)
        if function is None:
            raise Untranslatable(f"the operator {plan.kind}")
        return str(function(self, plan, need))

    def _source(self, plan: Node, need: Columns) -> str:
        """Return a plan as what follows FROM; filters become one WHERE."""
        conditions: list[Node] = []
        while plan.kind in {"Filter", *_TRANSPARENT}:
            if plan.kind == "Filter":
                condition = plan.tree("condition")
                conditions.insert(0, condition)
                need = need | columns_of(condition)
            plan = plan.children[0]
        where = f" WHERE {' AND '.join(map(self._expressions.sql, conditions))}" if conditions else ""
        return f"\n({self._select(plan, need)}){where}"

    def _filter(self, plan: Node, need: Columns) -> str:
        return f"SELECT * FROM {self._source(plan, need)}"

    def _project(self, plan: Node, need: Columns) -> str:
        every = plan.trees("projectList")
        kept = [each for each in every if each.id in need] or every[:1]
        source = self._source(plan.children[0], _columns(kept))
        return f"SELECT {', '.join(map(self._named, kept))} FROM {source}"

    def _named(self, node: Node) -> str:
        name = self._name(node.id)
        return name if node.kind == "AttributeReference" else f"{self._expressions.sql(node)} AS {name}"

    def _aggregated(self, plan: Node, need: Columns) -> str:
        every, groups = plan.trees("aggregateExpressions"), plan.trees("groupingExpressions")
        kept = [each for each in every if each.id in need] or every[:1]
        source = self._source(plan.children[0], _columns([*kept, *groups]))
        by = f" GROUP BY {', '.join(map(self._expressions.sql, groups))}" if groups else ""
        return f"SELECT {', '.join(map(self._named, kept))} FROM {source}{by}"

    def _table(self, plan: Node, need: Columns) -> str:
        name = plan.fields["desc"]["identifier"]["table"]
        every = self._output(plan)
        kept = [each for each in every if each[0] in need] or every[:1]
        columns = ", ".join(f"{quoted(column)} AS {self._name(number)}" for number, column in kept)
        return f"SELECT {columns} FROM {quoted(name)}"

    def _join(self, plan: Node, need: Columns) -> str:
        left, right = plan.children
        condition, kind = plan.part("condition"), plan.choice("joinType")
        if kind not in _JOINS:
            raise Untranslatable(f"the join {kind}")
        if condition is not None:
            need = need | columns_of(condition)
        sides = [
            f"\n(SELECT * FROM {self._source(each, need & frozenset(self._numbers(each)))})" for each in (left, right)
        ]
        on = f" ON {self._expressions.sql(condition)}" if condition is not None else " ON true"
        return f"SELECT * FROM {sides[0]} {_JOINS[kind]} {sides[1]}{on}"

    def _union(self, plan: Node, need: Columns) -> str:
        first = self._numbers(plan.children[0])
        kept = [place for place, number in enumerate(first) if number in need] or [0]
        parts = []
        for child in plan.children:
            own = self._numbers(child)
            source = self._source(child, frozenset(own[place] for place in kept))
            columns = (f"{self._name(own[place])} AS {self._name(first[place])}" for place in kept)
            parts.append(f"SELECT {', '.join(columns)} FROM {source}")
        return "\nUNION ALL ".join(parts)

    def _distinct(self, plan: Node, need: Columns) -> str:
        keys = [each.id for each in plan.trees("keys")]
        names = ", ".join(map(self._name, keys))
        what = f"DISTINCT {names}" if need <= set(keys) else f"DISTINCT ON ({names}) *"
        return f"SELECT {what} FROM {self._source(plan.children[0], need | frozenset(keys))}"

    def _intersection(self, plan: Node, _: Columns) -> str:
        if plan.fields.get("isAll"):
            raise Untranslatable("INTERSECT ALL")
        sides = []
        for child in plan.children:
            numbers = self._numbers(child)
            sides.append(f"SELECT {', '.join(map(self._name, numbers))} FROM {self._source(child, frozenset(numbers))}")
        return "\nINTERSECT ".join(sides)

    def _windows(self, plan: Node, need: Columns) -> str:
        every = [each for each in plan.trees("windowExpressions") if each.id in need]
        below = need & frozenset(self._numbers(plan.children[0]))
        source = self._source(plan.children[0], below | _columns(every))
        return f"SELECT {', '.join(['*', *map(self._named, every)])} FROM {source}"

    def _generate(self, plan: Node, need: Columns) -> str:
        generator, outputs = plan.tree("generator"), [self._name(each.id) for each in plan.trees("generatorOutput")]
        (of,) = generator.children
        below = need & frozenset(self._numbers(plan.children[0]))
        source = self._source(plan.children[0], below | columns_of(of))
        is_map = kind_of(type_of(of)) == "map"
        rows = f"map_entries({self._expressions.sql(of)})" if is_map else self._expressions.sql(of)
        if generator.kind == "PosExplode":
            rows = f"list_transform({rows}, lambda pe, pi: {{'place': pi - 1, 'of': pe}})"
        elif generator.kind != "Explode":
            raise Untranslatable(f"the generator {generator.kind}")
        if plan.fields["outer"]:
            rows = f"CASE WHEN len({rows}) > 0 THEN {rows} ELSE [NULL] END"
        row = f"u{outputs[0]}"
        place = [f"{row}.place::INTEGER"] if generator.kind == "PosExplode" else []
        item = f"{row}.of" if place else row
        values = [*place, *([f"{item}.key", f"{item}.value"] if is_map else [item])]
        made = ", ".join(f"{value} AS {name}" for value, name in zip(values, outputs, strict=True))
        return f"SELECT * EXCLUDE ({row}), {made} FROM (SELECT *, unnest({rows}) AS {row} FROM {source})"

    def _limit(self, plan: Node, need: Columns) -> str:
        number = plan.tree("limitExpr").fields["value"]
        below = plan.children[0]
        while below.kind in {"GlobalLimit", "LocalLimit"}:
            below = below.children[0]
        return f"SELECT * FROM {self._source(below, need)} LIMIT {number}"

    def _sorted(self, plan: Node, need: Columns) -> str:
        orders = plan.trees("order")
        source = self._source(plan.children[0], need | _columns(orders))
        return f"SELECT * FROM {source} ORDER BY {', '.join(map(self._expressions.order, orders))}"


def _columns(nodes: Iterable[Node]) -> Columns:
    return frozenset().union(*map(columns_of, nodes))


_OPERATORS: Final = {
    "Filter": _Translation._filter,
    "Project": _Translation._project,
    "Aggregate": _Translation._aggregated,
    "View": _Translation._table,
    "Join": _Translation._join,
    "Union": _Translation._union,
    "Deduplicate": _Translation._distinct,
    "Intersect": _Translation._intersection,
    "Window": _Translation._windows,
    "Generate": _Translation._generate,
    "GlobalLimit": _Translation._limit,
    "Sort": _Translation._sorted,
}


def statement(plan: list[dict[str, object]]) -> str:
    """Return the statement for a plan in Spark's JSON. Raises Untranslatable."""
    return _Translation().sql(parsed(plan))
