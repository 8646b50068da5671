"""The one HTTP face of a lab: its clock, its faults, the life of its servers, what happens, and every node's own API.

The same paths whichever driver runs the lab. Of an embedded lab the nodes are served right here; of one of processes
requests for a node are handed on to its process.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal

import msgspec
from fastapi import APIRouter, Query, Response
from pydantic import Field

from node.api import make_app
from node.api_events import ALIVE_S, LOOK_S, LastEventId, streamed
from node.api_guard import App
from node.api_house import House
from node.api_models import Body, Line
from node.api_values import ServerUnknown, json_response
from node.errors import NotRunning
from node.host import Host
from node.labclock import ClockError
from pflab.asked import asks_router
from pflab.coordinator import Coordinator
from pflab.fault import MAIL_TYPES
from pflab.faults import FaultPlan
from pflab.keptmail import HopGate
from pflab.lab import Lab, LabError
from pflab.proxy import AddressOf, Proxy
from traces.errors import TraceError
from traces.labtime import LabTime, format_instant, parse_duration, parse_instant

Tag = Literal["lose", "delay", "duplicate", "reorder", "cut", "smtp", "hold"]

_SERVER = {"name": "A", "site": "SEA", "version": "2003", "standing": "running"}
_CLOCK = {"now_at": "2003-10-21T00:15:00Z", "rate": 1.0, "warping": False}
_CLOCK_TOLD: Final = {200: {"content": {"application/json": {"example": _CLOCK}}}}


class FacedLab(Lab):
    """What the face needs beyond a lab: a coordinator, and where the nodes are."""

    coordinator: Coordinator
    gate: HopGate


class Rate(Body):
    rate: Annotated[float, Field(ge=0.0, examples=[3600])]


class Advance(Body):
    """A duration (`15 min`) or an instant (`2003-10-22T06:15Z`)."""

    to: Annotated[Line, Field(examples=["15 min"])]


class Until(Body):
    """What to wait for: an event of a type (on one server), or a folder that has converged on its running holders."""

    within: Annotated[Line, Field(examples=["36 h"])]
    event: Annotated[Line | None, Field(examples=["version.applied"])] = None
    on: Line | None = None
    converged: Annotated[Line | None, Field(examples=["Projects"])] = None


class NewFault(Body):
    """A fault. `cut` is between two servers or sites, or a connector; `smtp` and `hold` are on the hops from one server to
    another; the others meet mail from, to, of a type."""

    kind: Tag
    from_: Annotated[Line | None, Field(alias="from", examples=["A"])] = None
    to: Annotated[Line | None, Field(examples=["B"])] = None
    type: Annotated[Line | None, Field(examples=["content"], description=f"One of {', '.join(MAIL_TYPES)}.")] = None
    count: Annotated[int | None, Field(ge=1, examples=[1])] = None
    by: Annotated[Line | None, Field(examples=["20 min"])] = None
    connector: Line | None = None
    between: Annotated[list[Line] | None, Field(min_length=2, max_length=2)] = None
    at: Annotated[Line | None, Field(examples=["MAIL"], description="Of smtp: the verb.")] = None
    does: Annotated[
        Line | None, Field(examples=["451"], description="Of smtp: a reply, disconnect, silence or tarpit.")
    ] = None
    lasts: Annotated[Line | None, Field(examples=["2 h"], description="Of smtp and hold: for how long.")] = None


class BackupOf(Body):
    backup: Line


class NoHouse:
    """The house of a lab whose nodes are elsewhere: it documents their routes, and the proxy answers."""

    ending = False

    def __init__(self, lab: Lab) -> None:
        self._lab = lab

    @property
    def names(self) -> Sequence[str]:
        return ()

    def host(self, name: str) -> Host:
        raise NotRunning(f"server {name} is not running")


class LiveHouse:
    """The house of an embedded lab."""

    ending = False

    def __init__(self, lab: Lab, host_of: Callable[[str], Host]) -> None:
        self._lab = lab
        self._host_of = host_of

    @property
    def names(self) -> Sequence[str]:
        return self._lab.names

    def host(self, name: str) -> Host:
        if name not in self._lab.names:
            raise ServerUnknown(f"there is no server {name!r} in this lab; there is {', '.join(self._lab.names)}")
        return self._host_of(name)


def face_of_live(lab: Any) -> App:
    """The face of an embedded lab (pflab.live)."""
    return _app(lab, LiveHouse(lab, lab.host_of))


def make_face(lab: Any, address_of: AddressOf) -> App:
    """The face of a lab of processes (pflab.processes)."""
    return Proxy(_app(lab, NoHouse(lab)), address_of)


def _app(lab: FacedLab, house: House) -> App:
    routers = (_lab_router(lab), _clock_router(lab), _faults_router(lab), _life_router(lab), _stream_router(lab))
    app: App = make_app(
        house,
        *routers,
        asks_router(lab.faults, lab.gate),
        title="pflab lab",
        kinds=(LabError, ClockError, TraceError),
    )
    return app


def _lab_router(lab: FacedLab) -> APIRouter:
    router = APIRouter(tags=["lab"])

    @router.get("/lab", responses={200: {"content": {"application/json": {"example": {"servers": [_SERVER]}}}}})
    async def the_lab() -> Response:
        """The run, the clock, the servers, the faults in force."""
        servers = [
            {"name": name, "site": server.site, "version": str(server.version), "standing": _standing(lab, name)}
            for name, server in lab.topology.servers.items()
        ]
        return json_response(
            {
                "run": lab.run,
                "folder": str(lab.folder),
                "organization": lab.topology.organization,
                "clock": _clock(lab),
                "servers": servers,
                "folders": list(lab.topology.folders),
                "faults": _faults(lab),
            }
        )

    return router


def _standing(lab: Lab, name: str) -> str:
    return "running" if lab.running(name) else "not running"


def _clock(lab: FacedLab, **more: Any) -> dict[str, Any]:
    clock = lab.coordinator
    return {"now_at": format_instant(lab.now), "rate": clock.rate, "warping": clock.warping, **more}


def _clock_router(lab: FacedLab) -> APIRouter:
    router = APIRouter(prefix="/lab/clock", tags=["clock"], responses=_CLOCK_TOLD)  # type: ignore[arg-type]
    moving = asyncio.Lock()

    def alone() -> asyncio.Lock:
        if moving.locked():
            raise LabError("the lab's clock is being moved already; wait until it stands")
        return moving

    @router.get("")
    async def clock() -> Response:
        """The lab time, and how fast it goes."""
        return json_response(_clock(lab))

    @router.post("/rate")
    async def rate(wanted: Rate) -> Response:
        """Run at a rate: 1 is real time, 3600 an hour a second, 0 a pause."""
        async with alone():
            await lab.coordinator.set_rate(wanted.rate)
        return json_response(_clock(lab))

    @router.post("/step")
    async def step() -> Response:
        """To the next instant at which anything is due, and until all is quiet there."""
        async with alone():
            moved = await lab.coordinator.step()
        return json_response(_clock(lab, moved=moved))

    @router.post("/advance")
    async def advance(wanted: Advance) -> Response:
        """Warp to an instant, doing all that is due on the way; then the clock stands."""
        async with alone():
            await lab.advance(_instant(wanted.to, lab.now))
        return json_response(_clock(lab))

    @router.post("/until")
    async def until(wanted: Until) -> Response:
        """Warp until something has happened; `held` says whether it did within the limit."""
        async with alone():
            limit_at = lab.now + parse_duration(wanted.within)
            held = await lab.until(_condition(lab, wanted), limit_at)
        return json_response(_clock(lab, held=held))

    return router


def _instant(text: str, now: LabTime) -> LabTime:
    try:
        return now + parse_duration(text)
    except TraceError:
        return parse_instant(text)


def _condition(lab: Lab, wanted: Until) -> Callable[[], bool]:
    if (wanted.event is None) == (wanted.converged is None):
        raise LabError("say what to wait for: an event or a converged folder, one of the two")
    if wanted.converged is not None:
        folder = wanted.converged
        return lambda: converged(lab, folder)
    seen = len(lab.events())

    def happened() -> bool:
        nonlocal seen
        fresh = lab.events(seen)
        seen += len(fresh)
        return any(event.__struct_config__.tag == wanted.event and wanted.on in {None, event.node} for event in fresh)

    return happened


def converged(lab: Lab, folder: str) -> bool:
    """Whether all running holders of a folder know the same of it (spec: CV-1)."""
    known = []
    for name in lab.names:
        if lab.running(name):
            held = {view.path for view in lab.read(name, lambda node: node.folders()) if view.held_here}
            if folder in held:
                found = lab.read(name, lambda node: node.knowledge(folder))
                known.append((found.numbers, found.numbers_fai, found.versions, found.tombstones))
    if not known:
        raise LabError(f"no running server holds a folder {folder!r}")
    return all(each == known[0] for each in known)


def _faults(lab: Lab) -> list[dict[str, Any]]:
    return [{"id": each.id, "kind": each.kind.value, **each.details()} for each in lab.faults.active()]


def _faults_router(lab: FacedLab) -> APIRouter:
    router = APIRouter(prefix="/lab/faults", tags=["faults"])

    @router.get("")
    async def faults() -> Response:
        """The faults in force."""
        return json_response(_faults(lab))

    @router.post("", status_code=HTTPStatus.CREATED)
    async def inject(wanted: NewFault) -> Response:
        """Let something go wrong on purpose; the fault's id."""
        return json_response({"id": _inject(lab.faults, wanted, lab.now)}, HTTPStatus.CREATED)

    @router.delete("")
    async def heal_all() -> Response:
        """End all faults."""
        lab.faults.heal()
        return json_response(_faults(lab))

    @router.delete("/{fault}")
    async def heal(fault: str) -> Response:
        """End one fault."""
        lab.faults.heal(fault)
        return json_response(_faults(lab))

    return router


def _inject(plan: FaultPlan, wanted: NewFault, now: LabTime) -> str:
    if wanted.kind == "cut":
        if wanted.connector is not None:
            return plan.cut(wanted.connector)
        if wanted.between is not None:
            return plan.cut((wanted.between[0], wanted.between[1]))
        if wanted.from_ is None or wanted.to is None:
            raise LabError("a cut lies between two ends: name them as between, or from and to, or a connector")
        return plan.cut((wanted.from_, wanted.to), one_way=True)
    if wanted.kind in {"smtp", "hold"}:
        return _inject_on_link(plan, wanted, now)
    given: dict[str, Any] = {"connector": wanted.connector}
    if wanted.kind in {"delay", "reorder"} and wanted.by is not None:
        given["by_us"] = parse_duration(wanted.by)
    if wanted.count is not None:
        given["count"] = wanted.count
    act: Callable[..., str] = getattr(plan, wanted.kind)
    return act(wanted.from_, wanted.to, wanted.type, **given)


def _inject_on_link(plan: FaultPlan, wanted: NewFault, now: LabTime) -> str:
    until_at = None if wanted.lasts is None else now + parse_duration(wanted.lasts)
    link: dict[str, Any] = {"from_": wanted.from_, "to": wanted.to, "connector": wanted.connector}
    if wanted.kind == "hold":
        if until_at is None:
            raise LabError("a queue is held for a while; say how long it lasts, as 2 h")
        return plan.hold(until_at=until_at, **link)
    by_us = 0 if wanted.by is None else parse_duration(wanted.by)
    return plan.smtp(wanted.at or "", wanted.does or "", count=wanted.count, by_us=by_us, until_at=until_at, **link)


def _life_router(lab: FacedLab) -> APIRouter:
    router = APIRouter(prefix="/lab/servers/{name}", tags=["servers"])

    def told(name: str) -> Response:
        return json_response({"name": name, "standing": _standing(lab, name)})

    @router.post("/stop")
    async def stop(name: str) -> Response:
        """Stop a server in order."""
        await lab.stop(name)
        return told(name)

    @router.post("/kill")
    async def kill(name: str) -> Response:
        """Let a server die at once, as by SIGKILL."""
        await lab.kill(name)
        return told(name)

    @router.post("/start")
    async def start(name: str) -> Response:
        """Start a server that was stopped or killed, or that joins later."""
        await lab.start(name)
        return told(name)

    @router.post("/backup")
    async def backup(name: str) -> Response:
        """Keep a copy of the server's database; its id."""
        return json_response({"name": name, "backup": await lab.backup(name)})

    @router.post("/restore")
    async def restore(name: str, wanted: BackupOf) -> Response:
        """Let the server start on a backup of it."""  # spec: RP-4
        await lab.restore(name, wanted.backup)
        return told(name)

    return router


def _stream_router(lab: FacedLab) -> APIRouter:
    router = APIRouter(tags=["events"])

    @router.get("/lab/stream")
    async def stream(
        after: Annotated[int | None, Query(ge=0, description="Begin after this id; without it, now.")] = None,
        last: LastEventId = None,
    ) -> Response:
        """Server-sent events of all servers and of the lab itself, in order; ids count from 1 in this run."""
        begins = int(last) if last is not None and last.isdigit() else after
        return streamed(_followed(lab, len(lab.events()) if begins is None else begins))

    @router.get("/lab/events")
    async def events(
        after: Annotated[int, Query(ge=0)] = 0, limit: Annotated[int, Query(ge=1, le=100_000)] = 10_000
    ) -> Response:
        """The events of all servers and of the lab itself as JSON lines, in order, after so many of them."""
        found = lab.events(after)[:limit]
        lines = b"".join(msgspec.json.encode(event) + b"\n" for event in found)
        return Response(lines, media_type="application/x-ndjson")

    return router


async def _followed(lab: Lab, seen: int) -> AsyncIterator[bytes]:
    yield b": pflab\n\n"
    silent_s = 0.0
    while True:
        fresh = lab.events(seen)
        for event in fresh:
            seen += 1
            kind = str(event.__struct_config__.tag).encode()
            yield b"id: %d\nevent: %b\ndata: %b\n\n" % (seen, kind, msgspec.json.encode(event))
        silent_s = 0.0 if fresh else silent_s + LOOK_S
        if silent_s >= ALIVE_S:
            silent_s = 0.0
            yield b": alive\n\n"
        await asyncio.sleep(0 if fresh else LOOK_S)
