"""The page of the files: each key of topologies and scenarios, from their JSON Schemas."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pflab.scenario.model import scenario_schema
from topology.file.schema import topology_schema

Schema = Mapping[str, Any]

HEAD = """# Keys of the files

Each key of a topology and a scenario, from the JSON Schemas that `pflab schema` prints. The pages [Topologies](topology.md)
and [Scenarios](scenarios.md) explain them with examples. In the tables, an asterisk marks a key that must be there.
"""


def render() -> str:
    """Return the page."""
    parts = [HEAD]
    for name, schema in (("topology", topology_schema()), ("scenario", scenario_schema())):
        parts += [f"\n## {name.capitalize()}\n\n", f"{_text(schema.get('description', ''))}\n\n", *_table(schema)]
        shown: set[str] = set()
        for verb, argument in _choices(schema["properties"].get("steps", {})):
            parts += [f"\n### {name}: steps: {verb}\n\n", *_argument(schema, argument)]
            shown.add(argument.get("$ref", ""))
        for title, definition in schema["$defs"].items():
            if f"#/$defs/{title}" not in shown:
                parts += [f"\n### {name}: {_name(title)}\n\n", *_argument(schema, definition)]
    return "".join(parts)


def _choices(steps: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield the verbs of a list of steps, each with the schema of its arguments."""
    items = steps.get("items", {})
    for each in items.get("oneOf", items.get("anyOf", ())):
        yield from each.get("properties", {}).items()


def _argument(schema: Schema, argument: Schema) -> Iterator[str]:
    definition = schema["$defs"][argument["$ref"].rpartition("/")[2]] if "$ref" in argument else argument
    yield f"{_text(definition.get('description', ''))}\n\n"
    if "properties" in definition:
        yield from _table(definition)
    else:
        yield f"{_values(definition)}\n\n"


def _table(schema: Schema) -> Iterator[str]:
    required = set(schema.get("required", ()))
    rows = [
        f"| `{key}`{' &#42;' if key in required else ''} | {_values(each)} | {_text(each.get('description', ''))} |\n"
        for key, each in schema.get("properties", {}).items()
    ]
    if rows:
        yield f"| key | value | meaning |\n|---|---|---|\n{''.join(rows)}\n"


def _values(schema: Schema) -> str:
    """Say in words which values a schema allows."""
    if "$ref" in schema:
        return _name(schema["$ref"])
    if "const" in schema:
        return f"`{_yaml(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{_yaml(each)}`" for each in schema["enum"])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            told = dict.fromkeys(_values(each) for each in schema[several] if each.get("type") != "null")
            return " or ".join(told)
    kinds = schema.get("type", "any value")
    kind = next(each for each in kinds if each != "null") if isinstance(kinds, list) else kinds
    if kind == "array":
        return f"a list of: {_values(schema.get('items', {}))}"
    if kind == "object":
        inside = schema.get("additionalProperties") or next(iter(schema.get("patternProperties", {}).values()), None)
        return f"a mapping of names to: {_values(inside)}" if isinstance(inside, dict) else "a mapping"
    if schema.get("examples"):
        return "such as " + ", ".join(f"`{_yaml(each)}`" for each in schema["examples"][:3])
    words = {"string": "a text", "integer": "a whole number", "number": "a number", "boolean": "`true` or `false`"}
    bounds = [f"at least {schema['minimum']}"] if "minimum" in schema else []
    bounds += [f"at most {schema['maximum']}"] if "maximum" in schema else []
    return ", ".join([words.get(kind, kind), *bounds])


def _name(definition: str) -> str:
    """Return the name of a definition for people: ServerEntry is a server."""
    return re.sub(r"(?<=[a-z])([A-Z])", r" \1", definition.rpartition("/")[2].removesuffix("Entry")).lower()


def _yaml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "&#124;").replace("<", "&lt;").replace("*", "&#42;")
