"""Operators of Spark's plans as SQL of DuckDB: the statement of a table.

A table of an earlier plan is a view with its name (`analytics.translate.record`). A plan is written from the inside to the
outside: each operator is a SELECT from the SELECT of its child. Only columns that an outer operator needs are selected. Columns
are named c1, c2, ... in the order in which they occur, so that the statement of a table changes only with its plan.

Example: `events.where("type = 'a'").groupBy("trace").count()` becomes

    SELECT c1 AS "trace", c2 AS "count" FROM (SELECT c1, count(1) AS c2 FROM
    (SELECT "trace" AS c1, "type" AS c3 FROM "events") WHERE (c3 = 'a') GROUP BY c1)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pyspark.sql import types as T  # noqa: N812

from analytics.translate.expressions import Expressions
from analytics.translate.plan import Node, columns_of, require
from analytics.translate.types import quoted

_OWN_COLUMNS: Final = {
    "Project": "projectList", "Aggregate": "aggregateExpressions", "LogicalRDD": "output",
    "Generate": "generatorOutput", "Window": "windowExpressions",
}  # fmt: skip
"""The fields with the columns that an operator makes."""

_JOINS: Final = {
    "Inner": "JOIN", "Cross": "JOIN", "LeftOuter": "LEFT JOIN", "FullOuter": "FULL JOIN",
    "LeftSemi": "SEMI JOIN", "LeftAnti": "ANTI JOIN",
}  # fmt: skip
_WITHIN_FROM: Final = frozenset({"Filter", "ResolvedHint", "SubqueryAlias"})

Columns = frozenset[int]


class Translation:
    """The translation of one plan."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._expressions = Expressions(self._name)

    def statement(self, plan: Node) -> str:
        """Return the statement for a plan. Raises Untranslatable."""
        output = self._output(plan)
        body = self._select(plan, frozenset(number for number, _ in output))
        columns = ", ".join(f"{self._name(number)} AS {quoted(name)}" for number, name in output)
        return f"SELECT {columns} FROM ({body})"

    def _name(self, number: int) -> str:
        return self._names.setdefault(number, f"c{len(self._names) + 1}")

    def _output(self, plan: Node) -> list[tuple[int, str]]:
        """Return the number and the name of each column of a plan."""
        new_columns = [(column.id, column.name) for column in plan.trees(_OWN_COLUMNS.get(plan.kind, ""))]
        if plan.kind in {"Project", "Aggregate", "LogicalRDD"}:
            return new_columns
        has_both = plan.kind == "Join" and str(plan.setting("joinType")) not in {"LeftSemi", "LeftAnti"}
        below = plan.children if has_both else plan.children[:1]
        return [*(column for child in below for column in self._output(child)), *new_columns]

    def _numbers(self, plan: Node) -> list[int]:
        return [number for number, _ in self._output(plan)]

    def _select(self, plan: Node, need: Columns) -> str:
        """Return a SELECT with at least the columns `need` of a plan."""
        require(plan.kind in OPERATORS, f"the operator {plan.kind}")
        return OPERATORS[plan.kind](self, plan, need)

    def _source(self, plan: Node, need: Columns) -> str:
        """Return a plan as what follows FROM; filters become one WHERE.

        need: the columns that are read, if they are of this plan.
        """
        need &= frozenset(self._numbers(plan))
        conditions: list[Node] = []
        while plan.kind in _WITHIN_FROM:
            if plan.kind == "Filter":
                conditions.insert(0, plan.tree("condition"))
            plan = plan.children[0]
        where = f" WHERE {' AND '.join(map(self._expressions.sql, conditions))}" if conditions else ""
        return f"\n({self._select(plan, need | columns_of(conditions))}){where}"

    def _all(self, plan: Node, need: Columns) -> str:
        return f"SELECT * FROM {self._source(plan, need)}"

    def _project(self, plan: Node, need: Columns) -> str:
        """Return a SELECT of expressions, or of groups of rows."""
        every = plan.trees(_OWN_COLUMNS[plan.kind])
        columns = [column for column in every if column.id in need] or every[:1]
        groups = plan.trees("groupingExpressions")
        source = self._source(plan.children[0], columns_of([*columns, *groups]))
        by = f" GROUP BY {self._expressions.all(groups)}" if groups else ""
        return f"SELECT {', '.join(map(self._named, columns))} FROM {source}{by}"

    def _named(self, node: Node) -> str:
        name = self._name(node.id)
        return name if node.kind == "AttributeReference" else f"{self._expressions.sql(node)} AS {name}"

    def _table(self, plan: Node, need: Columns) -> str:
        every = self._output(plan)
        outputs = [column for column in every if column[0] in need] or every[:1]
        columns = ", ".join(f"{quoted(column)} AS {self._name(number)}" for number, column in outputs)
        return f"SELECT {columns} FROM {quoted(plan.fields['desc']['identifier']['table'])}"

    def _join(self, plan: Node, need: Columns) -> str:
        conditions, kind = plan.trees("condition"), str(plan.setting("joinType"))
        require(kind in _JOINS, f"the join {kind}")
        sources = (self._source(child, need | columns_of(conditions)) for child in plan.children)
        left, right = (f"\n(SELECT * FROM {source})" for source in sources)
        return f"SELECT * FROM {left} {_JOINS[kind]} {right} ON {self._expressions.all(conditions) or 'true'}"

    def _union(self, plan: Node, need: Columns) -> str:
        first = self._numbers(plan.children[0])
        places = [place for place, number in enumerate(first) if number in need] or [0]
        parts = []
        for child in plan.children:
            numbers = self._numbers(child)
            source = self._source(child, frozenset(numbers[place] for place in places))
            columns = (f"{self._name(numbers[place])} AS {self._name(first[place])}" for place in places)
            parts.append(f"SELECT {', '.join(columns)} FROM {source}")
        return "\nUNION ALL ".join(parts)

    def _distinct(self, plan: Node, need: Columns) -> str:
        keys = [key.id for key in plan.trees("keys")]
        names = ", ".join(map(self._name, keys))
        what = f"DISTINCT {names}" if need <= set(keys) else f"DISTINCT ON ({names}) *"
        return f"SELECT {what} FROM {self._source(plan.children[0], need | frozenset(keys))}"

    def _windows(self, plan: Node, need: Columns) -> str:
        every = [expression for expression in plan.trees("windowExpressions") if expression.id in need]
        source = self._source(plan.children[0], need | columns_of(every))
        return f"SELECT {', '.join(['*', *map(self._named, every)])} FROM {source}"

    def _generate(self, plan: Node, need: Columns) -> str:
        generator, outputs = plan.tree("generator"), [self._name(output.id) for output in plan.trees("generatorOutput")]
        require(generator.kind in {"Explode", "PosExplode"}, f"the generator {generator.kind}")
        (of,) = generator.children
        source = self._source(plan.children[0], need | columns_of([of]))
        is_map, has_places = isinstance(of.type, T.MapType), generator.kind == "PosExplode"
        rows = f"map_entries({self._expressions.sql(of)})" if is_map else self._expressions.sql(of)
        if has_places:
            rows = f"list_transform({rows}, lambda pe, pi: {{'place': pi - 1, 'of': pe}})"
        if plan.fields["outer"]:
            rows = f"CASE WHEN len({rows}) > 0 THEN {rows} ELSE [NULL] END"
        row = f"u{outputs[0]}"
        item = f"{row}.of" if has_places else row
        values = [f"{row}.place::INTEGER"] if has_places else []
        values += [f"{item}.key", f"{item}.value"] if is_map else [item]
        columns = ", ".join(f"{value} AS {name}" for value, name in zip(values, outputs, strict=True))
        return f"SELECT * EXCLUDE ({row}), {columns} FROM (SELECT *, unnest({rows}) AS {row} FROM {source})"


OPERATORS: Final[Mapping[str, Callable[[Translation, Node, Columns], str]]] = {
    **dict.fromkeys(_WITHIN_FROM, Translation._all),
    **dict.fromkeys(("Project", "Aggregate"), Translation._project),
    "View": Translation._table,
    "Join": Translation._join,
    "Union": Translation._union,
    "Deduplicate": Translation._distinct,
    "Window": Translation._windows,
    "Generate": Translation._generate,
}
