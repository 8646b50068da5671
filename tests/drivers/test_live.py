"""What only a live lab has: a running clock, real sockets, and one clear line if it cannot start."""

from __future__ import annotations

import asyncio
import smtplib
import socket
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from resource import RLIM_INFINITY

import pytest

from bench.ports import free_port
from node.host.in_flight import MAX_DELIVERIES
from pflab.drivers.live import HANDLES_OF_A_STORE, LEAST_CONNECTIONS, OTHER_HANDLES, LiveLab, most_connections
from pflab.drivers.processes import ProcessLab
from pflab.errors import LabError
from pflab.faults.fault import Crash
from pflab.runs.run_folder import RunFolder
from tests.support.clock import ALWAYS_US
from tests.support.lab_actions import events_of, post, subjects
from tests.support.topologies import TWO_STORES
from topology.file.load import topology_from_text
from traces.errors import TimeTextError
from traces.events import ClockChanged, HopFailed, NodeStarted
from traces.labtime import DAY_US, HOUR_US
from transport.smtp.connections import MOST_CONNECTIONS

pytestmark = pytest.mark.live

PATIENCE_S = 20.0
"""Far more than any of these tests needs; only a lab that hangs reaches it."""


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "runs", "live")


@pytest.fixture
def lab(folder: RunFolder) -> LiveLab:
    return LiveLab(topology_from_text(TWO_STORES), folder=folder)


async def until_true(predicate: Callable[[], bool]) -> None:
    """Wait in real time, as a person before a running lab would."""
    async with asyncio.timeout(PATIENCE_S):
        while not predicate():  # noqa: ASYNC110 - only real time moves what is waited for
            await asyncio.sleep(0.005)


async def test_stores_share_the_file_handles_of_their_process(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All stores together keep no more connections than the process has file handles for, and every post still arrives. The
    clock warps, so no connection is idle for long in real time."""
    names = [f"S{number}" for number in range(6)]
    handles = OTHER_HANDLES + HANDLES_OF_A_STORE * len(names) + 2 * LEAST_CONNECTIONS
    monkeypatch.setattr("resource.getrlimit", lambda _: (handles, handles))
    topology = topology_from_text(f"servers: {{{': , '.join(names)}: }}\nfolders: {{Projects: }}")
    async with LiveLab(topology, folder=folder) as lab:
        for name in names:
            await post(lab, name)
        await lab.advance(lab.now + DAY_US)
        assert [len(subjects(lab, name)) for name in names] == [len(names)] * len(names)
        assert sum(len(lab.host_of(name)._listener.sessions) for name in names) <= LEAST_CONNECTIONS


@pytest.mark.parametrize(
    ("stores", "handles", "connections"),
    [(100, 1024, 248), (3, 1024, MOST_CONNECTIONS), (3, 64, LEAST_CONNECTIONS), (3, RLIM_INFINITY, MOST_CONNECTIONS)],
)
def test_a_hundred_stores_need_1024_file_handles(
    monkeypatch: pytest.MonkeyPatch, stores: int, handles: int, connections: int
) -> None:
    """The limit of connections follows from the limit of file handles: both ends of each connection take one."""
    monkeypatch.setattr("resource.getrlimit", lambda _: (handles, handles))
    assert most_connections(stores) == connections


async def test_a_running_clock_replicates_by_itself(lab: LiveLab) -> None:
    """At a rate above 0 timers fire, mail is sent and the post arrives, without an advance."""
    async with lab:
        await post(lab, "A")
        await lab.set_rate(36_000)
        await until_true(lambda: subjects(lab, "B") == ["Hello"])
        await lab.pause()
        assert lab.now >= lab.topology.start_at + ALWAYS_US
        paused_at = lab.now
        await lab.settle()
        assert lab.now == paused_at


async def test_a_post_on_a_running_clock_wakes_its_server(lab: LiveLab) -> None:
    """While the clock runs, the work that a stimulus leaves is done when it is due."""
    async with lab:
        await lab.set_rate(36_000)
        await until_true(lambda: lab.now > lab.topology.start_at + HOUR_US)
        await post(lab, "A")
        await until_true(lambda: subjects(lab, "B") == ["Hello"])


async def test_advance_from_a_running_clock_pauses_it(lab: LiveLab) -> None:
    """A warp pauses a running clock, which stays paused afterwards."""
    async with lab:
        await lab.set_rate(1)
        await lab.advance(lab.topology.start_at + 5 * HOUR_US)
        assert lab.rate == 0
        assert lab.now == lab.topology.start_at + 5 * HOUR_US


async def test_changes_of_the_clock_are_events(lab: LiveLab) -> None:
    """The trace has rates, pauses, steps and warps."""
    async with lab:
        await lab.set_rate(2)
        await lab.pause()
        await lab.advance(lab.now + HOUR_US)
        with pytest.raises(TimeTextError):
            await lab.set_rate(-1)
        changes = [(event.how, event.rate) for event in lab.events() if isinstance(event, ClockChanged)]
        assert changes == [("rate", 2.0), ("pause", 0.0), ("advance", 0.0)]


async def test_events_of_a_live_lab_carry_real_time(lab: LiveLab) -> None:
    """In a live lab every event also has its real time."""
    async with lab:
        await lab.advance(lab.now + HOUR_US)
        assert all(event.real is not None for event in lab.events())


async def test_outsiders_reach_a_store_by_smtp(lab: LiveLab) -> None:
    """Any mail program can connect to a server; mail to an unknown address is refused."""
    # spec: ML-7
    async with lab:
        address = lab.address_of("A")
        assert address is not None
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = "kim@example.com", "nobody@example.com", "Hello"
        mail.set_content("Hello")

        def send() -> None:
            with smtplib.SMTP(*address) as client:
                client.send_message(mail)

        with pytest.raises(smtplib.SMTPRecipientsRefused):
            await asyncio.to_thread(send)
        await lab.advance(lab.now + HOUR_US)


async def test_a_port_in_use_is_one_clear_line(folder: RunFolder) -> None:
    """A server whose port is in use does not start, the error names server and port, and the other servers are stopped."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        lab = LiveLab(topology_from_text("servers: {A: , B: }"), folder=folder, ports={"B": port})
        with pytest.raises(LabError, match=f"server B cannot listen for SMTP on 127.0.0.1 port {port}") as refused:
            async with lab:
                pass
    assert "\n" not in str(refused.value)
    assert not lab.running("A")
    assert not lab.running("B")


@pytest.mark.parametrize("driver", [LiveLab, ProcessLab])
async def test_a_start_on_a_port_in_use_leaves_no_trace(
    folder: RunFolder, driver: type[LiveLab] | type[ProcessLab]
) -> None:
    """RP-3: a late server whose port is in use did not start: it has no event, and no other store knows it. When the port is
    free, its start is the first."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        topology = topology_from_text(f"servers: {{A: , B: , C: {{joins: later, smtp_port: {port}}}}}")
        async with driver(topology, folder=folder) as lab:
            with pytest.raises(LabError, match=f"server C.* cannot listen .*port {port}: Address already in use"):
                await lab.start("C")
            assert not lab.running("C")
            taken.close()
            await lab.start("C")
            assert [event.reason for event in events_of(lab, NodeStarted, "C")] == ["first"]


async def test_a_fixed_port_is_kept_over_a_restart(folder: RunFolder) -> None:
    """A server with a fixed port listens there again after a restart."""
    port = free_port()
    async with LiveLab(topology_from_text("servers: {A: , B: }"), folder=folder, ports={"A": port}) as lab:
        assert lab.address_of("A") == ("127.0.0.1", port)
        await lab.stop("A")
        assert lab.address_of("A") is None
        await lab.start("A")
        assert lab.address_of("A") == ("127.0.0.1", port)


async def test_a_live_lab_refuses_crash_points(lab: LiveLab) -> None:
    """A lab whose servers cannot crash inside a stimulus refuses such a fault."""
    async with lab:
        with pytest.raises(LabError, match="only the simulator crashes a server"):
            lab.faults.inject(Crash(server="A"))


async def test_many_mails_at_once(lab: LiveLab) -> None:
    """More mails than may be in flight at once all arrive, at the instant at which they are due."""
    async with lab:
        for number in range(60):
            # 90 KB each, so that a mail holds only a few of them.
            await lab.do(
                "A",
                lambda node, now, n=number: node.post(  # type: ignore[misc]
                    now, "Projects", subject=f"{n:02}", body="x" * 90_000
                ),
            )
        await lab.advance(lab.topology.start_at + ALWAYS_US)
        assert sorted(subjects(lab, "B")) == [f"{number:02}" for number in range(60)]


async def test_a_next_hop_that_never_answers_takes_no_room_from_others(folder: RunFolder) -> None:
    """However many mails wait for a silent next hop, mails for another one are sent, while no mail to the silent one has
    ended."""
    # spec: RT-2
    silent: list[asyncio.StreamWriter] = []
    door = await asyncio.start_server(lambda _, writer: silent.append(writer), "127.0.0.1", 0)
    port = door.sockets[0].getsockname()[1]
    topology = topology_from_text(
        f"servers: {{A: {{settings: {{Smart Host: '127.0.0.1:{port}'}}}}, B: }}\nfolders: {{Projects: }}\n"
    )
    people = {f"kim{number}@elsewhere.test" for number in range(3 * MAX_DELIVERIES)}
    try:
        async with LiveLab(topology, folder=folder) as lab:
            for one in sorted(people):
                await lab.do("A", lambda node, now, to=one: node.send_mail(now, "Projects", to=[to], subject="Hello"))  # type: ignore[misc]
            await until_true(lambda: len(silent) > 0)
            await post(lab, "A")
            # Slow enough that the store's patience with the silent hop, counted in lab time, outlasts the wait.
            await lab.set_rate(3_600)
            await until_true(lambda: subjects(lab, "B") == ["Hello"])
            await lab.set_rate(0)
            assert not [event for event in lab.events() if isinstance(event, HopFailed)]
            waiting = {one for row in lab.read("A", lambda node: node.queue()) for one in row.recipients}
            assert people <= waiting
    finally:
        door.close()
        for writer in silent:
            writer.close()
        await door.wait_closed()


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 4, 6, 8])
async def test_a_start_can_be_stopped_at_any_moment(lab: LiveLab, turns: int) -> None:
    """If a start is interrupted, the caller gets that error and not one about servers that do not run yet; nothing stays
    open."""
    starting = asyncio.create_task(lab.__aenter__())
    for _ in range(turns):
        await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert not any(lab.running(name) for name in lab.names)
