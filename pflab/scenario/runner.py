"""Playing a scenario on a lab of either driver, and what came of it.

A scenario passes if every step did what it says, and if the one thing held that always holds: what a store
acknowledged it still has at the end, as it is, in a later version, or as a tombstone (DU-1). Whether all stores agree
is asked only where the scenario expects it, but the verdict tells it either way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from node.errors import NodeError
from pflab.errors import LabError
from pflab.lab.lab import Lab
from pflab.scenario.load import Scenario, Step
from pflab.scenario.session import Play, StepFailed
from pflab.scenario.steps import STEPS
from pflab.terms.lexicon import hours_and_minutes, to_the_second
from pflab.terms.verdict import ExitCode, Verdict
from topology.model import Topology
from topology.problems import counted
from traces.labtime import LabTime, format_instant

NOTHING_LOST = "DU-1"

LabFactory = Callable[[Topology], Lab]
"""Makes a lab for a topology; it has not been entered yet."""

_PURPOSES = {
    "posts": "post",
    "folder": "change the folder tree",
    "replica": "change the replica list",
    "settings": "change the settings",
    "backup": "back up the store",
    "restore": "restore the store",
    "advance": "go on",
    "until": "wait",
    "expect": "look",
}
"""What a step wanted to do, where its verb does not say it after "to"."""

StepWatcher = Callable[[Step, LabTime], Awaitable[None] | None]
"""Told of each step before it is done, with the lab time, and waited for if it takes its time; the command line and the
demo narrate by it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Which step failed, what was expected, what stands, and the last events that led there."""

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
            lines += [f"  expected  {expected}", f"  stands    {stands}"]
        if self.events:
            lines += ["  what led there:", *(f"    {event}" for event in self.events)]
        return lines


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """What came of one run. `verdict` is None when the lab broke before it could be judged."""

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
        """For JSON: what `verdict.json` of a run folder holds and `pflab run --json` prints."""
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
) -> ScenarioResult:
    """Play `scenario` on a lab that `lab_factory` makes. `finish` is called with the lab still up, whether it passed
    or not.

    Raises LabError or NodeError only if the lab cannot be started at all; what fails in a step is the result's
    `failure`.
    """
    lab = lab_factory(scenario.topology)
    async with lab:
        play = Play(lab)
        began_at = lab.now
        failure = await _play_steps(play, scenario.steps, watch) or _check_invariant(play, scenario.breaks)
        verdict = play.verdict(at_rest=False)
        lab.verdict = "failed" if failure else "passed"
        if finish is not None:
            finish(play)
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


async def _play_steps(play: Play, steps: Sequence[Step], watch: StepWatcher | None) -> Failure | None:
    for step in steps:
        told = watch(step, play.lab.now) if watch is not None else None
        if told is not None:
            await told
        await asyncio.sleep(0)  # a simulated lab never waits; here Ctrl-C is heard
        try:
            await STEPS[step.verb](play, step.args)
        except StepFailed as failed:
            return _failure(play, step, failed.expected, failed.stands)
        except (NodeError, LabError) as error:
            return _failure(play, step, [f"to {_PURPOSES.get(step.verb, step.verb)}"], [str(error)])
    return None


def _failure(play: Play, step: Step, expected: Sequence[str], stands: Sequence[str]) -> Failure:
    play.observe()
    events = tuple(play.last_events(step.stores()))
    return Failure(step.number, step.line, step.verb, play.lab.now, tuple(expected), tuple(stands), events)


def _check_invariant(play: Play, breaks: Sequence[str]) -> Failure | None:
    """That nothing acknowledged is lost; or, in a lesson whose settings break that rule, that something is."""
    lost = play.judge().lost_at_home()
    if bool(lost) == (NOTHING_LOST in breaks):
        return None
    if not lost:
        wanted = f"a run that breaks {NOTHING_LOST}, as its head says"
        return Failure(0, 0, "the end", play.lab.now, (wanted,), ("no acknowledged change is lost",), ())
    expected = ["every acknowledged change to be kept by the store that acknowledged it (DU-1)"] * len(lost)
    return Failure(0, 0, "the end", play.lab.now, tuple(expected), tuple(lost), tuple(play.last_events()))
