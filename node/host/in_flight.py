"""The mails in flight from one node, and their limits: in total and for one next hop.

A silent peer blocks each mail until a time limit ends the attempt. Mails to a silent peer must not use up the total
limit. So each next hop has its own limit, and the mails to a hop at its limit do not count towards the total.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, Final

from transport.envelope import Transmission

MAX_DELIVERIES: Final = 16
"""Largest number of mails in flight to hops below their limit. Further mails would only wait for the sender's connections."""

MAX_PER_HOP: Final = 8
"""Largest number of mails in flight to one next hop. So a silent peer cannot block more mails."""

REFILL_BELOW: Final = 8
"""Read the queue again when fewer mails than this are in flight, so that a long queue is read in batches."""


class MailsInFlight:
    """The queue rows that are in flight, each with the task that sends it."""

    def __init__(self) -> None:
        self._tasks: dict[int, asyncio.Future[Any]] = {}
        self._hop_of: dict[int, str] = {}
        self._outside: set[int] = set()
        self._to: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def ids(self) -> frozenset[int]:
        return frozenset(self._tasks)

    @property
    def tasks(self) -> list[asyncio.Future[Any]]:
        return list(self._tasks.values())

    @property
    def to_servers(self) -> list[asyncio.Future[Any]]:
        """The unfinished tasks that send mails to servers of the lab."""
        return [task for mail, task in self._tasks.items() if mail not in self._outside and not task.done()]

    def to(self, hops: Collection[str]) -> list[asyncio.Future[Any]]:
        """Return the tasks that send mails directly to these next hops, not to a relay in front of them."""
        return [self._tasks[mail] for mail, hop in self._hop_of.items() if hop in hops and mail not in self._outside]

    @property
    def crowded(self) -> frozenset[str]:
        """The next hops that have reached their limit."""
        return frozenset(hop for hop, count in self._to.items() if count >= MAX_PER_HOP)

    @property
    def room(self) -> int:
        """How many more deliveries may begin; 0 while REFILL_BELOW or more mails are in flight to hops below their limit."""
        total = sum(count for count in self._to.values() if count < MAX_PER_HOP)
        return MAX_DELIVERIES - total if total < REFILL_BELOW else 0

    def takes(self, next_hop: str) -> bool:
        return self._to[next_hop] < MAX_PER_HOP

    def begin(self, mail: Transmission, task: asyncio.Future[Any]) -> None:
        self._tasks[mail.queue_id] = task
        self._hop_of[mail.queue_id] = mail.next_hop
        self._to[mail.next_hop] += 1
        if mail.outside is not None:
            self._outside.add(mail.queue_id)

    def end(self, mail: Transmission) -> None:
        del self._tasks[mail.queue_id]
        self._outside.discard(mail.queue_id)
        hop = self._hop_of.pop(mail.queue_id)
        self._to[hop] -= 1
        if not self._to[hop]:
            del self._to[hop]


async def cancelled(tasks: Sequence[asyncio.Future[Any]]) -> None:
    """Cancel the tasks and wait until they have ended, with or without an error."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
