"""The simulated lab that an HTTP server serves: its clock, what a change does at once, and its saved labs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from node.api.http_server import HttpServer
from node.api.routing.dispatch import dispatch
from node.errors import NotRunning
from pflab.client import Client, ClientError, url_at
from pflab.errors import LabError, Taken
from pflab.faults.fault import Crash, Cut, Lose
from pflab.lab.histories import Histories
from pflab.runs.continued import Earlier
from pflab.runs.run_folder import RunFolder
from pflab.server.app import app_of_live_lab
from pflab.simulation.simulated_lab import SimulatedLab
from tests.support.clock import ALWAYS_US, START_AT
from tests.support.lab_actions import events_of, post, subjects
from tests.support.topologies import THREE_STORES
from topology.file.load import topology_from_text
from traces.events import ClockChanged, FaultHealed, MailReceived, NodeStarted, RunEnded, RunStarted
from traces.labtime import DAY_US, HOUR_US, MINUTE_US
from traces.reading import read_folder

"""Ten times what a reset may take on an idle machine; it takes about 0.03 s."""


@pytest.fixture
def histories(tmp_path: Path) -> Histories[SimulatedLab]:
    def folder() -> RunFolder:
        return RunFolder.create(tmp_path, "up")

    def make(folder: RunFolder, earlier: Earlier | None) -> SimulatedLab:
        return SimulatedLab(topology_from_text(THREE_STORES), folder=folder, earlier=earlier)

    return Histories(folder(), make, folder)


@pytest.fixture
def lab(histories: Histories[SimulatedLab]) -> SimulatedLab:
    return histories.lab


async def reset(histories: Histories[SimulatedLab], name: str) -> SimulatedLab:
    """Reset the lab, as pflab up does; return the lab of the next history."""
    ended = histories.lab
    await ended.reset(name)
    assert await histories.next()
    await ended.close()
    await histories.lab.up()
    return histories.lab


@asynccontextmanager
async def served(histories: Histories[SimulatedLab]) -> AsyncIterator[Callable[[Callable[[Client], Any]], Any]]:
    """Serve a lab; yield what calls a function with a client in a thread."""

    server = HttpServer(app_of_live_lab(lambda: histories.lab))

    async def asked(function: Callable[[Client], Any]) -> Any:
        def call() -> Any:
            with Client(url_at(address)) as client:
                return function(client)

        return await asyncio.to_thread(call)

    async def follow() -> None:
        ended = histories.lab
        while await histories.next():
            await ended.close()
            ended = histories.lab
            await ended.up()

    await histories.lab.up()
    address = await server.start()
    following = asyncio.create_task(follow())
    try:
        yield asked
    finally:
        following.cancel()
        await server.stop()
        await histories.lab.close()


async def test_a_lab_is_driven_without_a_socket(lab: SimulatedLab) -> None:
    """Changes, reads and orders need no server: `dispatch` gives the answers of HTTP, also to a repeated Idempotency-Key."""
    app, key = app_of_live_lab(lambda: lab), {"Idempotency-Key": "once"}
    body = b'{"folder": "Projects", "subject": "Hello"}'
    async with lab:
        first = await dispatch(app, "POST", "/nodes/A/messages", body, key)
        again = await dispatch(app, "POST", "/nodes/A/messages", body, key)
        other = await dispatch(app, "POST", "/nodes/A/messages", body.replace(b"Hello", b"Bye"), key)
        await dispatch(app, "POST", "/lab/clock/advance", b'{"to": "1 h"}')
        count = await dispatch(app, "GET", "/nodes/B/messages/count?folder=Projects")
    assert (first.status, again.status, other.status) == (201, 201, 422)
    assert first.body == again.body
    assert again.headers["idempotency-replayed"] == "true"
    assert count.body == b'{"count":1}'


async def test_the_clock_begins_paused(lab: SimulatedLab, histories: Histories[SimulatedLab]) -> None:
    """A lab begins with a paused clock, which can be paused again. A step goes to the next due time, or to its limit."""
    async with served(histories) as asked:
        await asked(lambda client: client.set_rate(0))
        assert (await asked(lambda client: client.clock()))["rate"] == 0
        assert (await asked(lambda client: client.step("1 s")))["moved"] is False
        assert lab.now == START_AT + 1_000_000
        assert (await asked(lambda client: client.step()))["moved"] is True
        due_at = lab.now
        assert due_at > START_AT + 1_000_000
    assert [(each.how, each.to) for each in events_of(lab, ClockChanged)] == [("pause", START_AT), ("step", due_at)]


async def test_a_change_runs_what_is_due_at_once(lab: SimulatedLab, histories: Histories[SimulatedLab]) -> None:
    """As in a live lab with a paused clock, mail that an order sends at once arrives without a move of the clock."""
    async with served(histories) as asked:
        await asked(lambda client: client.synchronize("B", "Projects"))
        assert {each.node for each in events_of(lab, MailReceived)} == {"A", "C"}
        assert lab.now == START_AT


async def test_there_are_no_smtp_ports(lab: SimulatedLab, histories: Histories[SimulatedLab]) -> None:
    """GET /lab has no SMTP addresses; a mail by HTTP reaches the server, or is refused as by SMTP."""
    async with served(histories) as asked:
        assert {each["smtp"] for each in (await asked(lambda client: client.lab()))["servers"]} == {None}
        path = "/lab/servers/A/mail?from=kim@outside.test&to="
        content = b"Subject: Hello\r\n\r\nmail\r\n"
        await asked(lambda client: client.content("POST", f"{path}projects@contoso.test", content))
        assert subjects(lab, "A") == ["Hello"]
        with pytest.raises(ClientError, match="550"):
            await asked(lambda client: client.content("POST", f"{path}nobody@contoso.test", content))


async def test_requests_are_answered_while_the_clock_moves(
    lab: SimulatedLab, histories: Histories[SimulatedLab]
) -> None:
    """A long move does not block the server; a reset is refused meanwhile."""
    async with served(histories) as asked:
        await lab.save("start")
        moving = asyncio.create_task(lab.advance(START_AT + 300 * DAY_US))
        await asyncio.sleep(0)
        assert (await asked(lambda client: client.clock()))["warping"]
        with pytest.raises(LabError, match="being moved; wait until it stops"):
            await lab.reset("start")
        await moving
        assert lab.now == START_AT + 300 * DAY_US


async def test_a_saved_lab_has_all_of_the_lab(histories: Histories[SimulatedLab], tmp_path: Path) -> None:
    """Running, stopped and killed stores, queues, backups, the directory, the faults and the number of the last one, and the
    events. The trace of each history is whole."""
    async with histories.lab as lab:
        await post(lab, "A", "sent")
        await lab.advance(START_AT + HOUR_US)
        backup = await lab.backup("B")
        await lab.stop("B")
        await lab.kill("C")
        fault = lab.faults.inject(Lose(from_="A", to="B", type="content"))
        await post(lab, "A", "waits")
        await lab.advance(lab.now + ALWAYS_US)
        saved_at, events = lab.now, list(lab.events())
        await lab.save("start")
        with pytest.raises(Taken, match="already saved as 'start'"):
            await lab.save("start")
        with pytest.raises(LabError, match="is not a name for a saved lab"):
            await lab.save("../start")
        with pytest.raises(LabError, match="no lab was saved as 'end'; saved: start"):
            await lab.reset("end")
        await lab.start("B")
        await lab.advance(lab.now + DAY_US)
    again = await reset(histories, "start")
    assert (again.now, [again.running(name) for name in "ABC"]) == (saved_at, [True, False, False])
    assert [each for each in again.events() if each in events] == sorted(events, key=list(again.events()).index)
    assert [each.id for each in again.faults.active()] == [f"F{int(fault[1:]) - 1}", fault]
    assert events_of(again, FaultHealed) == []
    assert again.faults.inject(Lose(from_="A", to="B")) == f"F{int(fault[1:]) + 1}"
    again.faults.heal()
    await again.restore("B", backup)
    await again.start("C")
    await again.advance(again.now + 3 * DAY_US)
    assert subjects(again, "B") == subjects(again, "C") == ["sent", "waits"]
    await again.close()
    first, second = sorted((tmp_path / "up").iterdir())
    for folder in (first, second):
        trace = read_folder(folder / "traces")
        assert trace.report() == []
        assert {each.run for each in trace.events} == {f"up/{first.name}"}
        assert [sum(isinstance(each, kind) for each in trace.events) for kind in (RunStarted, RunEnded)] == [1, 1]
        assert {each.stem for each in (folder / "databases").iterdir()} == set("ABC")
    assert again.history == f"up/{second.name}"


async def test_a_crashed_server_restarts_after_a_reset(histories: Histories[SimulatedLab]) -> None:
    """A server that crashed before the lab was saved comes back by itself when it would have come back."""
    await histories.lab.up()
    histories.lab.faults.inject(Crash(server="A"))
    with pytest.raises(NotRunning):
        await post(histories.lab, "A")
    await histories.lab.save("start")
    lab = await reset(histories, "start")
    assert not lab.running("A")
    await lab.advance(START_AT + MINUTE_US - 1)
    assert not lab.running("A")
    await lab.advance(START_AT + MINUTE_US)
    assert lab.running("A")
    await lab.close()


async def test_each_reset_gives_the_same_lab(histories: Histories[SimulatedLab]) -> None:
    """What happened before a reset changes nothing after it, not even the ids of messages."""
    runs = []
    await histories.lab.up()
    await histories.lab.save("start")
    for number in range(3):
        lab = await reset(histories, "start")
        assert len(events_of(lab, NodeStarted)) == 3  # the stores go on; none starts again
        await post(lab, "A")
        await lab.advance(START_AT + HOUR_US)
        messages = [repr(lab.read(name, lambda node: node.messages("Projects"))) for name in lab.names]
        runs.append((messages, [repr(event) for event in lab.events()]))
        await post(lab, "B", f"only this time: {number}")
        await lab.kill("C")
        lab.faults.inject(Cut(between=["A", "B"]))
    assert runs[0] == runs[1] == runs[2]
    assert "Hello" in runs[0][0][2]
    await histories.lab.close()


async def test_the_last_events(lab: SimulatedLab, histories: Histories[SimulatedLab]) -> None:
    """`last` gives the newest events, from `after` on, and the next request continues after them."""
    async with served(histories) as asked:
        every = await asked(lambda client: list(client.events()))
        assert await asked(lambda client: list(client.events(last=3))) == every[-3:]
        assert await asked(lambda client: list(client.events(last=3, after=len(every) - 1))) == every[-1:]
        assert await asked(lambda client: list(client.events(last=len(every) + 1))) == every
        answer = await asked(lambda client: client.ask("GET", "/lab/events?last=3&words=1"))
        assert answer.headers["Pflab-Next"] == str(len(every))
        with pytest.raises(ValueError, match="together with node or follow"):
            await asked(lambda client: next(client.events("A", last=3)))


async def test_a_stream_of_events_ends_with_its_history(lab: SimulatedLab, histories: Histories[SimulatedLab]) -> None:
    """After a reset the ids of events begin again, so a client must begin again too."""
    async with served(histories) as asked:
        await lab.save("start")
        reading = asyncio.create_task(asked(lambda client: client.content("GET", "/lab/stream?after=0")))
        while not reading.done():
            await asyncio.sleep(0.2)
            if histories.lab.begun:
                await histories.lab.reset("start")
        assert b"run.started" in await reading
