"""The routes for the coordinator: it sets the clock, asks whether the node is idle, and sends peers and directory updates."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final, Protocol

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from node.api.bodies import Body, Line, Rate
from node.api.hosts import LAST_NUMBER, Name, Number
from node.api.values import DATABASE, LINES, json_bytes, json_response
from node.errors import bug_line
from node.host.host import Host
from node.state.directory import Stamp
from traces.labtime import END_AT, LabTime

LONGEST_WAIT_S = 5.0

MOST_STAMPS = 1000
"""The most stamps of one entry: one for each change of the recipient policy."""


_AS_LIST = Field(strict=False)
"""A tuple is a list in JSON."""


class Instant(Body):
    """The time to set, in microseconds since 1970, and the rate at which the clock runs from there."""

    at: Annotated[int, Field(ge=0, le=END_AT)]
    rate: Rate = 0.0


class Peers(Body):
    """The addresses at which the other servers accept mail, and what the node must ask the coordinator.

    asks: ask about each mail that is sent or arrives.
    keeps: also send the content of each mail.
    verbs: ask at each SMTP verb.
    """

    addresses: dict[Line, Annotated[tuple[Line, Annotated[int, Field(ge=0, le=65_535)]], _AS_LIST]]
    asks: bool = False
    keeps: bool = False
    verbs: bool = False
    coordinator: Annotated[
        Line | None, Field(pattern=r"^[^\s:].*:[0-9]{1,5}$", examples=["127.0.0.1:8025"], description="Host and port.")
    ] = None


class Gone(Body):
    """A store that was deleted from the directory."""

    store: Line


class Entry(Body):
    """The entry of a store in the directory: its stamps, each as domain and instant, and why it has no address if it has
    none."""

    store: Line
    stamps: Annotated[
        list[Annotated[tuple[Line, Annotated[int, Field(ge=0, le=END_AT)]], _AS_LIST]], Field(max_length=MOST_STAMPS)
    ]
    missing: Line


class Released(Body):
    """A mail in the queue, by its id."""

    row: Annotated[int, Field(ge=0, le=LAST_NUMBER)]


class Deleted(Gone):
    """A store to delete; `force` deletes it even if it still holds replicas."""

    force: bool = False


class ManagedHosts(Protocol):
    """The servers of a process, with all that a coordinator asks of them."""

    def host(self, name: str) -> Host: ...


Rest = Callable[[float], Awaitable[None]]
"""Waits until the node may have become idle, at most the given number of real seconds."""


_STATUS: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {LINES: {"example": '{"now": 1066694400000000, ...}'}}}
}


def control_router(hosts: ManagedHosts, rest: Rest, meet: Callable[[Peers], None]) -> APIRouter:
    """Return the routes by which a coordinator manages this node."""
    router = APIRouter(prefix="/nodes/{name}", tags=["coordinator"])

    @router.post("/clock/hold", responses=_STATUS)
    async def hold(name: Name) -> Response:
        """Pause the clock and begin nothing new until `go`."""
        host = hosts.host(name)
        await host.hold()
        return _status(host, host.now)

    @router.post("/clock/set", responses=_STATUS)
    async def set_clock(name: Name, instant: Instant) -> Response:
        """Set the clock, which is then paused or runs at a rate. It never goes back."""
        host = hosts.host(name)
        await host.hold()
        await host.set_clock(max(instant.at, host.now), instant.rate)
        return _status(host, host.now)

    @router.post("/clock/go", responses=_STATUS)
    async def go(name: Name) -> Response:
        """Continue after `hold`."""
        host = hosts.host(name)
        await host.go()
        return _status(host, host.now)

    @router.get("/idle", responses=_STATUS)
    async def idle(
        name: Name,
        at: Annotated[
            int,
            Query(
                ge=0,
                le=END_AT,
                description="The lab time at which the node must be idle, in microseconds since 1970.",
            ),
        ],
        after: Annotated[Number, Query(description="The number of the last known event.")] = 0,
        wait_s: Annotated[float, Query(ge=0.0, le=LONGEST_WAIT_S)] = 0.0,
    ) -> Response:
        """Return a line of status and the events after `after`, one a line. A busy node answers within `wait_s`."""
        host = hosts.host(name)
        if wait_s and host.busy(at):
            await rest(wait_s)
        return _status(host, at, after)

    @router.put("/peers", responses=_STATUS)
    async def peers(name: Name, wanted: Peers) -> Response:
        """Replace what the node knows about the other servers of the lab."""
        host = hosts.host(name)
        meet(wanted)
        return _status(host, host.now)

    @router.post("/directory", responses=_STATUS)
    async def entered(name: Name, wanted: Entry) -> Response:
        """Add a store that joins later to the directory, or replace the stamps of a store's entry."""  # spec: RP-3, ML-1
        host = hosts.host(name)
        stamps = [Stamp(*each) for each in wanted.stamps]
        host.do(lambda node, now: node.enter(now, wanted.store, stamps, wanted.missing))
        return _status(host, host.now)

    @router.post("/directory/deleted", responses=_STATUS)
    async def deleted(name: Name, wanted: Deleted) -> Response:
        """Delete a store from the directory, as an administrator at this store."""  # spec: RP-6
        host = hosts.host(name)
        host.do(lambda node, now: node.delete_store(now, wanted.store, force=wanted.force))
        return _status(host, host.now)

    @router.post("/directory/left", responses=_STATUS)
    async def left(name: Name, wanted: Gone) -> Response:
        """Remove a store that was deleted from the directory at another store."""  # spec: RP-6
        host = hosts.host(name)
        host.do(lambda node, now: node.left(now, wanted.store))
        return _status(host, host.now)

    @router.post("/queue/released", responses=_STATUS)
    async def released(name: Name, wanted: Released) -> Response:
        """Let a mail that a fault held leave now, or when its connector opens."""
        host = hosts.host(name)
        host.do(lambda node, now: node.hop_released(now, wanted.row))
        return _status(host, host.now)

    @router.get("/backup", responses={200: {"content": {DATABASE: {}}}})
    async def backup(name: Name) -> Response:
        """Return a copy of the store's database."""
        return Response(hosts.host(name).read(lambda node: node.backup()), media_type=DATABASE)

    @router.post("/stop")
    async def stop(name: Name, request: Request) -> Response:
        """End the process cleanly, as SIGTERM does."""
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
        "blocked": host.blocked,
        "due": due_at,
        "seq": host.read(lambda node: node.seq),
    }
    lines = [json_bytes(status)]
    if after is not None and status["seq"] > after:
        lines += [line for _, line in host.read(lambda node: node.events_after(after))]
    return Response(b"\n".join(lines) + b"\n", media_type=LINES)
