"""The lab's HTTP server forwards requests to its nodes' processes, which can end at any moment."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import MutableMapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from pflab.server.proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

AT_ONCE = struct.pack("ii", 1, 0)
"""SO_LINGER: no goodbye, but a reset, as the kernel says for a process that was killed."""


@asynccontextmanager
async def _killed() -> AsyncIterator[tuple[str, int]]:
    """A server that is killed as soon as a client has connected."""

    async def reset(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line: socket.socket = writer.get_extra_info("socket")
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        writer.transport.abort()

    server = await asyncio.start_server(reset, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()


async def test_a_server_that_is_killed_before_it_was_asked_is_a_bad_gateway() -> None:
    """A server killed between the connection and the request gives 502, so that the client asks again."""
    asked = asyncio.Event()
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        if not asked.is_set():
            asked.set()
            return {"type": "http.request", "body": b"{}", "more_body": False}
        return await asyncio.get_running_loop().create_future()  # the client stays

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/nodes/A/folders", "raw_path": b"/nodes/A/folders"}
    async with _killed() as address:
        proxy = Proxy(lambda _name: (address[0], address[1]), lambda _name, head: head, "token")
        await proxy({**scope, "query_string": b"", "headers": [], "root_path": ""}, receive, send)
    assert sent[0]["status"] == 502
    assert json.loads(sent[1]["body"])["detail"] == "the server ended before it answered"
