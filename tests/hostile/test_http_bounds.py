"""Bounds on what outsiders can make an HTTP server hold: connections, time, and incoming bodies."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest

from node.api.access import Guard, Receive, Scope, Send
from node.api.http_server import HttpLimits, HttpServer

WAIT_S = 10.0
HEAD = b"POST /messages HTTP/1.1\r\nHost: localhost\r\n"
LINE = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def read_body(_: Scope, receive: Receive, send: Send) -> None:
    """An application that reads a body and answers 200."""
    while (message := await receive()).get("more_body"):
        assert message["type"] == "http.request"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


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


@pytest.fixture
async def place() -> AsyncIterator[BoundedServer]:
    place = BoundedServer()
    yield place
    for line in place.lines:
        await line.close()
    if place.server is not None:
        await place.server.stop()


async def test_connections_are_counted(place: BoundedServer) -> None:
    """A connection over the limit is told to come again, and there is room once another has ended."""
    limits = HttpLimits(connections=2)
    first, second, third = [await place.line(limits) for _ in range(3)]
    assert b" 503 " in await third.answer()
    await second.close()
    await first.say(HEAD, b"Content-Length: 0\r\n\r\n")
    assert b" 200 " in await first.answer()
    fourth = await place.line(limits)
    await fourth.say(HEAD, b"Content-Length: 0\r\n\r\n")
    assert b" 200 " in await fourth.answer()


async def test_one_client_leaves_connections_to_others(place: BoundedServer) -> None:
    """One address gets only a part of the connections."""
    limits = HttpLimits(connections=10, client_connections=2)
    lines = [await place.line(limits) for _ in range(3)]
    assert b" 503 " in await lines[2].answer()
    await lines[0].say(HEAD, b"Content-Length: 0\r\n\r\n")
    assert b" 200 " in await lines[0].answer()


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
