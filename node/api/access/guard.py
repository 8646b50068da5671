"""Access control of the API: which requests are accepted, and how large they may be.

| the server has | a request is accepted if |
|---|---|
| no token, so it listens on loopback only | its Host is one of `hosts`, and no page of another origin caused it |
| a token | it carries the token; or it comes from a trusted address without any token, and the row above accepts it |
| a token for users too | the same; or it carries the token for users and is one that users may make (`_is_for_users`) |

A server with an access control of its own (`check`) accepts what that accepts, and nothing above applies.

A request carries a token in the header field Authorization. With `login`, it may carry the cookie of the log-in page instead.
A cookie goes with every request of a browser, whichever page caused the request. So a request with a cookie that may change
something must also come from a page of this server, by its Origin or Sec-Fetch-Site.

Users read, and post, edit, delete, resolve and send messages. They also begin lessons, play them on and end them, and change
messages in the lab of a lesson. Everything else is for administrators: folders, replicas, settings, orders, the clock, faults,
the servers themselves, and copies of their databases (spec: AD-1).

The checks of Host and Origin protect against web pages: a page of another origin can make a browser send requests here, and
so can a foreign host name that resolves to 127.0.0.1. /livez and /readyz are open to everybody. A body over its limit is
refused before it is read. Browsers must not guess the type of any answer, because an answer may contain what users wrote.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from node.api.access import login as log_in
from node.api.access.requests import READING, cookie, host_name, is_foreign, is_own, wants_page
from node.api.access.tokens import Right, Tokens, TooManyTokens, bearer
from node.api.asgi import App, Headers, Receive, Response, Scope, Send, headers_of
from node.api.values import problem

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "::1")
_LOOPBACK_ADDRESS: Final = re.compile(r"127(?:\.\d{1,3}){3}", re.ASCII)
"""Matches the other addresses of the loopback interface. No foreign host name looks like one."""

OPEN_PATHS: Final = ("/livez", "/readyz")
"""The paths that need no token, because a health check has none."""

BODY_BYTES: Final = 1024 * 1024
"""The largest body of a request."""

MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""The largest body of a request with messages: 40 MB of content, in base64."""

BACKUP_BYTES: Final = 1024 * 1024 * 1024
"""The largest database that a request may send to a store."""

BODIES_BYTES: Final = 4 * MESSAGE_BYTES
"""The largest number of bytes that the bodies of all open requests may have together."""


CLIENT_STREAMS: Final = 64
"""The most event streams that one address may have open."""


class TooLarge(Exception):
    """A body exceeded its limit while it was read."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class Crowded(TooLarge):
    """The bodies of all open requests together have reached their limit."""

    status = HTTPStatus.SERVICE_UNAVAILABLE


@dataclass(frozen=True, slots=True)
class _Refusal:
    """logging_in_helps: a browser that asks for a page gets the log-in page instead.
    wait_s: when to ask again.
    """

    status: int
    detail: str
    logging_in_helps: bool = False
    wait_s: int | None = None

    def answer(self) -> Response:
        answer = problem(self.status, "Refused", self.detail)
        if self.wait_s is not None:
            answer.headers["Retry-After"] = str(self.wait_s)
        return answer


Check = Callable[[Scope, Headers], Response | None]


class Guard:
    """An ASGI application that checks requests and passes them to another application.

    token: what the header `Authorization: Bearer ...` must contain; None: no token is required.
    users_token: what users may send instead.
    login: with a token, serve the log-in page, and accept its cookie.
    hosts: the host names that are accepted if no token is required.
    trusted: addresses of clients that need no token.
    check: returns the refusal of a request, or None if it accepts the request, in place of all rules about tokens and hosts.
    streams: the most open event streams of one address.
    monotonic: returns real time in seconds.
    """

    def __init__(
        self,
        app: App,
        *,
        token: str | None = None,
        users_token: str | None = None,
        login: bool = False,
        hosts: Iterable[str] = LOOPBACK_NAMES,
        trusted: frozenset[str] = frozenset(),
        check: Check | None = None,
        bodies_bytes: int = BODIES_BYTES,
        streams: int = CLIENT_STREAMS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._check = check
        self._most_streams = streams
        self._streams: Counter[str] = Counter()
        self._tokens = None if token is None else Tokens(token, users_token, monotonic)
        self._login = login and self._tokens is not None
        self._trusted = trusted
        self._hosts = frozenset(hosts)
        self._bodies_bytes = bodies_bytes
        self._taken = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = headers_of(scope)
        send = _without_guesses(send)
        if "\n" in scope["path"]:
            # A route also matches its path with a line end after it. The rules below, which compare paths, would not.
            await problem(HTTPStatus.NOT_FOUND, "Http", "no path has a line end")(scope, receive, send)
            return
        if "content-length" in headers and "transfer-encoding" in headers:  # RFC 9112, 6.1
            detail = "a request has a Content-Length or a Transfer-Encoding, but not both"
            answer = problem(HTTPStatus.BAD_REQUEST, "Http", detail)
            answer.headers["Connection"] = "close"
            await answer(scope, receive, send)
            return
        is_login = self._login and scope["path"] in log_in.PATHS
        refused = None if is_login else self._refused(scope, headers)
        if refused is not None:
            await refused(scope, receive, send)
            return
        limit = log_in.FORM_BYTES if is_login else body_limit(scope["path"])
        declared = headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > limit:
            await _too_large(limit)(scope, receive, send)
            return
        client = _client(scope)
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
            if is_login and self._tokens is not None:
                answer = await log_in.login_answer(self._tokens, scope, headers, body.receive)
                await answer(scope, receive, send)
            else:
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

    def _refused(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the answer to a request that is not accepted, or None."""
        if self._check is not None:
            return self._check(scope, headers)
        refusal = self._refusal(scope, headers)
        if refusal is None:
            return None
        may_log_in = self._login and refusal.logging_in_helps and wants_page(scope["method"], headers)
        return log_in.to_login() if may_log_in else refusal.answer()

    def _refusal(self, scope: Scope, headers: Headers) -> _Refusal | None:
        if scope["path"] in OPEN_PATHS:
            return None
        method = scope["method"]
        if self._tokens is None:
            return self._refusal_without_token(method, headers)
        try:
            right = self._right(self._tokens, scope, headers)
        except TooManyTokens as error:
            return _Refusal(HTTPStatus.TOO_MANY_REQUESTS, str(error), wait_s=error.wait_s)
        if right is None:
            # A token that is sent must be right, even if the address is trusted. An old cookie counts as none.
            if "authorization" not in headers and _client(scope) in self._trusted:
                return self._refusal_without_token(method, headers)
            login_hint = ", or log in at /login" if self._login else ""
            detail = f"this lab requires its token; send the header field Authorization: Bearer TOKEN{login_hint}"
            return _Refusal(HTTPStatus.UNAUTHORIZED, detail, logging_in_helps=True)
        by_cookie = "authorization" not in headers
        if by_cookie and (is_foreign(method, headers) or (method not in READING and not is_own(headers))):
            return _Refusal(HTTPStatus.FORBIDDEN, log_in.FOREIGN)
        if right is Right.USE and not _is_for_users(method, scope["path"]):
            detail = (
                "this is the token for users, who read, play lessons, and post, edit, delete, resolve and send messages; "
                "the rest is for administrators"
            )
            return _Refusal(HTTPStatus.FORBIDDEN, detail)
        return None

    def _right(self, tokens: Tokens, scope: Scope, headers: Headers) -> Right | None:
        """Return what the token of a request allows; None if it has none or a wrong one. Raises TooManyTokens."""
        client = _client(scope)
        if "authorization" in headers:
            return tokens.right_of(bearer(headers["authorization"]), client)
        value = cookie(headers, log_in.cookie_name(headers)) if self._login else None
        return None if value is None else tokens.right_of_cookie(value, client)

    def _refusal_without_token(self, method: str, headers: Headers) -> _Refusal | None:
        host = headers.get("host", "")
        if host_name(host) not in self._hosts and not _LOOPBACK_ADDRESS.fullmatch(host_name(host)):
            detail = f"{host[:80]!r} is not a host name of this lab; use localhost or 127.0.0.1"
            return _Refusal(HTTPStatus.FORBIDDEN, detail, logging_in_helps=True)
        if is_foreign(method, headers):
            return _Refusal(HTTPStatus.FORBIDDEN, log_in.FOREIGN)
        return None


def _client(scope: Scope) -> str:
    return str((scope.get("client") or ("", 0))[0])


def _without_guesses(send: Send) -> Send:
    """Return a function that sends answers whose type a browser must not guess."""

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = [header for header in message.get("headers", ()) if header[0] != b"x-content-type-options"]
            message["headers"] = [*headers, (b"x-content-type-options", b"nosniff")]
        await send(message)

    return sending


def _is_for_users(method: str, path: str) -> bool:
    """Return whether users may make a request: reads, except of databases, changes of messages, and what plays a lesson."""
    if method in {"GET", "HEAD"}:
        return not path.endswith(("/backup", "/copy", "/lab/file"))
    return any(pattern.fullmatch(path) for pattern in (_MESSAGES, _LESSONS))


_MESSAGES: Final = re.compile(r"(/lessons/[^/]+)?/nodes/[^/]+/messages(/.*)?")
_LESSONS: Final = re.compile(r"/lessons(/[^/]+(/next|/again)?)?")


def body_limit(path: str) -> int:
    """Return how many bytes the body of a request for a path may have."""
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
