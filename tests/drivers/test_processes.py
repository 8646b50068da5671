"""What only a lab of processes has: nodes that fall silent or are killed from outside, and its HTTP server."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from node.errors import NotRunning
from node.state.directory import StoreObject
from pflab.client import Client, ClientError
from pflab.drivers import remote_lab
from pflab.drivers.host_proxy import RemoteHost
from pflab.drivers.processes import ProcessLab
from pflab.lab.remote_node import RemoteNode
from pflab.runs.run_folder import RunFolder
from tests.support.clock import ALWAYS_US, START_AT
from tests.support.lab_actions import events_of, post, subjects
from tests.support.topologies import LATE_STORE, TWO_STORES
from topology.file.load import topology_from_text
from traces.events import AddressStamped, VersionApplied
from traces.labtime import DAY_US, HOUR_US, MINUTE_US, LabTime

pytestmark = pytest.mark.live


@pytest.fixture
def lab(tmp_path: Path) -> ProcessLab:
    return ProcessLab(topology_from_text(TWO_STORES), folder=RunFolder.create(tmp_path / "runs", "test"))


@pytest.fixture
def lab_with_a_late_store(tmp_path: Path) -> ProcessLab:
    return ProcessLab(topology_from_text(LATE_STORE), folder=RunFolder.create(tmp_path / "runs", "test"))


async def test_a_stopped_process_does_not_hang_the_lab(lab: ProcessLab, caplog: pytest.LogCaptureFixture) -> None:
    """A process that a signal has stopped is passed over, and the lab says so. When it answers again, the coordinator sets its
    clock, and it gets its mail."""
    # spec: TM-1
    async with lab:
        os.kill(lab.pid_of("B"), signal.SIGSTOP)
        try:
            await lab.advance(START_AT + 10 * MINUTE_US)
            assert lab.passed_over == {"B": "its process is stopped"}
            assert "server B is passed over, and lab time goes on without it: its process is stopped" in caplog.messages
        finally:
            os.kill(lab.pid_of("B"), signal.SIGCONT)
        await post(lab, "A")
        assert await lab.until(lambda: subjects(lab, "B") == ["Hello"], lab.now + 2 * HOUR_US)
        assert await lab.do(
            "B", lambda node, _: node.edit(0, "Projects", node.messages("Projects")[0].id, subject="Ho")
        )
        assert lab.read("B", lambda node: node.messages("Projects"))[0].modified_at == lab.now
        assert lab.passed_over == {}


@pytest.mark.long
async def test_a_stopped_process_is_not_waited_for_by_a_reader(lab: ProcessLab) -> None:
    """Whoever reads or changes a store whose process is stopped hears at once that it does not answer, over HTTP too. When the
    process goes on, it may make the change: it has the request, and nobody knows whether it made it before it stopped."""
    async with lab:
        os.kill(lab.pid_of("B"), signal.SIGSTOP)
        try:
            async with asyncio.timeout(30):
                with pytest.raises(NotRunning, match="server B does not answer: its process is stopped"):
                    lab.read("B", lambda node: node.messages("Projects"))
                with pytest.raises(NotRunning, match="server B does not answer: its process is stopped"):
                    await post(lab, "B")
                with Client(lab.url) as client, pytest.raises(ClientError) as found:
                    await asyncio.to_thread(client.messages, "B", "Projects")
                assert found.value.status == 502
                assert found.value.detail == "server B does not answer: its process is stopped"
                with Client(lab.url) as client:
                    assert await asyncio.to_thread(client.messages, "A", "Projects") == []
        finally:
            os.kill(lab.pid_of("B"), signal.SIGCONT)
        assert subjects(lab, "B") in ([], ["Hello"])


async def test_a_failing_look_at_the_stores_is_logged_and_repeated(
    lab: ProcessLab, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the clock runs, an unexpected error does not end the collection of events in silence; the log has it once."""
    async with lab:
        looks = 0

        async def fail() -> None:
            nonlocal looks
            looks += 1
            raise RuntimeError("no such row")

        with monkeypatch.context() as patch:
            patch.setattr(remote_lab, "COLLECT_S", 0.01)
            patch.setattr(lab.coordinator, "look", fail)
            await lab.set_rate(1.0)
            async with asyncio.timeout(60):
                while looks < 3:  # noqa: ASYNC110 - a task of the lab moves it
                    await asyncio.sleep(0.01)
        await lab.pause()
        assert [each for each in caplog.messages if "no such row" in each] == [
            "internal error: RuntimeError: no such row (this is a bug; the log of the server has the traceback)"
        ]


@pytest.mark.long
async def test_a_node_killed_from_outside_can_be_started(lab: ProcessLab) -> None:
    """After a SIGKILL from outside the other nodes go on, and the node can be started again."""
    async with lab:
        await post(lab, "A")
        os.kill(lab.pid_of("A"), signal.SIGKILL)
        await lab.advance(START_AT + ALWAYS_US)
        assert subjects(lab, "B") == []
        await lab.start("A")
        assert await lab.until(lambda: subjects(lab, "B") == ["Hello"], lab.now + HOUR_US)


async def test_a_joining_store_is_in_every_directory_before_it_runs(
    lab_with_a_late_store: ProcessLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store sends its first mail only after every store knows it; otherwise its mail would be an outsider's, and lost."""
    # spec: RP-3, ML-3
    orders: list[str] = []
    enter, go = RemoteNode.enter, RemoteHost.go

    def entering(node: RemoteNode, now: LabTime, store: str, object_: StoreObject, missing: str) -> None:
        enter(node, now, store, object_, missing)
        orders.append(f"{node.name} knows {store}")

    async def going(host: RemoteHost) -> None:
        orders.append(f"{host.name} goes")
        await go(host)

    async with lab_with_a_late_store as lab:
        await lab.stop("B")
        monkeypatch.setattr(RemoteNode, "enter", entering)
        monkeypatch.setattr(RemoteHost, "go", going)
        await lab.start("C")
        await lab.start("B")
        monkeypatch.undo()
    assert [each for each in orders if each != "A goes"] == [
        "A knows C", "C knows C", "C goes", "B knows C", "B goes",
    ]  # fmt: skip


@pytest.mark.long
async def test_a_silent_store_learns_of_a_joined_store_when_it_answers(lab_with_a_late_store: ProcessLab) -> None:
    """A store that does not answer does not delay the joining of another, and is told as soon as it answers."""
    # spec: RP-3
    async with lab_with_a_late_store as lab:
        os.kill(lab.pid_of("B"), signal.SIGSTOP)
        try:
            await lab.advance(START_AT + MINUTE_US)
            await lab.start("C")
        finally:
            os.kill(lab.pid_of("B"), signal.SIGCONT)
        await lab.do("A", lambda node, now: node.create_folder(now, "News", replicas=["B", "C"]))
        assert await lab.until(
            lambda: all("News" in [each.path for each in lab.read(name, lambda node: node.folders())] for name in "BC"),
            lab.now + DAY_US,
        )
        assert "C" in [event.store for event in events_of(lab, AddressStamped, "B")]


async def test_the_http_server_serves_lab_and_nodes(lab: ProcessLab) -> None:
    """One address serves the clock, the faults, starts and stops of servers, and every node's own paths."""
    async with lab:

        def ask() -> None:
            with Client(lab.url) as client:
                assert client.servers() == ["A", "B"]
                client.post("A", "Projects", subject="Hello")
                client.inject("lose", from_="A", to="B", count=1)
                client.advance("15 min")
                assert client.messages("B", "Projects") == []
                assert client.faults() == []
                client.stop("B")
                with pytest.raises(ClientError, match="B is stopped") as caught:
                    client.folders("B")
                assert caught.value.status == 503
                client.start("B")
                assert client.until_converged("Projects", "54 h")["held"]
                kinds = [each["type"] for each in client.events()]
                assert {"fault.injected", "hop.dropped", "version.applied"} <= set(kinds)
                with pytest.raises(ClientError, match="no server 'X'"):
                    client.folders("X")

        await asyncio.to_thread(ask)


async def test_a_running_clock_brings_mail_by_itself(lab: ProcessLab) -> None:
    """While the clock runs, mail arrives and events are collected without further requests."""
    async with lab:
        await post(lab, "A")
        await lab.set_rate(3600)

        def applied() -> bool:
            return any(isinstance(event, VersionApplied) and event.node == "B" for event in lab.events())

        async with asyncio.timeout(30):
            while not applied():  # noqa: ASYNC110 - it is the lab's clock that runs
                await asyncio.sleep(0.05)
        assert subjects(lab, "B") == ["Hello"]
