"""Whenever a lesson lets time pass, a copy of its lab has shown before what then happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from pflab.drivers.live import LiveLab
from pflab.forecast.fork import Fork, present_of
from pflab.lab.served_lab import ServedLab
from pflab.runs.run_folder import RunFolder
from pflab.scenario.load import Step, files_of_course, load_scenario
from pflab.scenario.runner import play_scenario
from pflab.scenario.session import Play
from pflab.simulation.simulated_lab import SimulatedLab
from pflab.terms.event_words import tag_of
from tests.support.samples import rest, sampled
from traces.events import Event
from traces.labtime import MINUTE_US, SECOND_US


def happened(events: Sequence[Event], end_s: int) -> Counter[tuple[str, str, int]]:
    """Return type, server and second of each event before a second. Moves of the clock do not count."""
    rows = ((tag_of(event), event.node, event.at // SECOND_US) for event in events)
    return Counter(row for row in rows if row[2] < end_s and row[0] != "clock.changed")


class Forecaster:
    """Copies the lab before each step in which time passes, and plays the copy on to the end of the step."""

    def __init__(self) -> None:
        self.compared = 0
        """How many steps were compared."""
        self.wrong: list[str] = []
        self._fork: tuple[Step, int, Fork, AsyncExitStack] | None = None

    async def before(self, step: Step, play: Play) -> None:
        lab = play.lab
        assert isinstance(lab, ServedLab)
        await self.compare(lab)
        if step.verb in {"advance", "until"} or step.at_us is not None:
            since, stack = lab.record.count, AsyncExitStack()
            fork = (await present_of(lab)).fork()
            self._fork = step, since, await stack.enter_async_context(fork), stack

    async def compare(self, lab: ServedLab) -> None:
        if self._fork is None:
            return
        step, since, fork, stack = self._fork
        self._fork = None
        async with stack:
            await fork.advance(lab.now)
            # A simulated lab stops after all of an instant, a live one as soon as the lesson sees what it waits for.
            end_s = lab.now // SECOND_US + isinstance(lab, SimulatedLab)
            real, forecast = happened(lab.events(since), end_s), happened(fork.events(), end_s)
        self.compared += 1
        if real != forecast:
            self.wrong.append(f"step {step.number}: only real {real - forecast}, only forecast {forecast - real}")


@pytest.mark.parametrize("driver", ["simulated", rest("live")])
@pytest.mark.parametrize("path", sampled(files_of_course(), 12), ids=lambda path: path.stem)
async def test_a_fork_has_the_future_of_a_lesson(path: Path, driver: str, tmp_path: Path) -> None:
    """At each step of a lesson that lets time pass, the forecast is what happens until its end, to the second."""
    forecaster, scenario = Forecaster(), load_scenario(path)
    make = {"simulated": SimulatedLab, "live": LiveLab}[driver]
    async with make(scenario.topology, folder=RunFolder.create(tmp_path, "lesson")) as lab:
        await play_scenario(scenario, Play(lab), watch=forecaster.before)
        await lab.advance(lab.now + MINUTE_US)
        await forecaster.compare(lab)
    assert forecaster.wrong == []
    assert forecaster.compared > 0
