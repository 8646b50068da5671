"""How the HTTP server of a node or a lab ends, and how it answers errors of the system."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import sqlite3
import struct
from collections.abc import AsyncIterator
from typing import Any

import pytest

from node.api.app import Api
from node.api.asgi import Request, Response
from node.api.events import streamed
from node.api.http_server import HttpServer
from node.api.routing.routes import Routes
from pflab.client import Client, ClientError, url_at


async def streaming(_: Any, __: Any, send: Any) -> None:
    """Answer without end, and ignore that the client hangs up."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"first", "more_body": True})
    await asyncio.Event().wait()


async def thinking(_: Any, __: Any, ___: Any) -> None:
    """Never answer."""
    await asyncio.Event().wait()


@pytest.mark.parametrize("app", [streaming, thinking])
async def test_an_endless_response_is_cut_without_an_error(app: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A server ends although a request is running, and logs neither an error nor a traceback."""
    caplog.set_level(logging.WARNING)
    server = HttpServer(app)
    reader, writer = await asyncio.open_connection(*await server.start())
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await writer.drain()
    if app is streaming:
        await reader.readuntil(b"first")
    await server.stop()
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await reader.readexactly(1_000_000)
    writer.close()
    assert not caplog.records


async def reading(scope: Any, receive: Any, _: Any) -> None:
    """Read the body of the request, as every request that changes something does."""
    await Request(scope, receive).body()


async def test_a_client_that_hangs_up_in_a_body_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    """A body that breaks off ends its request without an error or a traceback in the log."""
    caplog.set_level(logging.WARNING)
    server = HttpServer(reading)
    _, writer = await asyncio.open_connection(*await server.start())
    writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf")
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    await server.stop()
    assert not caplog.records


async def test_a_slow_client_delays_no_other() -> None:
    """While a client has sent only a part of its request, the others are answered."""
    routes = Routes[None]()

    @routes.post("/echo")
    async def echo(_: None, request: Request) -> Response:
        return Response(await request.body())

    server = HttpServer(Api(routes.serving(lambda: None)))
    address = await server.start()
    head = b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n"
    slow_reader, slow = await asyncio.open_connection(*address)
    slow.write(head + b"sl")
    reader, writer = await asyncio.open_connection(*address)
    for _ in range(7):
        writer.write(head + b"fast")
        assert (await reader.readuntil(b"fast")).startswith(b"HTTP/1.1 200")
    slow.write(b"ow")
    assert (await slow_reader.readuntil(b"slow")).startswith(b"HTTP/1.1 200")
    slow.close()
    writer.close()
    await server.stop()


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/lab/x"), 507, "CannotWrite"),
        (OSError(errno.EMFILE, "Too many open files"), 507, "CannotWrite"),
        (MemoryError(), 507, "CannotWrite"),
        (OSError(errno.ENOENT, "No such file", "/lab/x"), 500, "InternalError"),
        (sqlite3.OperationalError("no such table: x"), 500, "InternalError"),
    ],
)
async def test_a_full_disk_is_no_internal_error(error: Exception, status: int, kind: str) -> None:
    """An error of the system that passes is 507, whatever part of the lab meets it; others are internal errors."""
    routes = Routes[None]()

    @routes.get("/fails")
    async def fails(_: None) -> Response:
        raise error

    server = HttpServer(Api(routes.serving(lambda: None)))
    address = await server.start()
    try:
        with Client(url_at(address)) as client, pytest.raises(ClientError) as refused:
            await asyncio.to_thread(client.json, "GET", "/fails")
    finally:
        await server.stop()
    assert (refused.value.status, refused.value.kind) == (status, kind)


async def test_a_stream_ends_soon_after_its_client_has_gone(caplog: pytest.LogCaptureFixture) -> None:
    """If a client disconnects while many events are sent, asyncio logs no warning about writes to a closed connection."""
    caplog.set_level(logging.WARNING)
    sent = asyncio.Event()
    client = socket.socket()

    async def many() -> AsyncIterator[bytes]:
        yield b": begin\n\n"
        await sent.wait()
        client.close()  # with a reset, so that the next write fails
        for number in range(100):
            yield b"id: %d\ndata: x\n\n" % number

    server = HttpServer(streamed(many()))
    host, port = await server.start()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(client, (host, port))
    await loop.sock_sendall(client, f"GET /stream HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    while b": begin" not in await loop.sock_recv(client, 4096):
        pass
    sent.set()
    for _ in range(200):
        await asyncio.sleep(0)
    await server.stop()
    assert not [each for each in caplog.messages if "socket.send()" in each]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/nodes/A/messages", True),
        ("POST", "/nodes/A/messages/send", True),
        ("PATCH", "/nodes/A/messages/1?folder=Projects", True),
        ("GET", "/nodes/A/state?folder=Projects", True),
        ("GET", "/nodes/A/backup", False),
        ("POST", "/nodes/A/folders", False),
        ("POST", "/nodes/A/send", False),
        ("POST", "/nodes/A/synchronize", False),
        ("POST", "/nodes/A/replicas", False),
        ("PATCH", "/nodes/A/settings", False),
        ("DELETE", "/nodes/A/folders/messages", False),
        ("POST", "/lab/clock/advance", False),
    ],
)
async def test_users_cannot_administer(method: str, path: str, allowed: bool) -> None:
    """With the token for users a program reads and changes messages; the rest is for administrators (AD-1)."""

    async def accepting(_: Any, __: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    def status_of(token: str) -> int:
        with Client(url, token=token) as client:
            try:
                client.text(method, path)
            except ClientError as error:
                return error.status
        return 200

    server = HttpServer(accepting, token="all", users_token="some")
    url = url_at(await server.start())
    try:
        statuses = [await asyncio.to_thread(status_of, token) for token in ("all", "some", "none")]
    finally:
        await server.stop()
    assert statuses == [200, 200 if allowed else 403, 401]


async def test_a_client_cannot_choose_its_address() -> None:
    """The header field of a proxy does not make a client one whose address is trusted."""

    async def accepting(_: Any, __: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    server = HttpServer(accepting, token="all", trusted=frozenset({"192.0.2.1"}))
    host, port = await server.start()
    try:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(b"GET /lab HTTP/1.0\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n")
        status = await reader.readline()
        writer.close()
    finally:
        await server.stop()
    assert status == b"HTTP/1.1 401 Unauthorized\r\n"


async def test_a_shared_listener_lets_clients_wait_for_the_next_server() -> None:
    """Between two servers of one socket a client is not refused: the next server answers it."""
    routes = Routes[None]("")

    @routes.get("/here")
    async def here(_: None) -> Response:
        """Answer."""
        return Response(b"here")

    first = HttpServer(Api(routes.serving(lambda: None)))
    host, port = await first.start()
    with first.share_listener() as door:
        await first.stop()
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(b"GET /here HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        following = HttpServer(Api(routes.serving(lambda: None)), listener=door.dup())
        assert await following.start() == (host, port)
        assert (await reader.read()).endswith(b"here")
        writer.close()
        await following.stop()
