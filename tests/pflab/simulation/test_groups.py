"""Stimuli of a simulated lab that share a transaction: requests that wait together, mails that arrive together."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from node.errors import FolderUnknown, NotRunning
from node.store.lifecycle import Outcome
from node.store.node import Node
from pflab.faults.fault import Crash
from pflab.simulation.network import NetworkPolicy
from pflab.simulation.simulator import CRASH_REST_US, Simulator
from tests.support.topologies import THREE_STORES
from topology.file.load import topology_from_text
from traces.events import MailSubmitted
from traces.labtime import HOUR_US, LabTime

SHARING = NetworkPolicy(shuffle=True)
FOLDERS = ("One", "Two", "Three", "Four")
SEVERAL_FOLDERS = "servers: {A: , B: }\nfolders: {One: , Two: , Three: , Four: }\n"
AT_ONCE = THREE_STORES + "settings: {Replication Always Interval: 0}\n"


class CountingNode(Node):
    """A node that counts its transactions by the number of stimuli that were to share them."""

    sizes: Counter[int]

    def together(self, now: LabTime, acts: Sequence[Callable[[], Any]]) -> list[Outcome]:
        self.sizes = getattr(self, "sizes", Counter()) + Counter({len(acts): 1})
        return super().together(now, acts)


def lab_of(text: str, seed: int = 1, network: NetworkPolicy = SHARING) -> Simulator:
    return Simulator(topology_from_text(text), seed=seed, network=network, make_node=CountingNode)


def largest(lab: Simulator, name: str) -> int:
    """Return how many stimuli shared a transaction at most."""
    return lab.read(name, lambda node: max(node.sizes) if isinstance(node, CountingNode) else 0)


async def post(lab: Simulator, subject: str, folder: str = "Projects") -> str:
    return await lab.do("A", lambda node, now: node.post(now, folder, subject=subject).number)


def subjects(lab: Simulator, name: str, folder: str = "Projects") -> list[str]:
    return sorted(message.subject for message in lab.read(name, lambda node: node.messages(folder)))


async def test_mails_that_arrive_together_share() -> None:
    """Mails of one server that arrive at one instant share a transaction there, and their outcomes share one at the sender. The
    stores are as if each had been alone (OUT-9)."""
    ends = []
    for network in (SHARING, NetworkPolicy()):
        async with lab_of(SEVERAL_FOLDERS, network=network) as lab:
            for folder in FOLDERS:
                await post(lab, folder, folder)
            await lab.advance(lab.now + HOUR_US)
            together = network.shuffle
            assert (largest(lab, "B") > 2, largest(lab, "A") > 2) == (together, together)
            ends.append([subjects(lab, "B", folder) for folder in FOLDERS])
    assert ends[0] == ends[1] == [[folder] for folder in FOLDERS]


async def test_requests_that_wait_together_share() -> None:
    """Requests that are made at the same time share a transaction and a broadcast, and each has its own outcome (CN-6)."""
    async with lab_of(AT_ONCE) as lab:
        answers = await asyncio.gather(
            post(lab, "one"), post(lab, "wrong", "Nowhere"), post(lab, "two"), return_exceptions=True
        )
        assert [answers[0], answers[2]] == ["A-1", "A-2"]
        assert isinstance(answers[1], FolderUnknown)
        await lab.settle()
        assert subjects(lab, "B") == subjects(lab, "C") == ["one", "two"]
        assert len([event for event in lab.events() if isinstance(event, MailSubmitted) and event.node == "A"]) == 1


@pytest.mark.parametrize(("point", "kept"), [("before commit", []), ("after commit", ["one", "two"])])
async def test_a_crash_ends_all_requests_that_share(point: str, kept: list[str]) -> None:
    """Nobody is answered if the server crashes at the shared commit, which keeps all or none of the requests (IN-2)."""
    async with lab_of(AT_ONCE) as lab:
        lab.faults.inject(Crash(server="A", point=point))  # type: ignore[arg-type]  # one of the two
        answers = await asyncio.gather(post(lab, "one"), post(lab, "two"), return_exceptions=True)
        assert [type(answer) for answer in answers] == [NotRunning, NotRunning]
        await lab.advance(lab.now + CRASH_REST_US)
        assert subjects(lab, "A") == kept


@pytest.mark.parametrize("point", ["before commit", "after commit"])
async def test_mails_survive_a_crash_of_their_receiver(point: str) -> None:
    """If the receiver crashes at the shared commit, the sender keeps all mails and tries again; no post is doubled (OUT-9)."""
    async with lab_of(SEVERAL_FOLDERS) as lab:
        for folder in FOLDERS:
            await post(lab, folder, folder)
        lab.faults.inject(Crash(server="B", point=point))  # type: ignore[arg-type]  # one of the two
        await lab.advance(lab.now + HOUR_US)
        assert [subjects(lab, "B", folder) for folder in FOLDERS] == [[folder] for folder in FOLDERS]
