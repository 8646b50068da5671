"""Lines for many readers: what a reader gets, and what happens to one that does not read."""

from __future__ import annotations

import asyncio

import pytest

from pflab.room.broadcast import MOST_WAITING, Broadcast, lines, new_queue


async def test_all_readers_get_the_same_bytes() -> None:
    """A line is encoded once: all readers get the same object, in the order in which it was sent."""
    broadcast, queues = Broadcast(), [new_queue() for _ in range(3)]
    with broadcast.reading(queues[0]), broadcast.reading(queues[1]), broadcast.reading(queues[2]):
        for number in range(3):
            broadcast.send("step", number, {"number": number})
    taken = [[queue.get_nowait() for _ in range(3)] for queue in queues]
    assert taken[0] == [b'id: %d\nevent: step\ndata: {"number":%d}\n\n' % (number, number) for number in range(3)]
    assert all(ours is theirs for other in taken[1:] for ours, theirs in zip(taken[0], other, strict=True))


async def test_a_reader_that_does_not_read_is_cut_off() -> None:
    """When the limit of waiting lines is reached, the stream of that reader ends, and the others get everything."""
    broadcast, slow, quick = Broadcast(), new_queue(), new_queue()
    with broadcast.reading(slow), broadcast.reading(quick):
        taken = []
        for number in range(MOST_WAITING + 5):
            broadcast.send("step", number, number)
            taken.append(quick.get_nowait())
        assert len(broadcast) == 1
    assert len(set(taken)) == MOST_WAITING + 5
    assert [line async for line in lines(slow)] == []


async def test_a_reader_that_leaves_as_a_line_comes_has_left() -> None:
    """A stream that is cancelled at the moment of a line ends. One that went on would keep its pupil in the class for ever."""
    queue = new_queue()
    reading = asyncio.ensure_future(anext(lines(queue)))
    await asyncio.sleep(0)
    queue.put_nowait(b"line")
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
