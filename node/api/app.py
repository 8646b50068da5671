"""The HTTP API of a process that runs stores: one FastAPI application, made of the routers of this folder.

Every method of a node is one transaction on the event loop, so two requests never overlap inside a store.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match, Mount

from node.api.access import TooLarge
from node.api.answers import complete
from node.api.bodies import in_words
from node.api.changes.arguments import Wrong, why_no_json
from node.api.docs_page import METHODS, add_docs
from node.api.events import events_router
from node.api.health import health_router
from node.api.hosts import Hosts
from node.api.reads import reads_router
from node.api.users import users_router
from node.api.values import ServerUnknown, not_supported, problem, problem_of
from node.errors import CannotWrite, InternalError, NodeError, bug_line
from node.state.database import cannot_write
from transport.file_handles import refusal_words

_NO_ROOM: Final = frozenset({errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EROFS})
"""Errors of the operating system that may pass: a disk is full, or no file handle is free."""


class _Api(FastAPI):
    """A FastAPI application whose OpenAPI document has the common answers too."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            complete(super().openapi())
        assert self.openapi_schema is not None
        return self.openapi_schema


def make_app(
    hosts: Hosts, *more: APIRouter, title: str = "pflab", errors: Mapping[type[Exception], int] | None = None
) -> FastAPI:
    """Return the application.

    more: routes in addition to the routes of stores.
    errors: their errors, each with a status.
    """
    app = _Api(
        title=title,
        description="Public folder stores that replicate by mail. Times are in UTC, for example 2003-10-21T00:15:00Z."
        " The field `at` of an event, of an entry of the log and of a kept mail is in microseconds since 1970, as in traces."
        " An error is one line of text, as application/problem+json. A request for a path with a method that the path does"
        " not support gets 405 and the header Allow.",
        version="1",
        docs_url=None,  # FastAPI's own page loads scripts from other servers
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
    )
    for router in (
        health_router(hosts),
        users_router(hosts),
        reads_router(hosts),
        events_router(hosts),
        *more,
    ):
        app.router.routes.extend(router.routes)  # included routers would be searched one inside the other
    add_docs(app)
    app.add_exception_handler(NodeError, _node_error)
    app.add_exception_handler(ServerUnknown, _unknown)
    app.add_exception_handler(Wrong, _handler(HTTPStatus.UNPROCESSABLE_ENTITY))
    app.add_exception_handler(RequestValidationError, _wrong)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(TooLarge, _large)
    app.add_exception_handler(OSError, _system)
    app.add_exception_handler(sqlite3.OperationalError, _system)
    app.add_exception_handler(MemoryError, _system)
    app.add_exception_handler(Exception, _internal_error)
    for kind, status in (errors or {}).items():
        app.add_exception_handler(kind, _handler(status))
    return app


async def _node_error(_: Request, error: Exception) -> Response:
    return problem_of(error)


async def _internal_error(request: Request, error: Exception) -> Response:
    # After the answer is sent, the framework raises the exception again, and uvicorn logs its traceback.
    line = bug_line(error, doing=f" while answering {request.method} {request.url.path}")
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, InternalError.__name__, line)


async def _system(_: Request, error: Exception) -> Response:
    if not (error.errno in _NO_ROOM if isinstance(error, OSError) else cannot_write(error)):
        raise error  # an internal error
    detail = f"nothing can be written at present: {refusal_words(error)}; try again when there is room"
    return problem(HTTPStatus.INSUFFICIENT_STORAGE, CannotWrite.__name__, detail)


def _handler(status: int) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handle(_: Request, error: Exception) -> Response:
        return problem(status, type(error).__name__, " ".join(str(error).split()))

    return handle


async def _unknown(_: Request, error: Exception) -> Response:
    return problem(HTTPStatus.NOT_FOUND, "ServerUnknown", str(error))


async def _large(_: Request, error: Exception) -> Response:
    assert isinstance(error, TooLarge)
    return problem(error.status, type(error).__name__, str(error))


async def _wrong(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    if any(isinstance(each.get("input"), bytes) for each in error.errors()):  # FastAPI parses only bodies that are JSON
        return problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Http", "send JSON, with Content-Type: application/json")
    body = request.scope["route"].body_field
    return problem(
        HTTPStatus.UNPROCESSABLE_ENTITY, "Wrong", in_words(error.errors(), body and body.field_info.annotation)
    )


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, TooLarge):  # raised while the body was read
        return await _large(request, error.__cause__)
    if error.status_code == HTTPStatus.BAD_REQUEST and isinstance(error.__cause__, ValueError | RecursionError):
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, "Wrong", f"body: {why_no_json(error.__cause__)}")
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        return not_supported(_methods(request))
    is_path = error.status_code == HTTPStatus.NOT_FOUND
    return problem(
        error.status_code,
        "Http",
        "there is nothing at this path; /docs lists all paths" if is_path else str(error.detail),
    )


def _methods(request: Request) -> Iterator[str]:
    """Return the methods that the path of a request supports."""
    for method in (each.upper() for each in METHODS):
        asked = {**request.scope, "method": method}
        if any(each.matches(asked)[0] is Match.FULL for each in request.app.routes if not isinstance(each, Mount)):
            yield method
