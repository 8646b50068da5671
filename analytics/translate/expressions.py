"""Expressions of Spark as SQL of DuckDB.

Most of them are a template. The rest are functions, because their SQL depends on types or literals. What is not listed here is
refused by name. Spark's settings are those of the checks: no ANSI mode, and the last of two equal keys of a map wins.

What must never happen is an expression that is translated and means something else. `tests/analytics/translate` evaluates each
one on both engines, with nulls, empty lists, repeated keys, negative and large numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Final

from analytics.translate.patterns import pattern, plain, replacement
from analytics.translate.plan import Node, Untranslatable
from analytics.translate.types import (
    BOOLEAN,
    DOUBLE,
    LONG,
    STRING,
    VOID,
    Type,
    duckdb_type,
    element_of,
    fields_of,
    is_empty,
    json_shape,
    kind_of,
    may_contain_null,
    quoted,
    text,
    type_of,
)

TEMPLATES: Final[Mapping[str, str]] = {
    "Alias": "{0}",
    "And": "({0} AND {1})",
    "Or": "({0} OR {1})",
    "Not": "(NOT {0})",
    "IsNull": "({0} IS NULL)",
    "IsNotNull": "({0} IS NOT NULL)",
    "EqualTo": "({0} = {1})",
    "EqualNullSafe": "({0} IS NOT DISTINCT FROM {1})",
    "If": "CASE WHEN {0} THEN {1} ELSE {2} END",
    "BitwiseOr": "({0} | {1})",
    "BitwiseAnd": "({0} & {1})",
    "Divide": "({0} / nullif({1}, 0))",
    "Remainder": "remainder_or_null({0}, {1})",
    "Slice": "list_part({0}, {1}, {2})",
    "ArrayExcept": "list_except({0}, {1})",
    "ArrayUnion": "list_unique({0} || {1})",
    "ArrayDistinct": "list_unique({0})",
    "ArraysOverlap": "list_overlaps({0}, {1})",
    "ArrayRemove": "list_without({0}, {1})",
    "ArrayJoin": "list_text({0}, {1})",
    "GetArrayItem": "list_item({0}, {1})",
    "GetMapValue": "map_extract_value({0}, {1})",
    "MapEntries": "map_entries({0})",
    "MapKeys": "map_keys({0})",
    "MapValues": "map_values({0})",
    "MapFromArrays": "map_from_lists({0}, {1})",
    "SplitPart": "split_part({0}, {1}, {2})",
    "Lower": "lower({0})",
    "Length": "length({0})::INTEGER",
    "Left": "substr({0}, 1, greatest({1}, 0))",
    "StartsWith": "starts_with({0}, {1})",
    "EndsWith": "ends_with({0}, {1})",
    "StringReplace": "text_replace({0}, {1}, {2})",
    "Like": "({0} LIKE {1} ESCAPE '\\')",
    "BitmapBucketNumber": "bucket_of({0})",
    "RowNumber": "row_number()",
    "MicrosToTimestamp": "make_timestamp({0})",
}

_TEXT_TO_BOOLEAN: Final = (
    "CASE WHEN trim(lower({0})) IN ('t', 'true', 'y', 'yes', '1') THEN true"
    " WHEN trim(lower({0})) IN ('f', 'false', 'n', 'no', '0') THEN false END"
)
CASTS: Final[Mapping[tuple[str, str], str]] = {
    (STRING, LONG): "text_to_bigint({0})",
    (STRING, "integer"): "TRY_CAST(text_to_bigint({0}) AS INTEGER)",
    (STRING, DOUBLE): "text_to_double({0})",
    (STRING, BOOLEAN): _TEXT_TO_BOOLEAN,
    (LONG, STRING): "({0})::VARCHAR",
    ("integer", STRING): "({0})::VARCHAR",
    (BOOLEAN, STRING): "({0})::VARCHAR",
    ("integer", LONG): "({0})::BIGINT",
    (LONG, "integer"): "long_to_integer({0})",
    (LONG, DOUBLE): "({0})::DOUBLE",
    ("integer", DOUBLE): "({0})::DOUBLE",
    (DOUBLE, LONG): "double_to_bigint({0})",
    ("integer", BOOLEAN): "({0} != 0)",
    (BOOLEAN, "integer"): "({0})::INTEGER",
    (BOOLEAN, LONG): "({0})::BIGINT",
}
"""SQL for a cast from one type to another."""

_ARITHMETIC: Final = {
    "Add": ("({0} + {1})", "add_wrapped({0}, {1})"),
    "Subtract": ("({0} - {1})", "subtract_wrapped({0}, {1})"),
    "Multiply": ("({0} * {1})", "multiply_wrapped({0}, {1})"),
    "UnaryMinus": ("(-{0})", "subtract_wrapped(0, {0})"),
    "Abs": ("abs({0})", "abs_wrapped({0})"),
}
"""SQL for small integers and doubles, and for long integers, which wrap around in Java and are an error in DuckDB."""

_COMPARISONS: Final = {
    "GreaterThan": ">", "LessThan": "<", "GreaterThanOrEqual": ">=", "LessThanOrEqual": "<="
}  # fmt: skip
_SCALARS: Final = {STRING, LONG, "integer", DOUBLE, BOOLEAN, VOID}


class Expressions:
    """Translates expressions. A lambda variable, or an expression that is used twice, may stand for SQL; see `variables`."""

    def __init__(self, column: Callable[[int], str]) -> None:
        self._column = column
        self.variables: dict[int, str] = {}
        """What the lambda variables stand for, by their numbers."""
        self._common: list[str] = []
        self._made = 0

    def sql(self, node: Node) -> str:
        """Return the SQL of an expression. Raises Untranslatable."""
        if node.kind in TEMPLATES:
            template = TEMPLATES[node.kind]
            if len(node.children) != len(set(re.findall(r"\{\d\}", template))):
                raise Untranslatable(f"{node.kind} with another number of operands")
            return template.format(*map(self.sql, node.children))
        function = _FUNCTIONS.get(node.kind)
        if function is None:
            raise Untranslatable(f"the expression {node.kind}")
        return function(self, node)

    def all(self, nodes: tuple[Node, ...]) -> str:
        return ", ".join(map(self.sql, nodes))

    def column(self, node: Node) -> str:
        return self._column(node.id)

    def variable(self, node: Node) -> str:
        return self.variables.get(node.id, self._variable(node.id))

    def order_key(self, node: Node) -> str:
        """Return SQL for a value that DuckDB orders as Spark orders this expression (`order_key`)."""
        if node.kind == "CaseWhen" and len(node.branches()) == 1 and node.part("elseValue") is None:
            ((when, then),) = node.branches()
            return f"CASE WHEN {self.sql(when)} THEN {self.order_key(then)} END"
        if node.kind != "CreateNamedStruct":
            return order_key(self.sql(node), type_of(node))
        parts = []
        for place, value in enumerate(node.children[1::2]):
            parts += [f"n{place}: {self.sql(value)} IS NOT NULL", f"v{place}: {self.order_key(value)}"]
        return f"{{{', '.join(parts)}}}"

    def fresh(self) -> str:
        """Return the name of a lambda's argument that is not in use."""
        self._made += 1
        return self._variable(-self._made)

    def _variable(self, number: int) -> str:
        return f"v{self._column(number)[1:]}"

    def body(self, function: Node, *stand_ins: str) -> str:
        """Return the SQL of a lambda's body, with these expressions for its first arguments."""
        for argument, sql in zip(function.children[1:], stand_ins, strict=False):
            self.variables[argument.id] = sql
        return self.sql(function.children[0])

    def arguments(self, function: Node) -> list[str]:
        """Return the names of a lambda's arguments."""
        return [self._variable(each.id) for each in function.children[1:]]

    def with_common(self, node: Node) -> str:
        """Return an expression that uses another one twice."""
        if len(node.children) != 2:
            raise Untranslatable("With several definitions")
        self._common.append(self.sql(node.children[1].children[0]))
        try:
            return self.sql(node.children[0])
        finally:
            self._common.pop()

    def common(self, _: Node) -> str:
        return self._common[-1]


def order_key(sql: str, type_: Type) -> str:
    """Return SQL for a value that DuckDB orders as Spark orders `sql`: nulls inside a struct come first, not last."""
    if kind_of(type_) in _SCALARS:
        return sql
    if kind_of(type_) == "array":
        item = f"{re.sub(r'[^a-z0-9]', '', sql)[:20]}_item"
        of = order_key(item, element_of(type_))
        of = f"{{n: {item} IS NOT NULL, v: {of}}}" if may_contain_null(type_) else of
        return sql if of == item else f"list_transform({sql}, lambda {item}: {of})"
    if kind_of(type_) != "struct":
        raise Untranslatable(f"the order of values of the type {kind_of(type_)}")
    parts = []
    for place, (name, of) in enumerate(fields_of(type_)):
        field = f"({sql}).{quoted(name)}"
        parts += [f"n{place}: {field} IS NOT NULL", f"v{place}: {order_key(field, of)}"]
    return f"CASE WHEN {sql} IS NOT NULL THEN {{{', '.join(parts)}}} END"


def is_scalar(type_: Type) -> bool:
    return kind_of(type_) in _SCALARS


def _literal(_: Expressions, node: Node) -> str:
    value, type_ = node.fields["value"], node.fields["dataType"]
    if value is None:
        return "NULL" if type_ == VOID else f"CAST(NULL AS {duckdb_type(type_)})"
    match type_:
        case "string":
            return text(value)
        case "boolean":
            return str(value).upper()
        case "long":
            return f"{value}::BIGINT" if int(value) >= 0 else f"({value})::BIGINT"
        case "integer":
            return value if int(value) >= 0 else f"({value})"
        case "double":
            return f"{value}::DOUBLE"
        case _:
            raise Untranslatable(f"a literal of the type {kind_of(type_)}")


def _constant(node: Node) -> str:
    """Return the text of a literal."""
    if node.kind != "Literal" or type_of(node) != STRING or node.fields["value"] is None:
        raise Untranslatable(f"{node.kind} where only a text is possible")
    return str(node.fields["value"])


def _number(node: Node) -> int:
    """Return the value of a literal number."""
    if node.kind == "UnaryMinus":
        return -_number(node.children[0])
    if node.kind == "Cast":
        return _number(node.children[0])
    if node.kind != "Literal":
        raise Untranslatable(f"{node.kind} where only a number is possible")
    return int(node.fields["value"])


def _cast(e: Expressions, node: Node) -> str:
    (child,), target = node.children, node.fields["dataType"]
    source = type_of(child)
    if is_empty(source) or (kind_of(source) == "map" and is_empty(source["keyType"])):
        return f"CAST({e.sql(child)} AS {duckdb_type(target)})"
    if duckdb_type(source) == duckdb_type(target):
        return e.sql(child)
    if kind_of(source) == kind_of(target) == "array":
        item = e.fresh()
        return (
            f"list_transform({e.sql(child)}, lambda {item}: {_cast_sql(item, element_of(source), element_of(target))})"
        )
    return _cast_sql(e.sql(child), source, target)


def _cast_sql(sql: str, source: Type, target: Type) -> str:
    if duckdb_type(source) == duckdb_type(target):
        return sql
    if source == VOID:
        return f"CAST({sql} AS {duckdb_type(target)})"
    if kind_of(source) == kind_of(target) == "struct":
        pairs = zip(fields_of(source), fields_of(target), strict=True)
        parts = [
            f"{text(to)}: {_cast_sql(f'({sql}).{quoted(of)}', was, becomes)}" for (of, was), (to, becomes) in pairs
        ]
        return f"{{{', '.join(parts)}}}"
    try:
        return CASTS[kind_of(source), kind_of(target)].format(sql)
    except KeyError:
        raise Untranslatable(f"the cast from {kind_of(source)} to {kind_of(target)}") from None


def _arithmetic(e: Expressions, node: Node) -> str:
    return _ARITHMETIC[node.kind][type_of(node) == LONG].format(*map(e.sql, node.children))


def _comparison(e: Expressions, node: Node) -> str:
    left, right = node.children
    keys = [order_key(e.sql(each), type_of(each)) for each in (left, right)]
    if left.kind == right.kind == "CreateNamedStruct":
        keys = [e.order_key(each) for each in (left, right)]
    return f"({keys[0]} {_COMPARISONS[node.kind]} {keys[1]})"


def _field(e: Expressions, node: Node) -> str:
    name, _ = fields_of(type_of(node.children[0]))[node.fields["ordinal"]]
    return f"({e.sql(node.children[0])}).{quoted(name)}"


def _struct(e: Expressions, node: Node) -> str:
    pairs = zip(node.children[::2], node.children[1::2], strict=True)
    return "{" + ", ".join(f"{text(_constant(name))}: {e.sql(value)}" for name, value in pairs) + "}"


def _map(e: Expressions, node: Node) -> str:
    if not node.children:
        return "MAP {}"
    keys, values = node.children[::2], node.children[1::2]
    if all(each.kind == "Literal" for each in keys) and len({each.fields["value"] for each in keys}) == len(keys):
        return (
            "MAP {" + ", ".join(f"{e.sql(key)}: {e.sql(value)}" for key, value in zip(keys, values, strict=True)) + "}"
        )
    entries = (f"{{'key': {e.sql(key)}, 'value': {e.sql(value)}}}" for key, value in zip(keys, values, strict=True))
    return f"map_last_wins([{', '.join(entries)}])"


def _from_entries(e: Expressions, node: Node) -> str:
    (rows,) = node.children
    (key, _), (value, _) = fields_of(element_of(type_of(rows)))
    entry = e.fresh()
    made = f"{{'key': {entry}.{quoted(key)}, 'value': {entry}.{quoted(value)}}}"
    return f"map_last_wins(list_transform({e.sql(rows)}, lambda {entry}: {made}))"


def _case(e: Expressions, node: Node) -> str:
    branches = " ".join(f"WHEN {e.sql(when)} THEN {e.sql(then)}" for when, then in node.branches())
    otherwise = node.part("elseValue")
    return f"CASE {branches}{f' ELSE {e.sql(otherwise)}' if otherwise else ''} END"


def _transform(e: Expressions, node: Node) -> str:
    rows, function = node.children
    names = e.arguments(function)
    if len(names) == 1:
        return f"list_transform({e.sql(rows)}, lambda {names[0]}: {e.body(function)})"
    body = e.body(function, names[0], f"({names[1]} - 1)::INTEGER")
    return f"list_transform({e.sql(rows)}, lambda {names[0]}, {names[1]}: {body})"


def _applied(sql: str) -> Callable[[Expressions, Node], str]:
    """Return a function for an expression that applies a lambda with one argument to a list."""

    def applied(e: Expressions, node: Node) -> str:
        rows, function = node.children
        (name,) = e.arguments(function)
        return sql.format(rows=e.sql(rows), name=name, body=e.body(function))

    return applied


def _aggregate(e: Expressions, node: Node) -> str:
    rows, zero, merge, finish = node.children
    total, each = e.arguments(merge)
    start = f"CAST({e.sql(zero)} AS {duckdb_type(type_of(merge.children[0]))})"
    merged = f"list_reduce({e.sql(rows)}, lambda {total}, {each}: {e.body(merge)}, {start})"
    return e.body(finish, merged)


def _zip_with(e: Expressions, node: Node) -> str:
    left, right, function = node.children
    pair = f"p{e.arguments(function)[0]}"
    body = e.body(function, f"{pair}[1]", f"{pair}[2]")
    return f"list_transform(lists_zipped({e.sql(left)}, {e.sql(right)}), lambda {pair}: {body})"


def _transform_values(e: Expressions, node: Node) -> str:
    rows, function = node.children
    entry = f"p{e.arguments(function)[0]}"
    body = e.body(function, f"{entry}.key", f"{entry}.value")
    made = f"{{'key': {entry}.key, 'value': {body}}}"
    return f"map_from_entries(list_transform(map_entries({e.sql(rows)}), lambda {entry}: {made}))"


def _map_zip_with(e: Expressions, node: Node) -> str:
    left, right = (e.sql(each) for each in node.children[:2])
    function = node.children[2]
    key = f"p{e.arguments(function)[0]}"
    body = e.body(function, key, f"map_extract_value({left}, {key})", f"map_extract_value({right}, {key})")
    keys = f"list_unique(map_keys({left}) || map_keys({right}))"
    return f"map_from_entries(list_transform({keys}, lambda {key}: {{'key': {key}, 'value': {body}}}))"


def _flatten(e: Expressions, node: Node) -> str:
    (rows,) = node.children
    return f"flatten({e.sql(rows)})" if not may_contain_null(type_of(rows)) else f"list_flattened({e.sql(rows)})"


def _size(e: Expressions, node: Node) -> str:
    (rows,) = node.children
    size = f"{'cardinality' if kind_of(type_of(rows)) == 'map' else 'len'}({e.sql(rows)})::INTEGER"
    return f"coalesce({size}, -1)" if node.fields["legacySizeOfNull"] else size


def _element_at(e: Expressions, node: Node) -> str:
    of, key = node.children
    return f"{'map_extract_value' if kind_of(type_of(of)) == 'map' else 'list_extract'}({e.sql(of)}, {e.sql(key)})"


def _contains(e: Expressions, node: Node) -> str:
    rows, value = node.children
    name = "list_contains_or_null" if may_contain_null(type_of(rows)) else "list_contains"
    return f"{name}({e.sql(rows)}, {e.sql(value)})"


def _sort(e: Expressions, node: Node) -> str:
    rows, of = node.children[0], element_of(type_of(node.children[0]))
    if is_scalar(of):
        return f"list_sort({e.sql(rows)}, 'ASC', 'NULLS LAST')"
    return _sorted_structs(e.sql(rows), of, e.fresh())


def _sorted_structs(sql: str, of: Type, item: str) -> str:
    keyed = f"list_transform({sql}, lambda {item}: {{k: {order_key(item, of)}, v: {item}}})"
    return f"list_transform(list_sort({keyed}, 'ASC', 'NULLS LAST'), lambda {item}: {item}.v)"


def _extreme(e: Expressions, node: Node) -> str:
    rows, of = node.children[0], element_of(type_of(node.children[0]))
    if is_scalar(of):
        return f"list_{node.kind.removeprefix('Array').lower()}({e.sql(rows)})"
    item = e.fresh()
    known = f"list_filter({e.sql(rows)}, lambda {item}: {item} IS NOT NULL)"
    return f"list_extract({_sorted_structs(known, of, item)}, {1 if node.kind == 'ArrayMin' else -1})"


def _substring_index(e: Expressions, node: Node) -> str:
    of, delimiter, count = node.children
    if _number(count) not in {1, -1} or not _constant(delimiter):
        raise Untranslatable("substring_index with another number than 1 or -1, or an empty delimiter")
    return f"split_part({e.sql(of)}, {e.sql(delimiter)}, {_number(count)})"


def _split(e: Expressions, node: Node) -> str:
    of, regex, limit = node.children
    if _number(limit) != -1:
        raise Untranslatable("split with a limit")
    return f"str_split({e.sql(of)}, {text(plain(_constant(regex)))})"


def _matches(e: Expressions, node: Node) -> str:
    return f"regexp_matches({e.sql(node.children[0])}, {text(pattern(_constant(node.children[1])))})"


def _replaced(e: Expressions, node: Node) -> str:
    of, regex, with_, _ = node.children
    java = pattern(_constant(regex), end_matters=True)
    return f"regexp_replace({e.sql(of)}, {text(java)}, {text(replacement(_constant(with_)))}, 'g')"


def _extracted(e: Expressions, node: Node) -> str:
    of, regex, group = node.children
    name = "regexp_extract" if node.kind == "RegExpExtract" else "regexp_extract_all"
    return f"{name}({e.sql(of)}, {text(pattern(_constant(regex), end_matters=True))}, {_number(group)})"


def _concatenated(e: Expressions, node: Node) -> str:
    return f"({' || '.join(map(e.sql, node.children))})"


def _concatenated_with(e: Expressions, node: Node) -> str:
    separator, *parts = node.children
    between = e.sql(separator)
    texts = [
        f"list_joined({e.sql(each)}, {between})" if kind_of(type_of(each)) == "array" else e.sql(each) for each in parts
    ]
    return f"concat_ws({between}, {', '.join(texts)})"


def _formatted(e: Expressions, node: Node) -> str:
    form, *values = node.children
    given = iter(values)
    parts = []
    for part in re.split(r"(%.)", _constant(form)):
        if part in {"%s", "%d"}:
            parts.append(f"coalesce(({e.sql(next(given))})::VARCHAR, 'null')")
        elif part.startswith("%"):
            raise Untranslatable(f"the format {part}")
        elif part:
            parts.append(text(part))
    return f"({' || '.join(parts)})"


def _trimmed(e: Expressions, node: Node) -> str:
    what = node.part("trimStr")
    return f"trim({e.sql(node.tree('srcStr'))}, {e.sql(what) if what else text(' ')})"


def _substring(e: Expressions, node: Node) -> str:
    of, place, length = node.children
    if _number(place) < 1:
        raise Untranslatable("a part of a text from its end")
    return f"substr({e.sql(of)}, {_number(place)}, greatest({e.sql(length)}, 0))"


def _reverse(e: Expressions, node: Node) -> str:
    return (
        f"{'list_reverse' if kind_of(type_of(node.children[0])) == 'array' else 'reverse'}({e.sql(node.children[0])})"
    )


def _floor(e: Expressions, node: Node) -> str:
    if type_of(node.children[0]) != DOUBLE:
        return e.sql(node.children[0])
    return f"double_to_bigint(floor({e.sql(node.children[0])}))"


def _sequence(e: Expressions, node: Node) -> str:
    if len(node.children) == 2:
        return f"number_series({e.all(node.children)})"
    if _number(node.children[2]) < 1:
        raise Untranslatable("a sequence downwards")
    return f"generate_series({e.all(node.children)})"


def _from_json(e: Expressions, node: Node) -> str:
    schema = node.fields["schema"]
    shape = text(json.dumps(json_shape(schema)))
    name = "struct_from_json" if kind_of(schema) == "struct" else "list_from_json"
    return f"{name}({e.sql(node.children[0])}, {shape})"


def _to_json(e: Expressions, node: Node) -> str:
    return _json_text(e, e.sql(node.children[0]), type_of(node.children[0]))


def _json_text(e: Expressions, sql: str, type_: Type) -> str:
    """Return SQL for a value as JSON. A struct is written without its null fields."""
    match kind_of(type_):
        case "string":
            return f"to_json({sql})::VARCHAR"
        case "long" | "integer" | "boolean":
            return f"({sql})::VARCHAR"
        case "array":
            item = e.fresh()
            of = f"coalesce({_json_text(e, item, element_of(type_))}, 'null')"
            return f"('[' || array_to_string(list_transform({sql}, lambda {item}: {of}), ',') || ']')"
        case "struct":
            fields = []
            for name, of in fields_of(type_):
                value = f"({sql}).{quoted(name)}"
                fields.append(f"CASE WHEN {value} IS NOT NULL THEN '\"{name}\":' || {_json_text(e, value, of)} END")
            return f"CASE WHEN {sql} IS NOT NULL THEN '{{' || concat_ws(',', {', '.join(fields)}) || '}}' END"
        case kind:
            raise Untranslatable(f"JSON of the type {kind}")


def _json_object(e: Expressions, node: Node) -> str:
    path = _constant(node.children[1])
    if not re.fullmatch(r"\$(\.\w+)+", path):
        raise Untranslatable(f"the path {path} in JSON")
    return f"json_text({e.sql(node.children[0])}, {text(path)})"


def _string_to_map(e: Expressions, node: Node) -> str:
    of, between, within = node.children
    return f"text_to_map({e.sql(of)}, {text(plain(_constant(between)))}, {text(plain(_constant(within)))})"


def _offset(e: Expressions, node: Node) -> str:
    value, distance, default = node.children
    if node.fields.get("ignoreNulls"):
        raise Untranslatable(f"{node.kind} that ignores nulls")
    rest = "" if default.kind == "Literal" and default.fields["value"] is None else f", {e.sql(default)}"
    return f"{node.kind.lower()}({e.sql(value)}, {abs(_number(distance))}{rest})"


_FUNCTIONS: Final[Mapping[str, Callable[[Expressions, Node], str]]] = {
    "AttributeReference": Expressions.column,
    "NamedLambdaVariable": Expressions.variable,
    "Literal": _literal,
    "Cast": _cast,
    **dict.fromkeys(_ARITHMETIC, _arithmetic),
    **dict.fromkeys(_COMPARISONS, _comparison),
    "Coalesce": lambda e, node: f"coalesce({e.all(node.children)})",
    "Greatest": lambda e, node: f"greatest({e.all(node.children)})",
    "Least": lambda e, node: f"least({e.all(node.children)})",
    "CreateArray": lambda e, node: f"[{e.all(node.children)}]",
    "In": lambda e, node: f"({e.sql(node.children[0])} IN ({e.all(node.children[1:])}))",
    "CaseWhen": _case,
    "GetStructField": _field,
    "CreateNamedStruct": _struct,
    "CreateMap": _map,
    "MapFromEntries": _from_entries,
    "ArrayTransform": _transform,
    "ArrayFilter": _applied("list_filter({rows}, lambda {name}: {body})"),
    "ArrayExists": _applied("list_any(list_transform({rows}, lambda {name}: {body}))"),
    "ArrayForAll": _applied("list_all(list_transform({rows}, lambda {name}: {body}))"),
    "ArrayAggregate": _aggregate,
    "ZipWith": _zip_with,
    "TransformValues": _transform_values,
    "MapZipWith": _map_zip_with,
    "Flatten": _flatten,
    "Size": _size,
    "ElementAt": _element_at,
    "ArrayContains": _contains,
    "ArraySort": _sort,
    "ArrayMax": _extreme,
    "ArrayMin": _extreme,
    "SubstringIndex": _substring_index,
    "StringSplit": _split,
    "RLike": _matches,
    "RegExpReplace": _replaced,
    "RegExpExtract": _extracted,
    "RegExpExtractAll": _extracted,
    "Concat": _concatenated,
    "ConcatWs": _concatenated_with,
    "FormatString": _formatted,
    "StringTrim": _trimmed,
    "Substring": _substring,
    "Reverse": _reverse,
    "Floor": _floor,
    "Sequence": _sequence,
    "JsonToStructs": _from_json,
    "GetJsonObject": _json_object,
    "StructsToJson": _to_json,
    "StringToMap": _string_to_map,
    "Lag": _offset,
    "Lead": _offset,
    "With": Expressions.with_common,
    "CommonExpressionRef": Expressions.common,
    **dict.fromkeys(("TryElementAt", "NullIf", "Between"), lambda e, node: e.sql(node.tree("replacement"))),
}
