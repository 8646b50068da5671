"""Requests to an application in the same process, without a socket: for a lab that runs where nothing can listen."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, MutableMapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from node.api.asgi import App, Send


class Answer(NamedTuple):
    """The answer to a request. The names of its header fields are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


async def dispatch(
    app: App, method: str, target: str, body: bytes = b"", headers: Mapping[str, str] | None = None
) -> Answer:
    """Make a request and return its whole answer. The answer to a request for a stream never ends.

    target: the path and the query, such as `/nodes/A/messages?folder=Projects`.
    headers: header fields, such as Idempotency-Key; Content-Type is application/json unless it is given.
    """
    status = 0
    answered: dict[str, str] = {}
    content = bytearray()

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            answered.update(fields_of(message))
        else:
            content.extend(message.get("body", b""))

    await deliver(app, method, target, headers or {}, body, send)
    return Answer(status, answered, bytes(content))


async def deliver(app: App, method: str, target: str, headers: Mapping[str, str], body: bytes, send: Send) -> None:
    """Make a request, as `dispatch` does, and give each part of the answer to `send` as it comes. The task that calls this
    function can be cancelled to end a stream.

    send: gets the messages of ASGI, http.response.start and http.response.body.
    """
    path, _, query = target.partition("?")
    fields = {"content-type": "application/json", **{name.lower(): value for name, value in headers.items()}}
    scope = {
        "type": "http",
        "method": method,
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in fields.items()],
    }
    requests = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> MutableMapping[str, Any]:
        if not requests:
            await asyncio.Event().wait()  # the client goes only by ending this task
        return requests.pop()

    await app(scope, receive, send)


def fields_of(start: Mapping[str, Any]) -> dict[str, str]:
    """Return the header fields of a message http.response.start."""
    return {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
