"""A store has one life at a time, whatever is ordered meanwhile, and a lab between two histories takes no changes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from node.api.http_server import HttpServer
from node.errors import NotRunning
from pflab.client import Client, ClientError, url_at
from pflab.drivers.live import LiveLab
from pflab.drivers.processes import ProcessLab
from pflab.drivers.remote_lab import HttpOptions
from pflab.errors import LabError
from pflab.faults.fault import Unstamp
from pflab.lab.lab import Lab
from pflab.lab.recorded_lab import RecordedLab
from pflab.runs.run_folder import RunFolder
from pflab.server.app import app_of_live_lab
from pflab.simulation.simulated_lab import SimulatedLab
from tests.support.lab_actions import post, subjects
from tests.support.lab_factory import LabFactory
from tests.support.topologies import LATE_STORE, THREE_STORES
from topology.file.load import topology_from_text
from traces.events import Event, NodeStarted, NodeStopped
from traces.labtime import DAY_US
from traces.reading import read_folder

pytestmark = pytest.mark.long

ROUNDS = 3


async def outcome_of(act: Awaitable[None]) -> str:
    """Return how an order ended. Only errors that a user can understand may end it."""
    try:
        await act
    except (LabError, NotRunning) as error:
        return str(error)
    return "done"


def lives_of(events: Sequence[Event], name: str) -> list[str]:
    """Return the starts and stops in the events of a store, in order."""
    return [type(each).__name__ for each in events if each.node == name and isinstance(each, NodeStarted | NodeStopped)]


Orders = Callable[[Lab], Sequence[Awaitable[None]]]
ORDERS: dict[str, Orders] = {
    "stop and start": lambda lab: [lab.stop("B"), lab.start("B")],
    "start and stop": lambda lab: [lab.start("B"), lab.stop("B"), lab.start("B")],
    "kill and start": lambda lab: [lab.kill("B"), lab.start("B"), lab.start("B")],
    "stop twice": lambda lab: [lab.stop("B"), lab.stop("B"), lab.kill("B")],
    "both": lambda lab: [lab.stop("B"), lab.start("B"), lab.stop("C"), lab.start("C"), lab.kill("B"), lab.start("B")],
}


@pytest.mark.parametrize("orders", ORDERS.values(), ids=ORDERS)
async def test_a_store_has_one_life_at_a_time(make_lab: LabFactory, orders: Orders) -> None:
    """Orders that come at once are carried out one after the other or refused. No store runs twice on its database, nothing
    that was acknowledged is lost, and the trace is whole."""
    async with make_lab() as lab:
        for number in range(ROUNDS):
            outcomes = await asyncio.gather(*map(outcome_of, orders(lab)))
            assert "done" in outcomes
            for name in "BC":
                with suppress(LabError):
                    await lab.start(name)
            await post(lab, "B", f"post {number}")
        await lab.advance(lab.now + DAY_US)
        posts = [f"post {number}" for number in range(ROUNDS)]
        assert subjects(lab, "A") == subjects(lab, "B") == posts
    assert isinstance(lab, RecordedLab)
    assert lab.record._folder is not None
    trace = read_folder(lab.record._folder.traces)
    assert trace.report() == []
    for name in "BC":
        lives = lives_of(trace.events, name)
        assert lives[0] == "NodeStarted"
        assert ("NodeStopped", "NodeStopped") not in set(pairwise(lives))


async def test_what_concerns_all_stores_may_meet_one_that_starts(make_lab: LabFactory) -> None:
    """A fault, its end, another recipient policy and the start of another store are carried out while a store starts; the store
    learns what it missed."""
    async with make_lab(LATE_STORE) as lab:
        for _ in range(ROUNDS):
            await lab.stop("B")
            starting = asyncio.create_task(lab.start("B"))
            for _ in range(3):
                await asyncio.sleep(0)
            fault = lab.faults.inject(Unstamp(server="A"))
            assert isinstance(fault, str)
            await lab.set_recipient_policy(recipient_update="1 h", at_once=True)
            lab.faults.heal(fault)
            await starting
        await asyncio.gather(lab.stop("A"), lab.stop("B"))
        await asyncio.gather(lab.start("A"), lab.start("B"), lab.start("C"))
        assert all(lab.running(name) for name in "ABC")


NODE_CHANGES = (
    ("POST", "/nodes/A/messages", {"folder": "Projects", "subject": "lost"}),
    ("POST", "/nodes/A/folders", {"path": "Lost"}),
    ("PATCH", "/nodes/A/settings", {}),
)


def labs(path: Path) -> dict[str, Callable[[], LiveLab | SimulatedLab | ProcessLab]]:
    topology, folder = topology_from_text(THREE_STORES), RunFolder.create(path, "test")
    return {
        "live": lambda: LiveLab(topology, folder=folder),
        "simulated lab": lambda: SimulatedLab(topology, folder=folder),
        "processes": lambda: ProcessLab(topology, folder=folder, http=HttpOptions()),
    }


@pytest.mark.parametrize("kind", ["live", "simulated lab", "processes"])
async def test_a_lab_between_two_histories_takes_no_changes(kind: str, tmp_path: Path) -> None:
    """From the moment at which a lab accepts its reset, and until it has begun again, each route that changes something answers
    503 and says when to try again, and so does /readyz. What the lab shows of itself can be read."""
    lab = labs(tmp_path)[kind]()
    async with lab:
        server = None
        if isinstance(lab, ProcessLab):
            url = lab.url
        else:
            server = HttpServer(app_of_live_lab(lambda: lab))
            url = url_at(await server.start())
        lab.begun = False
        try:
            await asyncio.to_thread(check_refused, url)
        finally:
            if server is not None:
                await server.stop()


def check_refused(url: str) -> None:
    with Client(url) as client:
        paths = client.json("GET", "/openapi.json")["paths"]
        changes = [
            (method.upper(), path.replace("{name}", "A").replace("{fault}", "lose-1").replace("{mail}", "m@a"), {})
            for path, methods in paths.items()
            if path.startswith("/lab")
            for method in methods
            if method != "get"
        ]
        assert len(changes) > 15
        for method, path, body in (*changes, *NODE_CHANGES):
            with pytest.raises(ClientError) as refused:
                client.json(method, path, body)
            assert refused.value.status == 503, f"{method} {path}: {refused.value}"
            assert refused.value.detail == "the lab is starting; wait until /readyz answers 200", path
        with pytest.raises(ClientError) as refused:
            client.json("GET", "/readyz")
        assert (refused.value.status, refused.value.detail) == (503, "the lab is starting")
        assert client.lab()["clock"]["rate"] == 0
        assert client.json("GET", "/lab/saved") == []


@pytest.mark.parametrize(
    "begun", [[], ["MAIL FROM:<kim@outside.test>"], ["MAIL FROM:<kim@outside.test>", "RCPT TO:<Projects@contoso.test>"]]
)
@pytest.mark.parametrize("ends", ["kill", "stop"])
async def test_a_command_to_a_store_that_ends_gets_421(
    begun: list[str], ends: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A command that arrives while a store is killed or stops is answered with 421, or the connection ends. It is no error of
    the store."""
    follows = ["MAIL FROM:<kim@outside.test>", "RCPT TO:<Projects@contoso.test>", "DATA", ".", "QUIT"][len(begun) :]
    async with LiveLab(topology_from_text(THREE_STORES), folder=RunFolder.create(tmp_path, "test")) as lab:
        reader, writer = await asyncio.open_connection(*lab.smtp_of("A"))
        await reader.readline()
        for line in ("HELO outside.test", *begun):
            writer.write(line.encode() + b"\r\n")
            assert (await reader.readline())[:3] == b"250"
        writer.write("".join(f"{line}\r\n" for line in follows).encode())
        await (lab.kill("A") if ends == "kill" else lab.stop("A"))
        with suppress(ConnectionError):
            answered = await reader.read()
            assert {line[:1] for line in answered.splitlines()} <= {b"2", b"3", b"4", b"5"}
        writer.close()
    assert [each for each in caplog.records if each.levelname == "ERROR"] == []
