"""The step `connector`, and the repair after it (RT-6)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.runs.events import RunEvents
from tests.support.cli_runs import play
from traces.events import OrganizationChanged

HEAD = """\
title: Connectors change
missing: skip
topology:
  sites: [SEA, NYC, LON]
  connectors:
    - {name: SEA-NYC, between: [SEA, NYC], cost: 10, bandwidth: 64 kbit/s, affinity: none}
    - {name: NYC-LON, between: [NYC, LON], cost: 10}
  servers: {A: {site: SEA}, B: {site: NYC}, C: {site: LON}, D: {site: LON, joins: later}}
  folders: {Projects: {replicas: [A, B, C]}}
steps:
"""
TAIL = """\
  - {at: 1 h, post: {on: A, folder: Projects, subject: Hello, as: hello}}
  - {at: 2 h, repair: all}
  - until: {converged: all, within: bound}
  - expect: {on: [A, B, C], folder: Projects, has: hello}
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def changes(*steps: str) -> list[tuple[str, str]]:
    """Play these steps, a post and the repair; return the changes of the organization."""
    text = HEAD + "".join(f"  - {{at: {number} min, {step}}}\n" for number, step in enumerate(steps, 1)) + TAIL
    events = RunEvents.at(play(text)).events
    return [(event.subject, event.change) for event in events if isinstance(event, OrganizationChanged)]


def test_the_repair_joins_sites_again() -> None:
    """A connector without which mail has no way comes back with its properties, so that the lab can converge (CV-3)."""
    assert changes("connector: {remove: SEA-NYC}", "connector: {remove: NYC-LON}") == [
        ("connector SEA-NYC", "removed"),
        ("connector NYC-LON", "removed"),
        ("connector SEA-NYC", "added"),
        ("connector NYC-LON", "added"),
    ]


def test_the_repair_leaves_sites_that_have_another_way() -> None:
    """A connector that was removed while another one joins its sites stays removed."""
    assert changes("connector: {add: cable, between: [SEA, LON]}", "connector: {remove: SEA-NYC}") == [
        ("connector cable", "added"),
        ("connector SEA-NYC", "removed"),
    ]


def test_the_repair_opens_closed_connectors() -> None:
    """Mail waits for the cheapest connector even if it never opens, so the repair opens it."""
    closed = "connector: {add: cable, between: [SEA, LON], schedule: never}"
    assert changes(closed, "connector: {change: SEA-NYC, schedule: never}")[2:] == [
        ("connector SEA-NYC", "changed"),
        ("connector cable", "changed"),
    ]


@pytest.mark.parametrize(
    "step",
    [
        "connector: {change: SEA-NYC, cost: 10}",
        "connector: {add: SEA-NYC, between: [SEA, NYC]}",
        "connector: {change: NYC-LON, bridgeheads: {LON: D}}",
    ],
)
def test_a_change_that_does_not_fit_is_skipped(step: str) -> None:
    """If steps may be skipped, a change that the lab refuses is, and one of a bridgehead that has not joined."""
    assert changes(step) == []


def test_a_fault_of_a_connector_that_is_gone_is_skipped() -> None:
    """A seed may cut a connector that was removed before."""
    removed = ("connector: {add: cable, between: [SEA, LON]}", "connector: {remove: SEA-NYC}")
    assert len(changes(*removed, "cut: {connector: SEA-NYC, as: cut}", "heal: cut")) == 2
