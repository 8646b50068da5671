"""The JSON Schema of the topology file, for editors that use it to complete and check YAML."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from topology.file.model import TopologyFile


class _WithoutDefaults(GenerateJsonSchema):
    """A generator of JSON Schemas that leaves out the defaults, because the model has them in another form than a file
    (a Schedule, microseconds). The descriptions of the keys contain the defaults.
    """

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


def topology_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a topology file. It allows empty entries such as `A:`."""
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
