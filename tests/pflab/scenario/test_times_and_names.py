"""Steps at fixed times, names of folders, and steps that are skipped: what a campaign needs of scenarios."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pflab.lab.lab import Lab
from pflab.scenario.load import ScenarioError, scenario_from_text
from pflab.scenario.runner import ScenarioResult, run_scenario
from pflab.scenario.session import Play
from pflab.simulation.simulator import Simulator
from tests.support.lab_actions import subjects
from topology.model import Topology
from traces.labtime import format_instant

HEAD = """
title: t
topology: {servers: {A: , B: , C: {joins: later}}, folders: {F: {replicas: [A, B], contacts: [kim@contoso.test]}}}
"""


async def played(
    steps: str, look: Callable[[Play], Any] = lambda _: None, *, head: str = ""
) -> tuple[ScenarioResult, Any]:
    """Play steps in the simulator. Return the result, and what `look` returns at the end, while the lab still runs."""
    looked: list[Any] = []
    scenario = scenario_from_text(f"{HEAD}{head}\nsteps:\n{steps}")

    def factory(topology: Topology) -> Lab:
        return Simulator(topology, seed=1)

    result = await run_scenario(scenario, factory, finish=lambda play: looked.append(look(play)))
    return result, looked[0]


async def test_a_step_happens_at_its_time() -> None:
    """The clock advances to the time of a step, which counts from the start; a step without a time follows at once."""
    result, found = await played(
        """
  - {at: 0, post: {on: A, folder: F, subject: first, as: m}}
  - {at: 2 h, edit: {on: B, message: m, subject: second}}
  - expect: {clock: "02:00"}
""",
        lambda play: format_instant(play.lab.now),
    )
    assert result.passed, result.in_words()
    assert found == "2003-10-21T02:00:00Z"


def test_times_do_not_go_back() -> None:
    """A step whose time is over when it is reached is a mistake of the file."""
    with pytest.raises(
        ScenarioError, match=r"steps\[1\].at: 2003-10-21T01:00:00Z is in the past; at this step the clock"
    ):
        scenario_from_text(f"{HEAD}\nsteps:\n  - {{at: 2 h, heal: all}}\n  - {{at: 1 h, heal: all}}")


async def test_a_name_stays_with_its_folder() -> None:
    """A step finds a folder by its name on every store, whatever its path is there."""
    result, found = await played(
        """
  - folder: {on: A, create: G, under: F, replicas: [A, B], as: g}
  - post: {on: A, folder: g, subject: in g, as: m}
  - advance: 1 h
  - folder: {on: A, move: g, under: /}
  - folder: {on: A, rename: g, to: H}
  - post: {on: B, folder: g, subject: "B still calls it F/G"}
  - advance: 1 h
  - edit: {on: B, message: m, subject: edited}
  - send: {on: A, folder: F, to: g, subject: by mail}
  - advance: 1 h
""",
        lambda play: subjects(play.lab, "A", "H"),
    )
    assert result.passed, result.in_words()
    assert found == ["B still calls it F/G", "by mail", "edited"]


@pytest.mark.parametrize(
    "step",
    [
        "post: {on: A, folder: g, subject: too early}",
        "post: {on: C, folder: F, subject: C has not joined}",
        "recover: {on: A, message: m}",
        "resolve: {on: A, message: m, keep: last}",
        "replica: {on: A, folder: F, add: B}",
        "replica: {on: B, folder: h, remove: B}",
        "backup: {on: C, as: b}",
        "restore: {on: C, backup: c}",
        "directory: {delete: A, on: A}",
    ],
)
async def test_a_step_without_its_target_fails_or_is_skipped(step: str) -> None:
    """Such a step fails the scenario, unless its head says that such steps are skipped; the next steps are played."""
    steps = f"""
  - post: {{on: A, folder: F, subject: x, as: m}}
  - folder: {{on: B, create: H, replicas: [B], as: h}}
  - {step}
  - folder: {{on: A, create: G, as: g}}
  - backup: {{on: A, as: c}}
  - kill: A
  - kill: A
  - start: A
  - start: A
"""
    result, paths = await played(
        steps,
        lambda play: [view.path for view in play.lab.read("A", lambda node: node.folders())],
        head="missing: skip",
    )
    assert result.passed, result.in_words()
    assert paths == ["F", "G"]
    try:
        failed, _ = await played(steps)
    except ScenarioError:
        return  # seen without playing
    assert not failed.passed


async def test_a_failed_expectation_is_never_skipped() -> None:
    """Where steps are skipped, a condition that does not come true still fails the scenario."""
    result, _ = await played('  - expect: {clock: "01:00"}', head="missing: skip")
    assert not result.passed


async def test_posts_can_be_long_and_associated() -> None:
    """A body is repeated until it has its letters; several associated messages are made one by one."""
    result, found = await played(
        """
  - posts: {on: A, folder: F, count: 2, subject: "n{n}", body: "no {n}.", letters: 12, as: many}
  - posts: {on: A, folder: F, count: 2, subject: "view {n}", associated: true, as: views}
  - edit: {on: A, message: many-2, subject: last}
""",
        lambda play: (subjects(play.lab, "A", "F"), play.groups["views"]),
    )
    assert result.passed, result.in_words()
    assert found == (["last", "n1", "view 1", "view 2"], ("views-1", "views-2"))


async def test_repair_ends_everything_that_keeps_a_lab_from_converging() -> None:
    """After `repair: all` no fault is active, all servers run, content replicates, and no schedule is never (CV-3)."""
    result, found = await played(
        """
  - start: C
  - content: suspend
  - lose: {to: B, as: f}
  - folder: {on: A, change: F, schedule: never}
  - post: {on: A, folder: F, subject: x, as: m}
  - kill: B
  - advance: 1 h
  - repair: all
  - until: {converged: all, within: bound}
  - expect: {on: B, folder: F, has: m}
""",
        lambda play: (
            play.lab.faults.active(),
            [play.lab.read(name, lambda node: node.settings().content_suspended) for name in "AB"],
        ),
    )
    assert result.passed, result.in_words()
    assert found == ((), [False, False])


async def test_a_conflict_is_resolved_by_what_the_store_shows() -> None:
    """`shown` keeps the version that the store shows, `last` the last one in its order (CF-3)."""
    result, found = await played(
        """
  - post: {on: A, folder: F, subject: x, as: m}
  - advance: 1 h
  - edit: {on: A, message: m, subject: of A}
  - edit: {on: B, message: m, subject: of B}
  - advance: 1 h
  - resolve: {on: A, message: m, keep: shown}
  - advance: 1 h
""",
        lambda play: [len(view.versions) for view in play.lab.read("B", lambda node: node.messages("F"))],
    )
    assert result.passed, result.in_words()
    assert found == [1]
