"""The coordinator: it owns lab time and moves the clocks of all hosts together.  # spec: TM-1

States of the clock:

| state | rate | what moves lab time |
|---|---|---|
| paused | 0 | nothing |
| running | above 0 | real time, at `rate` lab seconds per real second |
| moving | 0, and `warping` is true | the coordinator, by jumps |

Transitions:

| from | call | to |
|---|---|---|
| paused, running | `set_rate(rate)`, rate above 0 | running |
| paused, running | `set_rate(0)`, `pause()` | paused |
| paused, running | `step()` | moving, then paused at the next due time or at the limit |
| paused, running | `warp(to_at, holds)` | moving, then paused at `to_at` or where `holds()` is first true |
| any | `at_rest(act)` | the same; all hosts are held while `act` runs |

While moving, the coordinator repeats: wait until the lab is quiet, find the earliest due time of all hosts, jump there. The
end of a fault is a due time too.

The lab is quiet at T if no host has a row due at or before T, an open SMTP transaction, or a pending stimulus. Two
consecutive checks must find this, and no host may have done anything between them.

A jump has four phases. Each phase begins when all hosts have acknowledged the phase before:

| phase | what it does |
|---|---|
| hold | each host stops its clock, begins nothing new, and reports its time |
| set the lab clock | to the target, or to the latest time that a host reported if that is later; due faults end |
| set the hosts' clocks | to the same instant and rate |
| go on | each host works again; this phase comes even if an earlier phase failed |

Example: it is 12:00, and server A will send a broadcast at 12:15 that takes no lab time to arrive at B. `warp(13:00)` waits
for quiet at 12:00 and jumps to 12:15. A sends. The lab is not quiet until B has acknowledged and committed the mail and A has
removed its queue row. If nothing else is due before 13:00, the coordinator jumps there and the clock stays paused.

What must never happen:

- Lab time that goes back, for the lab or for a host. A target in the past raises LabError.
- A jump that skips a mail in flight. Such a mail is always an unconfirmed row in its sender's queue. This row is due, so the
  lab is not quiet. The exception is a mail inside a foreign relay; `outside` names these mails.
- A host that works at T while another host still works at an earlier time. All hosts finish a phase of a jump before the next
  phase begins.
- Two jumps at once, or a jump during a stimulus from outside (`steady`). A lock is held meanwhile.
- Lab time that goes on without a host that lives and works. Lab time waits for such a host, however slow the machine is. Only a
  host in another process that gives no sign of life is passed over, and the lab says so (`pflab.drivers.pulse`).
- An endless wait for a lab that does nothing. The error NotIdle ends the wait; it names the hosts that are not idle and why.

The coordinator knows hosts only by the methods of :class:`Timed`, each of which may be a call to another process.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Protocol, TypeVar

from node.errors import InternalError
from node.host.clock import LabClock
from pflab.errors import LabError, NotIdle
from traces.labtime import SECOND_US, LabTime, check_not_after_end, checked_rate, format_instant

T = TypeVar("T")

log = logging.getLogger("pflab.lab.coordinator")

STILL_LIMIT_S = 900.0
"""Real time without activity after which a lab that is not quiet counts as stuck. A host that answers late counts as active.

It is longer than the time limits of a mail (`transport.smtp.sender`), so every slow mail ends earlier. The limit ends a run
with an error, and never decides what a store does.
"""

WARNING_S = 60.0
"""Real time between two lines in the log about a lab that is not quiet although nothing happens."""

ACTIVITY_PER_INSTANT = 2_000_000
"""The number of stimuli at one instant after which the lab counts as endlessly busy."""

BLOCKED_LIMIT_S = 20.0
"""Real time for which the lab waits while a host cannot write, because a person may free space. The limit ends a run with an
error, and never decides what a store does."""

LOOK_AGAIN_S = 0.1
"""Real time between two checks of hosts that report nothing."""


class Timed(Protocol):
    """A host as the coordinator sees it."""

    @property
    def name(self) -> str: ...

    @property
    def activity(self) -> int:
        """A number that grows with everything that the host does."""

    @property
    def failure(self) -> Exception | None:
        """The error with which the host failed; None if it has not."""

    @property
    def blocked(self) -> bool:
        """Whether the host cannot do its due work at present because it cannot write, for example on a full disk."""

    def next_due(self) -> LabTime | None:
        """When the next row of the host is due. The row of a mail in flight is due already."""

    def busy(self, at: LabTime) -> str:
        """Return why the host is not idle at `at`, in words; '' if it is idle."""

    async def hold(self) -> LabTime:
        """Stop the clock and begin nothing new until `go`; return the time of the clock."""

    async def set_clock(self, at: LabTime, rate: float) -> None:
        """Set the clock to `at`, to run from there at `rate`."""

    async def go(self) -> None:
        """Work again after `hold`."""


class Ending(Protocol):
    """The faults of a lab as the coordinator sees them: some end by themselves."""

    @property
    def next_end_at(self) -> LabTime | None:
        """When the next fault ends by itself."""

    def expire(self, now: LabTime) -> None:
        """End the faults whose time is over."""


class Coordinator:
    """The clock of a lab. `hosts()` returns the running hosts in a fixed order. The coordinator calls `changed(how, rate, to)`
    for each change of the clock that a caller requests. It ends `faults` in time. If all hosts are idle, it asks `outside()`
    what lab time must wait for outside the hosts, in words."""

    def __init__(
        self,
        start_at: LabTime,
        hosts: Callable[[], Sequence[Timed]],
        *,
        monotonic: Callable[[], float],
        changed: Callable[[str, float, LabTime], None],
        faults: Ending,
        outside: Callable[[], str] = str,
        still_limit_s: float = STILL_LIMIT_S,
    ) -> None:
        self._clock = LabClock(start_at, monotonic=monotonic)
        self._hosts = hosts
        self._changed = changed
        self._faults = faults
        self._outside = outside
        self._alarm: asyncio.TimerHandle | None = None
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
        """Let the clock run at `rate` from the present instant; 0 pauses it.

        Raises TimeTextError for a rate that is out of range.
        """
        rate = checked_rate(rate)
        async with self._jumping:
            await self._jump(self.now, rate)
        self._changed("rate" if rate else "pause", rate, self.now)

    async def pause(self) -> None:
        """Stop the clock where it is."""
        await self.set_rate(0.0)

    async def step(self, limit_at: LabTime | None = None) -> bool:
        """Jump to the next instant at which anything is due, and wait until the lab is quiet there.

        If nothing is due by `limit_at`, set the clock to `limit_at` and return False. Return False also if nothing is due at
        all. Raises TimeTextError as `warp` does.
        """
        check_not_after_end(limit_at or 0)
        with self._moving():
            await self._pause()
            await self._find_again()
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
        """Jump from due time to due time while the lab is quiet, up to and including `to_at`; then pause.

        With `holds`, stop at the first quiet instant at which `holds` returns true, and return its last result. Without
        `holds`, return True. Raises LabError if `to_at` is in the past, TimeTextError if `to_at` is after the end of lab
        time, and NotIdle if the lab does not become quiet.
        """
        check_not_after_end(to_at)
        with self._moving():
            return await self._warp(to_at, holds)

    async def _warp(self, to_at: LabTime, holds: Callable[[], bool] | None) -> bool:
        await self._pause()
        if to_at < self.now:
            raise LabError(f"lab time is {format_instant(self.now)} and cannot go back to {format_instant(to_at)}")
        self._changed("advance" if holds is None else "until", 0.0, to_at)
        await self._find_again()
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
        """Prevent jumps during a stimulus from outside. Yields the present lab time."""
        async with self._jumping:
            yield self.now

    async def at_rest(self, act: Callable[[], Awaitable[None]]) -> None:
        """Run `act` while all hosts are held; then the clock continues as before. While `act` runs, a mail in flight may still
        arrive, but no host begins anything new."""
        async with self._jumping:
            await self._jump(self.now, self.rate, act)

    # --- quiet

    def pulse(self) -> None:
        """Wake whoever waits for a quiet lab. A host calls this after a change that may make the lab quiet."""
        self._pulse.set()

    async def quiet(self) -> None:
        """Wait until the lab is quiet at the present instant. Raises NotIdle at the limits."""
        await self._look()
        began = self._activity()
        last_activity: int | None = None
        blocked_since_s: float | None = None
        while True:
            self._pulse.clear()
            self._check_failures()
            blocked_since_s = self._check_blocked(blocked_since_s)
            activity = self._activity()
            if self._any_busy():
                last_activity = None
                if activity - began > ACTIVITY_PER_INSTANT:
                    raise self._not_idle(f"still busy after {ACTIVITY_PER_INSTANT} stimuli at one instant")
                await self._wait_for_pulse(activity)
                await self._look()
            elif activity == last_activity:
                return
            else:
                # Let every task that can run do so between the two checks.
                last_activity = activity
                await asyncio.sleep(0)
                await self._look()

    def _check_blocked(self, since_s: float | None) -> float | None:
        """Return since when a host cannot write; None if all hosts can. Raises NotIdle after BLOCKED_LIMIT_S."""
        if not any(host.blocked for host in self._hosts()):
            return None
        now_s = asyncio.get_running_loop().time()
        if since_s is not None and now_s - since_s > BLOCKED_LIMIT_S:
            raise self._not_idle(f"nothing could be written for {BLOCKED_LIMIT_S:g} s; free space, then try again")
        return now_s if since_s is None else since_s

    async def _wait_for_pulse(self, activity: int) -> None:
        loop = asyncio.get_running_loop()
        give_up_s = loop.time() + self._still_limit_s
        warn_at_s = loop.time() + WARNING_S
        # The loop also checks at intervals, because nothing calls `pulse` when a client from outside disconnects during
        # a mail.
        while not self._pulse.is_set() and self._activity() == activity and self._any_busy():
            if loop.time() >= give_up_s:
                raise self._not_idle(f"nothing has happened for {self._still_limit_s:g} s of real time")
            if loop.time() >= warn_at_s:
                warn_at_s += WARNING_S
                log.warning("%s", self._not_idle("the lab waits"))
            await self._rest()

    async def _rest(self) -> None:
        """Wait until a host calls `pulse`, or for LOOK_AGAIN_S."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_AGAIN_S):
                await self._pulse.wait()

    async def _look(self) -> None:
        """Refresh the state of the hosts. Hosts in this process do not need it; `RemoteCoordinator` asks the others."""

    async def _announce_faults(self) -> None:
        """Wait until the hosts know which faults have ended. Hosts in this process know it already."""

    async def _find_again(self) -> None:
        """Ask the hosts that were passed over whether they answer again, so that a move begins with all living hosts."""

    def _any_busy(self) -> bool:
        return self._any_host_busy() or bool(self._outside())

    def _any_host_busy(self) -> bool:
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
        dues = [self._faults.next_end_at, *(host.next_due() for host in self._hosts())]
        return min((due_at for due_at in dues if due_at is not None), default=None)

    # --- the ends of faults

    def watch_faults(self) -> None:
        """End the next fault in time if the clock runs. The lab calls this when a fault begins or ends."""
        self.unwatch_faults()
        end_at = self._faults.next_end_at
        if self.rate and end_at is not None:
            after_s = max(0, end_at - self.now) / SECOND_US / self.rate
            self._alarm = asyncio.get_running_loop().call_later(after_s, self._end_faults)

    def unwatch_faults(self) -> None:
        """From now on, end no fault by a timer. The lab calls this when it closes."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _end_faults(self) -> None:
        self._faults.expire(self.now)
        self.watch_faults()

    # --- jumps

    async def _pause(self) -> None:
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
            times = await _all([host.hold() for host in hosts])
            self._clock.set_rate(0.0)
            # Clocks that ran until now differ a little. No clock goes back, so all are set to the latest time.
            at = max([at, self.now, *times])
            self._clock.jump(at)
            self._faults.expire(at)
            await self._announce_faults()
            self._clock.set_rate(rate)
            self.watch_faults()
            if act is not None:
                await act()
            await _all([host.set_clock(at, rate) for host in hosts])
        finally:
            await _all([host.go() for host in hosts])

    def _not_idle(self, why: str) -> NotIdle:
        busy = [f"server {host.name}: {reason}" for host in self._hosts() if (reason := host.busy(self.now))]
        at = format_instant(self.now)
        return NotIdle(f"{why}; not idle at {at}: {'; '.join(busy) or self._outside() or 'none'}")


async def _all(requests: Sequence[Awaitable[T]]) -> list[T]:
    """Wait until all hosts have done one phase of a jump. Return their answers, or raise the error of a host that failed."""
    tasks = [asyncio.ensure_future(request) for request in requests]
    if tasks:
        await asyncio.wait(tasks)
    return [task.result() for task in tasks]
