"""Spark's schemas of trace lines, derived from the definitions in `traces`, so that an event has one definition.

A line is read with one wide schema: the header and every field of every event. Where two events use one name for
different types (`number` of a mail and of a change), the wide schema keeps the JSON text of the field, and the code
that reads the event parses this text.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import msgspec
from pyspark.sql import types as T  # noqa: N812 - as everybody names it

from traces.events import EVENT_TYPES, MailFolder

_PLAIN: Final[Mapping[Any, T.DataType]] = {
    int: T.LongType(),
    str: T.StringType(),
    float: T.DoubleType(),
    bool: T.BooleanType(),
}


def spark_type(annotation: Any) -> T.DataType:
    """Return Spark's type for a field's annotation. Raise TypeError for an annotation that has no Spark type here."""
    origin, args = get_origin(annotation), get_args(annotation)
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if origin is Annotated:
        return spark_type(args[0])
    if origin is Literal:
        return T.StringType()
    if origin is tuple:
        return T.ArrayType(spark_type(args[0]))
    if origin is dict:
        value = T.StringType() if get_origin(args[1]) in {Union, types.UnionType} else spark_type(args[1])
        return T.MapType(T.StringType(), value)
    if origin in {Union, types.UnionType}:
        (only,) = (arg for arg in args if arg is not type(None))
        return spark_type(only)
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return struct_type(annotation)
    raise TypeError(f"no Spark type for {annotation!r}")


def struct_type(struct: type[msgspec.Struct]) -> T.StructType:
    return T.StructType([T.StructField(field.name, spark_type(field.type)) for field in msgspec.structs.fields(struct)])


def _wide() -> dict[str, T.DataType]:
    fields: dict[str, T.DataType] = {"type": T.StringType()}
    for event in EVENT_TYPES.values():
        for field in struct_type(event):
            data_type = fields.setdefault(field.name, field.dataType)
            if data_type != field.dataType:
                fields[field.name] = T.StringType()
    return fields


WIDE: Final = T.StructType([T.StructField(name, kind) for name, kind in _wide().items()])
"""Every field of every event, once."""

MAIL_FOLDERS: Final = T.ArrayType(struct_type(MailFolder))
"""The type of `folders` in a mail's events. In `status.due` the field with this name is a list of ids."""
