"""The mails in flight from one node: how many may be, and how many for one next server.

A peer that is silent keeps each mail until a time limit ends the attempt. Its mails must not take the room of those for
others, so each next hop has a cap, and a hop that has reached it counts for nothing else.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from transport.envelope import Transmission

MAX_DELIVERIES: Final = 16
"""Mails in flight at once to hops below their cap; more would only wait for the sender's connections."""

MAX_PER_HOP: Final = 8
"""Mails in flight to one next hop; so many may a silent peer hold."""

REFILL_BELOW: Final = 8
"""At so few in flight the queue is read again, so that a long queue is read in batches."""


class Flights:
    """Which queue rows are under way, each by a task of its own."""

    def __init__(self) -> None:
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._hop_of: dict[int, str] = {}
        self._to: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def ids(self) -> frozenset[int]:
        return frozenset(self._tasks)

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        return list(self._tasks.values())

    def to(self, hops: Collection[str]) -> list[asyncio.Task[None]]:
        """Those to these next hops."""
        return [self._tasks[mail] for mail, hop in self._hop_of.items() if hop in hops]

    @property
    def crowded(self) -> frozenset[str]:
        """Next hops that get no more for now."""
        return frozenset(hop for hop, count in self._to.items() if count >= MAX_PER_HOP)

    @property
    def room(self) -> int:
        """How many more may be begun; 0 until enough have ended that reading the queue is worth it."""
        counted = sum(count for count in self._to.values() if count < MAX_PER_HOP)
        return MAX_DELIVERIES - counted if counted < REFILL_BELOW else 0

    def takes(self, next_hop: str) -> bool:
        return self._to[next_hop] < MAX_PER_HOP

    def begin(self, mail: Transmission, task: asyncio.Task[None]) -> None:
        self._tasks[mail.queue_id] = task
        self._hop_of[mail.queue_id] = mail.next_hop
        self._to[mail.next_hop] += 1

    def end(self, mail: Transmission) -> None:
        del self._tasks[mail.queue_id]
        hop = self._hop_of.pop(mail.queue_id)
        self._to[hop] -= 1
        if not self._to[hop]:
            del self._to[hop]


async def cancelled(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancel the tasks and see them end, however they do."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
