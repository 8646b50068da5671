"""The routes for the coordinator: it sets the clock, asks whether the node is idle, and sends peers and directory updates."""

from __future__ import annotations

from typing import Annotated, Any, Final, Protocol

from msgspec import Meta

from node.api.asgi import Response
from node.api.hosts import LAST_NUMBER, Name, Number, Rate, check_rate
from node.api.routing.reading import Body
from node.api.routing.routes import Routes
from node.api.values import DATABASE, LINES, json_bytes, json_response
from node.errors import Misuse, bug_line
from node.host.host import Host
from node.state.directory import Stamp, StoreObject
from topology.arguments import MOST_LETTERS, Line
from topology.file.load import topology_from_text
from topology.problems import ProblemsError
from traces.labtime import DAY_US, END_AT, LabTime

LONGEST_WAIT_S = 5.0

At = Annotated[int, Meta(ge=0, le=END_AT, examples=[1066694400000000])]
"""An instant in microseconds since 1970."""

MOST_SKEW_US: Final = 400 * DAY_US
"""The largest skew of a node's clock, in either direction."""

Skew = Annotated[int, Meta(ge=-MOST_SKEW_US, le=MOST_SKEW_US)]

Store = Annotated[Line, Meta(examples=["B"])]

MOST_STAMPS = 1000
"""The largest number of stamps of one entry: one for each change of the recipient policy."""


class Instant(Body, frozen=True, kw_only=True):
    """The time to set, in microseconds since 1970, and the rate at which the clock runs from there."""

    at: At
    rate: Rate = 0.0

    def __post_init__(self) -> None:
        check_rate(self.rate)


class Peers(Body, frozen=True, kw_only=True):
    """The addresses at which the other servers accept mail, what the node must ask the coordinator, and the node's clock.

    asks: ask about each mail that is sent or arrives.
    keeps: also send the content of each mail.
    verbs: ask at each SMTP verb.
    skew_us: how far the node's clock is ahead of lab time.
    """

    addresses: Annotated[
        dict[Line, tuple[Line, Annotated[int, Meta(ge=0, le=65_535)]]], Meta(examples=[{"B": ["127.0.0.1", 40025]}])
    ]
    asks: bool = False
    keeps: bool = False
    verbs: bool = False
    skew_us: Skew = 0
    coordinator: Annotated[
        Annotated[str, Meta(max_length=MOST_LETTERS, pattern=r"^[^\s:].*:[0-9]{1,5}$")] | None,
        Meta(examples=["127.0.0.1:8025"], description="Host and port."),
    ] = None


class Gone(Body, frozen=True, kw_only=True):
    """A store that was deleted from the directory."""

    store: Store


class Stamped(Body, frozen=True, kw_only=True):
    """From this instant on, the primary address of an entry is in this domain."""

    domain: Annotated[Line, Meta(examples=["contoso.test"])]
    at: At


class Entry(Body, frozen=True, kw_only=True):
    """The entry of a store in the directory: its stamps, and why it has no address if it has none.

    number: which directory object of this name it is; 0 is the first.
    linked: whether the object names the tree of its store.
    doubled: whether there is a second object of the store.
    """

    store: Store
    stamps: Annotated[
        list[Stamped],
        Meta(max_length=MOST_STAMPS, examples=[[{"domain": "contoso.test", "at": 1066694400000000}]]),
    ]
    missing: Annotated[Line, Meta(examples=[""])]
    number: Annotated[int, Meta(ge=0, le=LAST_NUMBER)] = 0
    linked: bool = True
    doubled: bool = False

    @property
    def object(self) -> StoreObject:
        """The object of the entry."""
        stamps = tuple(Stamp(stamp.domain, stamp.at) for stamp in self.stamps)
        return StoreObject(stamps, self.number, self.linked, self.doubled)


class Organization(Body, frozen=True, kw_only=True):
    """The organization after a change: a topology in YAML or JSON."""

    topology: Annotated[str, Meta(examples=["servers: {A: , B: }"])]


class Released(Body, frozen=True, kw_only=True):
    """A mail in the queue, by its id."""

    row: Annotated[int, Meta(ge=0, le=LAST_NUMBER, examples=[7])]


class Deleted(Body, frozen=True, kw_only=True):
    """A store to delete; `force` deletes it even if it still holds replicas."""

    store: Store
    force: bool = False


class ManagedHosts(Protocol):
    """The servers of a process, with all operations that a coordinator needs."""

    def host(self, name: str) -> Host: ...

    async def rest(self, longest_s: float) -> None:
        """Wait until the node may have become idle, at most the given real time."""

    def meet(self, peers: Peers) -> None:
        """Replace what the node knows about the other servers of the lab."""

    def stop(self) -> None:
        """End the process cleanly, after the present requests."""


_STATUS: Final[dict[int, dict[str, Any]]] = {200: {"content": {LINES: {"example": '{"now": 1066694400000000, ...}'}}}}

CONTROL: Final = Routes[ManagedHosts]("/nodes/{name}", tag="coordinator")
"""The routes by which a coordinator manages this node."""


@CONTROL.post("/clock/hold", answers=_STATUS)
async def hold(process: ManagedHosts, name: Name) -> Response:
    """Pause the clock and begin nothing new until `go`."""
    host = process.host(name)
    await host.hold()
    return _status(host, host.now)


@CONTROL.post("/clock/set", answers=_STATUS)
async def set_clock(process: ManagedHosts, name: Name, instant: Instant) -> Response:
    """Set the clock, which is then paused or runs at a rate. It never goes back."""
    host = process.host(name)
    await host.hold()
    await host.set_clock(max(instant.at, host.now), instant.rate)
    return _status(host, host.now)


@CONTROL.post("/clock/go", answers=_STATUS)
async def go(process: ManagedHosts, name: Name) -> Response:
    """Continue after `hold`."""
    host = process.host(name)
    await host.go()
    return _status(host, host.now)


@CONTROL.get("/idle", answers=_STATUS)
async def idle(
    process: ManagedHosts,
    name: Name,
    at: Annotated[
        int,
        Meta(
            ge=0,
            le=END_AT,
            description="The lab time at which the node must be idle, in microseconds since 1970.",
        ),
    ],
    after: Annotated[Number, Meta(description="The number of the last known event.")] = 0,
    wait_s: Annotated[float, Meta(ge=0.0, le=LONGEST_WAIT_S)] = 0.0,
) -> Response:
    """Return a line of status and the events after `after`, one a line. A busy node answers within `wait_s`."""
    host = process.host(name)
    if wait_s and host.busy(at):
        await process.rest(wait_s)
    return _status(host, at, after)


@CONTROL.put("/peers", answers=_STATUS)
async def peers(process: ManagedHosts, name: Name, order: Peers) -> Response:
    """Replace what the node knows about the other servers of the lab."""
    host = process.host(name)
    process.meet(order)
    return _status(host, host.now)


@CONTROL.post("/directory", answers=_STATUS)
async def entered(process: ManagedHosts, name: Name, order: Entry) -> Response:
    """Add a store that joins later to the directory, or replace the object of a store's entry."""  # spec: RP-3, ML-1
    host = process.host(name)
    host.do(lambda node, now: node.enter(now, order.store, order.object, order.missing))
    return _status(host, host.now)


@CONTROL.post("/directory/deleted", answers=_STATUS)
async def deleted(process: ManagedHosts, name: Name, order: Deleted) -> Response:
    """Delete a store from the directory, as an administrator at this store."""  # spec: RP-6
    host = process.host(name)
    host.do(lambda node, now: node.delete_store(now, order.store, force=order.force))
    return _status(host, host.now)


@CONTROL.post("/directory/left", answers=_STATUS)
async def left(process: ManagedHosts, name: Name, order: Gone) -> Response:
    """Remove a store that was deleted from the directory at another store."""  # spec: RP-6
    host = process.host(name)
    host.do(lambda node, now: node.left(now, order.store))
    return _status(host, host.now)


@CONTROL.post("/organization", answers=_STATUS)
async def reorganized(process: ManagedHosts, name: Name, order: Organization) -> Response:
    """Read the organization as it is after a change."""  # spec: RT-6
    host = process.host(name)
    try:
        topology = topology_from_text(order.topology, "the organization")
    except ProblemsError as error:
        raise Misuse(str(error)) from None
    host.do(lambda node, now: node.reorganize(now, topology))
    return _status(host, host.now)


@CONTROL.post("/queue/released", answers=_STATUS)
async def released(process: ManagedHosts, name: Name, order: Released) -> Response:
    """Let a mail that a fault held leave now, or when its connector opens."""
    host = process.host(name)
    host.do(lambda node, now: node.hop_released(now, order.row))
    return _status(host, host.now)


@CONTROL.get("/backup", answers={200: {"content": {DATABASE: {}}}})
async def backup(process: ManagedHosts, name: Name) -> Response:
    """Return a copy of the store's database."""
    return Response(process.host(name).read(lambda node: node.backup()), media_type=DATABASE)


@CONTROL.post("/stop")
async def stop(process: ManagedHosts, name: Name) -> Response:
    """End the process cleanly, as SIGTERM does."""
    process.host(name)
    process.stop()
    return json_response({"status": "ending"}, 202)


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
