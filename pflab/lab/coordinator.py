"""The coordinator: one lab clock for many hosts.  # spec: TM-1

It sets the rate (1 real, 3600 an hour a second, 0 paused), steps, and warps: towards a target it jumps from one due
time to the next while the lab is quiet, then the clock stands. It knows hosts only by the few methods of
:class:`Timed`, each of which could as well be a call to another process.

Quiet at T: no row due at or before T, no SMTP transaction open at either end, no stimulus pending, on every host, in
two rounds between which no host did anything. A mail in flight is always an unconfirmed queue row at its sender, so
nothing can hide between hosts.

A jump is two-phase: all hold, all set T, all have said so, all go. No host can see T while another still works before
it.

Every wait has a limit, and an error at its end names who is not idle and why.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Protocol, TypeVar

from node.errors import InternalError
from node.host.clock import LabClock, checked_rate
from pflab.errors import LabError, NotIdle
from traces.labtime import LabTime, format_instant

T = TypeVar("T")

STILL_LIMIT_S = 60.0
"""Real time without any activity after which a lab that is not quiet is stuck: longer than every SMTP time-out of the
transport."""

ACTIVITY_PER_INSTANT = 2_000_000
"""Stimuli at one instant after which it is taken to be endless."""

LOOK_AGAIN_S = 0.1
"""Real time between two looks at a lab that says nothing."""

ACKNOWLEDGE_LIMIT_S = 10.0
"""Real time in which a host has to acknowledge a step of a jump."""


class Timed(Protocol):
    """A host as the coordinator sees it."""

    @property
    def name(self) -> str: ...

    @property
    def activity(self) -> int:
        """Grows with everything that the host does."""

    @property
    def failure(self) -> Exception | None:
        """The error by which it failed, if it did."""

    def next_due(self) -> LabTime | None:
        """When its next row is due; mail in flight is a row long due."""

    def busy(self, at: LabTime) -> str:
        """Why it is not idle at `at`, in words; '' if it is."""

    async def hold(self) -> LabTime:
        """Stop the clock and begin nothing new until `go`; where the clock stands."""

    async def set_clock(self, at: LabTime, rate: float) -> None:
        """Stand at `at`, or run from there."""

    async def go(self) -> None:
        """Go on after `hold`."""


class Coordinator:
    """The clock of a lab. `hosts()` are those that run, in a fixed order; `changed(how, rate, to)` is told of each
    change asked for."""

    def __init__(
        self,
        start_at: LabTime,
        hosts: Callable[[], Sequence[Timed]],
        *,
        monotonic: Callable[[], float],
        changed: Callable[[str, float, LabTime], None],
        still_limit_s: float = STILL_LIMIT_S,
    ) -> None:
        self._clock = LabClock(start_at, monotonic=monotonic)
        self._hosts = hosts
        self._changed = changed
        self._still_limit_s = still_limit_s
        self._pulse = asyncio.Event()
        self._jumping = asyncio.Lock()
        self.warping = False
        """Whether a warp or a step is under way."""

    # --- the clock

    @property
    def now(self) -> LabTime:
        """The present lab time."""
        return self._clock.now()

    @property
    def rate(self) -> float:
        """Lab seconds per real second; 0 while the lab is paused or warping."""
        return self._clock.rate

    async def set_rate(self, rate: float) -> None:
        """Let the clock run at `rate` from the present instant; 0 pauses it. Raises node.host.clock.ClockError."""
        rate = checked_rate(rate)
        async with self._jumping:
            await self._jump(self.now, rate)
        self._changed("rate" if rate else "pause", rate, self.now)

    async def pause(self) -> None:
        """Stop the clock where it is."""
        await self.set_rate(0.0)

    async def step(self, limit_at: LabTime | None = None) -> bool:
        """From one quiet instant to the next at which anything is due, and until that is quiet; False if nothing ever
        is, or nothing by `limit_at`, where the clock then stands."""
        with self._moving():
            await self._stand()
            await self.quiet()
            due_at = self._next_due()
            if limit_at is not None and (due_at is None or due_at > limit_at):
                await self._jump_to(limit_at)
                return False
            if due_at is None:
                return False
            await self._jump_to(due_at)
            self._changed("step", 0.0, due_at)
            return True

    async def warp(self, to_at: LabTime, holds: Callable[[], bool] | None = None) -> bool:
        """Jump from due time to due time while quiet, up to and including `to_at`; then the clock stands.

        With `holds`, stop where it first does, asked at each quiet instant. Returns whether it did (True without one).
        Raises LabError for a target in the past, NotIdle.
        """
        with self._moving():
            return await self._warp(to_at, holds)

    async def _warp(self, to_at: LabTime, holds: Callable[[], bool] | None) -> bool:
        await self._stand()
        if to_at < self.now:
            raise LabError(
                f"lab time only goes forward: it is {format_instant(self.now)}, {format_instant(to_at)} has passed"
            )
        self._changed("advance" if holds is None else "until", 0.0, to_at)
        await self.quiet()
        while holds is None or not holds():
            due_at = self._next_due()
            if due_at is None or due_at > to_at:
                await self._jump_to(to_at)
                return holds is None or holds()
            await self._jump_to(due_at)
        return True

    @contextmanager
    def _moving(self) -> Iterator[None]:
        self.warping = True
        try:
            yield
        finally:
            self.warping = False

    @asynccontextmanager
    async def steady(self) -> AsyncIterator[LabTime]:
        """For a stimulus from outside: no jump is under way meanwhile. Gives the present lab time."""
        async with self._jumping:
            yield self.now

    async def at_rest(self, act: Callable[[], Awaitable[None]]) -> None:
        """Do something while no host begins anything; then the clock goes on as it did. What a mail under way brings may
        come meanwhile, but nothing whose cause is later than this."""
        async with self._jumping:
            await self._jump(self.now, self.rate, act)

    # --- quiet

    def pulse(self) -> None:
        """A host says that something changed with it that may make the lab quiet."""
        self._pulse.set()

    async def quiet(self) -> None:
        """Wait until the lab is quiet at the present instant. Raises NotIdle at the limits."""
        await self._look()
        began = self._activity()
        seen: int | None = None
        while True:
            self._pulse.clear()
            self._check_failures()
            activity = self._activity()
            if self._any_busy():
                seen = None
                if activity - began > ACTIVITY_PER_INSTANT:
                    raise self._not_idle(f"still busy after {ACTIVITY_PER_INSTANT} stimuli at one instant")
                await self._wait_for_pulse(activity)
                await self._look()
            elif activity == seen:
                return
            else:
                # Between the two rounds everybody who can run does.
                seen = activity
                await asyncio.sleep(0)
                await self._look()

    async def _wait_for_pulse(self, activity: int) -> None:
        loop = asyncio.get_running_loop()
        give_up_s = loop.time() + self._still_limit_s
        # Looked after now and then too: a stranger who hangs up in the midst of a mail pulses nobody.
        while not self._pulse.is_set() and self._activity() == activity and self._any_busy():
            if loop.time() >= give_up_s:
                raise self._not_idle(f"nothing has moved for {self._still_limit_s:g} s of real time")
            await self._rest()

    async def _rest(self) -> None:
        """Wait until a look may show something else."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_AGAIN_S):
                await self._pulse.wait()

    async def _look(self) -> None:
        """Learn how the hosts stand. Those of this process are as they say at any time; others have to be asked."""

    def _any_busy(self) -> bool:
        now = self.now
        return any(host.busy(now) for host in self._hosts())

    def _check_failures(self) -> None:
        for host in self._hosts():
            if host.failure is not None:
                at = format_instant(self.now)
                raise InternalError.of(f"server {host.name}", f"at {at}", host.failure) from host.failure

    def _activity(self) -> int:
        return sum(host.activity for host in self._hosts())

    def _next_due(self) -> LabTime | None:
        return min((due_at for host in self._hosts() if (due_at := host.next_due()) is not None), default=None)

    # --- jumps

    async def _stand(self) -> None:
        if self.rate:
            async with self._jumping:
                await self._jump(self.now, 0.0)

    async def _jump_to(self, at: LabTime) -> None:
        async with self._jumping:
            await self._jump(max(at, self.now), 0.0)
        await self.quiet()

    async def _jump(self, at: LabTime, rate: float, act: Callable[[], Awaitable[None]] | None = None) -> None:
        hosts = self._hosts()
        try:
            stands = await self._all("hold", hosts, [host.hold() for host in hosts])
            self._clock.set_rate(0.0)
            # Clocks that ran until now differ by what asking took; nobody goes back, so all go to the latest.
            at = max([at, self.now, *stands])
            self._clock.jump(at)
            self._clock.set_rate(rate)
            if act is not None:
                await act()
            await self._all("set the clock", hosts, [host.set_clock(at, rate) for host in hosts])
        finally:
            await self._all("go on", hosts, [host.go() for host in hosts])

    async def _all(self, what: str, hosts: Sequence[Timed], asked: Sequence[Awaitable[T]]) -> list[T]:
        """What every host answered, once all have done their part of a jump."""
        tasks = [asyncio.ensure_future(each) for each in asked]
        if not tasks:
            return []
        _, late = await asyncio.wait(tasks, timeout=ACKNOWLEDGE_LIMIT_S)
        if late:
            names = ", ".join(host.name for host, task in zip(hosts, tasks, strict=True) if task in late)
            for task in late:
                task.cancel()
            raise NotIdle(f"server {names} did not {what} within {ACKNOWLEDGE_LIMIT_S:g} s")
        return [task.result() for task in tasks]

    def _not_idle(self, why: str) -> NotIdle:
        told = [f"server {host.name}: {reason}" for host in self._hosts() if (reason := host.busy(self.now))]
        at = format_instant(self.now)
        return NotIdle(f"{why}; at {at} not idle are {'; '.join(told) or 'none'}")
