"""Real time that passes only when a test says so."""

from __future__ import annotations

import asyncio

_MOST_TURNS = 100_000
"""A task that was woken and takes so many turns of the event loop hangs."""


class RealTime:
    """A monotonic clock, and sleepers who wake when a test lets time pass."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self._sleepers: list[tuple[float, asyncio.Event]] = []

    def monotonic(self) -> float:
        return self.now_s

    async def sleep(self, seconds: float) -> None:
        sleeper = (self.now_s + seconds, asyncio.Event())
        self._sleepers.append(sleeper)
        try:
            await sleeper[1].wait()
        finally:
            self._sleepers.remove(sleeper)

    async def let_pass(self, seconds: float) -> None:
        """Let time pass; whoever sleeps wakes at his time, and works until he sleeps again."""
        end_s = self.now_s + seconds
        await self._until_asleep()
        while self._sleepers and (first := min(self._sleepers, key=lambda each: each[0]))[0] <= end_s:
            self.now_s = max(self.now_s, first[0])
            first[1].set()
            await self._until_asleep()
        self.now_s = max(self.now_s, end_s)

    def oversleep(self, seconds: float) -> None:
        """Let time pass while nobody can wake, as when the machine is asleep."""
        self.now_s += seconds

    async def _until_asleep(self) -> None:
        """Let the tasks run until somebody sleeps whom nobody has woken; or, if nobody sleeps any more, for some turns."""
        for turn in range(_MOST_TURNS):
            await asyncio.sleep(0)
            if all(not woken.is_set() for _, woken in self._sleepers) and (self._sleepers or turn > 10):
                return
        raise AssertionError("a task that was woken never sleeps again")
