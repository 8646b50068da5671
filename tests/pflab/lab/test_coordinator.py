"""The coordinator with fake hosts: waiting until all are idle, jumps in two phases, limits."""

from __future__ import annotations

import asyncio

import pytest

from node.errors import InternalError, NotRunning
from pflab.drivers.remote_coordinator import RemoteCoordinator
from pflab.errors import NotIdle
from pflab.lab import coordinator
from pflab.lab.coordinator import Coordinator
from tests.support.clock import START_AT
from traces.labtime import HOUR_US, LabTime


class FakeHost:
    """A host whose timers are a list. It runs one due timer each turn and records its calls."""

    def __init__(self, name: str, calls: list[str], due: list[LabTime] | None = None) -> None:
        self.name = name
        self.activity = 0
        self.failure: Exception | None = None
        self.blocked = False
        self.reason = ""
        self.at = START_AT
        self.rate = 0.0
        self._due = sorted(due or [])
        self._calls = calls

    def next_due(self) -> LabTime | None:
        return self._due[0] if self._due else None

    def busy(self, at: LabTime) -> str:
        return self.reason

    async def hold(self) -> LabTime:
        self._calls.append(f"{self.name} holds")
        return self.at

    async def set_clock(self, at: LabTime, rate: float) -> None:
        self._calls.append(f"{self.name} sets")
        self.at, self.rate = at, rate
        while self._due and self._due[0] <= at:
            self._due.pop(0)
            self.activity += 1

    async def go(self) -> None:
        self._calls.append(f"{self.name} goes")


class FakeRemoteHost(FakeHost):
    """A host in another process, which answers again when it is next asked."""

    silent = False

    async def look(self, now: LabTime, wait_s: float) -> None:
        self._calls.append(f"{self.name} is asked")

    async def back(self, *, at_once: bool) -> bool:
        self.silent = False
        return True


class FakeFaults:
    """The end of one fault, which the coordinator notes."""

    def __init__(self, ends_at: LabTime | None = None) -> None:
        self.next_end_at = ends_at
        self.ended_at: LabTime | None = None

    def expire(self, now: LabTime) -> None:
        if self.next_end_at is not None and self.next_end_at <= now:
            self.next_end_at, self.ended_at = None, now


class FakeLab:
    """A coordinator with its hosts, their calls, and a real clock that does not move."""

    def __init__(self, *hosts: FakeHost, still_limit_s: float = 0.2, faults: FakeFaults | None = None) -> None:
        self.changes: list[tuple[str, float, LabTime]] = []
        self.real_s = 0.0
        self.coordinator = Coordinator(
            START_AT,
            lambda: hosts,
            monotonic=lambda: self.real_s,
            changed=lambda how, rate, to: self.changes.append((how, rate, to)),
            faults=faults or FakeFaults(),
            still_limit_s=still_limit_s,
        )


@pytest.fixture
def calls() -> list[str]:
    return []


async def test_a_jump_has_two_phases(calls: list[str]) -> None:
    """No host sets its clock before all hosts hold, and none goes on before all have set it."""
    lab = FakeLab(FakeHost("A", calls), FakeHost("B", calls))
    await lab.coordinator.warp(START_AT + HOUR_US)
    assert calls == ["A holds", "B holds", "A sets", "B sets", "A goes", "B goes"]


async def test_a_move_stops_where_a_fault_ends(calls: list[str]) -> None:
    """The end of a fault is due like the work of a host. The fault ends while the hosts hold."""
    for moves in (Coordinator.step, lambda clock: clock.warp(START_AT + HOUR_US, lambda: clock.now > START_AT)):
        faults = FakeFaults(START_AT + 5)
        clock = FakeLab(FakeHost("A", calls, [START_AT + 9]), faults=faults).coordinator
        assert await moves(clock)
        assert clock.now == faults.ended_at == START_AT + 5


async def test_a_fault_ends_in_time_while_the_clock_runs(calls: list[str]) -> None:
    """A paused clock ends nothing, and neither does a lab that was closed."""
    for closed in (False, True):
        faults = FakeFaults(START_AT + 3600 * 50_000)
        lab = FakeLab(FakeHost("A", calls), faults=faults)
        await lab.coordinator.set_rate(3600)
        lab.real_s = 0.05
        if closed:
            lab.coordinator.unwatch_faults()
        await asyncio.sleep(0.1)
        assert faults.ended_at == (None if closed else START_AT + 3600 * 50_000)


async def test_a_warp_visits_every_due_time(calls: list[str]) -> None:
    """A warp stops at each instant at which a host has work due, and ends at the target."""
    dues = [START_AT + 5, START_AT + HOUR_US, START_AT + 2 * HOUR_US]
    host = FakeHost("A", calls, dues)
    seen: list[LabTime] = []
    lab = FakeLab(host)

    def look() -> bool:
        seen.append(lab.coordinator.now)
        return False

    assert not await lab.coordinator.warp(START_AT + HOUR_US, look)
    assert seen == [START_AT, START_AT + 5, START_AT + HOUR_US, START_AT + HOUR_US]
    assert host.next_due() == START_AT + 2 * HOUR_US


async def test_a_due_time_in_the_past_does_not_take_the_clock_back(calls: list[str]) -> None:
    """Overdue work is due now."""
    lab = FakeLab(FakeHost("A", calls, [START_AT - HOUR_US]))
    await lab.coordinator.warp(START_AT + HOUR_US)
    assert lab.coordinator.now == START_AT + HOUR_US


async def test_a_wait_without_progress_ends_at_its_limit(calls: list[str]) -> None:
    """The error names the hosts that are not idle, and why."""
    host = FakeHost("A", calls)
    host.reason = "3 mails on their way out"
    lab = FakeLab(host, FakeHost("B", calls), still_limit_s=0.01)
    with pytest.raises(NotIdle, match="server A: 3 mails on their way out") as error:
        await lab.coordinator.quiet()
    assert "server B" not in str(error.value)


async def test_a_host_that_cannot_write_ends_the_wait(calls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that tries again and again to write, on a full disk, does not keep a wait for ever."""
    monkeypatch.setattr(coordinator, "BLOCKED_LIMIT_S", 0.02)
    host = FakeHost("A", calls)
    host.blocked = True

    def busy(_: LabTime) -> str:
        host.activity += 1
        return "store A cannot write"

    host.busy = busy  # type: ignore[method-assign,assignment]
    with pytest.raises(NotIdle, match=r"nothing could be written for 0.02 s; free space, .*: server A: store A cannot"):
        await FakeLab(host).coordinator.quiet()


async def test_a_failed_host_ends_the_wait(calls: list[str]) -> None:
    """A host's failure is raised to the caller, with its cause."""
    host = FakeHost("A", calls)
    lab = FakeLab(host)
    host.reason, host.failure = "it failed", RuntimeError("disk full")
    with pytest.raises(
        InternalError, match="server A: internal error at 2003-10-21T00:00:00Z: RuntimeError: disk full"
    ) as error:
        await lab.coordinator.quiet()
    assert error.value.__cause__ is host.failure


async def test_idle_needs_two_rounds_without_activity(calls: list[str]) -> None:
    """A host that looks idle but has just worked is checked again."""
    host = FakeHost("A", calls)
    rounds = 0

    def busy(_: LabTime) -> str:
        nonlocal rounds
        rounds += 1
        host.activity += rounds < 4
        return ""

    host.busy = busy  # type: ignore[method-assign,assignment]
    await FakeLab(host).coordinator.quiet()
    assert rounds == 5


async def test_a_pulse_ends_the_wait(calls: list[str]) -> None:
    """A host that has become idle wakes the waiting coordinator."""
    host = FakeHost("A", calls)
    host.reason = "a timer or mail is due"
    lab = FakeLab(host, still_limit_s=30)
    waiting = asyncio.create_task(lab.coordinator.quiet())
    await asyncio.sleep(0)
    assert not waiting.done()
    host.reason = ""
    lab.coordinator.pulse()
    await asyncio.wait_for(waiting, timeout=10)


async def test_clocks_that_ran_apart_meet_at_the_latest(calls: list[str]) -> None:
    """When a running lab is paused, every clock moves forward to the latest one."""
    early, late = FakeHost("A", calls), FakeHost("B", calls)
    lab = FakeLab(early, late)
    await lab.coordinator.set_rate(1)
    late.at = START_AT + 7
    await lab.coordinator.pause()
    assert lab.coordinator.now == early.at == late.at == START_AT + 7


async def test_rates_reach_every_host(calls: list[str]) -> None:
    """A rate applies to all hosts from one instant."""
    hosts = FakeHost("A", calls), FakeHost("B", calls)
    lab = FakeLab(*hosts)
    await lab.coordinator.set_rate(3600)
    assert {host.rate for host in hosts} == {3600}
    lab.real_s += 2
    assert lab.coordinator.now == START_AT + 2 * HOUR_US
    assert lab.changes == [("rate", 3600, START_AT)]


async def test_a_host_that_fails_to_hold_ends_the_jump(calls: list[str]) -> None:
    """If a host fails in a phase of a jump, the jump ends with its error, and the others go on."""
    failing = FakeHost("B", calls)

    async def fail() -> LabTime:
        raise NotRunning("server B failed")

    failing.hold = fail  # type: ignore[method-assign]
    with pytest.raises(NotRunning, match="server B failed"):
        await FakeLab(FakeHost("A", calls), failing).coordinator.warp(START_AT + HOUR_US)
    assert "A goes" in calls


async def test_a_step_without_anything_due_says_so(calls: list[str]) -> None:
    """If nothing will ever be due a step does not move the clock."""
    lab = FakeLab(FakeHost("A", calls))
    assert not await lab.coordinator.step()
    assert lab.coordinator.now == START_AT


async def test_a_host_that_is_back_at_once_learns_its_peers(calls: list[str]) -> None:
    """A host that was passed over for a moment, between two questions, may have missed the addresses of its peers and the
    faults. It gets them before it goes on."""
    host = FakeRemoteHost("B", calls)

    async def notify() -> None:
        calls.append("all are notified")

    coordinator = RemoteCoordinator(
        START_AT,
        lambda: [host],  # type: ignore[list-item]
        every=lambda: [host],  # type: ignore[list-item]
        monotonic=lambda: 0.0,
        changed=lambda how, rate, to: None,
        faults=FakeFaults(),
        hosts_changed=notify,
        faults_known=notify,
        returning=lambda: calls.append("B gets directory updates"),
        outside=str,
    )
    await coordinator.look()
    host.silent = True
    await coordinator.look()
    await coordinator.look()
    back = ["B holds", "B sets", "B gets directory updates", "all are notified", "B goes"]
    assert calls == ["B is asked", *back, "B is asked"]
