"""Requests and answers by the protocol ASGI, between an HTTP server and an application (https://asgi.readthedocs.io)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import aclosing
from http import HTTPStatus
from typing import Any, Final

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

Headers = Mapping[str, str]
"""Header fields by their names in lower case."""

_WITHOUT_BODY: Final = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})
"""The statuses of answers that have no length (RFC 9110, section 8.6)."""


class ClientDisconnect(Exception):
    """The client has gone before its request was complete."""


def headers_of(scope: Scope) -> Headers:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


class Request:
    """A request, whose body is read when it is first asked for."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.scope = scope
        self.headers: Final = headers_of(scope)
        self._receive = receive
        self._body: bytes | None = None

    @property
    def method(self) -> str:
        method: str = self.scope["method"]
        return method

    @property
    def query(self) -> str:
        """The query as it was sent."""
        query: bytes = self.scope["query_string"]
        return query.decode("latin-1")

    async def body(self) -> bytes:
        """Return the body. Raises ClientDisconnect if it does not come."""
        if self._body is None:
            parts = []
            more = True
            while more:
                message = await self._receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                parts.append(message.get("body", b""))
                more = message.get("more_body", False)
            self._body = b"".join(parts)
        return self._body


class Response:
    """An answer.

    content: a text is sent in UTF-8.
    headers: header fields; Content-Length and Content-Type are added.
    media_type: the Content-Type.
    """

    def __init__(
        self,
        content: str | bytes = b"",
        status: int = HTTPStatus.OK,
        headers: Mapping[str, str] | None = None,
        media_type: str | None = None,
    ) -> None:
        self.status = int(status)
        self.body = content.encode() if isinstance(content, str) else content
        self.headers = dict(headers or {})
        if status not in _WITHOUT_BODY:
            self.headers["Content-Length"] = str(len(self.body))
        if media_type is not None:
            self.headers["Content-Type"] = media_type

    def start(self) -> Message:
        """Return the message with which the answer begins."""
        headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in self.headers.items()]
        return {"type": "http.response.start", "status": self.status, "headers": headers}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send(self.start())
        await send({"type": "http.response.body", "body": self.body})


class StreamingResponse(Response):
    """An answer that comes in parts, until there is none or the client goes."""

    def __init__(self, parts: AsyncGenerator[bytes, None], headers: Mapping[str, str], media_type: str) -> None:
        super().__init__(headers=headers, media_type=media_type)
        del self.headers["Content-Length"]
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending, leaving = asyncio.ensure_future(self._send_parts(send)), asyncio.ensure_future(_disconnected(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            sending.cancel()
            await asyncio.wait({sending, leaving})
        if not sending.cancelled():
            sending.result()

    async def _send_parts(self, send: Send) -> None:
        await send(self.start())
        async with aclosing(self._parts) as parts:
            async for part in parts:
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def _disconnected(receive: Receive) -> None:
    """Wait until the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
