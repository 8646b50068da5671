"""Labs whose clock runs, at each of four rates: posts, a stop, a kill and lost mails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pflab.drivers.live import LiveLab
from pflab.faults.fault import Lose
from pflab.lab.served_lab import ServedLab
from pflab.runs.continued import SAVED
from pflab.runs.run_folder import RunFolder
from pflab.runs.saved import SavedRuns
from tests.support.lab_actions import post
from tests.support.topologies import TWO_SITES
from topology.file.load import topology_from_text
from traces.labtime import DAY_US, HOUR_US, MINUTE_US, SECOND_US

LOOK_S = 0.01
"""Real time between two posts, and between two looks at the clock."""

PATIENCE_S = 60.0
"""Only a lab that hangs takes so long in real time."""


@dataclass(frozen=True, slots=True)
class Course:
    """A clock that runs at `rate` while the lab is between `from_us` and `to_us` old, in microseconds."""

    rate: float
    from_us: int
    to_us: int


COURSES: Sequence[Course] = (
    Course(1, 15 * MINUTE_US - SECOND_US, 15 * MINUTE_US + SECOND_US),
    Course(60, 12 * HOUR_US + 14 * MINUTE_US, 12 * HOUR_US + 16 * MINUTE_US),
    Course(600, HOUR_US, HOUR_US + 40 * MINUTE_US),
    Course(36_000, HOUR_US, 51 * HOUR_US),
)
"""The lab begins at midnight. In each course a replication cycle comes due, in the second a status check too, and in the last
whatever comes due in two days, which includes backfill."""


async def play_course(
    lab: ServedLab, course: Course, *, troubled: bool, rest: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> None:
    """Let users post while the clock of a started lab runs.

    troubled: a mail is lost, B stops, and C is killed, and both start again.
    rest: lets real time pass.
    """
    start_at = lab.now
    if troubled:
        lab.faults.inject(Lose(from_="A", to="B", type="content", count=1))
    await lab.advance(start_at + course.from_us)
    await lab.set_rate(course.rate)
    names, number = tuple(lab.names), 0
    async with asyncio.timeout(PATIENCE_S):
        while lab.now < start_at + course.to_us:
            server = names[number % len(names)]
            await post(lab, server, f"P{number}")
            number += 1
            if troubled and number == 10:
                await lab.stop("B")
                await lab.start("B")
            if troubled and number == 20:
                await lab.kill("C")
                await lab.start("C")
            await rest(LOOK_S)
    await lab.pause()
    await lab.advance(lab.now + 4 * DAY_US)


async def _write(folder: Path, course: Course, *, troubled: bool) -> None:
    name = f"rate-{course.rate:g}{'-troubled' if troubled else ''}"
    async with LiveLab(topology_from_text(TWO_SITES), folder=RunFolder.at(folder / name)) as lab:
        lab.saved_runs = SavedRuns(folder / name / SAVED)
        await play_course(lab, course, troubled=troubled)
        await lab.save("end")


async def _write_all(folder: Path, kinds: Iterable[bool]) -> None:
    for troubled in kinds:  # the labs of four rates at a time, because they mostly wait
        await asyncio.gather(*(_write(folder, course, troubled=troubled) for course in COURSES))


def write_running_clocks(folder: Path, kinds: Iterable[bool] = (False, True)) -> None:
    """Play all courses in live labs of this process. Each leaves its run in a folder below `folder`.

    kinds: whether labs are troubled (`play_course`).
    """
    asyncio.run(_write_all(folder, kinds))
