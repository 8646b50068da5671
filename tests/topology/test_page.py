"""docs/reference/topology.md is correct: its examples load, and it has every key and every setting."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from node.state.version_profiles import PROFILES
from topology.enums import ALL_VERSIONS, ConnectorKind, FolderPriority, Joins, ResolveMethod, ServerVersion
from topology.file.load import topology_from_text
from topology.file.model import ConnectorEntry, FolderEntry, PolicyEntry, ServerEntry, TopologyFile
from topology.settings.catalogue import SPECS
from topology.settings.spec import DWORD_MAX, LEVEL_NAMES, Kind, SettingSpec
from topology.settings.values import value_text

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "topology.md").read_text("utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def section(title: str) -> str:
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def keys(title: str) -> list[str]:
    return re.findall(r"^\| `(\w+)` \|", section(title), re.MULTILINE)


def row(spec: SettingSpec) -> str:
    """Return the row of a setting in the page's table."""
    low, high = value_text(spec, spec.low), value_text(spec, spec.high)
    numbers = f"{low} or more" if spec.high >= DWORD_MAX * spec.unit_size else f"{low} to {high}"
    words = {
        Kind.SWITCH: "0, 1",
        Kind.SERVER: "a server's name",
        Kind.HOST: "host:port",
        Kind.LEVEL: ", ".join(LEVEL_NAMES[ServerVersion.V2003].values()),
        Kind.SCHEDULE: "a schedule",
    }
    only = "" if spec.versions == ALL_VERSIONS else f" ({', '.join(spec.versions)} only)"
    cells = (f"`{spec.name}`", value_text(spec, spec.default), words.get(spec.kind, numbers), spec.does + only)
    return f"| {' | '.join(cells)} |"


@pytest.mark.parametrize("example", EXAMPLES)
def test_each_example_is_a_sound_topology(example: str) -> None:
    """The examples of the page load without a notice of a clamped value."""
    assert topology_from_text(example).notices() == []


def test_the_page_has_every_key() -> None:
    """The page has each key of the organization, a recipient policy, a connector, a server and a folder once, and no other."""
    for title, entry in (
        ("The organization", TopologyFile),
        ("A recipient policy", PolicyEntry),
        ("A connector", ConnectorEntry),
        ("A server", ServerEntry),
        ("A folder", FolderEntry),
    ):
        assert sorted(keys(title)) == sorted(entry.model_fields)


def test_the_page_has_every_value() -> None:
    """The page has each value that a key can take, and the versions on it can be run."""
    for title, words in (
        ("A connector", ConnectorKind),
        ("A server", (*Joins, *(f'"{version}"' for version in ALL_VERSIONS))),
        ("A folder", (*FolderPriority, *ResolveMethod)),
    ):
        assert all(f"`{word}`" in section(title) for word in words)
    assert set(PROFILES) == set(map(str, ALL_VERSIONS))  # or the page says which cannot be run


def test_the_page_has_every_setting() -> None:
    """The table is the table of settings: names, defaults, ranges and what they do."""
    shown = [line for line in section("Settings").splitlines() if line.startswith("| `")]
    assert shown == [row(spec) for spec in SPECS]
