"""A lab whose processes others start and restart: what the coordinator does when they end and come back."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from node.errors import NotRunning
from node.state.database import LOG_PAGES, PAGE_BYTES
from node.views import Post
from pflab.client import Client, ClientError
from pflab.containers import managed_lab
from pflab.containers.managed_lab import ManagedLab
from pflab.drivers.managed_process import ManagedProcess
from pflab.drivers.pulse import PATIENCE_S
from pflab.drivers.remote_lab import HttpOptions
from pflab.errors import LabError
from pflab.faults.fault import Lose
from pflab.runs.run_folder import RunFolder
from pflab.runs.saved import SavedRuns
from tests.support.clock import ALWAYS_US, START_AT
from tests.support.disk import no_file_grows
from tests.support.lab_actions import events_of, post, subjects
from tests.support.lab_factory import TOKEN
from tests.support.process_supervisor import ProcessSupervisor
from tests.support.topologies import THREE_STORES
from topology.file.load import topology_from_text
from traces.events import NodeStarted, RunEnded, RunStarted, VersionApplied
from traces.labtime import DAY_US, HOUR_US, MINUTE_US, LabTime
from traces.reading import read_folder

pytestmark = [pytest.mark.live, pytest.mark.long]

TOPOLOGY = topology_from_text(THREE_STORES)
TOMBSTONE_BYTES = 600
"""What a deleted message may take, its number among the superseded ones included; alive it took ten times that."""
OPEN_HANDLES = Path("/proc/self/fd")


@pytest.fixture
def supervisor(processes: ProcessSupervisor) -> Iterator[ProcessSupervisor]:
    processes.bring_all_up()
    yield processes
    processes.bring_all_up()  # other tests use the same processes


@pytest.fixture
def folder(supervisor: ProcessSupervisor, tmp_path: Path) -> RunFolder:
    return supervisor.next_run(tmp_path / "run")


def lab_of(
    supervisor: ProcessSupervisor, folder: RunFolder, *, stays: bool = False, patience_s: float = PATIENCE_S
) -> ManagedLab:
    return ManagedLab(
        TOPOLOGY,
        folder=folder,
        addresses={name: supervisor.addresses[name] for name in TOPOLOGY.servers},
        http=HttpOptions(token=TOKEN),
        leaves_running=stays,
        deletes_others=True,
        patience_s=patience_s,
    )


def open_sockets() -> int:
    """Return how many sockets this process has."""
    return sum(str(each.readlink()).startswith("socket:") for each in OPEN_HANDLES.iterdir() if each.is_symlink())


async def eventually(holds: Callable[[], bool]) -> None:
    """Wait until another process does something by itself; fail after a minute."""
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - it is another process that does it
            await asyncio.sleep(0.05)


async def test_a_store_that_dies_comes_back_by_itself(supervisor: ProcessSupervisor, folder: RunFolder) -> None:
    """While its process is away the lab goes on. When it is back, the coordinator sets its clock first, and then it gets its
    mail."""
    async with lab_of(supervisor, folder) as lab:
        supervisor.take_down("B")
        await lab.advance(START_AT + HOUR_US)
        await post(lab, "A")
        await lab.advance(lab.now + ALWAYS_US)
        assert not lab.running("B")
        with pytest.raises(NotRunning, match="B does not answer"):
            await post(lab, "B")
        supervisor.bring_up("B")
        await eventually(lambda: len(events_of(lab, NodeStarted, "B")) == 2)
        assert [event.at for event in events_of(lab, NodeStarted, "B")] == [START_AT, lab.now]
        assert await lab.until(lambda: subjects(lab, "B") == ["Hello"], lab.now + 2 * DAY_US)


@pytest.mark.parametrize("asked", [False, True])
async def test_a_process_that_appears_after_the_lab_gets_its_store(
    supervisor: ProcessSupervisor, folder: RunFolder, monkeypatch: pytest.MonkeyPatch, asked: bool
) -> None:
    """The lab goes up without a process that does not answer in time. When the process appears, the lab begins its store, by
    itself or when a user asks for it."""
    monkeypatch.setattr(managed_lab, "FOUND_S", 0.0)
    if asked:
        monkeypatch.setattr(managed_lab, "WATCH_S", 3600.0)
    supervisor.take_down("B")
    async with lab_of(supervisor, folder) as lab:
        assert [name for name in lab.names if lab.running(name)] == ["A", "C"]
        supervisor.bring_up("B")
        if asked:
            await lab.start("B")
        else:
            await eventually(lambda: lab.running("B"))
        await post(lab, "A")
        assert await lab.until(lambda: subjects(lab, "B") == ["Hello"], lab.now + 2 * DAY_US)


async def test_a_store_that_could_not_begin_is_tried_again(
    supervisor: ProcessSupervisor, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process can end again while its store begins. The lab still wants the store, and begins it in the next process."""
    start = ManagedProcess.start
    failed: list[str] = []

    async def fails_once(process: ManagedProcess, at: LabTime, backup: bytes | None, skew_us: int) -> None:
        if not failed:
            failed.append(process.name)
            raise LabError(f"server {process.name}: the connection was reset")
        await start(process, at, backup, skew_us)

    async with lab_of(supervisor, folder) as lab:
        monkeypatch.setattr(ManagedProcess, "start", fails_once)
        supervisor.take_down("B")
        await lab.advance(START_AT + HOUR_US)
        supervisor.bring_up("B")
        await eventually(lambda: lab.running("B"))
        assert failed == ["B"]


async def test_a_stopped_store_stays_stopped_when_its_process_comes_back(
    supervisor: ProcessSupervisor, folder: RunFolder
) -> None:
    """A process that comes back waits: only the lab starts a store that it has stopped or killed."""
    async with lab_of(supervisor, folder) as lab:
        await lab.stop("B")
        await lab.kill("C")
        supervisor.take_down("B")
        supervisor.bring_up("B")
        await lab.advance(START_AT + HOUR_US)
        assert not lab.running("B")
        assert not lab.running("C")
        await lab.start("B")
        await lab.start("C")
        assert [event.incarnation for event in events_of(lab, NodeStarted, "C")] == [1, 2]


async def test_a_paused_process_does_not_hang_the_lab(supervisor: ProcessSupervisor, folder: RunFolder) -> None:
    """A process that exists but gives no sign of life for long is passed over until it answers. The lab says so."""
    async with lab_of(supervisor, folder, patience_s=2.0) as lab:
        os.kill(supervisor.pid_of("B"), signal.SIGSTOP)
        try:
            await post(lab, "A")
            await lab.advance(START_AT + 10 * MINUTE_US)
            assert lab.passed_over == {"B": "it has given no sign of life for 2 s"}
            await lab.advance(START_AT + HOUR_US)
            assert subjects(lab, "C") == ["Hello"]
        finally:
            os.kill(supervisor.pid_of("B"), signal.SIGCONT)
        assert await lab.until(lambda: lab.running("B") and subjects(lab, "B") == ["Hello"], lab.now + 2 * DAY_US)


async def test_another_coordinator_goes_on(supervisor: ProcessSupervisor, folder: RunFolder) -> None:
    """Time, run, states of the servers and events survive a restart of the coordinator. It takes over running stores, and its
    events continue one trace."""
    async with lab_of(supervisor, folder, stays=True) as lab:
        await post(lab, "A")
        lab.faults.inject(Lose(from_="A", to="B", count=1))
        await lab.advance(START_AT + ALWAYS_US)
        await lab.stop("C")
        now, run, seen = lab.now, lab.run, list(lab.events())
    async with lab_of(supervisor, folder) as lab:
        assert (lab.now, lab.run) == (now, run)
        assert [name for name in lab.names if lab.running(name)] == ["A", "B"]
        assert lab.faults.inject(Lose(from_="A", to="B", count=1)) == "F2"
        assert lab.record.first == 0
        assert list(lab.events())[: len(seen)] == seen
        assert sorted(lab.record.replicas.values()) == ["A", "B", "C"]
        lab.faults.heal()
        await lab.start("C")
        await lab.advance(lab.now + 2 * DAY_US)
        assert subjects(lab, "A") == subjects(lab, "B") == subjects(lab, "C") == ["Hello"]
    trace = read_folder(folder.traces)
    assert trace.report() == []
    own = [event for event in trace.events if event.node == "lab"]
    assert [event.seq for event in own] == list(range(1, len(own) + 1))
    assert isinstance(own[0], RunStarted)
    assert isinstance(own[-1], RunEnded)
    assert {event.incarnation for event in own} == {1, 2}
    started = [event for event in trace.events if isinstance(event, NodeStarted)]
    assert sorted(event.node for event in started) == ["A", "B", "C", "C"]


async def test_another_coordinator_knows_which_servers_were_removed(
    supervisor: ProcessSupervisor, folder: RunFolder
) -> None:
    """RP-9: a restarted coordinator has no removed server, does not wait for its process, and gives another server of its name
    a new store, although this process still has the database of the removed one."""
    async with lab_of(supervisor, folder, stays=True) as lab:
        await post(lab, "A")
        await lab.advance(START_AT + ALWAYS_US)
        await lab.kill("C")
        await lab.delete_store("C", on="A", force=True)
        await lab.remove_server("C")
    async with lab_of(supervisor, folder, stays=True) as lab:
        assert lab.names == ("A", "B")
        await lab.add_server("C", version="2007")
    async with lab_of(supervisor, folder) as lab:
        assert [name for name in lab.names if lab.running(name)] == ["A", "B"]
        await lab.start("C")
        await lab.do("A", lambda node, now: node.change_folder(now, "Projects", replicas=["A", "B", "C"]))
        await lab.advance(lab.now + 3 * DAY_US)
        assert subjects(lab, "A") == subjects(lab, "B") == subjects(lab, "C") == ["Hello"]
    trace = read_folder(folder.traces)
    assert trace.report() == []
    started = [event for event in trace.events if isinstance(event, NodeStarted) and event.node == "C"]
    assert [(event.reason, event.version) for event in started] == [("first", "2003"), ("first", "2007")]


@pytest.mark.skipif(not OPEN_HANDLES.is_dir(), reason="only Linux lists the open handles of a process")
@pytest.mark.parametrize("stays", [False, True])
async def test_a_coordinator_leaves_no_connection_open(
    supervisor: ProcessSupervisor, folder: RunFolder, stays: bool
) -> None:
    """A lab that has closed has closed its connections, also to stores that it leaves running."""
    before = open_sockets()
    async with lab_of(supervisor, folder, stays=stays) as lab:
        await post(lab, "A")
    await eventually(lambda: open_sockets() == before)


async def test_lab_time_does_not_move_before_the_stores_are_found_again(
    supervisor: ProcessSupervisor, folder: RunFolder
) -> None:
    """The HTTP server of a new coordinator answers before a busy store does. Until the lab has begun, it refuses to move lab
    time, which would go on without the stores."""
    async with lab_of(supervisor, folder, stays=True) as lab:
        await post(lab, "A")
    busy = supervisor.pid_of("B")
    os.kill(busy, signal.SIGSTOP)
    lab = lab_of(supervisor, folder)
    beginning = asyncio.create_task(lab.up())
    try:
        await asyncio.sleep(1.0)
        with Client(lab.url, token=TOKEN) as client:
            for move in (partial(client.advance, "15 min"), client.step, partial(client.set_rate, 60.0)):
                with pytest.raises(ClientError, match="the lab is starting") as refused:
                    await asyncio.to_thread(move)
                assert refused.value.status == 503
    finally:
        os.kill(busy, signal.SIGCONT)
        await beginning
    try:
        await lab.advance(START_AT + ALWAYS_US)
        applied = [(each.at, each.node) for each in events_of(lab, VersionApplied)]
        assert applied == [(START_AT + ALWAYS_US, "B"), (START_AT + ALWAYS_US, "C")]
    finally:
        await lab.close()


async def test_a_coordinator_on_a_full_disk_works_on(
    supervisor: ProcessSupervisor, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the coordinator cannot save its state, it collects events and looks after the servers, and says so once. Afterwards
    it saves all, and the next coordinator continues."""
    monkeypatch.setattr(managed_lab, "WRITE_S", 0.1)
    async with lab_of(supervisor, folder, stays=True) as lab:
        with no_file_grows(0):
            await post(lab, "A")
            await lab.set_rate(600.0)
            assert lab.faults.inject(Lose(from_="A", to="B", count=1)) == "F1"
            await asyncio.sleep(1.0)
            await lab.advance(START_AT + HOUR_US)
        supervisor.take_down("B")
        supervisor.bring_up("B")
        await eventually(lambda: len(events_of(lab, NodeStarted, "B")) == 2)
        await lab.pause()
        now, seen = lab.now, list(lab.events())
        assert any(isinstance(each, VersionApplied) for each in seen)
    async with lab_of(supervisor, folder) as lab:
        assert lab.now == now
        assert list(lab.events())[: len(seen)] == seen
    assert read_folder(folder.traces).report() == []


async def test_shipped_traces_of_a_running_lab_are_complete_up_to_an_instant(
    supervisor: ProcessSupervisor, folder: RunFolder
) -> None:
    """The written traces hold all events up to an instant, with all their causes. They name a store that does not answer; one
    that was stopped or killed by the lab has no more events."""
    async with lab_of(supervisor, folder) as lab:
        assert (await lab.export_traces()).events == len(read_folder(folder.traces).events) == lab.record.count
        await post(lab, "A")
        await lab.advance(START_AT + ALWAYS_US)
        first = await lab.export_traces()
        trace = read_folder(folder.traces)
        assert first.away == ()
        assert first.at == lab.now
        assert trace.report() == []
        assert len(trace.events) == first.events == lab.record.count
        applied = [event.node for event in trace.events if isinstance(event, VersionApplied)]
        assert sorted(applied) == ["B", "C"]
        assert (await lab.export_traces()).events == first.events
        await lab.stop("B")
        await lab.kill("C")
        assert (await lab.export_traces()).away == ()
        assert len(read_folder(folder.traces).events) == lab.record.count
        supervisor.take_down("A")
        await lab.advance(lab.now + HOUR_US)
        assert (await lab.export_traces()).away == ("A",)


async def test_the_verdict_on_a_run_is_kept(supervisor: ProcessSupervisor, folder: RunFolder) -> None:
    """The verdict on this run is available from the lab and in the run's folder; one on another run is refused."""
    async with lab_of(supervisor, folder) as lab:
        assert lab.kept_verdict() is None
        lab.keep_verdict({"run": lab.history, "judgement": "converged"})
        with pytest.raises(LabError, match="about run other"):
            lab.keep_verdict({"run": "other", "judgement": "unknown"})
        assert lab.kept_verdict() == {"run": lab.history, "judgement": "converged"}
    assert json.loads((folder.path / "verdict.json").read_text("utf-8"))["judgement"] == "converged"


async def test_a_database_does_not_grow_with_deleted_posts(supervisor: ProcessSupervisor, folder: RunFolder) -> None:
    """Posting and deleting again and again leaves only a tombstone for each post. Events leave the databases once they are in
    segments, their pages are reused, and the write-ahead log is checkpointed."""
    sizes = []
    async with lab_of(supervisor, folder) as lab:
        for number in range(3):
            posts = [Post(f"{number}-{index}", "x" * 4000, "kim@contoso.test", ()) for index in range(100)]
            made = await lab.do("A", lambda node, now, posts=posts: node.post_batch(now, "Projects", posts))
            await lab.advance(lab.now + HOUR_US)
            assert len(subjects(lab, "C")) == len(posts)
            for message in made.ids:
                await lab.do("A", lambda node, now, message=message: node.delete(now, "Projects", message))
            await lab.advance(lab.now + HOUR_US)
            await lab.export_traces()
            with closing(sqlite3.connect(supervisor.database("C"))) as conn:
                assert conn.execute("SELECT count(*) FROM event").fetchone() == (0,)
                pages, free, page_bytes = (
                    conn.execute(f"PRAGMA {name}").fetchone()[0]
                    for name in ("page_count", "freelist_count", "page_size")
                )
            sizes.append(pages * page_bytes)
            assert supervisor.database("C").with_name("C.sqlite-wal").stat().st_size <= LOG_PAGES * PAGE_BYTES
            assert free * 2 > pages, "most of the file is free again"
    assert (sizes[-1] - sizes[1]) / len(posts) < TOMBSTONE_BYTES, sizes


@pytest.mark.parametrize("order", ["renew", "reset"])
async def test_a_lab_that_accepted_its_end_takes_no_changes(
    supervisor: ProcessSupervisor, folder: RunFolder, tmp_path: Path, order: str
) -> None:
    """From the answer to a reset or to another run on, /readyz and changes get 503 until the next history has begun, so no
    change is acknowledged and then lost."""
    async with lab_of(supervisor, folder) as lab:
        lab.saved_runs = SavedRuns(tmp_path / "saved", folder.traces / ".saved")
        lab.renews = lab.returns = lambda _: None
        with Client(lab.url, token=TOKEN) as client:
            await asyncio.to_thread(client.save, "start")
            if order == "renew":
                await asyncio.to_thread(client.renew)
            else:
                await asyncio.to_thread(client.reset, "start")
            for path, body in (("/readyz", None), ("/nodes/A/messages", {"folder": "Projects", "subject": "late"})):
                with pytest.raises(ClientError) as refused:
                    await asyncio.to_thread(client.json, "GET" if body is None else "POST", path, body)
                assert (refused.value.status, refused.value.detail[:19]) == (503, "the lab is starting")
            assert await asyncio.to_thread(client.lab)
        assert subjects(lab, "A") == []
