"""The JSON Schema of a scenario file, for editors: `pflab schema scenario`."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from pflab.scenario_model import VERBS, Head

REFERENCE = "#/$defs/{model}"


def scenario_schema() -> dict[str, Any]:
    """A scenario: its head and its steps, each a mapping of one verb."""
    definitions: dict[str, Any] = {}
    steps = [_step(verb, _part(kind, definitions)) for verb, kind in VERBS.items()]
    head = _part(Head, definitions)
    schema = definitions.pop(head["$ref"].rpartition("/")[2]) if "$ref" in head else head
    schema["properties"]["steps"] = {"type": "array", "minItems": 1, "items": {"oneOf": steps}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "pflab scenario",
        "$defs": dict(sorted(definitions.items())),
    }


def _part(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    schema = TypeAdapter(kind).json_schema(ref_template=REFERENCE)
    definitions.update(schema.pop("$defs", {}))
    name = schema.get("title")
    if schema.get("type") == "object" and name:
        definitions[name] = schema
        return {"$ref": REFERENCE.format(model=name)}
    return schema


def _step(verb: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {verb: value}, "required": [verb], "additionalProperties": False}
