"""The routes by which a coordinator starts, ends, kills, copies and restores the store of a process."""

from __future__ import annotations

from typing import Annotated, Any, Final, NoReturn, Protocol

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from node.api.bodies import Body, Line
from node.api.events import EVENT_LINES
from node.api.hosts import Name, Number
from node.api.values import DATABASE, LINES, json_response
from traces.labtime import END_AT

Folder = Annotated[str, Field(max_length=200, pattern=r"^([A-Za-z0-9_][A-Za-z0-9._-]*)?$")]


_DATABASE_SENT: Final[dict[str, Any]] = {"requestBody": {"content": {DATABASE: {}}}}


class BeginOrder(Body):
    """How a store begins.

    at: the lab time in microseconds since 1970.
    topology: YAML or JSON.
    traces: the folder of its segments, below the folder of all traces.
    history: the history to which its database must belong; default: the run.
    fresh: a database of another history is deleted; otherwise it is refused.
    tls: the store offers STARTTLS and refuses unencrypted mail.
    imap_token: the store also listens for IMAP, and this is the users' password.
    imap_port: 0 for a free port.
    """

    run: Line
    history: Line = ""
    at: Annotated[int, Field(ge=0, le=END_AT)]
    topology: str
    traces: Folder = ""
    fresh: bool = False
    tls: bool = False
    imap_token: Line | None = None
    imap_port: Annotated[int, Field(ge=0, le=65_535)] = 0


class Lifecycle(Protocol):
    """A process whose store a coordinator manages; see node.process.managed.ManagedNode."""

    def status(self, name: str) -> dict[str, object]: ...

    async def begin(self, name: str, order: BeginOrder) -> dict[str, object]: ...

    def keep_backup(self, name: str, content: bytes) -> None: ...

    async def finish(self, name: str) -> dict[str, object]: ...

    def kill(self, name: str) -> NoReturn: ...

    def database_events(self, name: str, history: str, traces: str, after: int) -> list[bytes]: ...

    def export(self, name: str) -> dict[str, object]: ...

    def copy(self, name: str) -> bytes: ...

    def replace(self, name: str, history: str, content: bytes) -> None: ...


def lifecycle_router(process: Lifecycle) -> APIRouter:
    """Return the routes by which a coordinator decides whether the store runs."""
    router = APIRouter(prefix="/nodes/{name}", tags=["coordinator"])

    @router.get("/status")
    async def status(name: Name) -> Response:
        """Return the state of the process, its run, and the address at which its store accepts mail."""
        return json_response(process.status(name))

    @router.post("/begin")
    async def begin(name: Name, order: BeginOrder) -> Response:
        """Open the store at the lab's time, paused until `go`; return the address at which it accepts mail."""
        return json_response(await process.begin(name, order))

    @router.put("/restore", openapi_extra=_DATABASE_SENT)
    async def restore(name: Name, request: Request) -> Response:
        """Keep a backup for the next `begin`."""
        process.keep_backup(name, await request.body())
        return json_response(process.status(name))

    @router.get("/copy", responses={200: {"content": {DATABASE: {}}}})
    async def copy(name: Name) -> Response:
        """Return a copy of the store's database, whether the store runs or not; empty if there is none."""
        return Response(process.copy(name), media_type=DATABASE)

    @router.put("/copy", openapi_extra=_DATABASE_SENT)
    async def replace(name: Name, request: Request, history: Annotated[Line, Query()]) -> Response:
        """Replace the database of a stopped store with a copy that belongs to another history."""
        process.replace(name, history, await request.body())
        return json_response(process.status(name))

    @router.post("/end")
    async def end(name: Name) -> Response:
        """Stop the store cleanly; the process waits again."""
        return json_response(await process.finish(name))

    @router.post("/kill")
    async def kill(name: Name) -> Response:
        """End the process at once, as by SIGKILL. There is no answer."""
        process.kill(name)

    @router.get("/database/events", responses=EVENT_LINES)
    async def database_events(
        name: Name,
        history: Annotated[Line, Query()],
        traces: Annotated[Folder, Query()] = "",
        after: Number = 0,
    ) -> Response:
        """Return the events of a stopped store after the given number, one a line."""
        lines = process.database_events(name, history, traces, after)
        return Response(b"".join(line + b"\n" for line in lines), media_type=LINES)

    @router.post("/export")
    async def export(name: Name) -> Response:
        """Write all waiting events into a closed segment; return the number of the last one."""
        return json_response(process.export(name))

    return router
