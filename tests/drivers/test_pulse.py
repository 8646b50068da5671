"""The lab waits for a process as long as its heartbeat answers, and passes over one that cannot answer."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import suppress

import msgspec
import pytest

from bench.ports import free_port
from node.api.http_client import Unanswered
from node.process.heartbeat import Heartbeat, Work
from pflab.drivers import pulse as pulse_module
from pflab.drivers.host_proxy import RemoteHost
from pflab.drivers.pulse import Pulse
from tests.support.clock import START_AT

TOKEN = "of this test"
BEATS = 4
"""How often the heartbeat is asked before the slow store answers: twice as long as any answer took before the heartbeat."""

_STATUS = {"now": START_AT, "rate": 0.0, "activity": 7, "failure": None, "busy": "", "due": None, "seq": 0}


class SlowStore:
    """A process whose stimulus ends after its heartbeat has been asked BEATS times."""

    def __init__(self) -> None:
        self.beats = 0
        self._done = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self.heartbeat = Heartbeat("127.0.0.1", TOKEN, self._work)

    def _work(self) -> Work | None:
        self.beats += 1
        if self.beats == BEATS:
            self._loop.call_soon_threadsafe(self._done.set)
        return ("tick", 0.0)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await self._done.wait()
        body = msgspec.json.encode(_STATUS)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b" % (len(body), body))
        await writer.drain()
        writer.close()


@pytest.fixture
async def store() -> AsyncIterator[SlowStore]:
    slow = SlowStore()
    yield slow
    slow.heartbeat.stop()


def pulse_of(port: int, *, token: str = TOKEN, patience_s: float = 60.0) -> Pulse:
    pulse = Pulse("B", token=token, patience_s=patience_s)
    pulse.address = ("127.0.0.1", port)
    return pulse


@pytest.mark.long
async def test_a_slow_stimulus_is_waited_for(store: SlowStore) -> None:
    """A store that does not answer while it works on a stimulus is not passed over, however long that takes."""
    # spec: TM-1
    server = await asyncio.start_server(store.answer, "127.0.0.1", 0)
    async with server:
        address = server.sockets[0].getsockname()[:2]
        pulse = pulse_of(store.heartbeat.port)
        host = RemoteHost("B", address, token=None, seq=0, events=lambda name, lines: 0, pulse=pulse)
        await host.look(START_AT)
        host.close()
    assert store.beats >= BEATS
    assert host.activity == 7
    assert not host.silent


async def test_a_process_without_a_heartbeat_is_given_up_after_the_patience() -> None:
    """A process that takes connections and does not answer, as a stopped one does, is waited for only that long."""
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        pulse = pulse_of(deaf.getsockname()[1], patience_s=2.0)
        with pytest.raises(Unanswered, match="it has given no sign of life for 2 s"):
            await pulse.wait(asyncio.Event().wait())


async def test_a_process_that_has_ended_is_not_waited_for() -> None:
    """If nothing listens for the heartbeat, the process has ended."""
    with pytest.raises(Unanswered, match="its process has ended"):
        await pulse_of(free_port()).wait(asyncio.Event().wait())


async def test_a_stopped_process_is_not_waited_for(store: SlowStore) -> None:
    """If the operating system says that the process is stopped, the lab need not find out."""
    pulse = Pulse("B", token=TOKEN, patience_s=60.0, stopped=lambda: True)
    with pytest.raises(Unanswered, match="its process is stopped"):
        await pulse.wait(asyncio.Event().wait())


async def test_the_heartbeat_says_what_the_process_works_on(store: SlowStore) -> None:
    """It names the stimulus; a client without the token learns nothing."""
    assert (await pulse_of(store.heartbeat.port).beat() or "").startswith("tick for ")
    assert await pulse_of(store.heartbeat.port, token="another").beat() is None


async def test_strangers_do_not_keep_the_heartbeat_from_answering(store: SlowStore) -> None:
    """Clients without the token that send nothing, or one byte after another, do not delay the answer to the coordinator.
    If they did, the lab would pass over a healthy server."""
    port = store.heartbeat.port
    strangers = [await asyncio.open_connection("127.0.0.1", port) for _ in range(100)]
    try:
        for _ in range(8):
            strangers[-1][1].write(b"x")
            assert await pulse_of(port).beat() is not None
        with suppress(ConnectionError):
            assert await asyncio.wait_for(strangers[0][0].read(), 10) == b""  # the oldest made room
    finally:
        for _, writer in strangers:
            writer.close()


async def test_an_endless_line_ends_the_connection(store: SlowStore) -> None:
    """A client that sends no line feed is cut when its line is too long, and learns nothing."""
    reader, writer = await asyncio.open_connection("127.0.0.1", store.heartbeat.port)
    writer.write(b"x" * 100_000)
    with suppress(ConnectionError):
        assert await asyncio.wait_for(reader.read(), 10) == b""
    writer.close()


async def test_a_check_before_a_blocking_request_finds_what_does_not_beat(
    store: SlowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check returns if the heartbeat answers, and raises the reason if it does not."""
    await asyncio.to_thread(pulse_of(store.heartbeat.port).check)
    with pytest.raises(Unanswered, match="its process is stopped"):
        Pulse("B", token=TOKEN, patience_s=60.0, stopped=lambda: True).check()
    monkeypatch.setattr(pulse_module, "USER_PATIENCE_S", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(Unanswered, match=r"no sign of life for 0\.01 s"):
            pulse_of(port).check()
    with pytest.raises(Unanswered, match="its process has ended"):
        pulse_of(port).check()
