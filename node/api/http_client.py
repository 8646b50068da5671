"""HTTP between processes of a lab: a small client with persistent connections, for short requests.

It supports the part of HTTP/1.1 that uvicorn answers with: a status, headers, a body of declared length. Every request through
this client may be repeated safely. So if a persistent connection is dead, the request is sent again on a new one.
"""

from __future__ import annotations

import asyncio
from typing import Final

from node.errors import NodeError
from transport.connecting import CONNECT_S, connecting

Address = tuple[str, int]

MOST_HEADER_BYTES: Final = 64 * 1024

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Unanswered(NodeError):
    """Another process of the lab did not answer."""


class HttpLine:
    """Requests to one address. Several may be open at a time; each then has its own connection.

    connect_s: real time until a connection must be open.
    """

    def __init__(self, address: Address, token: str | None = None, *, connect_s: float = CONNECT_S) -> None:
        self.address = address
        self._connect_s = connect_s
        host, port = address
        authorization = f"Authorization: Bearer {token}\r\n" if token is not None else ""
        # The server compares the header Host with its own names, so Host must be the address that the server listens on.
        self._headers = f"Host: {f'[{host}]' if ':' in host else host}:{port}\r\n{authorization}"
        self._idle: list[Connection] = []
        self._closed = False

    async def ask(
        self, method: str, path: str, body: bytes = b"", *, timeout_s: float | None = None
    ) -> tuple[int, bytes]:
        """Return the status and the body of the answer. Raises Unanswered after `timeout_s` of real time."""
        head = (
            f"{method} {path} HTTP/1.1\r\n{self._headers}Content-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        try:
            async with asyncio.timeout(timeout_s):
                return await self._ask(head.encode("ascii") + body)
        except (OSError, EOFError, ValueError, TimeoutError, asyncio.LimitOverrunError) as error:
            host, port = self.address
            reason = str(error) or type(error).__name__
            raise Unanswered(f"{host}:{port} did not answer {method} {path.partition('?')[0]}: {reason}") from error

    async def _ask(self, request: bytes) -> tuple[int, bytes]:
        while self._idle:
            try:
                return await self._over(self._idle.pop(), request)
            except (OSError, EOFError):
                continue
        async with connecting(self.address, self._connect_s):
            connection = await asyncio.open_connection(*self.address, limit=MOST_HEADER_BYTES)
        return await self._over(connection, request)

    async def _over(self, connection: Connection, request: bytes) -> tuple[int, bytes]:
        reader, writer = connection
        try:
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            length = int(headers["content-length"]) if "content-length" in headers else 0
            body = await reader.readexactly(length)
        except BaseException:
            writer.close()
            raise
        if self._closed or headers.get("connection", "").lower() == "close":
            writer.close()
        else:
            self._idle.append(connection)
        return int(head[0].split(" ", 2)[1]), body

    def close(self) -> None:
        """Close the idle connections now, and each busy one when its response has arrived."""
        self._closed = True
        while self._idle:
            self._idle.pop()[1].close()
