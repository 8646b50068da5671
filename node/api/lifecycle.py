"""What the coordinator orders of a store that it leads: begin, on a backup perhaps; end; die."""

from __future__ import annotations

from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from node.api.bodies import Body, Line
from node.api.hosts import Name
from node.api.values import json_response

Folder = Annotated[str, Field(max_length=200, pattern=r"^([A-Za-z0-9_][A-Za-z0-9._-]*)?$")]


class BeginOrder(Body):
    """In which run a store begins, at which instant (microseconds since 1970), and how fast its clock goes from there;
    the organization as YAML or JSON; the folder of its segments below that of all. history: which course of events its
    database must be of: the run, unless that went back to an earlier instant. fresh: one of another is thrown away, else
    that is refused."""

    run: Line
    history: Line = ""
    at: Annotated[int, Field(ge=0)]
    rate: Annotated[float, Field(ge=0.0)] = 0.0
    topology: str
    traces: Folder = ""
    fresh: bool = False


class Lifecycle(Protocol):
    """A process whose store is led; see node.process.managed.ManagedNode."""

    def standing(self, name: str) -> dict[str, Any]: ...

    async def begin(self, name: str, order: BeginOrder) -> dict[str, Any]: ...

    def keep_backup(self, name: str, content: bytes) -> None: ...

    async def finish(self, name: str) -> dict[str, Any]: ...

    def die(self, name: str) -> Any: ...

    def left(self, name: str, history: str, traces: str, after: int) -> list[bytes]: ...

    def ship(self, name: str) -> dict[str, Any]: ...

    def copy(self, name: str) -> bytes: ...

    def replace(self, name: str, history: str, content: bytes) -> None: ...


def lifecycle_router(process: Lifecycle) -> APIRouter:
    """The routes by which a coordinator decides whether the store runs."""
    router = APIRouter(prefix="/nodes/{name}", tags=["coordinator"])

    @router.get("/standing")
    async def standing(name: Name) -> Response:
        """Whether the store runs or waits, in which run, and where it takes mail."""
        return json_response(process.standing(name))

    @router.post("/begin")
    async def begin(name: Name, order: BeginOrder) -> Response:
        """Open the store at the lab's time, held until `go`; where it takes mail."""
        return json_response(await process.begin(name, order))

    @router.put("/restore")
    async def restore(name: Name, request: Request) -> Response:
        """The next begin is on this backup."""
        process.keep_backup(name, await request.body())
        return json_response(process.standing(name))

    @router.get("/copy", responses={200: {"content": {"application/vnd.sqlite3": {}}}})
    async def copy(name: Name) -> Response:
        """The store's database as it stands, whether the store runs or not; empty if there is none."""
        return Response(process.copy(name), media_type="application/vnd.sqlite3")

    @router.put("/copy")
    async def replace(name: Name, request: Request, history: Annotated[Line, Query()]) -> Response:
        """A copy in the place of the database of a store that does not run, as of another course of events."""
        process.replace(name, history, await request.body())
        return json_response(process.standing(name))

    @router.post("/end")
    async def end(name: Name) -> Response:
        """End the store in order; the process waits again."""
        return json_response(await process.finish(name))

    @router.post("/die")
    async def die(name: Name) -> Response:
        """Be gone at once, as by SIGKILL. No answer comes."""
        process.die(name)
        raise AssertionError("dead")

    @router.get("/left")
    async def left(
        name: Name,
        history: Annotated[Line, Query()],
        traces: Annotated[Folder, Query()] = "",
        after: Annotated[int, Query(ge=0)] = 0,
    ) -> Response:
        """The events of a history after one, a line each, that a store which does not run has left."""
        lines = process.left(name, history, traces, after)
        return Response(b"".join(line + b"\n" for line in lines), media_type="application/x-ndjson")

    @router.post("/ship")
    async def ship(name: Name) -> Response:
        """Write all events that wait into a closed segment; the number of the last."""
        return json_response(process.ship(name))

    return router
