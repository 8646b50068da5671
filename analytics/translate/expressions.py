"""Expressions of Spark as SQL of DuckDB.

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
from analytics.translate.plan import Node, Untranslatable
from analytics.translate.types import cast, duckdb_type, is_scalar, of_type, order_key, quoted, struct_key, text

Template = str | Mapping[str, str]
"""SQL with {0}, {1}, ... for operands; or such SQL for each type of the first operand (`types.of_type`).

{rest}: all operands but the first; {all}: all of them.
{v}, {body}: the name of the variable of a lambda, which is the last operand, and its SQL.
{0:key}, {0:plain}, ...: other SQL for an operand; see `Expressions.format_field`.
"""

_CALLS: Final = {
    "Coalesce": "coalesce", "Remainder": "remainder_or_null",
    "BitmapBucketNumber": "bucket_of", "MicrosToTimestamp": "make_timestamp", "RowNumber": "row_number",
    "Lag": "lag", "Lead": "lead", "Slice": "list_part", "Sequence": "number_series", "ArrayExcept": "list_except",
    "ArrayDistinct": "list_unique", "ArraysOverlap": "list_overlaps", "ArrayRemove": "list_without",
    "ArrayJoin": "list_text", "GetArrayItem": "list_item", "GetMapValue": "map_extract_value",
    "MapEntries": "map_entries", "MapValues": "map_values", "MapFromEntries": "map_from_pairs", "Lower": "lower",
    "StartsWith": "starts_with", "SplitPart": "split_part", "StringReplace": "text_replace", "StringTrim": "trim",
}  # fmt: skip
"""Expressions that are a function of DuckDB, or one of `analytics/embedded/functions.sql`, with the same arguments."""

TEMPLATES: Final[Mapping[str, Template]] = {
    **{kind: f"{name}({{all}})" for kind, name in _CALLS.items()},
    **dict.fromkeys(("Alias", "TryElementAt", "NullIf", "Between"), "{0}"),  # Spark rewrites the last three
    "And": "({0} AND {1})",
    "Or": "({0} OR {1})",
    "Not": "(NOT {0})",
    "IsNull": "({0} IS NULL)",
    "IsNotNull": "({0} IS NOT NULL)",
    "EqualTo": "({0} = {1})",
    "EqualNullSafe": "({0} IS NOT DISTINCT FROM {1})",
    "GreaterThan": "({0:key} > {1:key})",
    "GreaterThanOrEqual": "({0:key} >= {1:key})",
    "LessThan": "({0:key} < {1:key})",
    "LessThanOrEqual": "({0:key} <= {1:key})",
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
    "ArrayMin": {"array of scalars": "list_min({0})", "array": "list_extract({0:known in order}, 1)"},
    "ArrayMax": {"array of scalars": "list_max({0})", "array": "list_extract({0:known in order}, -1)"},
    "ArrayUnion": "list_unique({0} || {1})",
    "Reverse": {"array": "list_reverse({0})"},
    "Flatten": {"array": "flatten({0})", "array?": "list_flattened({0})"},
    "Size": {"array": "coalesce(len({0})::INTEGER, -1)", "map": "coalesce(cardinality({0})::INTEGER, -1)"},
    "ElementAt": {"array": "list_extract({0}, {1})", "map": "map_extract_value({0}, {1})"},
    "ArrayContains": {"array": "list_contains({0}, {1})", "array?": "list_contains_or_null({0}, {1})"},
    "Concat": "({all:||})",
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

_STAND_INS: Final[Mapping[str, tuple[str, ...]]] = {
    "ZipWith": ("p{v}[1]", "p{v}[2]"),
    "TransformValues": ("p{v}.key", "p{v}.value"),
    "MapZipWith": ("p{v}", "map_extract_value({0}, p{v})", "map_extract_value({1}, p{v})"),
}
"""SQL for the arguments of a lambda that has not only {v}."""

_SETTINGS: Final[Mapping[str, tuple[str, object]]] = {
    "Like": ("escapeChar", "\\"),
    "Size": ("legacySizeOfNull", True),
    **dict.fromkeys(("Lag", "Lead"), ("ignoreNulls", False)),
    "Last": ("ignoreNulls", True),
}
"""What must be set in an expression."""

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
"""SQL for a literal, by its use; None if it is refused."""


def literal(node: Node) -> str:
    """Return the value of a literal that is not null."""
    if node.kind == "UnaryMinus":
        return f"-{literal(node.children[0])}"
    if node.kind != "Literal" or node.fields["value"] is None:
        raise Untranslatable(f"{node.kind} where only a literal is possible")
    return str(node.fields["value"])


class Expressions(Formatter):
    """Translates expressions, and formats templates with nodes in them.

    column: returns the name of the column with a number.
    """

    def __init__(self, column: Callable[[int], str]) -> None:
        self.column = column
        self.variables: dict[int, str] = {}
        """SQL for lambda variables, if they do not stand for themselves."""
        self.common: list[str] = []
        """What is defined once and used several times, from the outside to the inside."""
        self._made = 0

    def sql(self, node: Node) -> str:
        """Return the SQL of an expression. Raises Untranslatable."""
        if node.kind in TEMPLATES:
            return self.filled(node, TEMPLATES[node.kind])
        if node.kind in METHODS:
            return METHODS[node.kind](self, node)
        raise Untranslatable(f"the expression {node.kind}")

    def all(self, nodes: Iterable[Node]) -> str:
        return ", ".join(map(self.sql, nodes))

    def filled(self, node: Node, template: Template, **others: object) -> str:
        """Return a template with the operands of an expression, and with others."""
        setting, value = _SETTINGS.get(node.kind, ("", None))
        if setting and node.setting(setting) != value:
            raise Untranslatable(f"{node.kind} with another {setting} than {value}")
        nodes = [child for child in node.children if child.kind != "LambdaFunction"]
        if not isinstance(template, str):
            template = of_type(nodes[0].type, template, node.kind)
        placeholders = set(re.findall(r"{(\d|all|rest)", template))
        if placeholders.isdisjoint({"all", "rest"}) and len(placeholders) != len(nodes):
            raise Untranslatable(f"{node.kind} with another number of operands")
        for function in node.children[len(nodes) :]:
            body, *arguments = function.children
            others |= {"v": self.name(arguments[0]), "body": body}
            stand_ins = _STAND_INS.get(node.kind, ("{v}",))
            if len(arguments) != len(stand_ins):
                raise Untranslatable(f"{node.kind} with another number of arguments")
            for argument, sql in zip(arguments, stand_ins, strict=True):
                self.variables[argument.id] = self.vformat(sql, nodes, others)
        return self.vformat(template, nodes, {"all": nodes, "rest": nodes[1:], **others})

    def format_field(self, value: Any, use: str) -> str:
        """Return SQL for what is used in a template: a node, several, or SQL."""
        if isinstance(value, str):
            return value
        nodes = [value] if isinstance(value, Node) else value
        match use:
            case "":
                return self.all(nodes)
            case "||":
                return " || ".join(map(self.sql, nodes))
            case "words":
                return ", ".join(f"coalesce(({self.sql(child)})::VARCHAR, 'null')" for child in nodes)
            case "key":
                return self.order_key(value)
            case "known in order":
                if isinstance(value, Node):
                    return self._in_order(f"list_known({self.sql(value)})", value.type.elementType)
                return self._in_order(f"list_known([{self.all(value)}])", value[0].type)
        sql = _LITERALS[use](literal(value))
        if sql is None:
            raise Untranslatable(f"the {use} {literal(value)!r}")
        return sql

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
        if of == "string":
            return text(value)
        if of == "boolean":
            return value.upper()
        if of not in {"integer", "long", "double"}:
            raise Untranslatable(f"a literal of the type {of}")
        number = f"({value})" if value.startswith("-") else value
        return number if of == "integer" else f"{number}::{duckdb_type(node.type)}"

    def _cast(self, node: Node) -> str:
        (child,) = node.children
        return cast(self.sql(child), child.type, node.type, self.fresh)

    def _case(self, node: Node) -> str:
        parts = [f"WHEN {self.sql(when)} THEN {self.sql(then)}" for when, then in _pairs(node)]
        parts += [f"ELSE {self.sql(child)}" for child in node.children[2 * len(parts) :]]
        return f"CASE {' '.join(parts)} END"

    def _with(self, node: Node) -> str:
        """Return an expression that uses another one several times."""
        expression, *definitions = node.children
        if len(definitions) != 1:
            raise Untranslatable("With several definitions")
        self.common.append(self.sql(definitions[0].children[0]))
        sql = self.sql(expression)
        self.common.pop()
        return sql

    def _field(self, node: Node) -> str:
        (struct,) = node.children
        return f"({self.sql(struct)}).{quoted(struct.type.fields[node.fields['ordinal']].name)}"

    def _struct(self, node: Node) -> str:
        return f"{{{', '.join(f'{text(literal(name))}: {self.sql(value)}' for name, value in _pairs(node))}}}"

    def _map(self, node: Node) -> str:
        keys = node.children[::2]
        if len(keys) > 1 and len(set(map(literal, keys))) != len(keys):
            raise Untranslatable("CreateMap with equal keys")
        return f"MAP {{{', '.join(f'{self.sql(key)}: {self.sql(value)}' for key, value in _pairs(node))}}}"

    def _aggregated(self, node: Node) -> str:
        """Return SQL for a list that a lambda folds into one value, to which another lambda is applied."""
        rows, zero, merge, finish = node.children
        body, *arguments = merge.children
        start = f"CAST({self.sql(zero)} AS {duckdb_type(body.type)})"
        names = ", ".join(map(self.name, arguments))
        folded = f"list_reduce({self.sql(rows)}, lambda {names}: {self.sql(body)}, {start})"
        self.variables[finish.children[1].id] = folded
        return self.sql(finish.children[0])

    def _sorted(self, node: Node) -> str:
        rows, comparison = node.children
        if [child.name for child in comparison.children[1:]] != ["left", "right"]:
            raise Untranslatable("ArraySort with a comparison of the user")
        return self._in_order(self.sql(rows), rows.type.elementType)

    def _in_order(self, sql: str, of: T.DataType) -> str:
        """Return SQL for a list in Spark's order."""
        if is_scalar(of):
            return f"list_sort({sql}, 'ASC', 'NULLS LAST')"
        item = self.fresh()
        keyed = f"list_transform({sql}, lambda {item}: {{k: {order_key(item, of)}, v: {item}}})"
        return f"list_transform(list_sort({keyed}, 'ASC', 'NULLS LAST'), lambda {item}: {item}.v)"

    def _concatenated_with(self, node: Node) -> str:
        if any(isinstance(child.type, T.ArrayType) for child in node.children):
            raise Untranslatable("ConcatWs of lists")
        return f"concat_ws({self.all(node.children)})"

    def _from_json(self, node: Node) -> str:
        name = "struct_from_json" if isinstance(node.type, T.StructType) else "list_from_json"
        return f"{name}({self.sql(node.children[0])}, {text(json.dumps(duckdb_type(node.type)))})"


METHODS: Final[Mapping[str, Callable[[Expressions, Node], str]]] = {
    "AttributeReference": lambda self, node: self.column(node.id),
    "NamedLambdaVariable": lambda self, node: self.variables.get(node.id, self.name(node)),
    "CommonExpressionRef": lambda self, _: self.common[-1], "With": Expressions._with,
    "Literal": Expressions._literal, "Cast": Expressions._cast, "CaseWhen": Expressions._case,
    "GetStructField": Expressions._field, "CreateNamedStruct": Expressions._struct, "CreateMap": Expressions._map,
    "ArrayAggregate": Expressions._aggregated, "ArraySort": Expressions._sorted,
    "ConcatWs": Expressions._concatenated_with, "JsonToStructs": Expressions._from_json,
}  # fmt: skip


def _pairs(node: Node) -> list[tuple[Node, Node]]:
    return list(zip(node.children[::2], node.children[1::2], strict=False))
