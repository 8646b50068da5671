"""The speed of the machine decides nothing: what is slow is waited for, what is gone is not (spec: TM-1)."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from node.api.control import Peers
from node.process.fault_client import FaultClient
from pflab.client import Client, ClientError
from pflab.drivers.managed_process import FOUND_AGAIN_S, BeginOrder, ManagedProcess
from pflab.drivers.processes import ProcessLab
from pflab.drivers.pulse import Pulse
from pflab.drivers.socket_lab import SocketLab
from pflab.runs.run_folder import RunFolder
from tests.support.clock import START_AT
from tests.support.lab_actions import events_of, post
from tests.support.lab_factory import LabFactory
from tests.support.running_clocks import COURSES, Course, play_course
from tests.support.topologies import TWO_SITES, TWO_STORES
from topology.file.load import topology_from_text
from traces.events import MailSubmitted, NodeStarted, NodeStopped, RunEnded, StatusDue
from traces.labtime import HOUR_US, MINUTE_US
from transport.protocol.fault_points import AtVerb, Decision, Verb

pytestmark = pytest.mark.long

BROADCASTS = {0x2, 0x4}
"""The message types of broadcasts (OUT-6)."""


@asynccontextmanager
async def slow_server(answer: bytes, answers: Callable[[], bool]) -> AsyncIterator[tuple[str, int]]:
    """An HTTP server that answers each request once `answers` returns True."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            await reader.readexactly(int(head.partition("content-length:")[2].split()[0]))
            while not answers():  # noqa: ASYNC110 - a test moves the time
                await asyncio.sleep(0)
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b" % (len(answer), answer)
            )
        except OSError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield cast(tuple[str, int], server.sockets[0].getsockname()[:2])


@pytest.fixture
def passed_s(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], float]:
    """Adds seconds to the time of the event loop; returns how many were added in all."""
    begin_s, total_s = time.monotonic(), 0.0

    def add(seconds: float) -> float:
        nonlocal total_s
        total_s += seconds
        return total_s

    monkeypatch.setattr(asyncio.BaseEventLoop, "time", lambda loop: begin_s + total_s)
    return add


async def test_a_busy_lab_is_waited_for_before_a_mail_goes_on(passed_s: Callable[[float], float]) -> None:
    """A node asks the lab about a fault. The lab's decision counts, even if the lab is busy for ten minutes before it."""
    decision = Decision(lost_by="lose-1")
    async with slow_server(msgspec.json.encode(decision), lambda: passed_s(1) > 600) as (host, port):
        client = FaultClient("A")
        client.meet(Peers(addresses={}, coordinator=f"{host}:{port}", asks=True, verbs=True))
        asked = client.decide(AtVerb("B", "A", Verb.MAIL, START_AT))
        assert not isinstance(asked, Decision)
        assert await asked == decision
        client.close()


@pytest.mark.parametrize("listens", [True, False])
async def test_a_lab_that_continues_waits_for_busy_processes(passed_s: Callable[[float], float], listens: bool) -> None:
    """A coordinator that restarts waits for a process that is busy, and only a moment for one that is gone."""
    status = {"process": "1", "status": "waiting", "run": None, "history": None, "smtp": None, "heartbeat": 0}
    busy_s = 10 * FOUND_AGAIN_S
    async with slow_server(msgspec.json.encode(status), lambda: passed_s(0.01) > busy_s) as (host, port):
        address = (host, port if listens else 9)
        process = ManagedProcess(
            "A",
            address,
            token=None,
            pulse=Pulse("A", token=None, patience_s=60),
            order=BeginOrder(run="run", history="run", topology=""),
        )
        waiting = asyncio.ensure_future(process.wait_for(FOUND_AGAIN_S))
        while not waiting.done():
            passed_s(0.01)
            await asyncio.sleep(0)
        found, took_s = waiting.result(), passed_s(0)
        process.close()
    assert (found is not None, took_s > busy_s) == (listens, listens)


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.live) for name in ("live", "managed")])
def driver(request: pytest.FixtureRequest) -> str:
    """The drivers whose clock can run. The nodes of both also run in containers."""
    return str(request.param)


@pytest.mark.parametrize("troubled", [False, True], ids=["quiet", "troubled"])
@pytest.mark.parametrize("course", COURSES, ids=[f"rate-{course.rate:g}" for course in COURSES])
async def test_what_is_due_happens_at_its_time(make_lab: LabFactory, course: Course, troubled: bool) -> None:
    """While the clock runs, at whatever rate, broadcasts are of a quarter of an hour to the microsecond, and status checks of
    00:15 and 12:15 (OUT-1, ST-1), unless a store starts later than that."""
    lab: Any = make_lab(TWO_SITES)
    assert isinstance(lab, SocketLab)
    async with lab:
        await play_course(lab, course, troubled=troubled)
        starts = {(start.node, start.at) for start in events_of(lab, NodeStarted)}
        sent = {(mail.node, mail.at) for mail in events_of(lab, MailSubmitted) if mail.message_type in BROADCASTS}
        assert sent, "nothing was broadcast"
        assert {(node, at) for node, at in sent - starts if at % (15 * MINUTE_US)} == set()
        due = {(each.node, each.at) for each in events_of(lab, StatusDue)}
        assert {(at - 15 * MINUTE_US) % (12 * HOUR_US) for _, at in due - starts} == {0}


async def test_a_lab_ends_at_one_lab_time(make_lab: LabFactory) -> None:
    """A lab that ends while its clock runs ends at one instant of lab time, with all its stores. A store that stops earlier
    would be one that the run had lost."""
    lab: Any = make_lab(TWO_SITES)
    async with lab:
        await lab.set_rate(36_000)
    stops = {stop.at for stop in events_of(lab, NodeStopped)}
    assert stops == {end.at for end in events_of(lab, RunEnded)}
    assert len(stops) == 1


async def test_what_came_due_while_a_server_was_down_is_at_its_start(tmp_path: Path) -> None:
    """Users who post at the moment of a start do not delay the cycle that was missed: it is of the start (OUT-1, TM-1)."""
    async with ProcessLab(topology_from_text(TWO_STORES), folder=RunFolder.at(tmp_path / "up" / "lab")) as lab:
        ended = threading.Event()

        def post_always() -> None:
            with Client(lab.url) as client:
                while not ended.is_set():
                    with suppress(ClientError):
                        client.post("A", "Projects", subject="at the start")

        for _ in range(3):
            ended.clear()
            await post(lab, "A", "before")
            await lab.kill("A")
            await lab.advance(lab.now + 17 * MINUTE_US)
            await lab.set_rate(3600)
            posting = asyncio.create_task(asyncio.to_thread(post_always))
            await lab.start("A")
            ended.set()
            await posting
            await lab.set_rate(0)
            await lab.advance(lab.now + 40 * MINUTE_US)
        starts = {(start.node, start.at) for start in events_of(lab, NodeStarted)}
        sent = {(mail.node, mail.at) for mail in events_of(lab, MailSubmitted) if mail.message_type in BROADCASTS}
        assert sent & starts
        assert {(node, at) for node, at in sent - starts if at % (15 * MINUTE_US)} == set()
