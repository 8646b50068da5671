"""Measure a class of hundreds of pupils (`make bench-class`).

    python -m bench.scale.room                  300 pupils, once
    python -m bench.scale.room --pupils 500 --runs 5

The server is a process of its own, as `pflab class` starts it. One other process plays all pupils, so on a machine with few
processors the times are also those of this process. No pupil shows the map.

join_s         until all have joined and each has its stream
step_ms, slowest_step_ms
               from the trainer's request that shows the votes until a pupil's page has the step: the median and the last pupil
votes_s        until the votes of all, sent together, are answered
lab_ms         the lab of the moment as a file, for one pupil
cpu_s          processor seconds of the server for the whole lesson
begun_mib, most_mib
               memory of the server before the first pupil, and the most that it had
load           how many processes of the machine wanted a processor, in the mean of the last minute
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Final

from bench.summary import Outcome, median, shown, shown_spread
from tests.support.class_up import Served, class_up
from tests.support.room import LESSON, Event, Person

PUPILS: Final = 300
QUESTION: Final = 1
"""The step of the question in LESSON."""


async def follow(pupil: Person, state: str, step: int, ready: asyncio.Barrier) -> float:
    """Return when the page of a pupil learns that the class is in a state at a step.

    ready: passed when the stream is open.
    """
    async with pupil.stream() as events:
        await anext(events)
        await ready.wait()
        async for event in events:
            if is_at(event, state, step):
                return time.perf_counter()
    raise ConnectionError("the stream has ended")


def is_at(event: Event, state: str, step: int) -> bool:
    return event.name == "step" and (event.data["state"], event.data["step"]) == (state, step)


async def measured(served: Served, pupils: int) -> dict[str, float]:
    """Return the figures of one class."""
    trainer = Person(served.address, served.ready["trainer"])
    door = Person(served.address, served.ready["key"])
    await trainer.post("/room/lesson", {"name": "mine"})
    await trainer.post("/room/next", {"seen": 0})
    begun_mib = memory_mib(served.pid, "VmRSS")
    began = time.perf_counter()
    joined = await asyncio.gather(*(door.join(f"Pupil {number}") for number in range(pupils)))
    ready = asyncio.Barrier(pupils + 1)
    following = asyncio.gather(*(follow(pupil, "shown", QUESTION, ready) for pupil in joined))
    await ready.wait()
    join_s = time.perf_counter() - began
    began = time.perf_counter()
    choices = ("at once", "after 15 minutes")
    await asyncio.gather(
        *(
            pupil.post("/room/votes", {"step": QUESTION, "choice": choices[number % 2]})
            for number, pupil in enumerate(joined)
        )
    )
    votes_s = time.perf_counter() - began
    began = time.perf_counter()
    answer = await joined[0].ask("GET", "/room/lab")
    lab_ms = 1e3 * (time.perf_counter() - began)
    assert answer.status == 200
    began = time.perf_counter()
    shown = await trainer.post("/room/tally", {"step": QUESTION})
    assert sum(shown["tally"].values()) == pupils
    times_ms = [1e3 * (at - began) for at in await following]
    return {
        "join_s": join_s,
        "step_ms": statistics.median(times_ms),
        "slowest_step_ms": max(times_ms),
        "votes_s": votes_s,
        "lab_ms": lab_ms,
        "cpu_s": cpu_s(served.pid),
        "begun_mib": begun_mib,
        "most_mib": memory_mib(served.pid, "VmHWM"),
        "load": os.getloadavg()[0],
    }


def memory_mib(pid: int, field: str) -> float:
    """Return a size in the status of a process."""
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{field}:"))


def cpu_s(pid: int) -> float:
    """Return the processor seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scale.room", description=__doc__.splitlines()[0])
    parser.add_argument("--pupils", type=int, default=PUPILS)
    parser.add_argument("--runs", type=int, default=1)
    args = parser.parse_args()
    outcome = Outcome("class", f"{args.pupils} pupils")
    for _ in range(args.runs):
        with tempfile.TemporaryDirectory() as folder:
            lessons = Path(folder) / "lessons"
            lessons.mkdir()
            (lessons / "mine.yaml").write_text(LESSON, "utf-8")
            with class_up(Path(folder), str(lessons)) as served:
                outcome.add(asyncio.run(measured(served, args.pupils)))
    for figure, values in outcome.values.items():
        print(f"{figure:16} {shown(median(values)):>8}   {shown_spread(values)}")


if __name__ == "__main__":
    main()
