"""What happened at a store, as it is in its trace: in pieces, and as a stream that never misses and can be resumed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Final

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import StreamingResponse

from node.api.hosts import Hosts, Name, Number
from node.api.values import ServerUnknown
from node.errors import NodeError

EVENTS_A_TURN: Final = 16
"""Of a stream, before others have a turn."""

LOOK_S: Final = 0.1
"""Real time between two looks for new events while somebody listens."""

ALIVE_S: Final = 15.0
"""Real time after which a silent stream says that it lives."""

_PLACE: Final = re.compile(r"[0-9]{1,18}")

MOST_BYTES: Final = 4 * 1024 * 1024

LastEventId = Annotated[
    str | None, Header(alias="Last-Event-ID", max_length=20_000, description="Go on after this event.")
]
_STREAMED = {
    200: {"content": {"text/event-stream": {"example": 'id: 12\nevent: version.applied\ndata: {"type": ...}\n\n'}}}
}


def events_router(hosts: Hosts) -> APIRouter:
    """/nodes/{name}/events, /nodes/{name}/stream and /stream."""
    router = APIRouter(tags=["events"])

    @router.get(
        "/nodes/{name}/events", responses={200: {"content": {"application/x-ndjson": {"example": '{"type": ...}'}}}}
    )
    async def events(
        name: Name,
        after: Annotated[Number, Query(description="The number (seq) of the last event known.")] = 0,
        limit_bytes: Annotated[int, Query(ge=1, le=16 * MOST_BYTES)] = MOST_BYTES,
    ) -> Response:
        """Events as JSON lines, from number `after` + 1 on; ask again with the last one's seq until none come."""
        found = hosts.host(name).read(lambda node: node.events_after(after, limit_bytes))
        return Response(b"".join(line + b"\n" for _, line in found), media_type="application/x-ndjson")

    @router.get("/nodes/{name}/stream", responses=_STREAMED)  # type: ignore[arg-type]
    async def stream(
        name: Name,
        after: Annotated[Number | None, Query(description="Begin after this seq; without it, now.")] = None,
        last: LastEventId = None,
    ) -> Response:
        """Server-sent events: each event of the store, its seq as id."""
        host = hosts.host(name)
        begins = after if after is not None else host.read(lambda node: node.seq)
        told = place_of(last)
        if told is not None:
            begins = told
        return streamed(_of_one(hosts, name, begins))

    @router.get("/stream", responses=_STREAMED)  # type: ignore[arg-type]
    async def stream_all(
        after: Annotated[str | None, Query(max_length=20_000, description="As an id: A:12,B:30; 0: all.")] = None,
        last: LastEventId = None,
    ) -> Response:
        """Server-sent events of all stores served here; an id names the last seq of each, as A:12,B:30."""
        return streamed(_of_all(hosts, _position(hosts, last if last is not None else after)))

    return router


def place_of(text: str | None) -> int | None:
    """The number that an event's id is; None for what can be none."""
    return int(text) if text is not None and _PLACE.fullmatch(text) else None


def streamed(content: AsyncIterator[bytes]) -> Response:
    return StreamingResponse(content, media_type="text/event-stream", headers={"Cache-Control": "no-store"})


def _position(hosts: Hosts, text: str | None) -> dict[str, int]:
    """Where each store's events go on; those not named begin at their first, without any text all begin now."""
    found: dict[str, int] = {}
    for part in (text or "").split(","):
        name, _, seq = part.rpartition(":")
        place = place_of(seq)
        if name and place is not None:
            found[name] = place
    if text is None:
        for name in hosts.names:
            try:
                found[name] = hosts.host(name).read(lambda node: node.seq)
            except (NodeError, ServerUnknown):
                continue
    return found


async def _of_one(hosts: Hosts, name: str, seq: int) -> AsyncIterator[bytes]:
    async for _, number, line in _followed(hosts, {name: seq}, only=name):
        yield b"id: %d\n%b" % (number, _as_sent(line)) if number else line


async def _of_all(hosts: Hosts, position: dict[str, int]) -> AsyncIterator[bytes]:
    async for at, number, line in _followed(hosts, position):
        if not number:
            yield line
            continue
        vector = ",".join(f"{name}:{seq}" for name, seq in sorted(at.items()))
        yield b"id: %b\n%b" % (vector.encode(), _as_sent(line))


def _as_sent(line: bytes) -> bytes:
    # A line begins with its type: {"type":"version.applied",...
    kind = line[9 : line.index(b'"', 9)] if line.startswith(b'{"type":"') else b"event"
    return b"event: %b\ndata: %b\n\n" % (kind, line)


async def _followed(
    hosts: Hosts, position: dict[str, int], only: str | None = None
) -> AsyncIterator[tuple[Mapping[str, int], int, bytes]]:
    """Where each store's stream stands, an event's number and its line; number 0: a sign of life."""
    yield position, 0, b": pflab\n\n"
    silent_s = 0.0
    while not hosts.ending:
        told = False
        for name in (only,) if only is not None else hosts.names:
            for number, line in _fresh(hosts, name, position.get(name, 0)):
                position[name] = number
                told = True
                yield position, number, line
                if number % EVENTS_A_TURN == 0:
                    await asyncio.sleep(0)  # only the loop hears that who asked has gone
        silent_s = 0.0 if told else silent_s + LOOK_S
        if silent_s >= ALIVE_S:
            silent_s = 0.0
            yield position, 0, b": alive\n\n"
        if not told:
            await asyncio.sleep(LOOK_S)


def _fresh(hosts: Hosts, name: str, seq: int) -> list[tuple[int, bytes]]:
    """New events; none of a store that does not run at present."""
    try:
        host = hosts.host(name)
        if host.read(lambda node: node.seq) <= seq:
            return []
        return host.read(lambda node: node.events_after(seq))
    except (NodeError, ServerUnknown):
        return []
