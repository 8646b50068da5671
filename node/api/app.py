"""The HTTP application of a process: it finds the route of each request, calls its function, and answers errors.

A node never waits within a transaction, so two requests never overlap inside a store.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from http import HTTPStatus
from typing import Any, Final

from node.api.access import TooLarge
from node.api.asgi import App, ClientDisconnect, Receive, Request, Response, Scope, Send
from node.api.docs_page import POLICY, docs_page
from node.api.events import EVENTS, STREAM
from node.api.health import HEALTH, METRICS
from node.api.hosts import Hosts
from node.api.reads import READ_ROUTES
from node.api.routing.openapi import document
from node.api.routing.parameters import NotJson
from node.api.routing.reading import Wrong
from node.api.routing.routes import Found, RouteIndex, Routes, Served
from node.api.users import USERS
from node.api.values import ServerUnknown, json_response, not_supported, problem, problem_of
from node.errors import CannotWrite, InternalError, NodeError, bug_line
from node.state.database import cannot_write
from transport.file_handles import refusal_words

_NO_ROOM: Final = frozenset({errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EROFS})
"""Errors of the operating system that may pass: a disk is full, or no file handle is free."""

_ABOUT: Final = (
    "Public folder stores that replicate by mail. Times are in UTC, for example 2003-10-21T00:15:00Z."
    " The field `at` of an event, of an entry of the log and of a kept mail is in microseconds since 1970, as in traces."
    " An error is one line of text, as application/problem+json. A request for a path with a method that the path does"
    " not support gets 405 and the header Allow."
)

OF_ONE_NODE: Final = (USERS, READ_ROUTES, EVENTS)
"""The routes of one store, below /nodes/{name}."""


def routes_of(hosts: Hosts) -> list[Served]:
    """Return the routes of a process that runs stores."""
    served = [entry for routes in (HEALTH, METRICS, STREAM) for entry in routes.serving(lambda: hosts)]
    return served + [entry for routes in OF_ONE_NODE for entry in routes.serving(lambda: hosts)]


class Api:
    """An ASGI application made of routes.

    mounts: applications below a path, which get the requests that no route answers.
    errors: errors of the routes beside those of nodes, and the status of the answer for each.
    """

    def __init__(
        self,
        served: Iterable[Served],
        *,
        title: str = "pflab",
        mounts: Mapping[str, App] | None = None,
        errors: Mapping[type[Exception], int] | None = None,
    ) -> None:
        self._served = [*_DOCUMENTATION.serving(lambda: self), *served]
        self._index = RouteIndex(self._served)
        self._title = title
        self._mounts = mounts or {}
        self._errors = {**_ERRORS, **{kind: _with_status(status) for kind, status in (errors or {}).items()}}
        self._document: dict[str, Any] | None = None

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        if self._document is None:
            routes = [entry.route for entry in self._served]
            self._document = document(routes, title=self._title, description=_ABOUT)
        return self._document

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        root = scope.get("root_path", "")
        path = scope["path"].removeprefix(root)
        match = self._index.find(scope["method"], path)
        if match is not None and match.served.forward is not None:
            await match.served.forward(scope, receive, send)
            return
        mount = None if match is not None else next((at for at in self._mounts if path.startswith(f"{at}/")), None)
        if mount is not None:
            await self._mounts[mount]({**scope, "root_path": root + mount}, receive, send)
            return
        has_started = False

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            answer = self._refusal(path) if match is None else await _answer(match, Request(scope, receive))
            await answer(scope, receive, sending)
        except ClientDisconnect:
            raise
        except Exception as error:
            respond = next((self._errors[kind] for kind in type(error).__mro__ if kind in self._errors), None)
            refusal = None if respond is None else respond(error)
            if refusal is not None and not has_started:
                await refusal(scope, receive, send)
                return
            if not has_started:
                line = bug_line(error, doing=f" while answering {scope['method']} {scope['path']}")
                await problem(HTTPStatus.INTERNAL_SERVER_ERROR, InternalError.__name__, line)(scope, receive, send)
            raise  # uvicorn logs the traceback

    def _refusal(self, path: str) -> Response:
        methods = self._index.methods(path)
        if methods:
            return not_supported(methods)
        return problem(HTTPStatus.NOT_FOUND, "Http", "there is nothing at this path; /docs lists all paths")


async def _answer(match: Found, request: Request) -> Response:
    (route, subject, _), in_path = match
    assert subject is not None
    if route.check is not None:
        route.check(subject(), route.method)  # whatever is wrong with the request
    arguments = await route.parameters.read(request, in_path)
    serving = subject()
    if route.check is not None:
        route.check(serving, route.method)  # again, because nothing waits between this check and the function
    return await route.function(serving, **arguments)


_DOCUMENTATION: Final = Routes[Api](shown=False)


@_DOCUMENTATION.get("/docs")
async def _docs(api: Api) -> Response:
    headers = {"Content-Security-Policy": POLICY}
    return Response(docs_page(api.openapi()), media_type="text/html; charset=utf-8", headers=headers)


@_DOCUMENTATION.get("/openapi.json")
async def _openapi(api: Api) -> Response:
    return json_response(api.openapi())


# --- errors as answers; None: an error of ours

_Respond = Callable[[Any], Response | None]


def _with_status(status: int) -> _Respond:
    return lambda error: problem(status, type(error).__name__, " ".join(str(error).split()))


def _system(error: Exception) -> Response | None:
    if not (error.errno in _NO_ROOM if isinstance(error, OSError) else cannot_write(error)):
        return None
    detail = f"nothing can be written at present: {refusal_words(error)}; try again when there is room"
    return problem(HTTPStatus.INSUFFICIENT_STORAGE, CannotWrite.__name__, detail)


_ERRORS: Final[Mapping[type[Exception], _Respond]] = {
    NodeError: problem_of,
    ServerUnknown: lambda error: problem(HTTPStatus.NOT_FOUND, "ServerUnknown", str(error)),
    Wrong: _with_status(HTTPStatus.UNPROCESSABLE_ENTITY),
    NotJson: lambda _: problem(
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Http", "send JSON, with Content-Type: application/json"
    ),
    TooLarge: lambda error: problem(error.status, type(error).__name__, str(error)),
    OSError: _system,
    sqlite3.OperationalError: _system,
    MemoryError: _system,
}
