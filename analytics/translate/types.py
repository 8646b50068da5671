"""Spark's types: what DuckDB calls them, and which type an expression has.

Spark writes the type of a column, a lambda variable and a cast into the plan. The types of other expressions follow from
these. The void type belongs to a null without a type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from analytics.translate.plan import Node, Untranslatable

Type = Any
"""A Spark type as in its JSON: a name, or a mapping with `type` array, map or struct."""

VOID: Final = "void"
LONG: Final = "long"
STRING: Final = "string"
BOOLEAN: Final = "boolean"
DOUBLE: Final = "double"
TIMESTAMP: Final = "timestamp"

_NAMES: Final[Mapping[str, str]] = {
    STRING: "VARCHAR", LONG: "BIGINT", "integer": "INTEGER", BOOLEAN: "BOOLEAN", DOUBLE: "DOUBLE",
    VOID: "INTEGER", TIMESTAMP: "TIMESTAMP",
}  # fmt: skip


def kind_of(type_: Type) -> str:
    """Return the name of a type, without its elements."""
    return type_ if isinstance(type_, str) else str(type_["type"])


def duckdb_type(type_: Type) -> str:
    """Return what DuckDB calls a type."""
    match kind_of(type_):
        case "array":
            return f"{duckdb_type(type_['elementType'])}[]"
        case "map":
            return f"MAP({duckdb_type(type_['keyType'])}, {duckdb_type(type_['valueType'])})"
        case "struct":
            return f"STRUCT({', '.join(f'{quoted(name)} {duckdb_type(of)}' for name, of in fields_of(type_))})"
        case name if name in _NAMES:
            return _NAMES[name]
        case name:
            raise Untranslatable(f"the type {name}")


def json_shape(type_: Type) -> Any:
    """Return a type as DuckDB's from_json expects it."""
    match kind_of(type_):
        case "array":
            return [json_shape(type_["elementType"])]
        case "struct":
            return {name: json_shape(of) for name, of in fields_of(type_)}
        case _:
            return duckdb_type(type_)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + value.replace("'", "''") + "'"


def fields_of(struct: Type) -> list[tuple[str, Type]]:
    return [(each["name"], each["type"]) for each in struct["fields"]]


def array_of(element: Type) -> Type:
    return {"type": "array", "elementType": element, "containsNull": True}


def element_of(type_: Type) -> Type:
    return type_["elementType"] if kind_of(type_) == "array" else VOID


def may_contain_null(type_: Type) -> bool:
    return bool(type_.get("containsNull", True)) if kind_of(type_) == "array" else True


def struct_of(fields: list[tuple[str, Type]]) -> Type:
    return {"type": "struct", "fields": [{"name": name, "type": of} for name, of in fields]}


def map_of(key: Type, value: Type) -> Type:
    return {"type": "map", "keyType": key, "valueType": value}


def value_of(type_: Type) -> Type:
    """Return the type of what a map or an array contains."""
    return type_["valueType"] if kind_of(type_) == "map" else element_of(type_)


def type_of(node: Node) -> Type:
    """Return the type of an expression."""
    if "dataType" in node.fields:
        return node.fields["dataType"]
    if node.kind not in _RULES:
        raise Untranslatable(f"the type of the expression {node.kind}")
    return _RULES[node.kind](node)


def is_empty(type_: Type) -> bool:
    """Return whether only a null or an empty list has this type."""
    return type_ == VOID or (kind_of(type_) == "array" and is_empty(type_["elementType"]))


def _one_of(*nodes: Node) -> Type:
    types = [type_of(each) for each in nodes]
    return next((each for each in types if not is_empty(each)), types[0])


def _child(place: int) -> Callable[[Node], Type]:
    return lambda node: type_of(node.children[place])


def _any_child(node: Node) -> Type:
    return _one_of(*node.children)


def _always(type_: Type) -> Callable[[Node], Type]:
    return lambda _: type_


def _list_of_child(node: Node) -> Type:
    return {**array_of(_any_child(node)), "containsNull": False}


def _created_array(node: Node) -> Type:
    return array_of(_any_child(node)) if node.children else array_of(VOID)


def _created_struct(node: Node) -> Type:
    pairs = zip(node.children[::2], node.children[1::2], strict=True)
    return struct_of([(name.fields["value"], type_of(value)) for name, value in pairs])


def _created_map(node: Node) -> Type:
    return map_of(_one_of(*node.children[::2]), _one_of(*node.children[1::2])) if node.children else map_of(VOID, VOID)


def _lambda(place: int) -> Callable[[Node], Type]:
    """The type is that of the body of the lambda in this place."""
    return lambda node: type_of(node.children[place].children[0])


def _case(node: Node) -> Type:
    otherwise = node.part("elseValue")
    values = [then for _, then in node.branches()]
    return _one_of(*values, *([otherwise] if otherwise else []))


def _field(node: Node) -> Type:
    return fields_of(type_of(node.children[0]))[node.fields["ordinal"]][1]


def _entries(node: Node) -> Type:
    of = type_of(node.children[0])
    return {**array_of(struct_of([("key", of["keyType"]), ("value", of["valueType"])])), "containsNull": False}


def _from_entries(node: Node) -> Type:
    (_, key), (_, value) = fields_of(element_of(type_of(node.children[0])))
    return map_of(key, value)


def _with_values(place: int) -> Callable[[Node], Type]:
    return lambda node: map_of(type_of(node.children[0])["keyType"], _lambda(place)(node))


def _from_arrays(node: Node) -> Type:
    return map_of(*(element_of(type_of(each)) for each in node.children))


def _sum(node: Node) -> Type:
    return DOUBLE if type_of(node.children[0]) == DOUBLE else LONG


def _words(text: str) -> list[str]:
    return text.split()


def _rules() -> dict[str, Callable[[Node], Type]]:
    same = _words("Coalesce ArrayDistinct ArrayUnion Concat Least Greatest Add Subtract Multiply BitwiseOr BitwiseAnd")
    of_first = _words(
        "ArrayFilter ArraySort ArrayExcept ArrayRemove Slice Reverse Max Min Last MaxBy MinBy Abs Remainder"
        " UnaryMinus Lag Lead AggregateExpression WindowExpression Alias With LambdaFunction"
    )
    booleans = _words(
        "EqualTo EqualNullSafe And Or Not IsNull IsNotNull In GreaterThan LessThan GreaterThanOrEqual LessThanOrEqual"
        " ArrayExists ArrayForAll ArrayContains ArraysOverlap RLike Like StartsWith EndsWith BoolOr"
    )
    longs = _words("Count CountIf Floor BitmapBucketNumber BitmapCount")
    numbers = _words("Size Length RowNumber")
    strings = _words(
        "SplitPart SubstringIndex ArrayJoin RegExpReplace RegExpExtract FormatString ConcatWs StringTrim Lower Substring"
        " Left StringReplace GetJsonObject StructsToJson"
    )
    of_element = _words("ElementAt GetArrayItem GetMapValue ArrayMax ArrayMin")
    return {
        **dict.fromkeys(same, _any_child),
        **dict.fromkeys(of_first, _child(0)),
        **dict.fromkeys(booleans, _always(BOOLEAN)),
        **dict.fromkeys(longs, _always(LONG)),
        **dict.fromkeys(numbers, _always("integer")),
        **dict.fromkeys(strings, _always(STRING)),
        **dict.fromkeys(of_element, lambda node: value_of(type_of(node.children[0]))),
        **dict.fromkeys(("StringSplit", "RegExpExtractAll"), _always({**array_of(STRING), "containsNull": False})),
        **dict.fromkeys(("CollectList", "CollectSet"), _list_of_child),
        **dict.fromkeys(("TryElementAt", "NullIf", "Between"), lambda node: type_of(node.tree("replacement"))),
        "If": lambda node: _one_of(*node.children[1:]),
        "CaseWhen": _case,
        "GetStructField": _field,
        "CreateNamedStruct": _created_struct,
        "CreateArray": _created_array,
        "CreateMap": _created_map,
        "ArrayTransform": lambda node: array_of(_lambda(1)(node)),
        "ArrayAggregate": _lambda(3),
        "ZipWith": lambda node: array_of(_lambda(2)(node)),
        "Flatten": lambda node: element_of(type_of(node.children[0])),
        "Sequence": lambda node: {**array_of(type_of(node.children[0])), "containsNull": False},
        "MapEntries": _entries,
        "MapKeys": lambda node: {**array_of(type_of(node.children[0])["keyType"]), "containsNull": False},
        "MapValues": lambda node: array_of(type_of(node.children[0])["valueType"]),
        "MapFromArrays": _from_arrays,
        "MapFromEntries": _from_entries,
        "StringToMap": _always(map_of(STRING, STRING)),
        "TransformValues": _with_values(1),
        "MapZipWith": _with_values(2),
        "JsonToStructs": lambda node: node.fields["schema"],
        "Sum": _sum,
        "Divide": _always(DOUBLE),
        "MicrosToTimestamp": _always(TIMESTAMP),
    }


_RULES: Final = _rules()
