"""Bounds on what outsiders can make an HTTP server hold: connections, time, and incoming bodies."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest

from node.api.access import Guard
from node.api.asgi import Receive, Scope, Send
from node.api.http_server import HttpLimits, HttpServer

WAIT_S = 10.0
LARGE_BYTES = 32 * 1024 * 1024
"""More than the buffers of a connection hold."""
HEAD = b"POST /messages HTTP/1.1\r\nHost: localhost\r\n"
LINE = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def read_body(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that reads a body and answers 200. The answer to /stream does not end, and that to /large is large."""
    while (message := await receive()).get("more_body"):
        assert message["type"] == "http.request"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    is_stream = scope["path"] == "/stream"
    body = {"/stream": b"x", "/large": b"x" * LARGE_BYTES}.get(scope["path"], b"")
    await send({"type": "http.response.body", "body": body, "more_body": is_stream})
    if is_stream:
        while (await receive())["type"] != "http.disconnect":
            pass


class Connection:
    """A connection of a client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def say(self, *pieces: bytes) -> None:
        self._writer.write(b"".join(pieces))
        with suppress(ConnectionError):
            await self._writer.drain()

    async def answer(self) -> bytes:
        """Return the status line; b'' if the server has hung up."""
        with suppress(ConnectionError):
            return await asyncio.wait_for(self._reader.readline(), WAIT_S)
        return b""

    async def rest(self) -> int:
        """Return how many bytes come until the server hangs up."""
        size = 0
        with suppress(ConnectionError):
            while piece := await asyncio.wait_for(self._reader.read(1 << 20), WAIT_S):
                size += len(piece)
        return size

    async def close(self) -> None:
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


class BoundedServer:
    """A server with small limits, and its clients."""

    def __init__(self) -> None:
        self.server: HttpServer | None = None
        self.lines: list[Connection] = []

    async def line(self, limits: HttpLimits, bodies_bytes: int = 1 << 20) -> Connection:
        if self.server is None:
            self.server = HttpServer(read_body, limits=limits, bodies_bytes=bodies_bytes)
            await self.server.start()
        line = Connection(*await asyncio.open_connection(*self.server.address))
        self.lines.append(line)
        return line

    async def without_connections(self) -> None:
        """Wait until the server has closed all connections."""
        assert self.server is not None
        async with asyncio.timeout(WAIT_S):
            while self.server._server.server_state.connections:  # noqa: ASYNC110 - uvicorn tells nobody
                await asyncio.sleep(0.01)


@pytest.fixture
async def place() -> AsyncIterator[BoundedServer]:
    place = BoundedServer()
    yield place
    for line in place.lines:
        await line.close()
    if place.server is not None:
        await place.server.stop()


WHOLE = HEAD + b"Content-Length: 0\r\n\r\n"
STREAM = WHOLE.replace(b"/messages", b"/stream")
LARGE = WHOLE.replace(b"/messages", b"/large")


@pytest.mark.parametrize("limits", [HttpLimits(connections=2), HttpLimits(connections=10, client_connections=2)])
async def test_connections_are_counted(place: BoundedServer, limits: HttpLimits) -> None:
    """If all connections, or those of one address, get an answer, one more is told to come again; there is room once another
    has ended."""
    first, second = [await place.line(limits) for _ in range(2)]
    for line in (first, second):
        await line.say(STREAM)
        assert b" 200 " in await line.answer()
    third = await place.line(limits)
    assert b" 503 " in await third.answer()
    await second.close()
    fourth = await place.line(limits)
    await fourth.say(WHOLE)
    assert b" 200 " in await fourth.answer()


@pytest.mark.parametrize("limits", [HttpLimits(connections=3), HttpLimits(connections=10, client_connections=3)])
async def test_connections_without_a_request_make_room(place: BoundedServer, limits: HttpLimits) -> None:
    """A client that opens connections and sends no whole request does not lock out others, even from the same address."""
    kept = await place.line(limits)
    await kept.say(WHOLE)
    assert b" 200 " in await kept.answer()
    stalled = [await place.line(limits) for _ in range(20)]
    for line in stalled[-2:]:
        await line.say(HEAD)
    late = await place.line(limits)
    await late.say(WHOLE)
    assert b" 200 " in await late.answer()
    assert await stalled[-2].answer() == b""
    await kept.say(WHOLE)
    assert await anext(_rest(kept)) == b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize("ways", [{"connections": 2}, {"connections": 10, "client_connections": 2}])
async def test_a_client_that_takes_no_answers_makes_room(place: BoundedServer, ways: dict[str, int]) -> None:
    """A client that asks for large answers and reads none of them does not lock out others, even from the same address."""
    limits = HttpLimits(**ways, stuck_s=0.0)
    for _ in range(2):
        line = await place.line(limits)
        await line.say(LARGE)
        assert b" 200 " in await line.answer()
    late = await place.line(limits)
    await late.say(WHOLE)
    assert b" 200 " in await late.answer()


async def test_a_client_that_takes_no_answers_is_disconnected(place: BoundedServer) -> None:
    """A client that asks for a large answer and does not read it is disconnected before the answer ends."""
    line = await place.line(HttpLimits(head_s=1.0, taken_s=0.1))
    await line.say(LARGE)
    assert b" 200 " in await line.answer()
    await place.without_connections()
    assert await line.rest() < LARGE_BYTES


async def test_streams_of_one_client_are_counted() -> None:
    """Event streams do not end by themselves, so one address may open only some; other requests are answered."""
    ended = asyncio.Event()
    told: list[tuple[str, int]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})
        if scope["path"].endswith("/stream"):
            await ended.wait()

    async def ask(path: str, client: str) -> None:
        async def send(message: Any) -> None:
            if "status" in message:
                told.append((path, message["status"]))

        async def receive() -> Any:
            return {"type": "http.disconnect"}

        headers = [(b"host", b"localhost")]
        scope = {"type": "http", "method": "GET", "path": path, "headers": headers, "client": (client, 1)}
        await guard(scope, receive, send)

    guard = Guard(app, streams=2)
    paths = ["/lab/stream", "/nodes/A/stream", "/stream", "/lab"]
    asked = [asyncio.ensure_future(ask(path, "10.0.0.1")) for path in paths]
    asked.append(asyncio.ensure_future(ask("/stream", "10.0.0.2")))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert told == [(paths[0], 200), (paths[1], 200), (paths[2], 429), (paths[3], 200), ("/stream", 200)]
    ended.set()
    await asyncio.gather(*asked)
    await ask("/stream", "10.0.0.1")
    assert told[-1] == ("/stream", 200)


@pytest.mark.parametrize(
    "said", [b"", HEAD, HEAD + b"Content-Length: 9\r\n\r\nhalf", HEAD + b"Content-Length: 0\r\n\r\n" + HEAD]
)
async def test_a_stalled_request_is_closed(place: BoundedServer, said: bytes) -> None:
    """A client that begins a request, or only a connection, and then sends nothing is disconnected."""
    line = await place.line(HttpLimits(head_s=0.05, body_s=0.1))
    await line.say(said)
    answers = [each async for each in _rest(line)]
    assert [each for each in answers if each.startswith(b"HTTP/1.1 2")] == answers[: said.count(b" 0\r\n")]


@pytest.mark.parametrize("said", [b"no request\r\n\r\n", HEAD + b"Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n"])
async def test_wrong_requests_do_not_fill_the_log(
    place: BoundedServer, said: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """Outsiders can send wrong requests without end, so the log does not get a line for each."""
    with caplog.at_level(logging.WARNING):
        line = await place.line(HttpLimits())
        await line.say(said)
        assert await line.answer() != b""
    assert caplog.records == []


async def _rest(line: Connection) -> AsyncIterator[bytes]:
    while answer := await line.answer():
        if answer.startswith(b"HTTP/"):
            yield answer


async def test_the_answer_has_no_time_limit(place: BoundedServer) -> None:
    """The time limits apply to reading a request; a body that arrives in time is accepted."""
    line = await place.line(HttpLimits(head_s=0.05, body_s=WAIT_S))
    await line.say(HEAD, b"Content-Length: 8\r\n\r\nhalf")
    ended = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0.2, ended.set_result, None)
    await ended
    await line.say(b"half")
    assert b" 200 " in await line.answer()


async def test_incoming_bodies_share_one_limit(place: BoundedServer) -> None:
    """Many bodies at once have one limit together; one over it is told to come again, and its room is freed."""
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
