"""The host of a node, with a fake node: when it works, when it rests, and what it reports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, cast

import pytest

from node.errors import CannotWrite, MailRefused, NotRunning
from node.host import delivery_results
from node.host import host as hosting
from node.host.clock import LabClock
from node.host.host import Address, Host
from node.store.lifecycle import Outcome, outcome_of
from node.store.node import Node
from tests.support.clock import START_AT
from tests.support.smtp_peers import Client
from traces.labtime import HOUR_US, LabTime
from transport.envelope import IncomingHop, IncomingMail, Offers, Priority, SendOutcome, SendState, Transmission
from transport.protocol.auth import Credentials
from transport.protocol.fault_points import GO, AfterSend, BeforeSend, Decision, FaultPoint

TURNS = 200
"""Turns of the event loop in which a spinning host would read the clock a hundred times."""


class CountingClock(LabClock):
    """A paused clock that counts how often it is read."""

    looks = 0

    def now(self) -> LabTime:
        self.looks += 1
        return super().now()


class FakeNode:
    """A node with one queue row and one timer, both of which a test sets; it records what the host calls."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.timer_at: LabTime | None = None
        self.queue: list[Transmission] = []
        self.calls: list[str] = []
        self.reports = 0
        self.refusal: MailRefused | None = None
        self.no_room_left = 0
        """The number of further stimuli about mails that fail for lack of room."""

    @property
    def reported(self) -> list[str]:
        """The hops that the host reported. While a hop takes long, the host also ticks the node."""
        return [word for word in self.calls if word != "tick"]

    def next_due(self) -> LabTime | None:
        return START_AT if self.queue else self.timer_at

    def outgoing(self, now: LabTime, limit: int, busy: frozenset[int], crowded: frozenset[str]) -> list[Transmission]:
        return [mail for mail in self.queue if mail.queue_id not in busy and mail.next_hop not in crowded][:limit]

    def catch_up(self, now: LabTime) -> LabTime:
        return now

    def tick(self, now: LabTime) -> None:
        self.calls.append("tick")
        self.timer_at = None

    def together(self, now: LabTime, acts: Sequence[Callable[[], Any]]) -> list[Outcome]:
        del now
        return [outcome_of(act) for act in acts]

    def check_recipient(self, address: str) -> None: ...

    def check_room(self, size: int) -> None: ...

    def mail_in(
        self,
        now: LabTime,
        hop: IncomingHop,
        mail: IncomingMail,
        lost_by: str | None,
    ) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.calls.append(f"mail from {hop.peer} for {', '.join(mail.recipients)}")

    def hops_concluded(self, now: LabTime, ended: Sequence[tuple[int, SendOutcome]]) -> None:
        self._need_room()
        for queue_id, outcome in ended:
            delivered = outcome.state is SendState.DELIVERED
            failed = f"failed{' for good' if outcome.permanent else ''}: {outcome.reason}"
            self.calls.append("done" if delivered else failed)
            self.queue = [mail for mail in self.queue if mail.queue_id != queue_id]
        self.reports += 1

    def hop_held(self, now: LabTime, queue_id: int, until_at: LabTime) -> None:
        self._need_room()
        self.calls.append(f"held for {until_at - now}")
        self.queue.clear()

    def _need_room(self) -> None:
        if self.no_room_left:
            self.no_room_left -= 1
            raise CannotWrite(self.name, "no space left on device")

    def offers(self) -> Offers:
        return Offers()

    @property
    def credentials(self) -> Credentials:
        return Credentials(self.name, b"certificate", lambda data: bytes(64))

    def verify_peer(self, store: str, certificate: bytes, signature: bytes, data: bytes) -> bool:
        return True

    def abandon(self) -> None:
        self.calls.append("abandoned")

    def close(self, now: LabTime) -> None:
        self.calls.append("closed")


class Faults:
    """Decides the same for every mail."""

    def __init__(self) -> None:
        self.decision = GO
        self.asks = False
        """Whether the decision has to be asked for, as with faults kept in another process."""
        self.over: list[bool] = []

    def decide(self, point: FaultPoint) -> Decision | Awaitable[Decision]:
        if isinstance(point, AfterSend):
            self.over.append(point.delivered)
        if not isinstance(point, BeforeSend):
            return GO
        return self._asked() if self.asks else self.decision

    async def _asked(self) -> Decision:
        await asyncio.sleep(0)
        return self.decision


class Pair:
    """Two hosts, A and B, that can reach each other; `rest` waits until neither has work."""

    def __init__(self) -> None:
        self.faults = Faults()
        self.clock = CountingClock(START_AT, monotonic=lambda: 0.0)
        self.a, self.b = FakeNode("A"), FakeNode("B")
        self.addresses: dict[str, Address] = {}
        self.hosts = [self._host(self.a, self.clock), self._host(self.b, LabClock(START_AT, monotonic=lambda: 0.0))]

    def _host(self, node: FakeNode, clock: LabClock) -> Host:
        return Host(
            cast(Node, node), clock=clock, address_of=self.addresses.get, decide=self.faults.decide, idle=lambda: None
        )

    async def start(self) -> None:
        for host in self.hosts:
            self.addresses[host.name] = await host.start()

    def send(self, count: int = 1) -> None:
        """Queue mails from A to B, by a stimulus."""
        mails = [
            Transmission(
                number,
                "B",
                None,
                "a@x",
                ("b@x",),
                b"Hello\r\n",
                f"<{number}@a>",
                "Hello",
                0,
                Priority.NORMAL,
                START_AT,
                0,
            )
            for number in range(1, count + 1)
        ]
        self.hosts[0].do(lambda node, now: cast(FakeNode, node).queue.extend(mails))

    async def rest(self) -> None:
        async with asyncio.timeout(20):
            while any(host.busy(START_AT) for host in self.hosts):  # noqa: ASYNC110 - sockets alone move it
                await asyncio.sleep(0)


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    pair = Pair()
    await pair.start()
    yield pair
    for host in pair.hosts:
        await host.stop()


async def test_a_host_with_nothing_due_rests(pair: Pair) -> None:
    """A host does not spin between timers, however often it was woken before."""
    for _ in range(3):
        pair.hosts[0].do(lambda node, now: setattr(node, "timer_at", START_AT + HOUR_US))
        await asyncio.sleep(0)
    before = pair.clock.looks
    for _ in range(TURNS):
        await asyncio.sleep(0)
    assert pair.clock.looks - before < TURNS // 10


async def test_a_timer_is_ticked_when_the_clock_reaches_it(pair: Pair) -> None:
    """A jump to a timer's instant makes the host tick its node; one short of it does not."""
    host = pair.hosts[0]
    host.do(lambda node, now: setattr(node, "timer_at", START_AT + HOUR_US))
    await host.hold()
    await host.set_clock(START_AT + HOUR_US - 1, 0.0)
    await host.go()
    await pair.rest()
    assert pair.a.calls == []
    await host.hold()
    await host.set_clock(START_AT + HOUR_US, 0.0)
    assert host.busy(START_AT + HOUR_US)
    await host.go()
    async with asyncio.timeout(20):
        while host.busy(START_AT + HOUR_US):  # noqa: ASYNC110 - the host's own task moves it
            await asyncio.sleep(0)
    assert pair.a.calls == ["tick"]


async def test_a_paused_host_begins_nothing(pair: Pair) -> None:
    """Between hold and go the host sends nothing and ticks nothing; afterwards it does."""
    await pair.hosts[0].hold()
    pair.send()
    for _ in range(TURNS):
        await asyncio.sleep(0)
    assert pair.a.calls == []
    await pair.hosts[0].go()
    await pair.rest()
    assert pair.a.reported == ["done"]


async def test_a_mail_goes_by_smtp_and_is_reported(pair: Pair) -> None:
    """A due mail reaches the other node over a socket, and its sender is told that it was accepted."""
    # spec: ML-3, IN-2
    pair.send()
    await pair.rest()
    assert pair.b.calls == ["mail from A for b@x"]
    assert pair.a.reported == ["done"]
    assert pair.faults.over == [True]


async def test_mails_that_end_together_are_reported_in_one_transaction(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host reports hops that were in flight together in one stimulus of the sender's node, and leaves none out."""
    monkeypatch.setattr(delivery_results, "COLLECT_S", 3600.0)  # so that only the end of the last one tells of them
    pair.send(3)
    await pair.rest()
    assert pair.a.reported == ["done"] * 3
    assert pair.a.reports == 1
    assert pair.faults.over == [True] * 3


async def test_copies_are_sent_one_after_the_other(pair: Pair) -> None:
    """A mail that is to be sent twice arrives twice and is reported once."""
    pair.faults.decision = Decision(copies=2)
    pair.send()
    await pair.rest()
    assert pair.b.calls == ["mail from A for b@x"] * 2
    assert pair.a.reported == ["done"]


async def test_a_refused_or_held_mail_never_leaves(pair: Pair) -> None:
    """A mail that a fault refuses is a failed hop, one that it holds waits, and the other end sees neither."""
    pair.faults.decision = Decision(refuse="cut")
    pair.send()
    await pair.rest()
    pair.faults.decision = Decision(hold_until_at=START_AT + HOUR_US)
    pair.send()
    await pair.rest()
    assert pair.a.reported == ["failed: cut", f"held for {HOUR_US}"]
    assert pair.b.calls == []


async def test_a_hold_that_cannot_be_written_is_tried_again(pair: Pair) -> None:
    """On a full disk a held mail stays due, is asked about again and then held; this also works if the faults are kept
    elsewhere and answer later."""
    pair.faults.asks = True
    pair.faults.decision = Decision(hold_until_at=START_AT + HOUR_US)
    pair.a.no_room_left = 2
    pair.send()
    await pair.rest()
    assert pair.hosts[0].failure is None
    assert pair.a.reported == [f"held for {HOUR_US}"]
    assert pair.b.calls == []


async def test_a_hop_whose_end_cannot_be_written_is_not_repeated_at_once(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk a host waits before it sends a mail again, and says why it is not idle."""
    monkeypatch.setattr(hosting, "NO_ROOM_PAUSE_S", 3600.0)
    pair.a.no_room_left = 1
    pair.send()
    while "cannot write" not in pair.hosts[0].busy(START_AT):  # noqa: ASYNC110 - a host tells nobody of this
        await asyncio.sleep(0)
    assert len(pair.b.calls) == 1 and pair.a.queue


async def test_a_host_goes_on_when_there_is_room_again(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host writes what it could not write at the next try, and is idle then."""
    monkeypatch.setattr(hosting, "NO_ROOM_PAUSE_S", 0.001)
    pair.a.no_room_left = 3
    pair.send()
    await pair.rest()
    assert pair.a.reported == ["done"] and len(pair.b.calls) == 4
    assert pair.hosts[0].busy(START_AT) == "" and pair.hosts[0].failure is None


@pytest.mark.parametrize(("code", "expected"), [(550, "failed for good: 550"), (451, "failed: 451")])
async def test_a_refusal_is_permanent_or_temporary(pair: Pair, code: int, expected: str) -> None:
    """A node's refusal comes back as its code; 5xx is permanent, 4xx is temporary."""
    pair.b.refusal = MailRefused(code, "no")
    pair.send()
    await pair.rest()
    assert len(pair.a.reported) == 1
    assert pair.a.reported[0].startswith(expected)


async def test_a_hop_to_an_address_without_listener_fails(pair: Pair) -> None:
    """Without an address, or with one where no server listens, the hop fails with a reason."""
    await pair.hosts[1].kill()
    pair.send()
    await pair.rest()
    del pair.addresses["B"]
    pair.send()
    await pair.rest()
    assert pair.a.reported[0].startswith("failed: no connection")
    assert pair.a.reported[1] == "failed: connection refused: B is not running"


async def test_a_failing_node_is_reported(pair: Pair, caplog: pytest.LogCaptureFixture) -> None:
    """An error in the host's own work is kept for whoever waits for the host, which is not idle then."""

    def broken(now: LabTime) -> None:
        raise RuntimeError("disk full")

    pair.a.tick = broken  # type: ignore[method-assign]
    pair.hosts[0].do(lambda node, now: setattr(node, "timer_at", START_AT))
    async with asyncio.timeout(20):
        while pair.hosts[0].failure is None:  # noqa: ASYNC110 - the host's own task moves it
            await asyncio.sleep(0)
    assert "disk full" in pair.hosts[0].busy(START_AT)
    assert "server A failed" in caplog.text


async def test_a_stopping_host_waits_for_a_slow_peer_as_long_as_mails_end(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An orderly stop waits for all mails in flight, however long they take together, so a slow machine does not change which
    mails arrive before the stop.
    """
    # spec: TM-1
    at_s = asyncio.get_running_loop().time()
    stopping = asyncio.Event()
    accept = pair.hosts[1]._listener.accept

    async def accepted_late(hop: IncomingHop, mail: IncomingMail) -> None:
        nonlocal at_s
        await stopping.wait()
        at_s += 0.9 * hosting.DRAIN_S
        for _ in range(TURNS):  # lets a limit of the stop act
            await asyncio.sleep(0)
        await accept(hop, mail)

    pair.hosts[1]._listener.accept = accepted_late
    pair.send(4)
    while not pair.hosts[0]._deliveries.under_way:  # noqa: ASYNC110 - the host's own task moves it
        await asyncio.sleep(0)
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: at_s)
    stopping.set()
    await pair.hosts[0].stop()
    monkeypatch.undo()
    assert pair.a.reported == ["done"] * 4 + ["closed"]


async def test_a_killed_host_abandons_its_node(pair: Pair) -> None:
    """After a kill the node was abandoned, not closed, and takes no stimulus."""
    await pair.hosts[1].kill()
    assert pair.b.calls == ["abandoned"]
    with pytest.raises(NotRunning):
        pair.hosts[1].do(lambda node, now: None)
    pair.b.calls.clear()


async def test_hops_to_and_from_a_lost_server_are_not_waited_for(pair: Pair) -> None:
    """A server that falls silent while mails are in flight keeps no host busy; mails on their way to it stay queued."""
    # spec: TM-1
    came = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.set()
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with server:
        pair.addresses["B"] = server.sockets[0].getsockname()[:2]
        pair.send()
        await came.wait()
        reader, writer = await asyncio.open_connection(*pair.addresses["A"])
        writer.write(b"EHLO B\r\nMAIL FROM:<b@x>\r\n")
        while not (await reader.readline()).startswith(b"250 2.1.0"):
            pass
        assert "being sent" in pair.hosts[0].busy(START_AT)
        del pair.addresses["B"]
        pair.hosts[0].lost(["B"])
        await pair.rest()
        assert pair.a.reported == ["failed: B has fallen silent"]
        assert await reader.read() == b""
        writer.close()


@pytest.mark.parametrize(
    ("asks", "outcome"), [(False, "B has fallen silent"), (True, "connection refused: B is not running")]
)
async def test_a_hop_that_is_lost_before_its_first_step_is_not_waited_for(pair: Pair, asks: bool, outcome: str) -> None:
    """A server can fall silent between the beginning of a hop, or of the request for a decision about it, and its first step.
    The hop ends then, and its mail is due again."""
    # spec: TM-1
    pair.faults.asks = asks
    pair.send()
    while not pair.hosts[0].busy(START_AT).endswith("being sent"):  # noqa: ASYNC110 - the pump moves it
        await asyncio.sleep(0)
    del pair.addresses["B"]
    pair.hosts[0].lost(["B"])
    await pair.rest()
    assert pair.a.reported == [f"failed: {outcome}"]


async def test_ehlo_to_a_stopped_store_is_refused(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A connection that was open when the store stopped gets 421 for EHLO, and this is no error of the server."""

    def offers() -> Offers:
        raise NotRunning("store B is not running")

    monkeypatch.setattr(pair.b, "offers", offers)
    client = Client(*await asyncio.open_connection(*pair.addresses["B"]))
    await client.reply()
    assert (await client.say("EHLO A")).startswith("421 4.3.2")
    await client.close()
    assert caplog.records == []
