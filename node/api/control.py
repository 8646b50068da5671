"""What a coordinator asks a node's process: time in two phases, whether it is idle, who its peers are, a backup."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from node.api.bodies import Body, Line
from node.api.hosts import Hosts, Name
from node.api.values import json_bytes, json_response
from node.errors import bug_line
from node.host.host import Host
from traces.labtime import LabTime

LONGEST_WAIT_S = 5.0


class Instant(Body):
    """Where the clock goes, in microseconds since 1970, and how fast it goes from there."""

    at: Annotated[int, Field(ge=0)]
    rate: Annotated[float, Field(ge=0.0)] = 0.0


class Peers(Body):
    """Where the other servers listen for mail, and whether the coordinator wants to be asked before each mail,
    to be told its content, and to be asked at each SMTP verb."""

    addresses: dict[Line, tuple[Line, int]]
    asks: bool = False
    keeps: bool = False
    verbs: bool = False
    coordinator: Line | None = None


class Joined(Body):
    """A store that has entered the directory, or left it."""

    store: Line


class Deleted(Joined):
    """A store to be deleted, by force if it still holds replicas."""

    force: bool = False


Rest = Callable[[float], Awaitable[None]]
"""Waits until the node may have become idle, at most so many real seconds."""


def control_router(hosts: Hosts, rest: Rest, meet: Callable[[Peers], None]) -> APIRouter:
    """The routes by which one coordinator leads this node."""
    router = APIRouter(prefix="/nodes/{name}", tags=["coordinator"])

    @router.post("/clock/hold")
    async def hold(name: Name) -> Response:
        """Stop the clock and begin nothing new until `go`."""
        host = hosts.host(name)
        await host.hold()
        return _status(host, host.now)

    @router.post("/clock/set")
    async def set_clock(name: Name, instant: Instant) -> Response:
        """Stand at an instant, or run from there; the clock only goes forward."""
        host = hosts.host(name)
        await host.hold()
        await host.set_clock(max(instant.at, host.now), instant.rate)
        return _status(host, host.now)

    @router.post("/clock/go")
    async def go(name: Name) -> Response:
        """Go on after `hold`."""
        host = hosts.host(name)
        await host.go()
        return _status(host, host.now)

    @router.get("/idle")
    async def idle(
        name: Name,
        at: Annotated[int, Query(description="Idle at this instant, microseconds since 1970.")],
        after: Annotated[int, Query(ge=0, description="The last event known.")] = 0,
        wait_s: Annotated[float, Query(ge=0.0, le=LONGEST_WAIT_S)] = 0.0,
    ) -> Response:
        """A line of status, and the events since `after`, a line each. A busy node waits with its answer for a while."""
        host = hosts.host(name)
        if wait_s and host.busy(at):
            await rest(wait_s)
        return _status(host, at, after)

    @router.put("/peers")
    async def peers(name: Name, told: Peers) -> Response:
        """The other servers of the lab as they are now."""
        host = hosts.host(name)
        meet(told)
        return _status(host, host.now)

    @router.post("/directory")
    async def joined(name: Name, told: Joined) -> Response:
        """A store that joins later is in the directory now."""  # spec: RP-3
        host = hosts.host(name)
        host.do(lambda node, now: node.join(now, told.store))
        return _status(host, host.now)

    @router.post("/directory/deleted")
    async def deleted(name: Name, told: Deleted) -> Response:
        """Delete a store from the directory, here."""  # spec: RP-6
        host = hosts.host(name)
        host.do(lambda node, now: node.delete_store(now, told.store, force=told.force))
        return _status(host, host.now)

    @router.post("/directory/left")
    async def left(name: Name, told: Joined) -> Response:
        """A store was deleted from the directory elsewhere."""  # spec: RP-6
        host = hosts.host(name)
        host.do(lambda node, now: node.left(now, told.store))
        return _status(host, host.now)

    @router.get("/backup", responses={200: {"content": {"application/vnd.sqlite3": {}}}})
    async def backup(name: Name) -> Response:
        """The store's database as it stands."""
        return Response(hosts.host(name).read(lambda node: node.backup()), media_type="application/vnd.sqlite3")

    @router.post("/stop")
    async def stop(name: Name, request: Request) -> Response:
        """End the process in order, as SIGTERM does."""
        hosts.host(name)
        request.app.state.stop()
        return json_response({"status": "ending"}, 202)

    return router


def _status(host: Host, at: LabTime, after: int | None = None) -> Response:
    due_at = host.next_due()
    status: dict[str, Any] = {
        "now": host.now,
        "rate": host.rate,
        "activity": host.activity,
        "failure": None if host.failure is None else bug_line(host.failure),
        "busy": host.busy(at),
        "due": due_at,
        "seq": host.read(lambda node: node.seq),
    }
    lines = [json_bytes(status)]
    if after is not None and status["seq"] > after:
        lines += [line for _, line in host.read(lambda node: node.events_after(after))]
    return Response(b"\n".join(lines) + b"\n", media_type="application/x-ndjson")
