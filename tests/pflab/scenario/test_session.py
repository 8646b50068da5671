"""Playing steps: the text of a failed expectation, and what a wait sees. In the simulator, on tiny scenarios."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pflab.drivers.live import LiveLab
from pflab.drivers.processes import ProcessLab
from pflab.invariants.invariant import Invariant, Witnesses
from pflab.runs.run_folder import RunFolder
from pflab.scenario.load import Scenario, Step, scenario_from_text
from pflab.scenario.runner import Failure, ScenarioResult, play_scenario, run_scenario
from pflab.scenario.session import Play
from pflab.simulation.simulator import Simulator
from pflab.terms.event_handlers import event_handler
from topology.model import Topology
from traces.events import TombstoneMade
from traces.labtime import HOUR_US, LabTime, format_instant

HEAD = "title: A test\ntopology: one-site.yaml\nsteps:\n"
POST = "post: {on: A, folder: Projects, subject: Hello, as: hello}"


def scenario(*lines: str) -> Scenario:
    return scenario_from_text(HEAD + "".join(f"  - {line}\n" for line in lines))


async def play(*lines: str) -> ScenarioResult:
    return await run_scenario(scenario(*lines), lambda topology: Simulator(topology, seed=1))


async def failure(*lines: str) -> Failure:
    found = (await play(*lines)).failure
    assert found is not None, "the scenario passed"
    return found


async def passes(*lines: str) -> None:
    result = await play(*lines)
    assert result.passed, "\n".join(result.in_words())


async def test_a_failed_expectation_says_what_was_expected_and_found() -> None:
    """A failure names its step and line, and prints the last events before it in words."""
    found = await failure(
        POST, "lose: {from: A, to: B}", "advance: 20 min", "expect: {on: B, folder: Projects, has: hello}"
    )
    assert (found.step, found.line, found.verb) == (4, 7, "expect")
    assert format_instant(found.at) == "2003-10-21T00:20:00Z"
    assert found.expected == ("B to have hello in Projects",)
    assert found.stands == ("B shows nothing",)
    assert found.events[-3:] == (
        "2003-10-21T00:15:00Z  B     loses a mail from A on arrival (fault F1)",
        "2003-10-21T00:15:00Z  C     receives from A: content about Projects A-1",
        "2003-10-21T00:15:00Z  C     applies A-1, 'Hello' in Projects (broadcast)",
    )


async def test_a_mail_without_a_sender_is_a_notice() -> None:
    """A store ignores a mail server's notice to its own address, and puts aside any other ordinary mail to it. (ML-7, IN-5)"""
    step = "mail: {{on: A, to: A-IS@contoso.test, from: {}, subject: Undelivered}}"
    await passes(step.format('""'), "expect: {events: {event: mail.bad, count: none}}")
    await passes(step.format("lee@outside.test"), "expect: {events: {event: mail.bad, on: A, count: 1}}")


async def test_the_steps_after_a_failure_are_not_played() -> None:
    """A failed step ends the scenario."""
    watched: list[int] = []

    def watch(step: Step, at: LabTime) -> None:
        watched.append(step.number)

    lines = scenario(POST, "expect: {on: A, folder: Projects, lacks: hello}", "advance: 1 h")
    result = await run_scenario(lines, lambda topology: Simulator(topology, seed=1), watch=watch)
    assert not result.passed
    assert watched == [1, 2]


@pytest.mark.parametrize(
    ("step", "expected", "reason"),
    [
        ("expect: {on: A, folder: Projects, lacks: hello}", "A to lack hello in Projects", "A has it, as A-1"),
        (
            "expect: {on: A, folder: Projects, shows: {hello: Bye}}",
            "A to show hello as 'Bye'",
            "it shows 'Hello'",
        ),
        ("expect: {on: A, folder: Projects, versions: {hello: 2}}", "A to keep 2 versions of hello", "it keeps 1"),
        ("expect: {on: A, folder: Projects, conflict: hello}", "hello to be in conflict on A", "it is not"),
        (
            "expect: {on: B, folder: Projects, replicas: [A, B]}",
            "B to know A and B as the replicas of Projects",
            "it knows A, B and C",
        ),
        (
            "expect: {on: A, folder: Projects, state: {A: {has: A-7}}}",
            "A's row for A in Projects to have A-7",
            "it has nothing",
        ),
        (
            "expect: {on: A, folder: Projects, state: {A: {last sent: A-1}}}",
            "A's row for A in Projects: last update sent A-1",
            "it is none",
        ),
        (
            "expect: {on: A, folder: Projects, state: {B: {heard: 00:15}}}",
            "A's row for B in Projects heard at 00:15",
            "never",
        ),
        (
            "expect: {on: B, array: {missing: A-1}}",
            "an entry in B's backfill array: missing A-1",
            "it holds nothing",
        ),
        ("expect: {on: B, tree: {has: Plans}}" , "B to show the folder Plans", "it shows Projects"),
        ("expect: {on: B, tree: {lacks: Projects}}", "B not to show the folder Projects", "it shows it"),
        ("expect: {converged: Projects}", "Projects to have converged on A, B and C", "B lacks A-1"),
        ("expect: {equal: Projects}", "Projects to be equal on A, B and C", "B and A account for other numbers"),
        (
            "expect: {on: A, folder: Projects, state: {A: {associated: A-1}}}",
            "A's row for A in Projects to have A-1 of associated messages",
            "it has none",
        ),
        ("expect: {mails: {from: A, count: 1}}", "1 of replication mails from A", "there were 0"),
        (
            "expect: {events: {event: change.made, on: A, count: none}}",
            "none of change.made on A",
            "there were 1, at 2003-10-21T00:00:00Z",
        ),
        ("expect: {clock: 00:15}", "the clock to show 00:15", "it shows 2003-10-21T00:00:00Z"),
    ],
)  # fmt: skip
async def test_each_expectation_can_fail(step: str, expected: str, reason: str) -> None:
    """Right after a post on A each of these expectations fails, and says why."""
    found = await failure(POST, step)
    assert found.expected[0] == expected
    assert found.stands[0].startswith(reason)


async def test_a_stopped_store_is_not_equal() -> None:
    """CV-2: nobody knows what a stopped store has, so an expectation of equal stores fails and says which is stopped."""
    found = await failure("stop: [B]", "expect: {equal: Projects}")
    assert (found.expected, found.stands) == (("Projects to be equal on A, B and C",), ("B is stopped",))


async def test_a_step_that_fails_can_be_passed_over() -> None:
    """A caller of the runner gets each failed step, and the steps after it are played."""
    failures: list[int] = []

    async def failed(failure: Failure) -> None:
        failures.append(failure.step)

    lines = scenario(POST, "expect: {on: A, folder: Projects, lacks: hello}", "advance: 1 h", "expect: {clock: 00:15}")
    async with Simulator(lines.topology, seed=1) as lab:
        result = await play_scenario(lines, Play(lab), failed=failed)
        assert lab.now == HOUR_US + lines.topology.start_at
    assert failures == [2, 4]
    assert result.failure is None


async def test_converged_is_not_unconverged() -> None:
    """CV-2: an expectation of "not converged" fails on a converged lab."""
    found = await failure(POST, "advance: 20 min", "expect: {unconverged: Projects}")
    assert (found.expected, found.stands) == (("Projects not to have converged on A, B and C",), ("converged",))


async def test_a_row_that_is_behind_an_entry_is_not_settled() -> None:
    """CV-3: a lab has not settled while an entry waits for what a present holder has."""
    found = await failure(
        "lose: {from: A, to: B, count: 1}", POST, "advance: 30 h", "expect: {converged: 1-1, settled: true}"
    )
    assert set(found.expected) == {
        "no row to claim what its store lacks, and no store to wait for what a running holder has"
    }
    assert found.stands[0] == "B still waits for A-1 in Projects, which A has"


async def test_the_bound_is_computed_from_the_settings() -> None:
    """CV-3: `within: bound` ends at the sum of the longest waits, and prints it."""
    found = await failure(POST, "lose: {to: B}", "advance: 1 h", "until: {converged: Projects, within: bound}")
    assert "within 2 d 18 h 55 min" in found.expected[0]


async def test_a_missing_associated_message_is_known_by_its_name() -> None:
    """CN-9: a backfill entry that waits for an associated message says so, and matches no other set."""
    view = "post: {on: A, folder: Projects, subject: By date, associated: true, as: view}"
    lines = ("lose: {from: A, to: B, count: 1}", view, "advance: 30 h")
    await passes(*lines, "expect: {on: B, array: {missing: view}}", "expect: {on: B, array: {missing: A-1}}")
    found = await failure(*lines, "expect: {on: B, array: {missing: A-2}}")
    assert found.stands[0].startswith("it holds A-1 of Projects")


async def test_a_refusal_that_does_not_come_fails() -> None:
    """RP-2: `refused` is for what a store must not do; if the store does it the step fails."""
    await passes(
        "replica: {folder: Projects, remove: [B, C], on: A}",
        "advance: 20 min",
        "replica: {folder: Projects, remove: A, on: A, refused: true}",
    )
    found = await failure("replica: {folder: Projects, remove: B, on: A, refused: true}")
    assert found.expected == ("A to refuse A and C as the replicas of Projects",)


async def test_waiting_for_what_does_not_come_fails_at_the_limit() -> None:
    """An until ends at its limit and prints what it waited for, and until when."""
    found = await failure("until: {mail: content, from: A, to: B, within: 1 h}")
    assert found.expected == ("a content mail from A to B within 1 h, by 2003-10-21T01:00:00Z",)
    assert format_instant(found.at) == "2003-10-21T01:00:00Z"


async def test_at_fails_for_another_minute() -> None:
    """`at` is the minute in which the event must happen; earlier or later fails."""
    found = await failure(POST, "until: {mail: content, to: B, within: 1 h, at: 00:30}")
    assert found.expected == ("a content mail to B at 2003-10-21T00:30:00Z",)
    assert found.stands == ("it came at 2003-10-21T00:15:00Z",)


async def test_waits_in_one_instant_do_not_depend_on_its_order() -> None:
    """Two mails that arrive in one instant can be waited for in either order."""
    for first, second in (("B", "C"), ("C", "B")):
        await passes(
            POST,
            f"until: {{mail: content, to: {first}, within: 15 min, at: 00:15}}",
            f"until: {{mail: content, to: {second}, within: 1 min, at: 00:15}}",
        )


async def test_a_wait_does_not_find_the_same_event_twice() -> None:
    """The second wait for a mail waits for the second mail."""
    await passes(
        POST,
        "until: {mail: content, to: B, within: 15 min, at: 00:15}",
        "post: {on: A, folder: Projects, subject: Again}",
        "until: {mail: content, to: B, within: 15 min, at: 00:30}",
    )


async def test_a_wait_does_not_see_what_an_advance_has_passed() -> None:
    """After an advance a wait sees only later events."""
    found = await failure(POST, "advance: 20 min", "until: {mail: content, to: B, within: 1 h}")
    assert found.step == 3


async def test_checkpoints_bound_what_is_counted() -> None:
    """`since` counts from the checkpoint; without it everything counts."""
    await passes(
        POST,
        "advance: 20 min",
        "checkpoint: here",
        "expect: {mails: {type: content, count: none}, since: here}",
        "expect: {mails: {type: content, count: 1}}",
    )


async def test_the_clock_only_goes_forward() -> None:
    """An advance into the past is a failed step, not an error of pflab."""
    arrives = "until: {on: B, folder: Projects, has: hello, within: 1 h}"
    found = await failure(POST, arrives, "advance: 2003-10-21T00:10Z")
    assert found.stands == ("the lab's clock already shows 2003-10-21T00:15:00Z and cannot go back",)


async def test_a_simulated_run_can_be_stopped_between_steps() -> None:
    """A simulated run never waits, but checks before each step whether it is to stop; the lab is closed."""
    labs: list[Simulator] = []

    def make(topology: Topology) -> Simulator:
        labs.append(Simulator(topology, seed=1))
        return labs[0]

    def watch(step: Step, at: LabTime) -> None:
        if step.number == 2:
            playing.cancel()

    playing = asyncio.create_task(run_scenario(scenario("advance: 1 h", "advance: 1 h"), make, watch=watch))
    with pytest.raises(asyncio.CancelledError):
        await playing
    assert format_instant(labs[0].now) == "2003-10-21T01:00:00Z"
    assert not labs[0].running("A")


async def test_replicas_are_added_and_removed_by_one_step() -> None:
    """A replica step may name several servers; the list changes once."""
    await passes(
        "replica: {folder: Projects, remove: [B, C]}",
        "expect: {on: A, folder: Projects, replicas: A}",
        "replica: {folder: Projects, add: [C, B, A]}",
        "expect: {on: A, folder: Projects, replicas: [A, C, B]}",
    )


async def test_repeated_failures_are_reported_once() -> None:
    """Of attempts that fail for one reason only the last is among the events of a failure, which leaves room for others."""
    found = await failure("stop: B", POST, "advance: 20 h", "expect: {on: A, folder: Projects, lacks: hello}")
    tries = [each for each in found.events if "cannot reach B" in each]
    assert len(tries) == 1
    assert any("makes 'Hello'" in each for each in found.events)


async def test_a_failed_step_is_described_in_words() -> None:
    """A failure describes the step in English, whatever its verb is called."""
    found = await failure("stop: A", "replica: {on: A, folder: Projects, remove: B}")
    assert found.expected == ("to change the replica list",)


async def test_a_store_that_refuses_is_a_failed_step() -> None:
    """A node's refusal is reported in the node's own words."""
    found = await failure("stop: A", POST)
    assert found.verb == "post"
    assert "is stopped" in found.stands[0]


async def test_looking_at_a_stopped_store_fails() -> None:
    """An expectation about a stopped store fails."""
    found = await failure("stop: B", "expect: {on: B, folder: Projects, array: none}")
    assert found.stands == ("B is stopped",)


async def test_a_fault_can_be_healed_by_name_even_when_it_is_over() -> None:
    """A fault that has used up its count is over; healing it again does nothing."""
    await passes(
        "lose: {from: A, to: B, type: content, count: 1, as: once}",
        POST,
        "advance: 20 min",
        "heal: once",
        "heal: all",
    )


async def test_on_all_means_all_holders() -> None:
    """`on: all` checks each holder of the folder, and no other store."""
    found = await failure(POST, "expect: {on: all, folder: Projects, has: hello}")
    assert found.expected == ("B to have hello in Projects", "C to have hello in Projects")


async def test_the_verdict_is_recorded_without_an_expectation() -> None:
    """The verdict of a scenario that passes without convergence says which store lacks what."""
    result = await play(POST)
    assert result.passed
    assert result.verdict is not None
    projects = result.verdict.folder("Projects")
    assert projects is not None
    assert projects.in_words().startswith(
        "Projects: not converged (B lacks A-1 (the creation of 'Hello'); A has it; C lacks"
    )


class NoDeletion(Invariant):
    id = "planted"
    rules = ("DL-1",)
    says = "Nothing is ever deleted."

    @event_handler
    def _made(self, event: TombstoneMade) -> Witnesses:
        yield f"{event.node} deleted something"


@pytest.mark.parametrize(("head", "is_checked"), [("", True), ("breaks: [DL-1]\n", False)])
async def test_a_violation_of_an_invariant_fails_the_scenario(head: str, is_checked: bool) -> None:
    """A violation fails the step that shows it, with the invariant, its rules and the witness, unless the scenario says that it
    breaks such a rule."""
    steps = (POST, "delete: {on: A, message: hello}", "advance: 20 min")
    text = HEAD.replace("steps:", f"{head}steps:") + "".join(f"  - {line}\n" for line in steps)
    result = await run_scenario(
        scenario_from_text(text), lambda topology: Simulator(topology, seed=1), invariants=(NoDeletion,)
    )
    found = result.failure
    stated = None if found is None else (found.step, found.verb, found.expected, found.stands)
    assert stated == ((2, "delete", ("planted (DL-1)",), ("A deleted something",)) if is_checked else None)


async def test_invariants_are_checked_on_real_servers(tmp_path: Path) -> None:
    """A violation that servers of a live lab show fails the scenario too."""
    steps = scenario(POST, "delete: {on: A, message: hello}", "advance: 20 min")
    folder = RunFolder.create(tmp_path, "live")
    result = await run_scenario(
        steps, lambda topology: LiveLab(topology, folder=folder, seed=1), invariants=(NoDeletion,)
    )
    assert result.failure is not None
    assert result.failure.stands == ("A deleted something",)


async def test_servers_in_processes_are_judged_by_their_results(tmp_path: Path) -> None:
    """The events of processes are in no order that invariants could check, so only results decide there."""
    folder = RunFolder.create(tmp_path, "processes")
    steps = scenario(POST, "delete: {on: A, message: hello}", "advance: 20 min")
    result = await run_scenario(steps, lambda topology: ProcessLab(topology, folder=folder, seed=1))
    assert result.passed
