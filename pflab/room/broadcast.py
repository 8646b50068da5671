"""Lines for many readers: each is encoded once, and the same bytes go to all.

A reader that does not take its lines is cut off when MOST_WAITING of them wait. It asks again, and begins with the present
state, so it misses nothing that still holds.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Any, Final

import msgspec

MOST_WAITING: Final = 64
"""How many lines may wait for a reader: more than a minute of a lesson with a vote in each."""

ALIVE_S: Final = 15.0
"""Real time of silence after which a reader gets a comment, because proxies end connections that are silent."""

Line = bytes
Queue = asyncio.Queue[Line | None]


class Broadcast:
    """The readers of one kind of lines. A line that ends a stream is None."""

    def __init__(self) -> None:
        self._readers: set[Queue] = set()

    def __len__(self) -> int:
        return len(self._readers)

    def send(self, name: str, number: int, value: Any) -> None:
        """Send a value to all readers, as an event with a name and a number."""
        if not self._readers:
            return
        line = line_of(name, number, value)
        for reader in [*self._readers]:
            if reader.full():
                self.cut(reader)
            else:
                reader.put_nowait(line)

    @contextmanager
    def reading(self, queue: Queue) -> Iterator[None]:
        """Let a queue get the lines inside the block."""
        self._readers.add(queue)
        try:
            yield
        finally:
            self._readers.discard(queue)

    def cut(self, queue: Queue) -> None:
        """End the stream of a queue. What waits in it is lost."""
        self._readers.discard(queue)
        cut(queue)

    def close(self) -> None:
        """End all streams."""
        for reader in [*self._readers]:
            self.cut(reader)


def new_queue() -> Queue:
    return asyncio.Queue(MOST_WAITING)


def cut(queue: Queue) -> None:
    """End the stream of a queue."""
    while not queue.empty():
        queue.get_nowait()
    queue.put_nowait(None)


def line_of(name: str, number: int, value: Any) -> Line:
    """Return a value as a server-sent event."""
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (number, name.encode(), msgspec.json.encode(value))


async def lines(queue: Queue) -> AsyncGenerator[Line, None]:
    """Yield the lines of a queue as they come, until its stream is ended."""
    while True:
        try:
            async with asyncio.timeout(ALIVE_S):
                line = await queue.get()
        except TimeoutError:
            yield b": alive\n\n"
            continue
        if line is None:
            return
        yield line
