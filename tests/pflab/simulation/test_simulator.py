"""What only the simulator promises: a seed always gives the same bytes, crashes at named points, random delays and order."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from node.errors import NotRunning
from node.store.lifecycle import Outcome, outcome_of
from node.store.node import Node
from pflab.errors import LabError, NotIdle
from pflab.faults.fault import Crash, Duplicate, Lose, Reorder
from pflab.runs.run_folder import RunFolder
from pflab.simulation.network import NetworkPolicy
from pflab.simulation.simulator import CRASH_REST_US, Simulator
from tests.support.clock import ALWAYS_US
from topology.file.load import topology_from_text
from topology.model import Topology
from traces.events import HopDropped, HopFailed, NodeStarted, VersionApplied
from traces.labtime import DAY_US, HOUR_US, MINUTE_US, LabTime, parse_instant
from transport.envelope import Offers, Priority, SendOutcome, Transmission

TWO_SITES = """
sites: [SEA, NYC]
connectors:
  - {name: SEA-NYC, between: [SEA, NYC], cost: 10, latency: 80 ms}
servers:
  A: {site: SEA}
  B: {site: SEA}
  C: {site: NYC}
folders:
  Projects: {replicas: [A, B, C]}
  News: {replicas: [A, C]}
"""


@pytest.fixture
def topology() -> Topology:
    return topology_from_text(TWO_SITES)


async def post(lab: Simulator, server: str, subject: str = "Hello") -> str:
    return await lab.do(server, lambda node, now: node.post(now, "Projects", subject=subject).id)


def subjects(lab: Simulator, server: str) -> list[str]:
    return sorted(message.subject for message in lab.read(server, lambda node: node.messages("Projects")))


async def eventful(lab: Simulator) -> None:
    """Play two days with posts everywhere, every kind of fault, a stop and a kill."""
    lab.faults.inject(Lose(from_="A", to="C", count=1))
    lab.faults.inject(Duplicate(count=3))
    lab.faults.inject(Reorder(from_="B", to="A", count=1))
    lab.faults.inject(Crash(server="B", point="after commit", after=9))
    for number in range(6):
        for server in lab.names:
            if lab.running(server):
                await post(lab, server, f"{server} {number}")
        await lab.advance(lab.now + ALWAYS_US)
    await lab.kill("C")
    await lab.advance(lab.now + HOUR_US)
    await lab.start("C")
    await lab.stop("A")
    await lab.start("A")
    await lab.advance(lab.now + 2 * DAY_US)


def fingerprint(folder: Path) -> str:
    """Return a digest of every trace segment's name and bytes."""
    digest = hashlib.sha256()
    for path in sorted((folder / "traces").iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


async def play(folder: Path, seed: int, network: NetworkPolicy) -> str:
    lab = Simulator(topology_from_text(TWO_SITES), seed=seed, folder=RunFolder.at(folder), network=network)
    async with lab:
        await eventful(lab)
    return fingerprint(folder)


WHIMS = NetworkPolicy(shuffle=True, jitter_us=5 * MINUTE_US)


@pytest.mark.parametrize("network", [NetworkPolicy(), WHIMS], ids=["plain", "whims"])
async def test_a_seed_determines_the_run(tmp_path: Path, network: NetworkPolicy) -> None:
    """The same seed writes the same traces byte for byte; another seed writes others."""
    one = await play(tmp_path / "one", 5, network)
    again = await play(tmp_path / "again", 5, network)
    other = await play(tmp_path / "other", 6, network)
    assert one == again
    assert one != other


async def test_a_seed_determines_the_run_in_any_process(tmp_path: Path, project_root: Path) -> None:
    """Another process with another PYTHONHASHSEED writes the same traces byte for byte."""
    here = await play(tmp_path / "here", 5, WHIMS)
    script = (
        "import asyncio, sys, pathlib; from tests.pflab.simulation.test_simulator import WHIMS, play; "
        "print(asyncio.run(play(pathlib.Path(sys.argv[1]), 5, WHIMS)))"
    )
    for hash_seed in ("1", "4711"):
        there = subprocess.run(  # noqa: ASYNC221 - nothing else runs in this test's loop
            [sys.executable, "-c", script, str(tmp_path / hash_seed)],
            cwd=project_root,
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(project_root)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert there.stdout.strip() == here


async def test_no_event_has_a_real_time(topology: Topology) -> None:
    """The simulator does not read the machine's clock, so no event carries a real time."""
    async with Simulator(topology) as lab:
        await eventful(lab)
        assert {event.real for event in lab.events()} == {None}


async def test_without_a_folder_nothing_is_written(
    topology: Topology, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lab without a run folder writes no file, and says so when asked for it."""
    monkeypatch.chdir(tmp_path)
    async with Simulator(topology) as lab:
        await eventful(lab)
        with pytest.raises(LabError, match="no run folder"):
            _ = lab.folder
    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240 - nothing else runs in this loop


# --- crashes


async def test_a_crash_before_commit_undoes_the_stimulus(topology: Topology) -> None:
    """A post whose server crashes before the commit does not exist; the server restarts by itself a little later."""
    # spec: OUT-9
    async with Simulator(topology) as lab:
        lab.faults.inject(Crash(server="A", point="before commit"))
        with pytest.raises(NotRunning, match="crashed before it answered"):
            await post(lab, "A")
        assert not lab.running("A")
        await lab.advance(lab.now + CRASH_REST_US)
        assert subjects(lab, "A") == []
        assert [event.reason for event in lab.events() if isinstance(event, NodeStarted) and event.node == "A"] == [
            "first",
            "restart",
        ]


async def test_a_crash_after_commit_keeps_the_stimulus(topology: Topology) -> None:
    """A post whose server crashes after the commit is kept and sent, although the user got no answer."""
    async with Simulator(topology) as lab:
        lab.faults.inject(Crash(server="A", point="after commit"))
        with pytest.raises(NotRunning):
            await post(lab, "A")
        await lab.advance(lab.now + HOUR_US)
        assert subjects(lab, "A") == subjects(lab, "B") == ["Hello"]


@pytest.mark.parametrize("point", ["before commit", "after commit"])
async def test_a_mail_survives_the_crash_of_its_receiver(topology: Topology, point: str) -> None:
    """A mail that was not acknowledged stays with its sender, is tried again, and is applied once."""
    # spec: IN-2, IN-3
    async with Simulator(topology) as lab:
        await post(lab, "A")
        lab.faults.inject(Crash(server="B", point=point))
        await lab.advance(lab.now + HOUR_US)
        assert [event.reason for event in lab.events() if isinstance(event, HopFailed)][:1] == [
            "connection lost: B went down"
        ]
        assert subjects(lab, "B") == ["Hello"]
        applied = [event for event in lab.events() if isinstance(event, VersionApplied) and event.node == "B"]
        assert len(applied) == 1


@pytest.mark.parametrize("point", ["before commit", "after commit"])
@pytest.mark.parametrize("after", range(12))
async def test_a_crash_at_any_stimulus_loses_nothing(topology: Topology, point: str, after: int) -> None:
    """Whichever stimulus of the sender crashes, and wherever in it, every acknowledged change is everywhere in the end."""
    # spec: OUT-9
    async with Simulator(topology) as lab:
        await post(lab, "A")
        lab.faults.inject(Crash(server="A", point=point, after=after))
        await lab.advance(lab.now + DAY_US)
        assert lab.running("A")
        assert [subjects(lab, server) for server in lab.names] == [["Hello"]] * 3


async def test_a_crashed_server_can_be_started_by_hand(topology: Topology) -> None:
    """A crashed server that is started by hand is not started a second time."""
    async with Simulator(topology) as lab:
        lab.faults.inject(Crash(server="A"))
        with pytest.raises(NotRunning):
            await post(lab, "A")
        await lab.start("A")
        await lab.advance(lab.now + HOUR_US)
        assert len([event for event in lab.events() if isinstance(event, NodeStarted) and event.node == "A"]) == 2


# --- limits


class Chatty:
    """A node that always has another mail for the next one."""

    crash_at = None

    def __init__(self, name: str, to: str) -> None:
        self.name = name
        self._to = to
        self._number = 0

    def open(self, now: LabTime) -> None: ...
    def close(self, now: LabTime) -> None: ...
    def export(self) -> None: ...
    def hop_concluded(self, now: LabTime, queue_id: int, outcome: SendOutcome) -> None: ...
    def offers(self) -> Offers:
        return Offers()

    def mail_in(self, *_: object) -> None: ...

    def together(self, now: LabTime, acts: Sequence[Callable[[], Any]]) -> list[Outcome]:
        return [outcome_of(act) for act in acts]

    def next_due(self) -> LabTime:
        return parse_instant("2003-10-21T00:00Z")

    def outgoing(self, now: LabTime, limit: int) -> list[Transmission]:
        self._number += 1
        return [
            Transmission(self._number, self._to, None, "", ("x@x",), b"", "<1@x>", "Hello", 0, Priority.NORMAL, now, 0)
        ]

    def queue(self) -> list[object]:
        return []


async def test_an_endless_instant_ends_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that send each other mail for ever at one instant are named once the limit on steps is reached."""
    monkeypatch.setattr("pflab.simulation.simulator.STEPS_PER_INSTANT", 50)
    lab = Simulator(
        topology_from_text("servers: {A: , B: }"),
        make_node=lambda name, **_: cast(Node, Chatty(name, "B" if name == "A" else "A")),
    )
    with pytest.raises(NotIdle, match=r"still busy after 50 steps at one instant; .*server A: a timer due"):
        await lab.up()
    await lab.close()


# --- the network's whims


async def test_jitter_delays_and_delivers(topology: Topology) -> None:
    """Under jitter every mail arrives, with a delay below the limit."""
    async with Simulator(topology, network=NetworkPolicy(jitter_us=5 * MINUTE_US)) as lab:
        began_at = lab.now
        await post(lab, "A")
        assert await lab.until(lambda: subjects(lab, "B") == subjects(lab, "C") == ["Hello"], began_at + HOUR_US)
        assert began_at + ALWAYS_US < lab.now < began_at + ALWAYS_US + 11 * MINUTE_US


async def test_a_shuffled_network_ends_in_the_same_state(topology: Topology) -> None:
    """The stores end with the same messages, whatever the order of mails of one instant."""
    ends = []
    for seed in range(5):
        async with Simulator(topology, seed=seed, network=NetworkPolicy(shuffle=True)) as lab:
            for number in range(4):
                for server in lab.names:
                    await post(lab, server, f"{server} {number}")
            await lab.advance(lab.now + HOUR_US)
            ends.append([subjects(lab, server) for server in lab.names])
    assert all(end == ends[0] for end in ends)
    assert ends[0][0] == ends[0][1] == ends[0][2]


async def test_a_loss_on_a_connector_loses_the_crossing_copy(topology: Topology) -> None:
    """A mail lost on a connector is lost for the recipients behind it, and arrives for the others."""
    async with Simulator(topology) as lab:
        lab.faults.inject(Lose(connector="SEA-NYC", type="content", count=1))
        await post(lab, "A")
        await lab.advance(lab.now + HOUR_US)
        assert subjects(lab, "B") == ["Hello"]
        assert subjects(lab, "C") == []
        assert [event.node for event in lab.events() if isinstance(event, HopDropped)] == ["C"]


async def test_an_advance_that_crosses_a_crash_waits_for_the_comeback(topology: Topology) -> None:
    """The restart of a server is a due time of the lab, so a jump does not skip it."""
    async with Simulator(topology) as lab:
        began_at = lab.now
        lab.faults.inject(Crash(server="C", point="before commit"))
        await post(lab, "A")
        assert await lab.until(lambda: not lab.running("C"), began_at + HOUR_US)
        down_at = lab.now
        assert await lab.until(lambda: lab.running("C"), down_at + HOUR_US)
        assert lab.now == down_at + CRASH_REST_US
