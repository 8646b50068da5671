"""Spark's types: what DuckDB calls them, how their values are converted, and how they are ordered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final

from pyspark.sql import types as T  # noqa: N812

from analytics.translate.plan import Untranslatable, require

_NAMES: Final[Mapping[str, str]] = {
    "string": "VARCHAR", "long": "BIGINT", "integer": "INTEGER", "boolean": "BOOLEAN", "double": "DOUBLE",
    "timestamp": "TIMESTAMP",
    "void": "INTEGER",  # of a null without a type
}  # fmt: skip

CASTS: Final[Mapping[tuple[str, str], str]] = {
    ("string", "long"): "text_to_bigint({0})",
    ("string", "integer"): "TRY_CAST(text_to_bigint({0}) AS INTEGER)",
    ("string", "double"): "text_to_double({0})",
    ("integer", "long"): "({0})::BIGINT",
    ("boolean", "integer"): "({0})::INTEGER",
    **dict.fromkeys((("integer", "double"), ("long", "double")), "({0})::DOUBLE"),
    **dict.fromkeys((("integer", "string"), ("long", "string"), ("boolean", "string")), "({0})::VARCHAR"),
}
"""SQL for a cast from one type to another."""


def duckdb_type(of: T.DataType) -> str:
    """Return what DuckDB calls a type."""
    match of:
        case T.ArrayType():
            return f"{duckdb_type(of.elementType)}[]"
        case T.MapType():
            return f"MAP({duckdb_type(of.keyType)}, {duckdb_type(of.valueType)})"
        case T.StructType():
            return f"STRUCT({columns(of)})"
    require(is_scalar(of), f"the type {of.typeName()}")
    return _NAMES[of.typeName()]


def columns(of: T.StructType) -> str:
    """Return the names and types of fields."""
    return ", ".join(f"{quoted(field.name)} {duckdb_type(field.dataType)}" for field in of.fields)


def quoted(name: str, mark: str = '"') -> str:
    return f"{mark}{name.replace(mark, 2 * mark)}{mark}"


text: Final = partial(quoted, mark="'")
"""Returns a text as a literal of SQL."""


def is_scalar(of: T.DataType) -> bool:
    return of.typeName() in _NAMES


def of_type(of: T.DataType, templates: Mapping[str, str], kind: str) -> str:
    """Return the template of an expression for a type, or for the narrowest group of types; an `array?` may contain nulls."""
    names = [of.simpleString(), of.typeName(), *(["scalar"] if is_scalar(of) else [])]
    if isinstance(of, T.ArrayType):
        names = ["array?" if of.containsNull else "", "array of scalars" if is_scalar(of.elementType) else "", *names]
    for name in filter(templates.__contains__, names):
        return templates[name]
    raise Untranslatable(f"{kind} of the type {of.simpleString()}")


def cast(sql: str, source: T.DataType, target: T.DataType, fresh: Callable[[], str]) -> str:
    """Return SQL for a value as a value of another type.

    fresh: returns a name for an element of a list.
    """
    if re.fullmatch(r"(array<)*void>*|map<void,void>", source.simpleString()):  # a null, an empty list or an empty map
        return f"CAST({sql} AS {duckdb_type(target)})"
    if duckdb_type(source) == duckdb_type(target):
        return sql
    if isinstance(source, T.ArrayType) and isinstance(target, T.ArrayType):
        item = fresh()
        return f"list_transform({sql}, lambda {item}: {cast(item, source.elementType, target.elementType, fresh)})"
    names = source.typeName(), target.typeName()
    require(names in CASTS, f"the cast from {names[0]} to {names[1]}")
    return CASTS[names].format(sql)


def order_key(sql: str, of: T.DataType) -> str:
    """Return SQL for a value that DuckDB orders as Spark orders `sql`: nulls inside a struct come first, not last."""
    match of:
        case T.ArrayType():
            item = f"{re.sub(r'[^a-z0-9]', '', sql)[:20]}_item"
            key = order_key(item, of.elementType)
            key = f"{{n: {item} IS NOT NULL, v: {key}}}" if of.containsNull else key
            return sql if key == item else f"list_transform({sql}, lambda {item}: {key})"
        case T.StructType():
            values = ((f"({sql}).{quoted(field.name)}", field.dataType) for field in of.fields)
            key = struct_key((value, order_key(value, type_)) for value, type_ in values)
            return f"CASE WHEN {sql} IS NOT NULL THEN {key} END"
    require(is_scalar(of), f"the order of values of the type {of.typeName()}")
    return sql


def struct_key(fields: Iterable[tuple[str, str]]) -> str:
    """Return the key for the order of a struct that is not null.

    fields: the SQL and the key of each field.
    """
    parts = (f"n{place}: {sql} IS NOT NULL, v{place}: {key}" for place, (sql, key) in enumerate(fields))
    return f"{{{', '.join(parts)}}}"
