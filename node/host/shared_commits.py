"""Stimuli from outside that are ready at about the same time share one transaction, and are answered after its commit.

    turn n          sockets are read: three requests and a mail are complete
    turn n + 1      their tasks add a stimulus each, and wait
    turn n + 7      no other stimulus has come: the four run in one transaction, and each task gets its result or its error

The first stimulus plans the transaction, which begins after QUIET_TURNS turns of the loop without a new stimulus. An empty
turn takes about 15 us, and a request takes two turns from its socket to here. A timer would be too coarse, because asyncio's
timers count whole milliseconds.

What must never happen:

- A result before the commit (spec: IN-2). So the stimuli run in one call, which returns after the commit.
- A transaction that lasts long. So it has at most MOST_SHARED stimuli and about MOST_BYTES.
- A stimulus that nobody waits for any more: a cancelled one does not run.
- A host that counts as idle while a stimulus waits here. So the host asks for `len`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from traces.labtime import LabTime

if TYPE_CHECKING:
    from node.store.lifecycle import Outcome
    from node.store.node import Node

T = TypeVar("T")

Act = Callable[["Node", LabTime], T]

MOST_SHARED: Final = 64
MOST_BYTES: Final = 1024 * 1024

QUIET_TURNS: Final = 6


@dataclass(slots=True)
class _Waiting:
    act: Act[Any]
    size: int
    future: asyncio.Future[Any]


class SharedCommits:
    """Collects stimuli. run: runs stimuli in one transaction, and returns the outcome of each."""

    def __init__(self, run: Callable[[Sequence[Act[Any]]], Sequence[Outcome]]) -> None:
        self._run_together = run
        self._waiting: deque[_Waiting] = deque()
        self._planned = False

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, act: Act[T], size: int) -> asyncio.Future[T]:
        """Add a stimulus of about `size` bytes. The future has its result when the change is durable."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._waiting.append(_Waiting(act, size, future))
        if not self._planned:
            self._planned = True
            loop.call_soon(self._turn, QUIET_TURNS, 0)
        return future

    def _turn(self, turns: int, previous_count: int) -> None:
        """Wait for another turn, or run what waits. known: how many stimuli waited at the last turn."""
        count = len(self._waiting)
        if count >= MOST_SHARED or (count == previous_count and not turns):
            self.run()
        else:
            turns_left = turns - 1 if count == previous_count else QUIET_TURNS
            asyncio.get_running_loop().call_soon(self._turn, turns_left, count)

    def run(self) -> None:
        """Run all stimuli that wait."""
        self._planned = False
        while group := self._next_group():
            try:
                outcomes = self._run_together([waiting.act for waiting in group])
            except BaseException as error:
                for waiting in group:
                    _fail(waiting.future, error)
                if not isinstance(error, Exception):
                    raise
                continue
            for waiting, outcome in zip(group, outcomes, strict=True):
                if outcome.error is None:
                    waiting.future.set_result(outcome.result)
                else:
                    _fail(waiting.future, outcome.error)

    def _next_group(self) -> list[_Waiting]:
        group: list[_Waiting] = []
        size = 0
        while self._waiting and len(group) < MOST_SHARED:
            waiting = self._waiting[0]
            if group and size + waiting.size > MOST_BYTES:
                break
            self._waiting.popleft()
            if not waiting.future.cancelled():
                size += waiting.size
                group.append(waiting)
        return group


def _fail(future: asyncio.Future[Any], error: BaseException) -> None:
    future.set_exception(error)
    future.exception()  # a task that is cancelled now does not ask for it any more, which asyncio would log
