"""The clock of a simulated lab while it runs: it moves the lab in small steps as real time passes.

| state | what happens | it ends when |
|---|---|---|
| stopped | lab time stands, or a warp moves it | `run` is called |
| running | every TICK_S of real time, the lab moves to what the clock then shows | `stop` is called, or a step fails |

Between two steps, and between two instants of one step, the lab answers requests; a request gets the lab time of the last
instant. For example, at rate 3600 the clock shows 00:03 after the first tick, and 00:06 after the second: a post between them
is of 00:03, and a cycle that is due at 00:05 has exactly this time.

If a step takes long, because the machine is busy or was asleep, the clock is late and does not make up for it: one step moves
the lab by at most MOST_S of real time. So lab time waits for the lab, as in labs with sockets, and `stop` is never late.

What must never happen: a step at an instant before the one at which the lab is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from traces.labtime import SECOND_US

TICK_S: Final = 0.05
"""Real time between two steps."""

MOST_S: Final = 1.0
"""The most real time that one step makes up for."""


class RunningClock:
    """Moves a lab as real time passes.

    move: moves the lab by a number of microseconds of lab time.
    failed: called with the error of a move that has failed; the clock has then stopped.
    monotonic: returns real seconds that never go back.
    sleep: waits for a number of real seconds.
    """

    def __init__(
        self,
        move: Callable[[int], Awaitable[None]],
        failed: Callable[[Exception], None],
        monotonic: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._move = move
        self._failed = failed
        self._monotonic = monotonic
        self._sleep = sleep
        self._task: asyncio.Task[None] | None = None
        self.rate = 0.0

    def run(self, rate: float) -> None:
        """Run at `rate`, which is above 0, from now on. The clock is stopped."""
        self.rate = rate
        self._task = asyncio.create_task(self._run(rate), name="clock of a simulated lab")

    async def stop(self) -> None:
        """Stop. On return no step is under way."""
        self.rate = 0.0
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _run(self, rate: float) -> None:
        last_s, due_us = self._monotonic(), 0.0
        try:
            while True:
                await self._sleep(TICK_S)
                now_s = self._monotonic()
                due_us += min(now_s - last_s, MOST_S) * rate * SECOND_US
                last_s = now_s
                whole_us = int(due_us)  # at a low rate, a step is less than a microsecond
                due_us -= whole_us
                await self._move(whole_us)
        except Exception as error:
            self.rate = 0.0
            self._failed(error)
