"""The lab clock of one node: lab time as a linear function of a monotonic clock. It never goes back. # spec: TM-1

Between two changes of the clock, the lab time is ``anchor + (monotonic - anchor's monotonic) * rate``. At rate 1 lab time is
as fast as real time, at rate 3600 an hour of lab time passes in each second, and at rate 0 the clock is paused. This is the
only place in a running node that converts machine time into lab time.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from traces.labtime import END_AT, SECOND_US, LabTime, check_not_after_end, checked_rate, format_instant

LONGEST_TIMER_S = 3600.0
"""The longest real timer; a longer wait is split, so that float seconds stay exact enough."""


class ClockError(Exception):
    """A request that a lab clock cannot fulfil. The message says what would be right."""


class LabClock:
    """A clock of lab time. It is not thread-safe.

    `monotonic` returns real seconds that never go back (``time.monotonic`` in a running lab, a fake in tests).
    """

    def __init__(self, start_at: LabTime, *, rate: float = 0.0, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._anchor_at = start_at
        self._anchor_s = monotonic()
        self._rate = checked_rate(rate)

    @property
    def rate(self) -> float:
        """Lab seconds per real second; 0 is paused."""
        return self._rate

    def now(self) -> LabTime:
        """Return the present lab time, never earlier than at the previous call. At END_AT the clock stops."""
        if not self._rate:
            return self._anchor_at
        passed_s = max(0.0, self._monotonic() - self._anchor_s)
        return min(END_AT, self._anchor_at + int(passed_s * self._rate * SECOND_US))

    def set_rate(self, rate: float) -> None:
        """Continue from the present instant at another rate. Raises TimeTextError as `checked_rate` does."""
        rate = checked_rate(rate)
        self._settle_at(self.now())
        self._rate = rate

    def jump(self, to_at: LabTime) -> None:
        """Move forward to `to_at`; the rate stays. Raises ClockError for the past, TimeTextError after the end of lab time."""
        now = self.now()
        check_not_after_end(to_at)
        if to_at < now:
            raise ClockError(f"the lab clock shows {format_instant(now)} and cannot go back to {format_instant(to_at)}")
        self._settle_at(to_at)

    def real_seconds_to(self, at: LabTime) -> float | None:
        """Return the real time to wait before the next look at the clock; None while it is paused."""
        if not self._rate:
            return None
        # Rounded up to a µs, because a timer that fires too early would only be set again.
        return min(LONGEST_TIMER_S, ceil((at - self.now()) / self._rate) / SECOND_US)

    def _settle_at(self, at: LabTime) -> None:
        self._anchor_at = at
        self._anchor_s = self._monotonic()
