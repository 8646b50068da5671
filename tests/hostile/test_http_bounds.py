"""What strangers can make an HTTP server keep is bounded: connections, time, and bodies on their way in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from node.api.access import Receive, Scope, Send
from node.api.http_server import HttpLimits, HttpServer

WAIT_S = 10.0
HEAD = b"POST /messages HTTP/1.1\r\nHost: localhost\r\n"
LINE = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def swallow(_: Scope, receive: Receive, send: Send) -> None:
    """An application that reads a body and says 200."""
    while (message := await receive()).get("more_body"):
        assert message["type"] == "http.request"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


class Line:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def say(self, *pieces: bytes) -> None:
        self._writer.write(b"".join(pieces))
        with suppress(ConnectionError):
            await self._writer.drain()

    async def answer(self) -> bytes:
        """The status line; b'' where the server has hung up."""
        with suppress(ConnectionError):
            return await asyncio.wait_for(self._reader.readline(), WAIT_S)
        return b""

    async def close(self) -> None:
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


class Place:
    """A server with small limits, and those who ask it."""

    def __init__(self) -> None:
        self.server: HttpServer | None = None
        self.lines: list[Line] = []

    async def line(self, limits: HttpLimits, bodies_bytes: int = 1 << 20) -> Line:
        if self.server is None:
            self.server = HttpServer(swallow, limits=limits, bodies_bytes=bodies_bytes)
            await self.server.start()
        line = Line(*await asyncio.open_connection(*self.server.address))
        self.lines.append(line)
        return line


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    place = Place()
    yield place
    for line in place.lines:
        await line.close()
    if place.server is not None:
        await place.server.stop()


async def test_connections_are_counted(place: Place) -> None:
    """A connection too many is told to come again, and there is room once another has gone."""
    limits = HttpLimits(connections=2)
    first, second, third = [await place.line(limits) for _ in range(3)]
    assert b" 503 " in await third.answer()
    await second.close()
    await first.say(HEAD, b"Content-Length: 0\r\n\r\n")
    assert b" 200 " in await first.answer()
    fourth = await place.line(limits)
    await fourth.say(HEAD, b"Content-Length: 0\r\n\r\n")
    assert b" 200 " in await fourth.answer()


@pytest.mark.parametrize(
    "said", [b"", HEAD, HEAD + b"Content-Length: 9\r\n\r\nhalf", HEAD + b"Content-Length: 0\r\n\r\n" + HEAD]
)
async def test_a_request_that_does_not_go_on_ends(place: Place, said: bytes) -> None:
    """Whoever begins a request, or only a connection, and says no more does not keep it."""
    line = await place.line(HttpLimits(head_s=0.05, body_s=0.1))
    await line.say(said)
    answers = [each async for each in _rest(line)]
    assert [each for each in answers if each.startswith(b"HTTP/1.1 2")] == answers[: said.count(b" 0\r\n")]


async def _rest(line: Line) -> AsyncIterator[bytes]:
    while answer := await line.answer():
        if answer.startswith(b"HTTP/"):
            yield answer


async def test_a_request_under_way_is_not_cut_for_time(place: Place) -> None:
    """The limits are for whoever asks; a body that keeps within its time is taken."""
    line = await place.line(HttpLimits(head_s=0.05, body_s=WAIT_S))
    await line.say(HEAD, b"Content-Length: 8\r\n\r\nhalf")
    ended = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0.2, ended.set_result, None)
    await ended
    await line.say(b"half")
    assert b" 200 " in await line.answer()


async def test_bodies_on_their_way_in_share_one_limit(place: Place) -> None:
    """Many bodies at once are bounded together; one too many is told to come again, and nothing stays taken."""
    limits = HttpLimits()
    first = await place.line(limits, bodies_bytes=1000)
    await first.say(HEAD, b"Content-Length: 900\r\n\r\n", b"x" * 800)
    second = await place.line(limits)
    await second.say(HEAD, b"Content-Length: 300\r\n\r\n", b"x" * 300)
    assert b" 503 " in await second.answer()
    await first.say(b"x" * 100)
    assert b" 200 " in await first.answer()
    third = await place.line(limits)
    await third.say(HEAD, b"Content-Length: 900\r\n\r\n", b"x" * 900)
    assert b" 200 " in await third.answer()
