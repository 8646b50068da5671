"""Access control of the API: which requests are accepted, and how large they may be.

| the server has | a request is accepted if |
|---|---|
| no token, so it listens on loopback only | its Host is one of `hosts`, and its Origin, if it has one, is this server |
| a token | it carries the token; or it comes from a trusted address without any token, and the row above accepts it |
| a token for users too | the same; or it carries the token for users and is one that users may make (`_is_for_users`) |

Users read, and post, edit, delete, resolve and send messages. Everything else is for administrators: folders, replicas,
settings, orders, the clock, faults, the servers themselves, and copies of their databases (spec: AD-1).

The checks of Host and Origin protect against web pages: a page of another origin can make a browser send requests here, and
so can a foreign host name that resolves to 127.0.0.1. /livez and /readyz are open to everybody. A body over its limit is
refused before it is read.
"""

from __future__ import annotations

import hmac
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

from node.api.values import problem

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "::1")

OPEN_PATHS: Final = ("/livez", "/readyz")
"""The paths that need no token, because a health check has none."""

BODY_BYTES: Final = 1024 * 1024
"""The largest body of a request."""

MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""The largest body of a request with messages: 40 MB of content, in base64."""

BACKUP_BYTES: Final = 1024 * 1024 * 1024
"""The largest database that a request may send to a store."""

BODIES_BYTES: Final = 4 * MESSAGE_BYTES
"""The most bytes that the bodies of all open requests may have together."""


CLIENT_STREAMS: Final = 64
"""The most event streams that one address may have open."""


class TooLarge(Exception):
    """A body exceeded its limit while it was read."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class Crowded(TooLarge):
    """The bodies of all open requests together have reached their limit."""

    status = HTTPStatus.SERVICE_UNAVAILABLE


class Guard:
    """An ASGI application that checks requests and passes them to another application.

    token: what the header `Authorization: Bearer ...` must contain; None: no token is required. users_token: what users may
    send instead. hosts: the host names that are
    accepted if no token is required. trusted: addresses of clients that need no token. streams: the most open event streams of
    one address.
    """

    def __init__(
        self,
        app: App,
        *,
        token: str | None = None,
        users_token: str | None = None,
        hosts: Iterable[str] = LOOPBACK_NAMES,
        trusted: frozenset[str] = frozenset(),
        bodies_bytes: int = BODIES_BYTES,
        streams: int = CLIENT_STREAMS,
    ) -> None:
        self._app = app
        self._most_streams = streams
        self._streams: Counter[str] = Counter()
        self._token = token
        self._users_token = users_token
        self._trusted = trusted
        self._hosts = frozenset(hosts)
        self._bodies_bytes = bodies_bytes
        self._taken = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            status, detail = refusal
            await problem(status, "Refused", detail)(scope, receive, send)
            return
        limit = _limit(scope["path"])
        declared = headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > limit:
            await _too_large(limit)(scope, receive, send)
            return
        client = (scope.get("client") or ("", 0))[0]
        is_stream = scope["method"] == "GET" and scope["path"].endswith("/stream")
        if is_stream and self._streams[client] >= self._most_streams:
            detail = (
                f"{client} has {self._most_streams} event streams open already; close one, or read /lab/events instead"
            )
            await problem(HTTPStatus.TOO_MANY_REQUESTS, "TooManyStreams", detail)(scope, receive, send)
            return
        body = _Body(self, receive, limit)
        self._streams[client] += is_stream
        try:
            await self._app(scope, body.receive, send)
        except TooLarge as error:  # the application has no handler for this error
            await problem(error.status, type(error).__name__, str(error))(scope, receive, send)
        finally:
            self._taken -= body.taken
            self._streams[client] -= is_stream

    def take(self, size: int) -> None:
        """Count a part of a body. Raises Crowded if there is no room for it."""
        if self._taken + size > self._bodies_bytes:
            raise Crowded("too many request bodies are being received; try again later")
        self._taken += size

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        if scope["path"] in OPEN_PATHS:
            return None
        peer = scope.get("client") or ("", 0)
        # A token that is sent must be right, even if the address is trusted.
        if self._token is not None and ("authorization" in headers or peer[0] not in self._trusted):
            given = headers.get("authorization", "")
            if self._users_token is not None and carries(given, self._users_token):
                if _is_for_users(scope["method"], scope["path"]):
                    return None
                return (
                    HTTPStatus.FORBIDDEN,
                    "this is the token for users, who read, post, edit, delete, resolve and send messages; the rest is for "
                    "administrators",
                )
            if not carries(given, self._token):
                return (
                    HTTPStatus.UNAUTHORIZED,
                    "this lab requires its token; send the header field Authorization: Bearer TOKEN",
                )
            return None
        host = headers.get("host", "")
        if _host_name(host) not in self._hosts:
            return HTTPStatus.FORBIDDEN, f"{host[:80]!r} is not a host name of this lab; use localhost or 127.0.0.1"
        origin = headers.get("origin")
        if origin is not None and not _is_ours(origin, host):
            return HTTPStatus.FORBIDDEN, "requests from web pages of another origin are refused"
        return None


def _is_for_users(method: str, path: str) -> bool:
    """Return whether users may make a request: reads, except of databases, and changes of messages."""
    if method in {"GET", "HEAD"}:
        return not path.endswith(("/backup", "/copy"))
    return _MESSAGES.fullmatch(path) is not None


_MESSAGES: Final = re.compile(r"/nodes/[^/]+/messages(/.*)?")


def carries(authorization: str, token: str) -> bool:
    """Return whether the header Authorization contains the token."""
    kind, _, given = authorization.partition(" ")
    return kind.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())


def _is_ours(origin: str, host: str) -> bool:
    try:
        return urlsplit(origin).netloc == host
    except ValueError:
        return False


def _host_name(host: str) -> str:
    """Return the host name without its port; '' if the header is malformed."""
    if "@" in host:
        return ""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _limit(path: str) -> int:
    if path.startswith("/nodes/") and path.endswith(("/restore", "/copy")):
        return BACKUP_BYTES
    mails = "/messages" in path or path == "/lab/fault-decision" or path.endswith("/mail")
    return MESSAGE_BYTES if mails else BODY_BYTES


def _too_large(limit: int) -> Any:
    return problem(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "TooLarge", f"the body is over {limit} bytes; send less in one request"
    )


class _Body:
    """Receives the body of a request, and counts its bytes against its own limit and the common limit."""

    def __init__(self, guard: Guard, receive: Receive, limit: int) -> None:
        self._guard = guard
        self._receive = receive
        self._limit = limit
        self.taken = 0

    async def receive(self) -> MutableMapping[str, Any]:
        message = await self._receive()
        size = len(message.get("body", b""))
        if self.taken + size > self._limit:
            raise TooLarge(f"the body is over {self._limit} bytes; send less in one request")
        self._guard.take(size)
        self.taken += size
        return message
