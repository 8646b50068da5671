"""What `pflab analyze` reports about a topology."""

from __future__ import annotations

from pathlib import Path

import pytest

from node.state.directory import FAILS, StoreObject
from node.store.node import Node
from pflab.explain.settings_report import StoreNow, analyze_stores
from tests.support.cli_runs import json_of, output_of
from tests.support.post_office import PostOffice
from topology.file.load import topology_from_text

TWO = """
servers:
  A: {settings: {Preferred Backfill Source: B}}
  B:
folders: {Projects: {replicas: [A, B]}}
"""


def test_the_analyzer_lists_what_is_not_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    """Each value with its default, its place and what it does; the preferred source is checked (SE-1)."""
    Path("t.yaml").write_text(
        "sites: [SEA, NYC]\n"
        "connectors: [{between: [SEA, NYC]}]\n"
        "servers:\n"
        "  A: {site: SEA, settings: {Preferred Backfill Source: B, Replication Always Interval: 5}}\n"
        "  B: {site: NYC, settings: {Preferred Backfill Source: Z, Replication Folder Count Limit: 30}}\n"
        "  C: {site: NYC, settings: {Preferred Backfill Source: C, Repeat Status: 0}}\n"
        "folders: {Plans: {replicas: [A]}, Other: {alias: plans}}\n",
        "utf-8",
    )
    found = json_of(capsys, "analyze", "t.yaml")
    by_name = {(each["server"], each["setting"]): each for each in found["findings"]}
    interval = by_name["A", "Replication Always Interval"]
    assert (interval["value"], interval["default"], interval["unit"]) == ("5 min", "15 min", "min")
    assert by_name["A", "Preferred Backfill Source"]["place"].endswith(r"\A\Public-<GUID>\Preferred Backfill Source")
    warnings = {(each["server"], each["text"]) for each in found["warnings"]}
    for server, text in (
        ("A", "it backfills from B first while B is up, although that is in another site (NYC, not SEA)"),
        ("C", "its Preferred Backfill Source is itself; it cannot ask itself, so the value has no effect"),
        ("B", "Replication Folder Count Limit has no effect on 2003, only on 5.5, 2000"),
        ("", "folder Plans is held by A alone: if that store loses its data, the content is lost"),
        ("", "folder Other cannot have the address plans@contoso.test, which belongs to Plans"),
    ):
        assert (server, text) in warnings
    assert any(server == "B" and "'Z' is not a server" in text for server, text in warnings)
    lines = output_of(capsys, "analyze", "t.yaml")
    assert "  Replication Always Interval = 5 min (default 15 min)" in lines


def test_a_topology_of_defaults_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """For a topology of defaults the report says that nothing was changed."""
    Path("t.yaml").write_text("servers: {A: , B: }\nfolders: {Projects: }\n", "utf-8")
    assert output_of(capsys, "analyze", "t.yaml") == ["Every setting has its default."]


def now(node: Node) -> StoreNow:
    return StoreNow(node.setting_views(), node.folders(), node.sources(), node.directory())


def test_the_analyzer_looks_at_stores_as_they_are_now() -> None:
    """SE-1: present settings, folders created since, and registry keys with the GUID of the store."""
    office = PostOffice(TWO)
    office["A"].configure(office.at(1), {"Replication Always Interval": 5})
    made = office["A"].create_folder(office.at(1), "Solo", replicas=["A"])
    found = analyze_stores(topology_from_text(TWO), {name: now(office[name]) for name in "AB"})
    assert [(each.server, each.setting, each.value) for each in found.findings] == [
        ("A", "Replication Always Interval", "5 min"),
        ("A", "Preferred Backfill Source", "B"),
    ]
    digits = made.change.partition(":")[0]
    key = found.findings[1].place.split("\\")[-2]
    assert key.replace("-", "") == f"Public{digits}"
    assert [each.text for each in found.warnings if "held by" in each.text] == [
        "folder Solo is held by A alone: if that store loses its data, the content is lost"
    ]


def test_the_analyzer_names_stores_without_an_address() -> None:
    """ML-1: a store that the directory has no e-mail address for is reported by its name."""
    office = PostOffice(TWO)
    office["A"].enter(office.at(1), "B", StoreObject(), FAILS)
    for names, where in (("A", ""), ("AB", " in the directory of A")):
        found = analyze_stores(topology_from_text(TWO), {name: now(office[name]) for name in names})
        assert [(each.server, each.text) for each in found.warnings if "address" in each.text] == [
            ("B", f"the store has no e-mail address{where}, so no replication mail can be sent to it or by it")
        ]
