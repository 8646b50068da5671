"""Drawing a plan: a seed always gives the same plan, and the seeds together use every kind of step and fault."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from pflab.campaign.plans import plan as cp
from pflab.campaign.plans.draw import draw_organization, draw_plan
from pflab.campaign.plans.draw_faults import _KINDS as DRAWN_FAULTS
from pflab.campaign.plans.file import PlanError, document_of, load_plan, plan_from_text, plan_of, plan_schema, plan_text
from pflab.campaign.plans.plan import (
    FAULT_CLASSES,
    FAULT_KINDS,
    STEP_CLASSES,
    AnyFault,
    AnyStep,
    CreateFolder,
    Plan,
    Post,
)
from pflab.errors import LabError
from topology.enums import ResolveMethod
from topology.file.load import load_topology, topology_from_text
from topology.file.schema import topology_schema
from traces.labtime import DAY_US, MINUTE_US

SEEDS = range(1, 301)
EXAMPLE = Path(__file__).resolve().parents[3] / "topology" / "examples" / "default.yaml"


@pytest.fixture(scope="module")
def plans() -> list[Plan]:
    return [draw_plan(seed) for seed in SEEDS]


def test_a_seed_determines_the_plan() -> None:
    """The same seed draws the same plan, another seed another."""
    assert draw_plan(17) == draw_plan(17)
    assert draw_plan(17) != draw_plan(18)


def test_a_seed_determines_the_plan_in_any_process(project_root: Path) -> None:
    """Another process with another PYTHONHASHSEED draws the same plan."""
    script = (
        "from pflab.campaign.plans.draw import draw_plan; from pflab.campaign.plans.file import plan_text; "
        "print(plan_text(draw_plan(23)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script],
        cwd=project_root,
        env={**os.environ, "PYTHONHASHSEED": "99", "PYTHONPATH": str(project_root)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.rstrip("\n") == plan_text(draw_plan(23)).rstrip("\n")


def test_every_kind_is_drawn(plans: list[Plan]) -> None:
    """A few hundred seeds contain every kind of step and every kind of fault."""
    steps = {type(step) for plan in plans for step in plan.steps}
    faults = {type(fault) for plan in plans for fault in plan.faults}
    assert steps == set(get_args(AnyStep))
    assert faults == set(get_args(AnyFault)) == set(cp.FAULT_CLASSES.values())
    assert (*DRAWN_FAULTS, "unstamp") == FAULT_KINDS  # the last is drawn apart


def test_sizes_are_skewed() -> None:
    """Organizations have two to twelve stores in one to four sites, and most of them are small."""
    documents = [draw_organization(random.Random(number)) for number in range(1000)]
    stores = Counter(len(each["servers"]) for each in documents)
    assert (min(stores), max(stores)) == (2, 12)
    assert stores[2] + stores[3] > len(documents) / 2
    assert {len(each["sites"]) for each in documents} == {1, 2, 3, 4}
    assert any(len(each.get("connectors", ())) == len(each["sites"]) for each in documents)
    assert any("joins" in entry for each in documents for entry in each["servers"].values())


def test_settings_are_drawn_small(plans: list[Plan]) -> None:
    """A share of the seeds has small limits and time-outs, so that rare branches are reached."""
    set_somewhere = Counter(
        name
        for plan in plans
        for entry in (plan.topology, *plan.topology["servers"].values())
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
        assert set_somewhere[name] > len(plans) / 30, name
    methods = Counter(folder.get("resolve") for plan in plans for folder in plan.topology["folders"].values())
    assert methods.keys() >= {str(each) for each in ResolveMethod}


def test_labels_are_given_once_and_times_are_in_order(plans: list[Plan]) -> None:
    """No label is used twice; steps and faults are in order of time, within the days."""
    for plan in plans:
        labels = [label for step in plan.steps if isinstance(step, Post) for label in step.labels()]
        labels += [step.label for step in plan.steps if isinstance(step, CreateFolder)]
        assert len(labels) == len(set(labels))
        for items in (plan.steps, plan.faults):
            times = [item.at_us for item in items]
            assert times == sorted(times)
            assert all(time % MINUTE_US == 0 for time in times)
        assert 0 < plan.length_us <= 3 * DAY_US


def test_only_the_requested_kinds_of_fault_are_drawn() -> None:
    """Only the kinds named are drawn; "none" also gives a network without delays."""
    some = [draw_plan(seed, faults=("skew", "kill")) for seed in range(40)]
    assert {type(fault).__name__ for plan in some for fault in plan.faults} == {"Skew", "Kill"}
    none = [draw_plan(seed, faults=()) for seed in range(40)]
    assert all(not plan.faults and plan.network == cp.Network() for plan in none)


def test_the_workload_does_not_depend_on_the_faults() -> None:
    """Each part has its own random generator: without faults a seed has the same organization and work."""
    for seed in range(20):
        assert draw_plan(seed, faults=()).organization().servers.keys() == draw_plan(seed).organization().servers.keys()


def test_a_given_topology_is_kept() -> None:
    """With a given topology only work and faults are drawn, for its stores and folders."""
    organization = load_topology(EXAMPLE)
    for seed in range(10):
        plan = draw_plan(seed, topology=organization)
        assert plan.organization().as_document() == organization.as_document()
        assert {step.on for step in plan.steps if isinstance(step, Post)} <= set(organization.servers)


def test_an_organization_of_one_store() -> None:
    """A topology of a single store has work and no faults."""
    alone = topology_from_text("servers: {A: }\nfolders: {F: }\n", "alone")
    plans = [draw_plan(seed, topology=alone) for seed in range(10)]
    assert not any(plan.faults for plan in plans)
    assert any(plan.steps for plan in plans)


# -- plans as files

_HEAD = "seed: 1\nlength: 1 h\ntopology: {}\n"


def test_a_plan_survives_its_file(plans: list[Plan]) -> None:
    """A plan written as YAML or as JSON values is read back as the same plan."""
    for plan in plans[:60]:
        assert plan_from_text(plan_text(plan, ["a comment", "of two\nlines"])) == plan
        assert plan_of(document_of(plan)) == plan
    organization = draw_plan(1, topology=load_topology(EXAMPLE))
    assert plan_from_text(plan_text(organization)) == organization


def test_a_plan_reads_as_a_list() -> None:
    """Each step is one line that begins with the time; durations are written as people write them."""
    plan = Plan(
        seed=7,
        length_us=90 * MINUTE_US,
        topology={
            "sites": ["S"],
            "servers": {"A": {"site": "S"}, "B": {"site": "S"}},
            "folders": {"No-On": {"replicas": ["A"], "schedule": "Mon-Fri 08:00-18:00"}},
        },
        steps=(Post(at_us=75 * MINUTE_US, on="A", folder="No-On", label="m1"),),
        faults=(cp.Skew(at_us=0, lasts_us=DAY_US, server="B", by_us=-5 * MINUTE_US),),
    )
    assert plan_text(plan, ["why"]).splitlines() == [
        "# why",
        "plan: 1",
        "seed: 7",
        "length: 90 min",
        "topology:",
        "  sites: [S]",
        "  servers:",
        "    A: {site: S}",
        "    B: {site: S}",
        "  folders:",
        '    No-On: {replicas: [A], schedule: "Mon-Fri 08:00-18:00"}',
        "steps:",
        "  - {at: 75 min, do: post, on: A, folder: No-On, as: m1}",
        "faults:",
        "  - {at: 0 s, fault: skew, lasts: 24 h, server: B, by: -5 min}",
    ]
    assert plan_from_text(plan_text(plan)) == plan


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("steps: []", "plan:1:1: not a plan"),
        ("- 1", "plan:1:1: not a plan"),
        (
            "seed: 1\nlength: 1 h\ntopology: {}\nsteps: [{at: 1 h, do: dance}]",
            'steps[0].do: "dance" is unknown; one of',
        ),
        (
            "seed: 1\nlength: 1 h\ntopology: {}\nsteps: [{at: 1 h, do: delete, on: A}]",
            'steps[0]: has no "message"; add message: ...',
        ),
        ("seed: 1\nlength: 1 h\ntopology: {}\nsteps: [{at: soon, do: delete, on: A, message: m}]", "'soon'"),
        (
            "seed: 1\nlength: 1 h\ntopology: {}\nsteps: [{at: -1 h, do: delete, on: A, message: m}]",
            "steps[0].at: -1 h is before the lab's start",
        ),
        ("seed: 1\nlength: 1 h\ntopology: {}\nweather: bad", "weather: is unknown; one of"),
        ("seed: [", "plan:2:1: not YAML"),
        ("seed: 1\nlength: 3600\ntopology: {}", "3600 has no unit"),
        ("seed: 1\nlength: -1 h\ntopology: {}", "length: -1 h is negative"),
        ("seed: 1\nlength: 900000 d\ntopology: {}", "length: 900000 d; at most 1000 d"),
        ("seed: -1\nlength: 1 h\ntopology: {}", "seed: -1; 0 or more"),
        ("seed: 1\nlength: 1 h\nnetwork: {jitter: -10 s}\ntopology: {}", "network.jitter: -10 s is negative"),
        (f"{_HEAD}faults: [{{at: 1 h, fault: lose, lasts: -5 h}}]", "faults[0].lasts: -5 h is negative"),
        (f"{_HEAD}faults: [{{at: 1 h, fault: lose, lasts: 5 h, count: -1}}]", "faults[0].count: -1; 1 or more"),
        (f"{_HEAD}faults: [{{at: 1 h, fault: delay, lasts: 5 h, by: -1 h}}]", "faults[0].by: the delay must be more"),
        (f"{_HEAD}faults: [{{at: 1 h, fault: skew, lasts: 5 h, server: A, by: -2000 d}}]", "by: -2000 d; at most"),
        (f"{_HEAD}faults: [{{at: 1 h, fault: cut, lasts: 5 h, between: [A, A]}}]", "between: A is named twice"),
        (f"{_HEAD}steps: [{{at: 1 h, do: post, on: A, folder: F, as: m, count: 0}}]", "count: 0; 1 or more"),
        (f"{_HEAD}steps: [{{at: 1 h, do: post, on: A, folder: F, as: m, count: 10001}}]", "count: 10001; at most"),
        (f"{_HEAD}steps: [{{at: 1 h, do: post, on: A, folder: F, as: m, size: -1}}]", "size: -1; 0 or more"),
        (
            f"{_HEAD}steps: [{{at: 1 h, do: post, on: A, folder: F, as: m, size: 10000001}}]",
            "10000001 characters; at most",
        ),
    ],
)
def test_what_is_not_a_plan(text: str, expected: str) -> None:
    """Each mistake of a plan file is one clear line."""
    with pytest.raises(PlanError) as raised:
        plan_from_text(text)
    assert any(expected in line for line in raised.value.lines), raised.value.lines


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("{at: 1 h, do: post, on: B, folder: F, as: m}", '5:29: steps[0].on: no server "B"; one of "A"'),
        ("{at: 1 h, do: psot, on: A, folder: F, as: m}", '5:19: steps[0].do: "psot" is unknown; did you mean "post"?'),
        ("{at: 1 h, do: post, on: A, folder: Fs, as: m}", '5:40: steps[0].folder: no folder "Fs"; did you mean "F"?'),
        ("{at: 1 h, do: post, on: A, foldr: F, as: m}", '5:32: steps[0].foldr: is unknown; did you mean "folder"?'),
        ("{at: 1 h, do: edit, on: A, message: m1}", '5:41: steps[0].message: no message "m1"; there is none'),
        ("{at: 1 h, do: edit, on: [A], message: m1}", "5:29: steps[0].on: expected `str`, got `array`"),
    ],
)
def test_a_wrong_name_in_a_plan_is_told_with_its_line(step: str, told: str) -> None:
    """A step with a wrong name would only be skipped, so the file is refused: the line, what is wrong, what would be right."""
    head = (
        "seed: 1\nlength: 2 h\ntopology: {sites: [S], servers: {A: {site: S}}, folders: {F: {replicas: [A]}}}\nsteps:\n"
    )
    with pytest.raises(PlanError) as raised:
        plan_from_text(f"{head}  - {step}\n", "p.yaml")
    assert f"p.yaml:{told}" in raised.value.lines


def test_mistakes_in_the_topology_of_a_plan_have_lines_of_the_plan_file() -> None:
    """The topology is checked like a topology file, and its lines are those of the plan."""
    text = (
        "seed: 1\nlength: 2 h\ntopology:\n  sites: [S]\n  servers:\n    A: {site: T}\n  folders: {F: {replicas: [A]}}\n"
    )
    with pytest.raises(PlanError) as raised:
        plan_from_text(text, "p.yaml")
    assert any(line.startswith("p.yaml:6:9: topology.servers.A.site: ") for line in raised.value.lines), (
        raised.value.lines
    )


def test_a_plan_that_cannot_be_read(tmp_path: Path) -> None:
    """A file that is not there, or is far too large, is one clear line."""
    with pytest.raises(LabError, match="no such file or directory; name a plan file"):
        load_plan(tmp_path / "none.yaml")
    (tmp_path / "large.yaml").write_bytes(b"#" * (2 * 1024 * 1024))
    with pytest.raises(LabError, match="the limit for a plan"):
        load_plan(tmp_path / "large.yaml")


def test_the_schema_of_plans_knows_every_step_and_fault() -> None:
    """The JSON Schema has the keys and kinds of plan files: durations are text, and the topology is that of a topology file."""
    schema = plan_schema()
    offered = schema["properties"]
    for name, classes in (("steps", STEP_CLASSES), ("faults", FAULT_CLASSES)):
        found = [schema["$defs"][each["$ref"].rpartition("/")[2]] for each in offered[name]["items"]["anyOf"]]
        kinds = [each["properties"]["do" if name == "steps" else "fault"]["enum"] for each in found]
        assert kinds == [[each] for each in classes]
        assert all(each["properties"]["at"]["type"] == "string" for each in found)
    assert offered["length"]["type"] == schema["$defs"]["Network"]["properties"]["jitter"]["type"] == "string"
    assert schema["required"] == ["seed", "length", "topology"]
    assert schema["$defs"]["ServerEntry"] == topology_schema()["$defs"]["ServerEntry"]
    assert set(offered["topology"]["properties"]) == set(topology_schema()["properties"])
    assert "_us" not in json.dumps(schema)
