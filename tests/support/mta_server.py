"""A server's message transfer agent with a real database and real routing, without a socket."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import sqlalchemy
from sqlalchemy.pool import StaticPool

from tests.support.clock import START_AT
from topology.file.load import topology_from_text
from topology.routing import Routing
from traces.recorder import Recorder
from transport.envelope import IncomingHop, LocalDelivery, OutgoingMail, Priority, SendOutcome, SendState, Transmission
from transport.mime.headers import incoming_mail
from transport.mta.mta import Mta
from transport.mta.retry_policy import MtaPolicy
from transport.mta.tables import metadata
from transport.sql import Connection
from transport.stimulus import Stimulus

LINES = """
organization: Contoso
domain: contoso.test
sites: [SEA, NYC, LON, TKO]
servers: {A: {site: SEA}, B: {site: SEA}, C: {site: NYC}, C2: {site: NYC}, D: {site: LON}, E: {site: TKO}}
connectors:
  - {name: SEA-NYC, kind: routing-group, between: [SEA, NYC], cost: 10, latency: 80 ms}
  - {name: NYC-LON, kind: routing-group, between: [NYC, LON], cost: 10}
  - {name: SEA-LON, kind: x400, between: [SEA, LON], cost: 50, size_limit: 2 KB}
  - {name: slow, kind: routing-group, between: [SEA, TKO], cost: 10, bandwidth: 8 kbit/s, latency: 1 s}
"""
TOPOLOGY = topology_from_text(LINES)


@dataclass
class Server:
    """A server's MTA with its database; `at` is the lab time of the next stimulus."""

    mta: Mta
    conn: Connection
    trace: Recorder
    at: int = START_AT
    known: dict[str, str] = field(default_factory=dict)

    def stimulus(self) -> Stimulus:
        self.trace.begin(self.at)
        return Stimulus(self.conn, self.at, self.trace)

    def submit(self, *recipients: str, size: int = 100, **more: object) -> list[LocalDelivery]:
        return self.mta.submit(self.stimulus(), outgoing(*recipients, size=size, **more))

    def accept(self, hop: IncomingHop, recipients: Sequence[str], content: bytes) -> list[LocalDelivery]:
        return self.mta.accept(self.stimulus(), hop, incoming_mail("A-IS@contoso.test", recipients, content))

    def delivered(self, queue_id: int) -> list[LocalDelivery]:
        return self.mta.concluded(self.stimulus(), queue_id, SendOutcome(SendState.DELIVERED))

    def deferred(self, queue_id: int, reason: str) -> list[LocalDelivery]:
        return self.mta.concluded(self.stimulus(), queue_id, SendOutcome(SendState.DEFERRED, reason))

    def refused(self, queue_id: int, reason: str) -> list[LocalDelivery]:
        return self.mta.concluded(self.stimulus(), queue_id, SendOutcome(SendState.REFUSED, reason))

    def ready(self, limit: int = 100, busy: Sequence[int] = ()) -> list[Transmission]:
        return self.mta.ready(self.conn, self.at, limit, frozenset(busy))

    def next_due(self) -> int | None:
        return self.mta.next_due(self.conn)

    def count(self, table: str) -> int:
        return int(self.conn.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())

    def route(self, *down: str) -> None:
        self.mta.routing = Routing(TOPOLOGY, frozenset(down))


def outgoing(*recipients: str, size: int = 100, **more: object) -> OutgoingMail:
    """A mail of `size` bytes from A's store."""
    values: dict[str, object] = {
        "message_id": "<1@A>",
        "sender": "A-IS@contoso.test",
        "recipients": tuple(recipients),
        "content": (b"Subject: a\r\n\r\n" + b"x" * size)[: size - 2] + b"\r\n",
        "priority": Priority.NORMAL,
        "subject": "a",
    }
    return OutgoingMail(**(values | more))  # type: ignore[arg-type]


def make_server(conn: Connection, name: str = "A", policy: MtaPolicy | None = None) -> Server:
    known = {f"{server}-IS@contoso.test": server for server in TOPOLOGY.servers}
    known["kim@contoso.test"] = "A"
    mta = Mta(name, Routing(TOPOLOGY), known.get, policy)
    return Server(mta, conn, Recorder(run="r", node=name, checked=True), known=known)


@contextmanager
def database() -> Iterator[Connection]:
    engine = sqlalchemy.create_engine("sqlite://", poolclass=StaticPool)
    with engine.connect() as connection:
        metadata.create_all(connection)
        yield Connection.of(connection)
    engine.dispose()


def to(*servers: str) -> tuple[str, ...]:
    return tuple(f"{server}-IS@contoso.test" for server in servers)


def fail_until_empty(server: Server) -> tuple[int, list[LocalDelivery]]:
    """Fail every attempt; return the number of attempts and the returned mails."""
    attempts = 0
    local: list[LocalDelivery] = []
    for _ in range(1000):
        due_at = server.next_due()
        if due_at is None:
            return attempts, local
        server.at = max(server.at, due_at)
        local += server.mta.tick(server.stimulus())
        for transmission in server.ready():
            attempts += 1
            local += server.deferred(transmission.queue_id, "nobody there")
    raise AssertionError("the queue never became empty")
