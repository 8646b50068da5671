"""What the routers of the API share: the hosts that are served, common parameters, and how a request becomes a stimulus."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Protocol, TypeVar

from msgspec import Meta

from node.api.asgi import Request, Response
from node.api.routing.parameters import Header
from node.api.values import json_bytes, plain
from node.store.node import Node
from traces.errors import TimeTextError
from traces.labtime import MAX_RATE, MIN_RATE, LabTime, checked_rate

T = TypeVar("T")

Name = Annotated[str, Meta(description="The server's name in the topology.", examples=["A"])]
FolderQuery = Annotated[
    str, Meta(max_length=1000, description="The path of a folder, or 1-1 for the hierarchy.", examples=["Projects"])
]
LAST_NUMBER = 2**53 - 1
"""The highest number that a request may name: the highest whole number that every program reads exactly in JSON (RFC 8259,
section 6). A store can keep this number and add to it."""

Number = Annotated[int, Meta(ge=0, le=LAST_NUMBER)]

Key = Annotated[
    Annotated[str, Meta(min_length=1, max_length=200)] | None,
    Header("Idempotency-Key"),
    Meta(
        description="A key of your choice for this change. Repeating the request with the same key changes nothing and"
        " returns the first answer. Keys are remembered for 24 hours of lab time."
    ),
]
REPLAYED = "Idempotency-Replayed"
"""The header of an answer to a change that was made before with the same key."""


Rate = Annotated[
    float,
    Meta(
        examples=[3600],
        extra_json_schema={"anyOf": [{"const": 0}, {"minimum": MIN_RATE, "maximum": MAX_RATE}]},
    ),
]
"""The rate of a clock; `check_rate` checks it."""


def check_rate(rate: float) -> None:
    """Raise ValueError, which names the field `rate`, unless a clock can run at this rate."""
    try:
        checked_rate(rate)
    except TimeTextError as error:
        raise ValueError(f"rate: {error}") from None


class ServedHost(Protocol):
    """A running server, as the routes for users and for reading need it. `node.host.host.Host` says what the members mean."""

    @property
    def now(self) -> LabTime: ...

    @property
    def rate(self) -> float: ...

    @property
    def activity(self) -> int: ...

    @property
    def failure(self) -> Exception | None: ...

    def do(self, fn: Callable[[Node, LabTime], T]) -> T: ...

    async def share(self, fn: Callable[[Node, LabTime], T], size: int) -> T: ...

    def read(self, fn: Callable[[Node], T]) -> T: ...


class Hosts(Protocol):
    """The servers that a process serves over HTTP."""

    @property
    def names(self) -> Sequence[str]:
        """The names of all servers that requests may name, running or not."""

    def host(self, name: str) -> ServedHost:
        """Return the host of a running server. Raises node.api.values.ServerUnknown, node.errors.NotRunning."""

    @property
    def waits(self) -> str:
        """What the process waits for before it is ready, in words; '' once it is ready."""

    @property
    def ending(self) -> bool:
        """Whether the process is about to end, and with it every stream."""


async def apply_change(
    hosts: Hosts,
    name: str,
    request: Request,
    key: str | None,
    act: Callable[[Node, LabTime], Any],
    status: int = 200,
) -> Response:
    """Change the state of a server and answer with the view that `act` returns.

    name: of the server.
    key: repeating the request under the same key changes nothing.
    """
    host = hosts.host(name)
    acted = False

    def acting(node: Node, now: LabTime) -> bytes:
        nonlocal acted
        acted = True
        return json_bytes(plain(act(node, now)))

    body = await request.body()
    if key is None:
        answer = await host.share(acting, len(body))
    else:
        line = f"{request.method} {request.scope['path']}?{request.query}\n"
        hashed = hashlib.blake2b(line.encode(), digest_size=32)
        hashed.update(body)
        digest = hashed.digest()

        def once(node: Node, now: LabTime) -> bytes:
            nonlocal acted
            acted = False
            return node.once(now, key, digest, lambda at: acting(node, at))

        answer = await host.share(once, len(body))
    return Response(answer, status, None if acted else {REPLAYED: "true"}, media_type="application/json")
