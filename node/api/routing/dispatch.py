"""Requests to an application in the same process, without a socket: for a lab that runs where nothing can listen."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from node.api.access import App


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
    path, _, query = target.partition("?")
    fields = {"content-type": "application/json", **{name.lower(): value for name, value in (headers or {}).items()}}
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
    status = 0
    answered: dict[str, str] = {}
    content = bytearray()

    async def receive() -> MutableMapping[str, Any]:
        return requests.pop() if requests else {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            answered.update({name.decode(): value.decode("latin-1") for name, value in message["headers"]})
        else:
            content.extend(message.get("body", b""))

    await app(scope, receive, send)
    return Answer(status, answered, bytes(content))
