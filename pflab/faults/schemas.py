"""The JSON Schema of a kind of fault: forms, help and completion come from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import inspect as declared

from pflab.faults.fault import Fault


def schema_of(kind: type[Fault]) -> dict[str, Any]:
    """Return the JSON Schema of a kind. A field that may be missing has the schema of its values, without null."""
    _, parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    schema = dict(parts[kind.__name__])
    schema["properties"] = {name: _without_null(field) for name, field in schema["properties"].items()}
    for name, words in _words_of(kind):
        schema["properties"][name]["enum"] = list(words)
    return schema


def _words_of(kind: type[Fault]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the words that each field can have, in their own order; msgspec sorts them."""
    info = declared.type_info(kind)
    assert isinstance(info, declared.StructType)
    for field in info.fields:
        for form in field.type.types if isinstance(field.type, declared.UnionType) else (field.type,):
            if isinstance(form, declared.Metadata) and "enum" in (form.extra_json_schema or {}):
                yield field.encode_name, form.extra_json_schema["enum"]  # type: ignore[index]


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    if schema.get("anyOf", [None])[-1] != {"type": "null"}:
        return schema
    rest = {name: value for name, value in schema.items() if name not in {"anyOf", "default"}}
    default = {} if schema.get("default") is None else {"default": schema["default"]}
    return {**schema["anyOf"][0], **rest, **default}
