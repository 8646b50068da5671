"""Passes requests for /nodes/{name}/... on to the process that runs the node, and returns its answers as they come.

Only the routes that a lab documents come here: nodes have more routes, which only their coordinator may use.

The proxy sends HTTP/1.0 requests, so the end of the connection is the end of an answer, even of a stream.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from node.api.access import TooLarge
from node.api.asgi import Message, Receive, Response, Scope, Send
from node.api.health import METRICS_ANSWER, METRICS_TYPE, merged_metrics, metric_heads
from node.api.http_client import HttpLine, Unanswered
from node.api.routing.routes import Routes
from node.api.values import problem, problem_of
from node.errors import NodeError, NotRunning
from pflab.errors import LabError

CONNECT_S: Final = 2.0
"""Real time to connect to the process of a node. A busy process is no reason to fail, because the operating system accepts
connections for it. The request itself has no limit."""

CHUNK_BYTES: Final = 64 * 1024

_ENDED: Final = "the server ended before it answered"
_NODE: Final = re.compile(r"/nodes/([^/]+)/")
_NOT_FORWARDED: Final = {
    *(b"connection", b"transfer-encoding", b"keep-alive", b"content-length", b"host", b"expect"),
    *(b"origin", b"authorization", b"cookie", b"sec-fetch-site"),
}
"""Headers that are about the connection between the client and this server, so the proxy does not forward them."""

AddressOf = Callable[[str], tuple[str, int]]
"""Returns the address of a node's API. Raises LabError for an unknown node, NodeError for one that does not run."""

Wait = Callable[[str, Coroutine[Any, Any, bytes]], Awaitable[bytes]]
"""Waits for the beginning of a node's answer. Raises NotRunning if the node's process gives no sign of life."""


class Proxy:
    """An ASGI application that asks the process of a node.

    token: authenticates this server to the nodes.
    """

    def __init__(self, address_of: AddressOf, wait: Wait, token: str) -> None:
        self._address_of = address_of
        self._wait = wait
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match = _NODE.match(scope["path"])
        assert match is not None, "the paths of a node begin with its name"
        name = match[1]
        try:
            body = await _body(receive)
        except TooLarge as error:
            await problem(error.status, type(error).__name__, str(error))(scope, receive, send)
            return
        if body is None:
            return
        try:
            address = self._address_of(name)  # after the body, which can take long, because the lab may start by then
            async with asyncio.timeout(CONNECT_S):
                reader, writer = await asyncio.open_connection(*address)
        except LabError as error:
            await problem(HTTPStatus.NOT_FOUND, "ServerUnknown", str(error))(scope, receive, send)
        except NodeError as error:
            await problem_of(error)(scope, receive, send)
        except (OSError, TimeoutError):
            detail = f"server {name} does not answer"
            await problem(HTTPStatus.SERVICE_UNAVAILABLE, "NotRunning", detail)(scope, receive, send)
        else:
            try:
                await self._forward(name, scope, body, receive, send, reader, writer)
            finally:
                writer.close()

    async def text(self, name: str, path: str) -> str:
        """Return what a running server answers to a request of this server; '' if it does not answer in time."""
        try:
            line = HttpLine(self._address_of(name), self._token)
            try:
                status, answer = await line.ask("GET", path, timeout_s=CONNECT_S)
            finally:
                line.close()
        except (NodeError, LabError, Unanswered):
            return ""
        return answer.decode("utf-8", "replace") if status == HTTPStatus.OK else ""

    async def _forward(
        self,
        name: str,
        scope: Scope,
        body: bytes,
        receive: Receive,
        send: Send,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        request = self._head(scope, len(body)) + body
        answering = asyncio.ensure_future(self._exchange(name, writer, request, reader, send))
        disconnected = asyncio.ensure_future(_disconnected(receive))
        done, late = await asyncio.wait({answering, disconnected}, return_when=asyncio.FIRST_COMPLETED)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        if answering not in done:
            return
        with suppress(OSError):
            if detail := answering.result():
                await problem(HTTPStatus.BAD_GATEWAY, "Silence", detail)(scope, receive, send)

    async def _exchange(
        self, name: str, writer: asyncio.StreamWriter, request: bytes, reader: asyncio.StreamReader, send: Send
    ) -> str:
        """Send the request and forward the answer. Return why there was no complete answer; '' if there was one."""
        writer.write(request)
        try:
            await writer.drain()
            head = await self._wait(name, reader.readuntil(b"\r\n\r\n"))
        except NotRunning as error:
            return str(error)
        except (OSError, EOFError):  # for example, the node was killed after the connection was made
            return _ENDED
        return "" if await _forward_answer(head, reader, send) else _ENDED

    def _head(self, scope: Scope, length: int) -> bytes:
        query = b"?" + scope["query_string"] if scope["query_string"] else b""
        lines = [b"%b %b%b HTTP/1.0" % (scope["method"].encode(), scope.get("raw_path") or b"/", query)]
        lines += [b"%b: %b" % (name, value) for name, value in scope["headers"] if name not in _NOT_FORWARDED]
        lines += [b"Host: 127.0.0.1", b"Authorization: Bearer " + self._token.encode(), b"Content-Length: %d" % length]
        return b"\r\n".join([*lines, b"", b""])


async def _body(receive: Receive) -> bytes | None:
    """Return the body of a request; None if the client disconnected before its end."""
    content = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        content += message.get("body", b"")
        if not message.get("more_body"):
            return bytes(content)


async def _disconnected(receive: Receive) -> None:
    """Wait until the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _forward_answer(head: bytes, reader: asyncio.StreamReader, send: Send) -> bool:
    """Forward an answer of which the head has arrived; return False if it was not complete."""
    status, *lines = head.split(b"\r\n")
    pairs = [line.partition(b":") for line in lines if line]
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    length = headers.get(b"content-length")
    try:
        # An answer with a length is forwarded whole or not at all. Any other answer is a stream, forwarded as it comes.
        body = b"" if length is None else await reader.readexactly(int(length))
    except (OSError, EOFError):
        return False
    start: Message = {
        "type": "http.response.start",
        "status": int(status.split(b" ", 2)[1]),
        "headers": [(name, value) for name, value in headers.items() if name not in {b"connection", b"date"}],
    }
    await send(start)
    while length is None and (chunk := await reader.read(CHUNK_BYTES)):
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": body, "more_body": False})
    return True


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes of a lab's servers. names: returns those of all servers."""

    proxy: Proxy
    names: Callable[[], Sequence[str]]


METRICS_OF_PROCESSES: Final = Routes[Processes](tag="health")
"""The metrics of a lab whose servers run in other processes."""


@METRICS_OF_PROCESSES.get("/metrics", answers=METRICS_ANSWER)
async def metrics(processes: Processes) -> Response:
    """Return metrics in the text format of Prometheus."""
    names = processes.names()
    answers = await asyncio.gather(*(processes.proxy.text(name, "/metrics") for name in names))
    texts = [text or f'pflab_up{{server="{name}"}} 0' for name, text in zip(names, answers, strict=True)]
    return Response(merged_metrics([metric_heads(), *texts]), media_type=METRICS_TYPE)
