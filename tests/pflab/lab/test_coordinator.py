"""The coordinator with toy hosts: quiet, jumps in two phases, limits."""

from __future__ import annotations

import asyncio

import pytest

from node.errors import InternalError
from pflab.errors import NotIdle
from pflab.lab.coordinator import Coordinator
from tests.support.clock import START_AT
from traces.labtime import HOUR_US, LabTime


class Toy:
    """A host whose timers are a list; it does one due timer a turn and writes down what it was asked."""

    def __init__(self, name: str, diary: list[str], due: list[LabTime] | None = None) -> None:
        self.name = name
        self.activity = 0
        self.failure: Exception | None = None
        self.reason = ""
        self.at = START_AT
        self.rate = 0.0
        self._due = sorted(due or [])
        self._diary = diary

    def next_due(self) -> LabTime | None:
        return self._due[0] if self._due else None

    def busy(self, at: LabTime) -> str:
        return self.reason

    async def hold(self) -> LabTime:
        self._diary.append(f"{self.name} holds")
        return self.at

    async def set_clock(self, at: LabTime, rate: float) -> None:
        self._diary.append(f"{self.name} sets")
        self.at, self.rate = at, rate
        while self._due and self._due[0] <= at:
            self._due.pop(0)
            self.activity += 1

    async def go(self) -> None:
        self._diary.append(f"{self.name} goes")


class Stage:
    """A coordinator, its hosts, what they did, and a real clock that stands still."""

    def __init__(self, *hosts: Toy, still_limit_s: float = 0.2) -> None:
        self.changes: list[tuple[str, float, LabTime]] = []
        self.real_s = 0.0
        self.coordinator = Coordinator(
            START_AT,
            lambda: hosts,
            monotonic=lambda: self.real_s,
            changed=lambda how, rate, to: self.changes.append((how, rate, to)),
            still_limit_s=still_limit_s,
        )


@pytest.fixture
def diary() -> list[str]:
    return []


async def test_a_jump_has_two_phases(diary: list[str]) -> None:
    """No host sets its clock before all hold, and none goes on before all have set it."""  # spec: TM-1
    stage = Stage(Toy("A", diary), Toy("B", diary))
    await stage.coordinator.warp(START_AT + HOUR_US)
    assert diary == ["A holds", "B holds", "A sets", "B sets", "A goes", "B goes"]


async def test_a_warp_visits_every_due_time(diary: list[str]) -> None:
    """A warp stops at each instant at which a host has something due, and ends at the target."""
    dues = [START_AT + 5, START_AT + HOUR_US, START_AT + 2 * HOUR_US]
    host = Toy("A", diary, dues)
    seen: list[LabTime] = []
    stage = Stage(host)

    def look() -> bool:
        seen.append(stage.coordinator.now)
        return False

    assert not await stage.coordinator.warp(START_AT + HOUR_US, look)
    assert seen == [START_AT, START_AT + 5, START_AT + HOUR_US, START_AT + HOUR_US]
    assert host.next_due() == START_AT + 2 * HOUR_US


async def test_a_due_time_in_the_past_does_not_take_the_clock_back(diary: list[str]) -> None:
    """A row that has been due for long is due now."""
    stage = Stage(Toy("A", diary, [START_AT - HOUR_US]))
    await stage.coordinator.warp(START_AT + HOUR_US)
    assert stage.coordinator.now == START_AT + HOUR_US


async def test_what_never_gets_quiet_is_named(diary: list[str]) -> None:
    """A wait in which nothing moves ends at its limit and names who is not idle and why."""
    host = Toy("A", diary)
    host.reason = "3 mails on their way out"
    stage = Stage(host, Toy("B", diary), still_limit_s=0.01)
    with pytest.raises(NotIdle, match="server A: 3 mails on their way out") as error:
        await stage.coordinator.quiet()
    assert "server B" not in str(error.value)


async def test_a_failed_host_ends_the_wait(diary: list[str]) -> None:
    """A host's failure is told to whoever waits, with its cause."""
    host = Toy("A", diary)
    stage = Stage(host)
    host.reason, host.failure = "it failed", RuntimeError("disk full")
    with pytest.raises(
        InternalError, match="server A: internal error at 2003-10-21T00:00:00Z: RuntimeError: disk full"
    ) as error:
        await stage.coordinator.quiet()
    assert error.value.__cause__ is host.failure


async def test_quiet_needs_two_rounds_without_activity(diary: list[str]) -> None:
    """A host that looks idle but has just done something is looked at again."""
    host = Toy("A", diary)
    rounds = 0

    def busy(_: LabTime) -> str:
        nonlocal rounds
        rounds += 1
        host.activity += rounds < 4
        return ""

    host.busy = busy  # type: ignore[method-assign,assignment]
    await Stage(host).coordinator.quiet()
    assert rounds == 5


async def test_a_pulse_ends_the_wait(diary: list[str]) -> None:
    """A host that has become idle says so, and whoever waits goes on."""
    host = Toy("A", diary)
    host.reason = "a row is due"
    stage = Stage(host, still_limit_s=30)
    waiting = asyncio.create_task(stage.coordinator.quiet())
    await asyncio.sleep(0)
    assert not waiting.done()
    host.reason = ""
    stage.coordinator.pulse()
    await asyncio.wait_for(waiting, timeout=10)


async def test_clocks_that_ran_apart_meet_at_the_latest(diary: list[str]) -> None:
    """When a running lab is paused, nobody goes back: all stand where the furthest clock was."""
    early, late = Toy("A", diary), Toy("B", diary)
    stage = Stage(early, late)
    await stage.coordinator.set_rate(1)
    late.at = START_AT + 7
    await stage.coordinator.pause()
    assert stage.coordinator.now == early.at == late.at == START_AT + 7


async def test_rates_reach_every_host(diary: list[str]) -> None:
    """A rate holds for all hosts from one instant on."""
    hosts = Toy("A", diary), Toy("B", diary)
    stage = Stage(*hosts)
    await stage.coordinator.set_rate(3600)
    assert {host.rate for host in hosts} == {3600}
    stage.real_s += 2
    assert stage.coordinator.now == START_AT + 2 * HOUR_US
    assert stage.changes == [("rate", 3600, START_AT)]


async def test_a_host_that_does_not_hold_is_named(diary: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that does not acknowledge a jump ends it with an error that names it; the others go on."""
    deaf = Toy("B", diary)

    async def never() -> LabTime:
        await asyncio.Event().wait()
        return START_AT

    deaf.hold = never  # type: ignore[method-assign]
    monkeypatch.setattr("pflab.lab.coordinator.ACKNOWLEDGE_LIMIT_S", 0.01)
    with pytest.raises(NotIdle, match="server B did not hold"):
        await Stage(Toy("A", diary), deaf).coordinator.warp(START_AT + HOUR_US)
    assert "A goes" in diary


async def test_a_step_without_anything_due_says_so(diary: list[str]) -> None:
    """Where nothing will ever be due a step does not move the clock."""
    stage = Stage(Toy("A", diary))
    assert not await stage.coordinator.step()
    assert stage.coordinator.now == START_AT
