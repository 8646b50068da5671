"""The HTTP API of a process with stores in it: one FastAPI application, put together from its parts.

Every method of a node is one transaction on the event loop, so two requests never meet inside a store.
"""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from node.api.access import TooLarge
from node.api.docs_page import add_docs
from node.api.events import events_router
from node.api.health import health_router
from node.api.hosts import Hosts
from node.api.reads import reads_router
from node.api.users import users_router
from node.api.values import ServerUnknown, problem, problem_of
from node.errors import InternalError, NodeError, bug_line

MOST_MISTAKES = 3
"""So many mistakes of a request are named."""


def make_app(hosts: Hosts, *more: APIRouter, title: str = "pflab", kinds: Sequence[type[Exception]] = ()) -> FastAPI:
    """The application. `more`: routes beside those of stores. `kinds`: errors whose text is for people, answered 409."""
    app = FastAPI(
        title=title,
        description="Public folder stores that replicate by mail. Instants are UTC, 2003-10-21T00:15:00Z;"
        " errors are one line as application/problem+json.",
        version="1",
        docs_url=None,  # FastAPI's own page is a script that a browser would fetch from somebody's server
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
        app.include_router(router)
    add_docs(app)
    app.add_exception_handler(NodeError, _node_error)
    app.add_exception_handler(ServerUnknown, _unknown)
    app.add_exception_handler(RequestValidationError, _wrong)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(TooLarge, _large)
    app.add_exception_handler(Exception, _internal_error)
    for kind in kinds:
        app.add_exception_handler(kind, _refused)
    return app


async def _node_error(_: Request, error: Exception) -> Response:
    return problem_of(error)


async def _internal_error(request: Request, error: Exception) -> Response:
    # After the answer is sent, the framework raises the exception again, and uvicorn logs its traceback.
    line = bug_line(error, doing=f" while answering {request.method} {request.url.path}")
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, InternalError.__name__, line)


async def _refused(_: Request, error: Exception) -> Response:
    return problem(HTTPStatus.CONFLICT, type(error).__name__, " ".join(str(error).split()))


async def _unknown(_: Request, error: Exception) -> Response:
    return problem(HTTPStatus.NOT_FOUND, "ServerUnknown", str(error))


async def _large(_: Request, error: Exception) -> Response:
    assert isinstance(error, TooLarge)
    return problem(error.status, type(error).__name__, str(error))


async def _wrong(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    told = []
    for each in error.errors()[:MOST_MISTAKES]:
        if each["type"] == "json_invalid":  # its place is the character at which reading ended
            told.append(f"body: no JSON, from character {each['loc'][-1]} on: {each['ctx']['error'].lower()}")
            continue
        where = ".".join(str(part) for part in each["loc"] if part != "body")
        told.append(f"{where or 'body'}: {each['msg']}".replace("Value error, ", ""))
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, "Wrong", "; ".join(told))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, TooLarge):  # found out while the body was read
        return await _large(request, error.__cause__)
    detail = {
        HTTPStatus.NOT_FOUND: "there is nothing at this path; /docs lists what there is",
        HTTPStatus.METHOD_NOT_ALLOWED: "this path knows no such method; /docs lists what there is",
    }
    return problem(error.status_code, "Http", detail.get(HTTPStatus(error.status_code), str(error.detail)))
