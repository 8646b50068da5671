"""The hazards of the torture test: each is one thing that happens to the machine of a lab, and that is lifted after a while.

`HAZARDS` is the table. A hazard *strikes* several times, and lasts up to `lasts_s` of real time. Two strikes of one hazard
never overlap; strikes of different hazards often do, so that for example a process begins again on a full disk.
"""

from __future__ import annotations

import asyncio
import random
import resource
import signal
import time
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tests.torture.machine import LAB, Machine
from tests.torture.moved_clock import why_no_moved_clock
from tests.torture.posters import STORES, Tally, repeat_until_answered
from tests.torture.power_failure import UnsyncedWrites, why_no_power_failure
from tests.torture.small_disk import fill, why_no_disk

VICTIMS: Final = ("A", "B")
"""The stores that are killed alone. C ends only with all others, so lab time must never pass it over meanwhile."""

POWER: Final = "power"
"""The hazard for which a machine must keep what is not synced."""

DROPPED_AT: Final = ("DATA", "BDAT", "end of data")

MOST_SPARE_HANDLES: Final = 2
MOST_SPARE_MEMORY: Final = 4 << 20

UNSYNCED_WITHIN_S: Final = 10.0
"""The longest time that a power failure waits for a moment at which a file has content that is not synced."""

LONGEST_JUMP_S: Final = 30 * 365 * 86_400.0


# --- what a strike does: it returns when the hazard is there; leaving the context lifts it


@contextmanager
def _kill(names: tuple[str, ...], machine: Machine, _: random.Random) -> Iterator[None]:
    for name in names:
        machine.take_down(name)
    try:
        yield
    finally:
        for name in names:
            machine.bring_up(name)


def _kill_one(machine: Machine, chance: random.Random) -> AbstractContextManager[None]:
    return _kill((chance.choice(VICTIMS),), machine, chance)


@contextmanager
def _fail_power(machine: Machine, chance: random.Random) -> Iterator[None]:
    assert machine.unsynced is not None, "the machine was made for it"
    _stop_with_unsynced_content(machine, machine.unsynced, chance)
    with _kill((LAB, *STORES), machine, chance):
        machine.wait_until_ended()
        machine.unsynced.lose(chance)
        yield


def _stop_with_unsynced_content(machine: Machine, unsynced: UnsyncedWrites, chance: random.Random) -> None:
    """Stop all processes between a write and its sync, if there is such a moment within UNSYNCED_WITHIN_S."""
    give_up_s = time.monotonic() + UNSYNCED_WITHIN_S
    while True:
        processes = [machine.process(name) for name in (LAB, *STORES)]
        for process in processes:
            process.send_signal(signal.SIGSTOP)
        if unsynced.has_content() or time.monotonic() > give_up_s:
            return
        for process in processes:
            process.send_signal(signal.SIGCONT)
        time.sleep(chance.random() * 0.02)


@contextmanager
def _pause(machine: Machine, chance: random.Random) -> Iterator[None]:
    process = machine.process(chance.choice((LAB, *STORES)))
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)  # does nothing if the process was killed meanwhile


@contextmanager
def _limit(what: int, names: tuple[str, ...], machine: Machine, chance: random.Random) -> Iterator[None]:
    """Leave a process what it has and hardly more."""
    process = machine.process(chance.choice(names))
    with suppress(OSError):  # the process has just ended
        before = resource.prlimit(process.pid, what)
        most = _used(process.pid, what) + chance.randint(0, _SPARE[what])
        resource.prlimit(process.pid, what, (most, before[1]))
    try:
        yield
    finally:
        with suppress(OSError):
            if process.poll() is None:
                resource.prlimit(process.pid, what, before)


_SPARE: Final = {resource.RLIMIT_NOFILE: MOST_SPARE_HANDLES, resource.RLIMIT_AS: MOST_SPARE_MEMORY}


def _used(pid: int, what: int) -> int:
    """Return the number of the first free file handle, or the bytes of the address space."""
    if what == resource.RLIMIT_NOFILE:
        used = {int(each.name) for each in Path(f"/proc/{pid}/fd").iterdir()}
        return next(number for number in range(len(used) + 1) if number not in used)
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[0])
    return pages * resource.getpagesize()


@contextmanager
def _fill_disk(machine: Machine, _: random.Random) -> Iterator[None]:
    ballast = fill(machine.folder)
    try:
        yield
    finally:
        ballast.unlink()


@contextmanager
def _move_clock(machine: Machine, chance: random.Random) -> Iterator[None]:
    assert machine.clock is not None, "`why_not` has said so"
    machine.clock.move(int(chance.choice((-1, 1)) * LONGEST_JUMP_S ** chance.random()))
    try:
        yield
    finally:
        machine.clock.move(0)


@contextmanager
def _drop(machine: Machine, chance: random.Random) -> Iterator[None]:
    from_, to = chance.sample(STORES, 2)
    with machine.client() as client:
        repeat_until_answered(
            partial(
                client.inject, "smtp", verb=chance.choice(DROPPED_AT), does="disconnect", from_=from_, to=to, count=1
            )
        )
    yield


# --- the table


@dataclass(frozen=True, slots=True)
class Hazard:
    """One hazard.

    times: how often it strikes in a large run.
    lasts_s: the most real time that it lasts.
    why_not: returns why this machine cannot do it, or ''.
    """

    what: str
    strike: Callable[[Machine, random.Random], AbstractContextManager[None]]
    times: int
    lasts_s: float
    why_not: Callable[[], str] = str


def _why_no_limits() -> str:
    has_both = hasattr(resource, "prlimit") and Path("/proc/self/statm").exists()
    return "" if has_both else "only Linux can limit a running process"


HAZARDS: Final[Mapping[str, Hazard]] = MappingProxyType(
    {
        "kill": Hazard("SIGKILL ends one of two stores", _kill_one, 50, 0.5),
        "coordinator": Hazard("SIGKILL ends the coordinator", partial(_kill, (LAB,)), 10, 0.5),
        "reboot": Hazard("SIGKILL ends all processes at once", partial(_kill, (LAB, *STORES)), 5, 0.5),
        POWER: Hazard(
            "SIGKILL ends all processes at once, and the disk loses what was not synced",
            _fail_power,
            5,
            0.5,
            why_no_power_failure,
        ),
        "pause": Hazard("SIGSTOP stops a process, SIGCONT continues it", _pause, 20, 3.0),
        "handles": Hazard(
            "a process has at most two free file handles",
            partial(_limit, resource.RLIMIT_NOFILE, (LAB, *STORES)),
            20,
            3.0,
            _why_no_limits,
        ),
        "memory": Hazard(
            "a process gets at most 4 MB more memory",
            partial(_limit, resource.RLIMIT_AS, (LAB, *VICTIMS)),
            20,
            3.0,
            _why_no_limits,
        ),
        "clock": Hazard(
            "the machine's clock jumps by up to 30 years and back", _move_clock, 40, 3.0, why_no_moved_clock
        ),
        "disk": Hazard("the disk is full", _fill_disk, 10, 3.5, why_no_disk),
        "drop": Hazard("a connection between two stores breaks inside DATA", _drop, 100, 0.0),
    }
)


async def strike(name: str, machine: Machine, chance: random.Random, tally: Tally) -> None:
    """Let a hazard strike, last for a while, and be lifted."""
    hazard = HAZARDS[name]
    await asyncio.sleep(chance.random() * 0.2)
    context = hazard.strike(machine, chance)
    await asyncio.to_thread(context.__enter__)
    tally.strikes[name] += 1
    try:
        await asyncio.sleep(chance.random() * hazard.lasts_s)
    finally:
        context.__exit__(None, None, None)


def chosen(given: str) -> dict[str, int]:
    """Return how often each hazard of a list strikes: `kill=50,coordinator`, where no number means the one of the table.

    Raises ArgumentTypeError if there is no such hazard.
    """
    times = {}
    for each in given.split(","):
        name, _, number = each.partition("=")
        if name not in HAZARDS:
            raise ArgumentTypeError(f"there is no hazard {name!r}; there are {', '.join(HAZARDS)}")
        if number and not number.isdecimal():
            raise ArgumentTypeError(f"{each!r}: write how often the hazard strikes as a number, such as {name}=3")
        times[name] = int(number) if number else HAZARDS[name].times
    return times


def possible() -> tuple[list[str], list[str]]:
    """Return the hazards that this machine can do, and a line for each other one."""
    why = {name: hazard.why_not() for name, hazard in HAZARDS.items()}
    return [name for name in why if not why[name]], [f"{name} ({why[name]})" for name in why if why[name]]
