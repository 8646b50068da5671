"""The events of a store over HTTP: in pieces, and as a stream that can be resumed without missing an event."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Annotated, Any, Final

from msgspec import Meta

from node.api.asgi import Response, StreamingResponse
from node.api.hosts import Hosts, Name, Number
from node.api.routing.parameters import Header
from node.api.routing.routes import Routes
from node.api.values import LINES, ServerUnknown
from node.errors import NodeError

EVENTS_A_TURN: Final = 4
"""How many events a stream sends before other tasks get a turn. Then the event loop notices that the client has disconnected.
asyncio logs a warning for each write after the fifth to a closed connection."""

LOOK_S: Final = 0.1
"""Real time between two checks for new events while a client listens."""

ALIVE_S: Final = 15.0
"""Real time after which a silent stream sends a comment, so that the client knows that it is alive."""

_PLACE: Final = re.compile(r"[0-9]{1,18}")

MOST_BYTES: Final = 4 * 1024 * 1024

Position = Annotated[str, Meta(max_length=20_000)]
"""The place in a stream: an event's id."""

LastEventId = Annotated[
    Position | None,
    Header("Last-Event-ID"),
    Meta(description="Continue after the event with this id."),
]
EVENT_LINES: Final[dict[int, dict[str, Any]]] = {200: {"content": {LINES: {"example": '{"type": ...}'}}}}
STREAMED: Final[dict[int, dict[str, Any]]] = {
    200: {"content": {"text/event-stream": {"example": 'id: 12\nevent: version.applied\ndata: {"type": ...}\n\n'}}}
}


EVENTS: Final = Routes[Hosts]("/nodes/{name}", tag="events")
"""The events of one store."""

STREAM: Final = Routes[Hosts](tag="events")
"""The events of all stores of a process."""


@EVENTS.get("/events", answers=EVENT_LINES)
async def events(
    hosts: Hosts,
    name: Name,
    after: Annotated[Number, Meta(description="The number (seq) of the last known event.")] = 0,
    limit_bytes: Annotated[int, Meta(ge=1, le=16 * MOST_BYTES)] = MOST_BYTES,
) -> Response:
    """Return events as JSON lines, from number `after` + 1 on. To get all events, repeat this with the last seq."""
    lines = hosts.host(name).read(lambda node: node.events_after(after, limit_bytes))
    return Response(b"".join(line + b"\n" for _, line in lines), media_type=LINES)


@EVENTS.get("/stream", answers=STREAMED)
async def stream(
    hosts: Hosts,
    name: Name,
    after: Annotated[Number | None, Meta(description="Begin after the event with this seq; default: now.")] = None,
    last: LastEventId = None,
) -> Response:
    """Stream the events of the store as server-sent events. The id of an event is its seq."""
    host = hosts.host(name)
    begins = after if after is not None else host.read(lambda node: node.seq)
    resumed = seq_of(last)
    if resumed is not None:
        begins = resumed
    return streamed(_of_one(hosts, name, begins))


@STREAM.get("/stream", answers=STREAMED)
async def stream_all(
    hosts: Hosts,
    after: Annotated[Position | None, Meta(description="An id, as A:12,B:30; 0: all.")] = None,
    last: LastEventId = None,
) -> Response:
    """Stream the events of all stores here as server-sent events. An id has the last seq of each store: A:12,B:30."""
    return streamed(_of_all(hosts, _position(hosts, last if last is not None else after)))


def seq_of(text: str | None) -> int | None:
    """Return an event's id as a number; None if it is not a number."""
    return int(text) if text is not None and _PLACE.fullmatch(text) else None


def streamed(content: AsyncGenerator[bytes, None]) -> Response:
    """Return the answer with a stream of events."""
    return StreamingResponse(_in_turns(content), {"Cache-Control": "no-store"}, "text/event-stream; charset=utf-8")


async def _in_turns(content: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    count = 0
    async with aclosing(content):
        async for chunk in content:
            yield chunk
            count += 1
            if count % EVENTS_A_TURN == 0:
                await asyncio.sleep(0)


def _position(hosts: Hosts, text: str | None) -> dict[str, int]:
    """Return the seq after which each store's events continue. A store that `text` does not name begins at its first event.
    Without a text, every store begins with its next event."""
    position: dict[str, int] = {}
    for part in (text or "").split(","):
        name, _, seq = part.rpartition(":")
        number = seq_of(seq)
        if name and number is not None:
            position[name] = number
    if text is None:
        for name in hosts.names:
            try:
                position[name] = hosts.host(name).read(lambda node: node.seq)
            except (NodeError, ServerUnknown):
                continue
    return position


async def _of_one(hosts: Hosts, name: str, seq: int) -> AsyncGenerator[bytes, None]:
    async for _, number, line in _followed(hosts, {name: seq}, only=name):
        yield b"id: %d\n%b" % (number, _as_sent(line)) if number else line


async def _of_all(hosts: Hosts, position: dict[str, int]) -> AsyncGenerator[bytes, None]:
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
    """Yield the last seq of each store, an event's number and its line; number 0: a comment, not an event."""
    yield position, 0, b": pflab\n\n"
    silent_s = 0.0
    while not hosts.ending:
        has_events = False
        for name in (only,) if only is not None else hosts.names:
            for number, line in _fresh(hosts, name, position.get(name, 0)):
                position[name] = number
                has_events = True
                yield position, number, line
        silent_s = 0.0 if has_events else silent_s + LOOK_S
        if silent_s >= ALIVE_S:
            silent_s = 0.0
            yield position, 0, b": alive\n\n"
        if not has_events:
            await asyncio.sleep(LOOK_S)


def _fresh(hosts: Hosts, name: str, seq: int) -> list[tuple[int, bytes]]:
    """Return new events; none if the store does not run at present."""
    try:
        host = hosts.host(name)
        if host.read(lambda node: node.seq) <= seq:
            return []
        return host.read(lambda node: node.events_after(seq))
    except (NodeError, ServerUnknown):
        return []
