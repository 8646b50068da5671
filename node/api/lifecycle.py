"""The routes by which a coordinator starts, ends, kills, copies and restores the store of a process."""

from __future__ import annotations

from typing import Annotated, Any, Final, NoReturn, Protocol

from msgspec import Meta

from node.api.asgi import Request, Response
from node.api.control import At, Skew
from node.api.events import EVENT_LINES
from node.api.hosts import Name, Number
from node.api.routing.reading import Body
from node.api.routing.routes import Routes
from node.api.values import DATABASE, LINES, json_response
from topology.arguments import Line

Folder = Annotated[str, Meta(max_length=200, pattern=r"^([A-Za-z0-9_][A-Za-z0-9._-]*)?$")]


_DATABASE_SENT: Final[dict[str, Any]] = {"content": {DATABASE: {}}}


class BeginOrder(Body, frozen=True, kw_only=True):
    """How a store begins.

    at: the lab time in microseconds since 1970.
    topology: YAML or JSON.
    traces: the folder of its segments, below the folder of all traces.
    history: the history to which its database must belong; default: the run.
    fresh: a database of another history is deleted; otherwise it is refused.
    tls: the store offers STARTTLS and refuses unencrypted mail.
    imap_token: the store also listens for IMAP, and this is the users' password.
    imap_port: 0 for a free port.
    skew_us: how far its clock is ahead of lab time.
    """

    run: Annotated[Line, Meta(examples=["up/2026-11-26T101500Z"])]
    history: Line = ""
    at: At
    topology: Annotated[str, Meta(examples=["servers: {A: , B: }"])]
    traces: Folder = ""
    fresh: bool = False
    tls: bool = False
    imap_token: Line | None = None
    imap_port: Annotated[int, Meta(ge=0, le=65_535)] = 0
    skew_us: Skew = 0


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


LIFECYCLE: Final = Routes[Lifecycle]("/nodes/{name}", tag="coordinator")
"""The routes by which a coordinator decides whether the store runs."""


@LIFECYCLE.get("/status")
async def status(process: Lifecycle, name: Name) -> Response:
    """Return the state of the process, its run, and the address at which its store accepts mail."""
    return json_response(process.status(name))


@LIFECYCLE.post("/begin")
async def begin(process: Lifecycle, name: Name, order: BeginOrder) -> Response:
    """Open the store at the lab's time, paused until `go`; return the address at which it accepts mail."""
    return json_response(await process.begin(name, order))


@LIFECYCLE.put("/restore", body=_DATABASE_SENT)
async def restore(process: Lifecycle, name: Name, request: Request) -> Response:
    """Keep a backup for the next `begin`."""
    process.keep_backup(name, await request.body())
    return json_response(process.status(name))


@LIFECYCLE.get("/copy", answers={200: {"content": {DATABASE: {}}}})
async def copy(process: Lifecycle, name: Name) -> Response:
    """Return a copy of the store's database, whether the store runs or not; empty if there is none."""
    return Response(process.copy(name), media_type=DATABASE)


@LIFECYCLE.put("/copy", body=_DATABASE_SENT)
async def replace(process: Lifecycle, name: Name, request: Request, history: Line) -> Response:
    """Replace the database of a stopped store with a copy that belongs to another history."""
    process.replace(name, history, await request.body())
    return json_response(process.status(name))


@LIFECYCLE.post("/end")
async def end(process: Lifecycle, name: Name) -> Response:
    """Stop the store cleanly; the process waits again."""
    return json_response(await process.finish(name))


@LIFECYCLE.post("/kill")
async def kill(process: Lifecycle, name: Name) -> Response:
    """End the process at once, as by SIGKILL. There is no answer."""
    process.kill(name)


@LIFECYCLE.get("/database/events", answers=EVENT_LINES)
async def database_events(
    process: Lifecycle,
    name: Name,
    history: Line,
    traces: Folder = "",
    after: Number = 0,
) -> Response:
    """Return the events of a stopped store after the given number, one a line."""
    lines = process.database_events(name, history, traces, after)
    return Response(b"".join(line + b"\n" for line in lines), media_type=LINES)


@LIFECYCLE.post("/export")
async def export(process: Lifecycle, name: Name) -> Response:
    """Write all waiting events into a closed segment; return the number of the last one."""
    return json_response(process.export(name))
