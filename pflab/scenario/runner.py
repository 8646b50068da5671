"""Play a scenario on a lab of any driver, and report the result.

A scenario passes if every step succeeds and no acknowledged change is lost. At the end each store must still have every
change that it acknowledged, a later version, or a tombstone (DU-1). Stores must be equal only where the scenario expects this;
the verdict always reports whether they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from node.errors import NodeError
from pflab.errors import LabError, NotThere
from pflab.invariants.invariant import Invariant
from pflab.invariants.registry import INVARIANTS
from pflab.lab.lab import Lab
from pflab.oracle.monitor import Monitor, Violated
from pflab.scenario.load import Scenario, Step
from pflab.scenario.session import Play, StepFailed
from pflab.scenario.steps import STEPS
from pflab.terms.event_words import hours_and_minutes, to_the_second
from pflab.terms.verdict import ExitCode, Verdict
from topology.model import Topology
from topology.problems import counted
from traces.labtime import LabTime, format_instant

NOTHING_LOST = "DU-1"

LabFactory = Callable[[Topology], Lab]
"""Returns a new lab, not started yet, for a topology."""

_PURPOSES = {
    "posts": "post",
    "folder": "change the folder tree",
    "replica": "change the replica list",
    "settings": "change the settings",
    "recipient_policy": "change the recipient policy",
    "unstamp": "remove the addresses",
    "unlink": "unlink from the tree",
    "double": "make a second object",
    "backup": "back up the store",
    "restore": "restore the store",
    "until": "wait",
    "expect": "check",
}
"""The words for a verb after "to" in a failure report. Verbs that are not here are used as they are."""

StepWatcher = Callable[[Step, Play], Awaitable[None] | None]
"""A function that the runner calls before each step; the runner awaits its result if it is awaitable. The command line and the
demo print the steps with such a function."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed step: what was expected, what was found (`stands`, a key of verdict.json), and the last events before it."""

    step: int
    line: int
    verb: str
    at: LabTime
    expected: tuple[str, ...]
    stands: tuple[str, ...]
    events: tuple[str, ...]

    def in_words(self) -> list[str]:
        where = f"step {self.step}, line {self.line}: {self.verb}" if self.line else self.verb
        lines = [f"{where} failed at {to_the_second(self.at)}"]
        for expected, stands in zip(self.expected, self.stands, strict=False):
            lines += [f"  expected  {expected}", f"  found     {stands}"]
        if self.events:
            lines += ["  the last events:", *(f"    {event}" for event in self.events)]
        return lines


FailureWatcher = Callable[[Failure], Awaitable[None]]
"""A function that the runner awaits after each failed step. Then the scenario goes on without this step."""


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """The result of one run. `verdict` is None if the lab failed before it could be judged."""

    title: str
    path: Path | None
    rules: tuple[str, ...]
    run: str
    began_at: LabTime
    ended_at: LabTime
    steps: int
    mails: int
    events: int
    failure: Failure | None
    verdict: Verdict | None

    @property
    def passed(self) -> bool:
        return self.failure is None

    @property
    def exit_code(self) -> int:
        return ExitCode.GOOD if self.passed else ExitCode.VIOLATION

    def as_document(self) -> dict[str, Any]:
        """Return the result for JSON, as in `verdict.json` of a run folder and in `pflab run --json`."""
        failure = self.failure
        return {
            "scenario": str(self.path or self.title),
            "title": self.title,
            "rules": list(self.rules),
            "run": self.run,
            "passed": self.passed,
            "began_at": format_instant(self.began_at),
            "ended_at": format_instant(self.ended_at),
            "steps": self.steps,
            "mails": self.mails,
            "events": self.events,
            "failure": None if failure is None else {**asdict(failure), "at": format_instant(failure.at)},
            "verdict": None if self.verdict is None else self.verdict.as_document(),
        }

    def in_words(self) -> list[str]:
        took = hours_and_minutes(self.ended_at - self.began_at)
        if self.failure is None:
            counts = f"{counted(self.steps, 'step')}, {counted(self.mails, 'mail')}"
            return [f"passed: {self.title} ({counts}, {took} of lab time)"]
        return [f"failed: {self.title}", *(f"  {line}" for line in self.failure.in_words())]


async def run_scenario(
    scenario: Scenario,
    lab_factory: LabFactory,
    *,
    watch: StepWatcher | None = None,
    finish: Callable[[Play], None] | None = None,
    invariants: Sequence[type[Invariant]] = INVARIANTS,
) -> ScenarioResult:
    """Play `scenario` on a new lab of `lab_factory`. `finish` is called before the lab stops, even after a failure.

    invariants: those that are checked after each step and at each quiet instant, if the lab has its events in order.

    Raises LabError or NodeError only if the lab cannot be started. A failed step is the result's `failure`.
    """
    async with lab_factory(scenario.topology) as lab:
        expected = [kind for kind in invariants if not set(kind.rules) & set(scenario.breaks)]
        monitor = Monitor(lab, expected) if expected and lab.events_in_order else None
        play = Play(lab, skips=scenario.missing == "skip", monitor=monitor)
        result = await play_scenario(scenario, play, watch=watch)
        if finish is not None:
            finish(play)
        return result


async def play_scenario(
    scenario: Scenario,
    play: Play,
    *,
    watch: StepWatcher | None = None,
    failed: FailureWatcher | None = None,
    done: int = 0,
) -> ScenarioResult:
    """Play `scenario` on the lab of `play`, which stays up. A failed step ends the scenario and is the result's `failure`.

    failed: if it is given, a failed step does not end the scenario, and only a lost change is the result's `failure`.
    done: how many steps were played already. If there are none, the lab has just started.
    """
    lab = play.lab
    if play.began_at is None:
        play.began_at = lab.now
        play.name_topology()
    began_at = play.began_at
    failure = await _play_steps(play, scenario.steps[done:], began_at, watch, failed)
    failure = failure or _check_invariant(play, scenario.breaks)
    verdict = play.verdict(at_rest=False)
    lab.verdict = "failed" if failure else "passed"
    return ScenarioResult(
        title=scenario.title,
        path=scenario.path,
        rules=scenario.rules,
        run=lab.run,
        began_at=began_at,
        ended_at=lab.now,
        steps=len(scenario.steps),
        mails=play.mails,
        events=len(play.log),
        failure=failure,
        verdict=verdict,
    )


_CHECKS = frozenset({"expect", "until", "repair"})
"""The verbs whose failure is the scenario's failure, even if other steps may be skipped."""


async def play_step(play: Play, step: Step, began_at: LabTime) -> None:
    """Advance to the time of a step, carry it out or skip it, and check the invariants.

    began_at: when the scenario began.

    Raises StepFailed, NodeError or LabError if the step fails, and Violated if an invariant does not hold.
    """
    if step.at_us is not None:
        await play.advance(began_at + step.at_us)
    try:
        await STEPS[step.verb](play, step.args)
    except (StepFailed, NodeError, NotThere):
        if not play.skips or step.verb in _CHECKS:
            raise
        play.skipped += 1
    play.check(quiet=step.verb == "advance", closely=step.verb == "repair")


async def _play_steps(
    play: Play,
    steps: Sequence[Step],
    began_at: LabTime,
    watch: StepWatcher | None,
    failed: FailureWatcher | None,
) -> Failure | None:
    for step in steps:
        waiting = watch(step, play) if watch is not None else None
        if waiting is not None:
            await waiting
        await asyncio.sleep(0)  # a simulated lab never waits, so Ctrl-C takes effect here
        failure = await _failure_of(play, step, began_at)
        if failure is not None and failed is None:
            return failure
        if failure is not None and failed is not None:
            await failed(failure)
    return None


async def _failure_of(play: Play, step: Step, began_at: LabTime) -> Failure | None:
    """Play a step, and return how it failed, if it did."""
    try:
        await play_step(play, step, began_at)
    except StepFailed as failed:
        return _failure(play, step, failed.expected, failed.found)
    except Violated as broken:
        first = broken.violations[0]
        return _failure(play, step, [f"{first.invariant} ({', '.join(first.rules)})"], [first.witness])
    except (NodeError, LabError) as error:
        return _failure(play, step, [f"to {_PURPOSES.get(step.verb, step.verb)}"], [str(error)])
    return None


def _failure(play: Play, step: Step, expected: Sequence[str], found: Sequence[str]) -> Failure:
    play.observe()
    events = tuple(play.last_events(step.stores()))
    return Failure(step.number, step.line, step.verb, play.lab.now, tuple(expected), tuple(found), events)


def _check_invariant(play: Play, breaks: Sequence[str]) -> Failure | None:
    """Return a failure if an acknowledged change is lost, or if none is lost in a scenario that breaks DU-1."""
    lost = play.judge().lost_at_home()
    if bool(lost) == (NOTHING_LOST in breaks):
        return None
    if not lost:
        expectation = f"a run that breaks {NOTHING_LOST}, as its head says"
        return Failure(0, 0, "the end", play.lab.now, (expectation,), ("no acknowledged change is lost",), ())
    expected = ["every acknowledged change to be kept by the store that acknowledged it (DU-1)"] * len(lost)
    return Failure(0, 0, "the end", play.lab.now, tuple(expected), tuple(lost), tuple(play.last_events()))
