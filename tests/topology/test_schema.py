"""The JSON Schema of the topology file, for editors."""

import json
from typing import Any

from topology.file.model import ConnectorEntry, FolderEntry, ServerEntry, TopologyFile
from topology.file.schema import topology_schema
from topology.settings.catalogue import SPECS


def test_the_schema_describes_every_key() -> None:
    """An editor can complete each key and show what it means."""
    schema = topology_schema()
    parts = {
        TopologyFile: schema,
        **{model: schema["$defs"][model.__name__] for model in (ConnectorEntry, FolderEntry, ServerEntry)},
    }
    for model, part in parts.items():
        assert set(part["properties"]) == set(model.model_fields)
        assert part["additionalProperties"] is False
        for name, described in part["properties"].items():
            assert described.get("description") or name in ("connectors", "servers"), name


def test_the_schema_knows_every_setting() -> None:
    """An editor can complete settings by their real names, with their meaning and unit."""
    settings: dict[str, Any] = topology_schema()["properties"]["settings"]["properties"]
    assert set(settings) == {spec.name for spec in SPECS}
    retry = settings["Replication Short Backfill Request Timeout Retry"]
    assert retry["type"] == ["integer", "string", "null"]
    assert retry["description"].endswith("(a number is in s)")


def test_an_entry_may_be_left_empty() -> None:
    """`A:` with nothing after it is right, so an editor must not mark it."""
    schema = topology_schema()
    assert schema["$defs"]["ServerEntry"]["type"] == ["object", "null"]
    assert schema["$defs"]["FolderEntry"]["type"] == ["object", "null"]
    assert schema["required"] == ["servers"]


def test_a_version_may_be_written_with_or_without_quotes() -> None:
    """The schema accepts what the loader accepts."""
    assert topology_schema()["$defs"]["ServerEntry"]["properties"]["version"]["enum"] == [
        "5.5",
        "2000",
        "2003",
        "2007",
        5.5,
        2000,
        2003,
        2007,
    ]


def test_the_schema_is_plain_json_and_always_the_same() -> None:
    """The text can be kept in a repository: it is deterministic and has only JSON types."""
    text = json.dumps(topology_schema())
    assert json.loads(text) == topology_schema()
    assert json.dumps(topology_schema()) == text
    assert '"default":' not in text
