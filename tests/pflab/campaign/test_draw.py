"""Drawing a scenario: a seed always gives the same one, and the seeds together use every kind of step and fault."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from pflab.campaign.draw.faults import FAULT_KINDS
from pflab.campaign.draw.scenario import draw_organization, draw_scenario
from pflab.campaign.draw.timed import fault, post
from pflab.campaign.reductions import at_of, work_of
from pflab.campaign.scenario_document import Document, known_steps, scenario_of_document, scenario_text, verb_of
from tests.support.campaign_scenarios import campaign_scenario, document_of
from topology.enums import ResolveMethod
from topology.file.load import load_topology, topology_from_text
from traces.labtime import DAY_US, MINUTE_US

SEEDS = range(1, 301)
EXAMPLE = Path(__file__).resolve().parents[3] / "topology" / "examples" / "default.yaml"

WORK = {
    *[
        "post",
        "posts",
        "edit",
        "delete",
        "resolve",
        "recover",
        "folder",
        "replica",
        "replicas",
        "send",
        "start",
        "content",
    ]
}
ORDERS = {"resend", "synchronize", "directory", "queue", "connector", "site", "server", "recipient_policy"}
FAULTS = {*FAULT_KINDS, "heal", "stop", "backup"} - {"swizzle"}
"""A swizzle kills and starts servers."""

DRAWN = WORK | ORDERS | FAULTS
"""The verbs of the scenarios of seeds, without those at the end."""


@pytest.fixture(scope="module")
def scenarios() -> list[Document]:
    return [draw_scenario(seed) for seed in SEEDS]


def test_a_seed_determines_the_scenario() -> None:
    """The same seed draws the same scenario, another seed another."""
    assert draw_scenario(17) == draw_scenario(17)
    assert draw_scenario(17) != draw_scenario(18)


def test_a_seed_determines_the_scenario_in_any_process(project_root: Path) -> None:
    """Another process with another PYTHONHASHSEED draws the same scenario."""
    script = (
        "from pflab.campaign.draw.scenario import draw_scenario; from pflab.campaign.scenario_document import scenario_text; "
        "print(scenario_text(draw_scenario(23)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script],
        cwd=project_root,
        env={**os.environ, "PYTHONHASHSEED": "99", "PYTHONPATH": str(project_root)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.rstrip("\n") == scenario_text(draw_scenario(23)).rstrip("\n")


def test_every_kind_is_drawn(scenarios: list[Document]) -> None:
    """A few hundred seeds contain every kind of step and every kind of fault."""
    assert {verb_of(step) for scenario in scenarios for step in work_of(scenario)} == DRAWN


def test_changes_of_connectors_leave_the_other_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connectors have a generator of their own, so that a seed keeps its other steps, and so have new servers (RT-6)."""
    drawn = {seed: [verb_of(step) for step in work_of(draw_scenario(seed))] for seed in SEEDS}
    monkeypatch.setattr("pflab.campaign.draw.scenario.draw_servers", lambda *_: [])
    seeds = [seed for seed, verbs in drawn.items() if "connector" in verbs and "server" not in verbs][:5]
    whole = [work_of(draw_scenario(seed)) for seed in seeds]
    assert [[verb_of(step) for step in steps] for steps in whole] == [drawn[seed] for seed in seeds]
    monkeypatch.setattr("pflab.campaign.draw.scenario.draw_connectors", lambda *_: [])
    others = [work_of(draw_scenario(seed)) for seed in seeds]
    assert len(seeds) == 5
    assert others == [[step for step in steps if verb_of(step) != "connector"] for steps in whole]


def test_steps_of_an_unknown_connector_are_left_out() -> None:
    """The shrinker may remove the step that adds a connector: then nothing may name it."""
    topology = {"sites": ["SEA", "NYC"], "connectors": [{"between": ["SEA", "NYC"]}], "servers": {}, "folders": {}}
    added: Document = {"at": "1 min", "connector": {"add": "cable", "between": ["SEA", "NYC"]}}
    steps: list[Document] = [
        {"at": "2 min", "cut": {"connector": "cable", "as": "f1"}},
        {"at": "3 min", "heal": "f1"},
        {"at": "4 min", "connector": {"change": "cable", "cost": 3}},
        {"at": "5 min", "connector": {"remove": "cable"}},
    ]
    known: Document = {"at": "6 min", "connector": {"remove": "SEA-NYC"}}
    assert known_steps([added, *steps, known], topology) == [added, *steps, known]
    assert known_steps([*steps, known], topology) == [known]


def test_sizes_are_skewed() -> None:
    """Organizations have two to twelve stores in one to four sites, and most of them are small."""
    documents = [draw_organization(random.Random(number)) for number in range(1000)]
    stores = Counter(len(each["servers"]) for each in documents)
    assert (min(stores), max(stores)) == (2, 12)
    assert stores[2] + stores[3] > len(documents) / 2
    assert {len(each["sites"]) for each in documents} == {1, 2, 3, 4}
    assert any(len(each.get("connectors", ())) == len(each["sites"]) for each in documents)
    assert any("joins" in entry for each in documents for entry in each["servers"].values())


def test_settings_are_drawn_small(scenarios: list[Document]) -> None:
    """A share of the seeds has small limits and time-outs, so that rare branches are reached."""
    topologies = [scenario["topology"] for scenario in scenarios]
    set_somewhere = Counter(
        name
        for topology in topologies
        for entry in (topology, *topology["servers"].values())
        for name in entry.get("settings", {})
    )
    for name in (
        "Replication Outstanding Backfill Limit",
        "Replication Message Size Limit",
        "MTA Expiry Normal",
        "Replication Folder Tree RMQ Timeout",
        "Replication Send Status Timeout",
        "Replication Folder Conflict Age Limit",
    ):
        assert set_somewhere[name] > len(scenarios) / 30, name
    methods = Counter(folder.get("resolve") for topology in topologies for folder in topology["folders"].values())
    assert methods.keys() >= {str(each) for each in ResolveMethod}


def test_names_are_given_once_and_times_are_in_order(scenarios: list[Document]) -> None:
    """No name is used twice; steps are in order of time, within the days."""
    for scenario in scenarios:
        arguments = [step[verb_of(step)] for step in work_of(scenario)]
        names = [args["as"] for args in arguments if isinstance(args, dict) and "as" in args]
        assert len(names) == len(set(names))
        times = [at_of(step) for step in scenario["steps"][:-1]]
        assert times == sorted(times)
        assert 0 < times[-1] <= 3 * DAY_US


def test_only_the_requested_kinds_of_fault_are_drawn() -> None:
    """Only the kinds named are drawn; "none" also gives a network without delays."""
    some = [draw_scenario(seed, faults=("skew", "kill")) for seed in range(40)]
    drawn = {verb_of(step) for scenario in some for step in work_of(scenario)}
    assert drawn & {*FAULT_KINDS, "stop", "backup"} == {"skew", "kill", "stop"}
    none = [draw_scenario(seed, faults=()) for seed in range(40)]
    assert not any("network" in scenario for scenario in none)
    assert not {verb_of(step) for scenario in none for step in work_of(scenario)} & {*FAULT_KINDS, "stop", "backup"}


def test_the_workload_does_not_depend_on_the_faults() -> None:
    """Each part has its own random generator: without faults a seed has the same organization and work."""
    for seed in range(20):
        with_none, with_all = (draw_scenario(seed, faults=faults)["topology"] for faults in ((), FAULT_KINDS))
        assert with_none["servers"].keys() == with_all["servers"].keys()


def test_a_given_topology_is_kept() -> None:
    """With a given topology only work and faults are drawn, for its stores and folders, and for servers that are added."""
    organization = load_topology(EXAMPLE)
    for seed in range(10):
        scenario = draw_scenario(seed, topology=organization)
        assert scenario_of_document(scenario).topology.as_document() == organization.as_document()
        posts = [step["post"] for step in work_of(scenario) if verb_of(step) == "post"]
        added = {step["server"]["add"] for step in work_of(scenario) if verb_of(step) == "server"}
        assert {post["on"] for post in posts} <= {*organization.servers, *added}


def test_an_organization_of_one_store() -> None:
    """A topology of a single store has work and no faults."""
    alone = topology_from_text("servers: {A: }\nfolders: {F: }\n", "alone")
    verbs = {verb_of(step) for seed in range(10) for step in work_of(draw_scenario(seed, topology=alone))}
    assert not verbs & set(FAULT_KINDS)
    assert "post" in verbs


# -- scenarios as files


def test_a_scenario_survives_its_file(scenarios: list[Document]) -> None:
    """The scenario of a seed that is written as YAML is read back as the same scenario, and is valid."""
    for scenario in scenarios[:60]:
        printed = document_of(scenario_text(scenario, ["a comment", "of two\nlines"]))
        printed.pop("live", None)
        assert printed == scenario
        assert scenario_of_document(scenario).seed == scenario["seed"]


def test_a_scenario_reads_as_a_list() -> None:
    """Each step is one line that begins with the time; faults that real servers cannot have are said in the head."""
    scenario = campaign_scenario(
        fault("stall", at_us=0, lasts_us=DAY_US, server="B"),
        steps=(post(at_us=75 * MINUTE_US, on="A", folder="No-On", label="m1"),),
        topology={
            "sites": ["S"],
            "servers": {"A": {"site": "S"}, "B": {"site": "S"}},
            "folders": {"No-On": {"replicas": ["A"], "schedule": "Mon-Fri 08:00-18:00"}},
        },
        length_us=90 * MINUTE_US,
    )
    assert scenario_text(scenario, ["why"]).splitlines() == [
        "# why",
        "title: Seed 1 of a campaign",
        "missing: skip",
        "seed: 1",
        "live: false",
        "topology:",
        "  sites: [S]",
        "  servers:",
        "    A: {site: S}",
        "    B: {site: S}",
        "  folders:",
        '    No-On: {replicas: [A], schedule: "Mon-Fri 08:00-18:00"}',
        "steps:",
        "  - {at: 0 s, stall: {server: B, lasts: 90 min, as: f1}}",
        "  - {at: 75 min, post: {on: A, folder: No-On, subject: post m1,"
        ' body: "This is m1.\\n", letters: 100, as: m1}}',
        "  - {at: 90 min, repair: all}",
        "  - {until: {converged: all, within: bound}}",
    ]
