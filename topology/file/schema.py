"""The JSON Schema of the topology file, for editors that complete and check YAML by one."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from topology.file.model import TopologyFile


class _WithoutDefaults(GenerateJsonSchema):
    """Defaults are values as read (a schedule, microseconds), which a file never holds; descriptions name them."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


def topology_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a topology file, with descriptions. An entry may be left empty, as `A:`."""
    schema = TopologyFile.model_json_schema(schema_generator=_WithoutDefaults)
    for name, definition in schema["$defs"].items():
        if name in ("ServerEntry", "FolderEntry"):
            definition["type"] = ["object", "null"]
    for key in ("connectors", "folders", "settings"):
        entry = schema["properties"][key]
        entry["type"] = [entry["type"], "null"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "pflab topology",
    }
