"""Expressions of Spark as SQL of DuckDB, with aggregates and windows.

Most of them are a template. The rest are methods, because their SQL depends on more than that of their operands. What is not
listed here is refused by name. Spark's settings are those of the checks: no ANSI mode, and the last of two equal keys of a map
wins.

What must never happen is an expression that is translated and means something else. `tests/analytics/translate` evaluates each
one on both engines, with nulls, empty lists, repeated keys, negative and large numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from string import Formatter
from typing import Any, Final

from pyspark.sql import types as T  # noqa: N812

from analytics.translate.patterns import pattern, plain, replacement
from analytics.translate.plan import Node, require
from analytics.translate.types import cast, duckdb_type, is_scalar, of_type, order_key, quoted, struct_key, text

Template = str | Mapping[str, str]
"""SQL with {0}, {1}, ... for operands; or such SQL for each type of the first operand (`types.of_type`).

{rest}: all operands but the first; {all}: all of them.
{v}, {body}: the name of the variable of a lambda, which is the last operand, and its SQL.
{0:key}, {0:plain}, ...: other SQL for an operand; see `_USES` and `_LITERALS`.
{over}: the window of an aggregate, or nothing.
"""

_CALLS: Final = {
    "Coalesce": "coalesce", "ConcatWs": "concat_ws", "Remainder": "remainder_or_null",
    "BitmapBucketNumber": "bucket_of", "MicrosToTimestamp": "make_timestamp", "RowNumber": "row_number", "Lag": "lag",
    "Lead": "lead", "Slice": "list_part", "Sequence": "number_series", "ArrayExcept": "list_except",
    "ArrayDistinct": "list_unique", "ArraysOverlap": "list_overlaps", "ArrayRemove": "list_without",
    "ArrayJoin": "list_text", "GetArrayItem": "list_item", "GetMapValue": "map_extract_value",
    "MapEntries": "map_entries", "MapValues": "map_values", "MapFromEntries": "map_from_pairs", "Lower": "lower",
    "StartsWith": "starts_with", "SplitPart": "split_part", "StringReplace": "text_replace", "StringTrim": "trim",
}  # fmt: skip
"""Expressions that are a function of DuckDB, or one of `analytics/embedded/functions.sql`, with the same arguments."""

_SIGNS: Final = {"And": "AND", "Or": "OR", "EqualTo": "=", "EqualNullSafe": "IS NOT DISTINCT FROM"}
_ORDERS: Final = {"GreaterThan": ">", "GreaterThanOrEqual": ">=", "LessThan": "<", "LessThanOrEqual": "<="}

TEMPLATES: Final[Mapping[str, Template]] = {
    **{kind: f"{name}({{all}})" for kind, name in _CALLS.items()},
    **dict.fromkeys(("Alias", "TryElementAt", "NullIf", "Between"), "{0}"),  # Spark rewrites the last three
    **{kind: f"({{0}} {sign} {{1}})" for kind, sign in _SIGNS.items()},
    **{kind: f"({{0:key}} {sign} {{1:key}})" for kind, sign in _ORDERS.items()},
    "Not": "(NOT {0})",
    "IsNull": "({0} IS NULL)",
    "IsNotNull": "({0} IS NOT NULL)",
    "In": "({0} IN ({rest}))",
    "If": "CASE WHEN {0} THEN {1} ELSE {2} END",
    "Least": {"scalar": "least({all})", "struct": "list_extract({all:known in order}, 1)"},
    "Greatest": {"scalar": "greatest({all})", "struct": "list_extract({all:known in order}, -1)"},
    "Add": {"scalar": "({0} + {1})", "long": "add_wrapped({0}, {1})"},
    "Subtract": {"scalar": "({0} - {1})", "long": "subtract_wrapped({0}, {1})"},
    "Multiply": {"scalar": "({0} * {1})", "long": "multiply_wrapped({0}, {1})"},
    "UnaryMinus": {"scalar": "(-{0})", "long": "subtract_wrapped(0, {0})"},
    "Abs": {"scalar": "abs({0})", "long": "abs_wrapped({0})"},
    "Divide": "({0} / nullif({1}, 0))",
    "Floor": {"double": "double_to_bigint(floor({0}))"},
    "CreateArray": "[{all}]",
    "ArrayMin": {"array of scalars": "list_min({0})", "array": "list_extract({0:items in order}, 1)"},
    "ArrayMax": {"array of scalars": "list_max({0})", "array": "list_extract({0:items in order}, -1)"},
    "ArrayUnion": "list_unique({0} || {1})",
    "Reverse": {"array": "list_reverse({0})"},
    "Flatten": {"array": "flatten({0})", "array?": "list_flattened({0})"},
    "Size": {"array": "coalesce(len({0})::INTEGER, -1)", "map": "coalesce(cardinality({0})::INTEGER, -1)"},
    "ElementAt": {"array": "list_extract({0}, {1})", "map": "map_extract_value({0}, {1})"},
    "ArrayContains": {"array": "list_contains({0}, {1})", "array?": "list_contains_or_null({0}, {1})"},
    "Concat": "({all:||})",
    "CreateNamedStruct": "{{{all:fields}}}",
    "CreateMap": "MAP {{{all:entries}}}",
    "Length": "length({0})::INTEGER",
    "Like": "({0} LIKE {1} ESCAPE '\\')",
    "FormatString": "printf({0:format}, {rest:words})",
    "SubstringIndex": "split_part({0}, {1:delimiter}, {2:count of substring_index})",
    "StringSplit": "str_split({0}, {1:plain}){2:limit of split}",
    "StringToMap": "text_to_map({0}, {1:plain}, {2:plain})",
    "RLike": "regexp_matches({0}, {1:pattern})",
    "RegExpReplace": "regexp_replace({0}, {1:whole pattern}, {2:replacement}, 'g'){3:position of regexp_replace}",
    "RegExpExtract": "regexp_extract({0}, {1:whole pattern}, {2})",
    "RegExpExtractAll": "regexp_extract_all({0}, {1:whole pattern}, {2})",
    "GetJsonObject": "json_text({0}, {1:path in JSON})",
    "StructsToJson": {"array<string>": "to_json({0})::VARCHAR"},
    "ArrayTransform": "list_transform({0}, lambda {v}: {body})",
    "ArrayFilter": "list_filter({0}, lambda {v}: {body})",
    "ArrayExists": "list_any(list_transform({0}, lambda {v}: {body}))",
    "ArrayForAll": "list_all(list_transform({0}, lambda {v}: {body}))",
    "ZipWith": "list_transform(lists_zipped({0}, {1}), lambda p{v}: {body})",
    "TransformValues": "map_from_entries(list_transform(map_entries({0}), lambda p{v}: {{'key': p{v}.key, 'value': {body}}}))",
    "MapZipWith": "map_from_entries(list_transform(list_unique(map_keys({0}) || map_keys({1})),"
    " lambda p{v}: {{'key': p{v}, 'value': {body}}}))",
}

AGGREGATES: Final[Mapping[str, Template]] = {
    "Count": "count({0}){over}",
    "distinct Count": "count(DISTINCT {0}){over}",
    "CountIf": "count(1) FILTER (WHERE {0}){over}",
    "Max": {"scalar": "max({0}){over}", **dict.fromkeys(("array", "struct"), "arg_max({0}, {0:key}){over}")},
    "Min": {"scalar": "min({0}){over}", **dict.fromkeys(("array", "struct"), "arg_min({0}, {0:key}){over}")},
    "MaxBy": "arg_max_null({0}, {1:key}){over}",
    "MinBy": "arg_min_null({0}, {1:key}){over}",
    "Sum": {"double": "sum({0}){over}", "scalar": "wrapped(sum({0}){over})"},
    "CollectList": "coalesce(list({0}){0:where known}{over}, [])",
    "CollectSet": "coalesce(list(DISTINCT {0}){0:where known}{over}, [])",
    "Last": "last_value({0} IGNORE NULLS){over}",
    "BoolOr": "bool_or({0}){over}",
}

_STAND_INS: Final[Mapping[str, tuple[str, ...]]] = {
    "ZipWith": ("p{v}[1]", "p{v}[2]"),
    "TransformValues": ("p{v}.key", "p{v}.value"),
    "MapZipWith": ("p{v}", "map_extract_value({0}, p{v})", "map_extract_value({1}, p{v})"),
}
"""SQL for the arguments of a lambda that has not only {v}."""

_LIMITS: Final[Mapping[str, tuple[str, Callable[[Node], bool]]]] = {
    "Like": ("another escapeChar", lambda node: node.setting("escapeChar") == "\\"),
    "Size": ("another legacySizeOfNull", lambda node: node.setting("legacySizeOfNull") is True),
    **dict.fromkeys(("Lag", "Lead"), ("another ignoreNulls", lambda node: node.setting("ignoreNulls") is False)),
    "Last": ("another ignoreNulls", lambda node: node.setting("ignoreNulls") is True),
    "ConcatWs": ("lists", lambda node: not any(isinstance(child.type, T.ArrayType) for child in node.children)),
    "CreateMap": (
        "equal keys",
        lambda node: len(node.children) == 2 or len({*map(literal, node.children[::2])}) * 2 == len(node.children),
    ),
    "ArraySort": ("a comparison", lambda node: [of.name for of in node.children[1].children[1:]] == ["left", "right"]),
    "AggregateExpression": ("FILTER", lambda node: len(node.children) == 1),
}
"""What an expression must not have, and whether it is free of that."""

_LITERALS: Final[Mapping[str, Callable[[str], str | None]]] = {
    "pattern": lambda value: text(pattern(value)),
    "whole pattern": lambda value: text(pattern(value, end_matters=True)),
    "replacement": lambda value: text(replacement(value)),
    "plain": lambda value: text(plain(value)),
    "format": lambda value: None if re.search("%(?![sd])", value) else text(value.replace("%d", "%s")),
    "path in JSON": lambda value: text(value) if re.fullmatch(r"\$(\.\w+)+", value) else None,
    "delimiter": lambda value: text(value) if value else None,
    "count of substring_index": lambda value: value if value in {"1", "-1"} else None,
    "limit of split": lambda value: "" if value == "-1" else None,
    "position of regexp_replace": lambda value: "" if value == "1" else None,
}
"""SQL for an operand that must be a literal, by its use; None if its value is refused."""


def literal(node: Node) -> str:
    """Return the value of a literal that is not null."""
    if node.kind == "UnaryMinus":
        return f"-{literal(node.children[0])}"
    require(
        node.kind == "Literal" and node.fields["value"] is not None, f"{node.kind} where only a literal is possible"
    )
    return str(node.fields["value"])


class Expressions(Formatter):
    """Translates expressions, and formats templates with nodes in them.

    column: returns the name of the column with a number.
    """

    def __init__(self, column: Callable[[int], str]) -> None:
        self.column = column
        self.variables: dict[int, str] = {}
        """SQL for lambda variables, if they do not stand for themselves."""
        self.common: dict[str, str] = {}
        """SQL for what is defined once and used several times."""
        self._made = 0

    def sql(self, node: Node) -> str:
        """Return the SQL of an expression. Raises Untranslatable."""
        if node.kind in TEMPLATES:
            return self.filled(node, TEMPLATES[node.kind])
        require(node.kind in METHODS, f"the expression {node.kind}")
        _check(node)
        return METHODS[node.kind](self, node)

    def all(self, nodes: Iterable[Node]) -> str:
        """Return the SQL of several expressions."""
        return ", ".join(map(self.sql, nodes))

    def filled(self, node: Node, template: Template, **others: object) -> str:
        """Return a template with the operands of an expression, and with others."""
        _check(node)
        nodes = [child for child in node.children if child.kind != "LambdaFunction"]
        if not isinstance(template, str):
            template = of_type(nodes[0].type, template, node.kind)
        used = set(re.findall(r"{(\d|all|rest)", template))
        require(used & {"all", "rest"} or len(used) == len(nodes), f"{node.kind} with another number of operands")
        for function in node.children[len(nodes) :]:
            body, *arguments = function.children
            others |= {"v": self.name(arguments[0]), "body": body}
            stand_ins = _STAND_INS.get(node.kind, ("{v}",))
            require(len(arguments) == len(stand_ins), f"{node.kind} with another number of arguments")
            for argument, sql in zip(arguments, stand_ins, strict=True):
                self.variables[argument.id] = self.vformat(sql, nodes, others)
        return self.vformat(template, nodes, {"all": nodes, "rest": nodes[1:], **others})

    def format_field(self, value: Any, use: str) -> str:
        """Return SQL for what is used in a template: a node, several, or SQL."""
        if isinstance(value, str):
            return value
        if use in _USES:
            return _USES[use](self, [value] if isinstance(value, Node) else value)
        sql = _LITERALS[use](literal(value))
        require(sql is not None, f"the {use} {literal(value)!r}")
        return str(sql)

    def order_key(self, node: Node) -> str:
        """Return SQL for a value that DuckDB orders as Spark orders this expression (`types.order_key`)."""
        match node.kind, node.children:
            case "CreateNamedStruct", values:
                return struct_key((self.sql(value), self.order_key(value)) for value in values[1::2])
            case "CaseWhen", (when, then):
                return f"CASE WHEN {self.sql(when)} THEN {self.order_key(then)} END"
            case _:
                return order_key(self.sql(node), node.type)

    def name(self, node: Node) -> str:
        """Return the name of a lambda variable."""
        return f"v{self.column(node.id)[1:]}"

    def fresh(self) -> str:
        """Return a name for a lambda variable that is not in use."""
        self._made += 1
        return f"v{self.column(-self._made)[1:]}"

    def _literal(self, node: Node) -> str:
        of = node.type.typeName()
        if node.fields["value"] is None:
            return "NULL" if of == "void" else f"CAST(NULL AS {duckdb_type(node.type)})"
        value = literal(node)
        number = f"({value})" if value.startswith("-") else value
        forms = {"string": text(value), "boolean": value.upper(), "integer": number}
        forms |= {"long": f"{number}::BIGINT", "double": f"{number}::DOUBLE"}
        require(of in forms, f"a literal of the type {of}")
        return forms[of]

    def _case(self, node: Node) -> str:
        parts = [f"WHEN {self.sql(when)} THEN {self.sql(then)}" for when, then in _pairs(node.children)]
        parts += [f"ELSE {self.sql(child)}" for child in node.children[2 * len(parts) :]]
        return f"CASE {' '.join(parts)} END"

    def _with(self, node: Node) -> str:
        """Return an expression that uses another one several times."""
        expression, *definitions = node.children
        self.common |= {str(of.fields["id"]): self.sql(of.children[0]) for of in definitions}
        return self.sql(expression)

    def _field(self, node: Node) -> str:
        (struct,) = node.children
        return f"({self.sql(struct)}).{quoted(struct.type.fields[node.fields['ordinal']].name)}"

    def _aggregated(self, node: Node) -> str:
        """Return SQL for a list that a lambda folds into one value, to which another lambda is applied."""
        rows, zero, merge, finish = node.children
        body, *arguments = merge.children
        start = f"CAST({self.sql(zero)} AS {duckdb_type(body.type)})"
        names = ", ".join(map(self.name, arguments))
        folded = f"list_reduce({self.sql(rows)}, lambda {names}: {self.sql(body)}, {start})"
        self.variables[finish.children[1].id] = folded
        return self.sql(finish.children[0])

    def _in_order(self, sql: str, of: T.DataType) -> str:
        """Return SQL for a list in Spark's order."""
        if is_scalar(of):
            return f"list_sort({sql}, 'ASC', 'NULLS LAST')"
        item = self.fresh()
        keyed = f"list_transform({sql}, lambda {item}: {{k: {order_key(item, of)}, v: {item}}})"
        return f"list_transform(list_sort({keyed}, 'ASC', 'NULLS LAST'), lambda {item}: {item}.v)"

    def _from_json(self, node: Node) -> str:
        name = "struct_from_json" if isinstance(node.type, T.StructType) else "list_from_json"
        return f"{name}({self.sql(node.children[0])}, {text(json.dumps(duckdb_type(node.type)))})"

    def _where_known(self, nodes: list[Node]) -> str:
        return "" if nodes[0].kind == "CreateNamedStruct" else f" FILTER (WHERE {self.sql(nodes[0])} IS NOT NULL)"

    def _aggregate(self, node: Node, over: str = "") -> str:
        (function,) = node.children
        name = f"distinct {function.kind}" if node.fields["isDistinct"] else function.kind
        require(name in AGGREGATES, f"the aggregate {name}")
        require(name != "Last" or over, "the last of rows without an order")  # each engine would take another row
        return self.filled(function, AGGREGATES[name], over=over)

    def _windowed(self, node: Node) -> str:
        function, window = node.children
        over = f" OVER ({self._window(window)})"
        return self._aggregate(function, over) if function.kind == "AggregateExpression" else self.sql(function) + over

    def _distinct_positions(self, node: Node) -> str:
        """Return the number of bits of a bitmap: Spark counts the distinct numbers of a bucket with it."""
        (construct,) = node.children[0].children
        (position,) = construct.children
        require(
            (construct.kind, position.kind) == ("BitmapConstructAgg", "BitmapBitPosition"), "a bitmap of other bits"
        )
        return f"count(DISTINCT {self.all(position.children)})"

    def _window(self, node: Node) -> str:
        """Return what stands in OVER (...)."""
        parts, orders = self.all(node.trees("partitionSpec")), ", ".join(map(self._order, node.trees("orderSpec")))
        clauses = [f"PARTITION BY {parts}"] if parts else []
        if orders:
            frame = node.tree("frameSpecification")
            lower, upper = map(_bound, frame.children)
            clauses += [f"ORDER BY {orders}", f"{frame.setting('frameType').sql()} BETWEEN {lower} AND {upper}"]
        return " ".join(clauses)

    def _order(self, node: Node) -> str:
        """Return a column of ORDER BY."""
        of = node.children[0]
        require(is_scalar(of.type), f"the order of rows by {of.type.typeName()}")
        return f"{self.sql(of)} {node.setting('direction').sql()} {node.setting('nullOrdering').sql()}"


METHODS: Final[Mapping[str, Callable[[Expressions, Node], str]]] = {
    "AttributeReference": lambda self, node: self.column(node.id),
    "NamedLambdaVariable": lambda self, node: self.variables.get(node.id, self.name(node)),
    "CommonExpressionRef": lambda self, node: self.common[str(node.fields["id"])],
    "With": Expressions._with,
    "Literal": Expressions._literal,
    "Cast": lambda self, node: cast(self.all(node.children), node.children[0].type, node.type, self.fresh),
    "CaseWhen": Expressions._case,
    "GetStructField": Expressions._field,
    "ArrayAggregate": Expressions._aggregated,
    "ArraySort": lambda self, node: self._in_order(self.sql(node.children[0]), node.children[0].type.elementType),
    "JsonToStructs": Expressions._from_json,
    "AggregateExpression": Expressions._aggregate,
    "WindowExpression": Expressions._windowed,
    "BitmapCount": Expressions._distinct_positions,
}
"""SQL for expressions that are more than a template."""

_USES: Final[Mapping[str, Callable[[Expressions, list[Node]], str]]] = {
    "": Expressions.all,
    "||": lambda self, nodes: " || ".join(map(self.sql, nodes)),
    "words": lambda self, nodes: ", ".join(f"coalesce(({self.sql(node)})::VARCHAR, 'null')" for node in nodes),
    "fields": lambda self, nodes: ", ".join(f"{text(literal(name))}: {self.sql(of)}" for name, of in _pairs(nodes)),
    "entries": lambda self, nodes: ", ".join(f"{self.sql(key)}: {self.sql(value)}" for key, value in _pairs(nodes)),
    "key": lambda self, nodes: self.order_key(nodes[0]),
    "known in order": lambda self, nodes: self._in_order(f"list_known([{self.all(nodes)}])", nodes[0].type),
    "items in order": lambda self, nodes: self._in_order(f"list_known({self.all(nodes)})", nodes[0].type.elementType),
    "where known": Expressions._where_known,
}
"""SQL for operands, by their use."""


def _pairs(nodes: list[Node]) -> list[tuple[Node, Node]]:
    return list(zip(nodes[::2], nodes[1::2], strict=False))


def _check(node: Node) -> None:
    """Raise Untranslatable if an expression has what it must not have."""
    what, is_free = _LIMITS.get(node.kind, ("", bool))
    require(is_free(node), f"{node.kind} with {what}")


def _bound(node: Node) -> str:
    """Return one end of the frame of a window."""
    if node.kind in {"UnboundedPreceding", "UnboundedFollowing", "CurrentRow"}:
        return str(node.in_spark().sql())
    value = int(literal(node))
    return f"{abs(value)} {'PRECEDING' if value < 0 else 'FOLLOWING'}"
