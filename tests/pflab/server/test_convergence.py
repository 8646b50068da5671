"""When a folder has converged, and what a holder lacks otherwise (CV-1)."""

from __future__ import annotations

from pflab.server.convergence import ALL, Convergence, holders_of
from pflab.simulation.simulator import Simulator
from pflab.terms.folder_ids import HIERARCHY
from tests.support.clock import ALWAYS_US
from tests.support.lab_actions import post
from topology.file.load import topology_from_text
from traces.labtime import HOUR_US

LAB = topology_from_text("""
servers: {A: , B: , C: , E: {joins: later}}
folders: {Projects: {replicas: [A, B, C]}}
""")


async def test_a_holder_that_has_not_heard_of_the_folder() -> None:
    """A new folder converges when every store on its replica list has heard of it."""
    async with Simulator(LAB) as lab:
        await lab.do("A", lambda node, now: node.create_folder(now, "New", replicas=["A", "B", "C"]))
        await lab.do("A", lambda node, now: node.post(now, "New", subject="Hello", body=""))
        assert not Convergence(lab, "New")()
        assert holders_of(lab, "New").without == {"B": "the folder", "C": "the folder"}
        assert await lab.until(Convergence(lab, "New"), lab.now + HOUR_US)
        assert [len(lab.read(name, lambda node: node.messages("New"))) for name in "ABC"] == [1, 1, 1]


async def test_a_holder_that_has_not_heard_of_its_replica() -> None:
    """An added replica is a difference before its store has heard of it, and so is a removed one that others still list."""
    async with Simulator(LAB) as lab:
        await lab.start("E")
        assert await lab.until(Convergence(lab, HIERARCHY), lab.now + 54 * HOUR_US)
        assert "E" not in holders_of(lab, "Projects").known
        await lab.do("A", lambda node, now: node.change_replicas(now, "Projects", add=["E"]))
        assert not Convergence(lab, "Projects")()
        assert holders_of(lab, "Projects").without == {"E": "the replica that A lists"}
        assert await lab.until(Convergence(lab, "Projects"), lab.now + 54 * HOUR_US)
        assert set(holders_of(lab, "Projects").known) == {"A", "B", "C", "E"}
        await lab.do("C", lambda node, now: node.change_replicas(now, "Projects", remove=["C"]))
        assert holders_of(lab, "Projects").without == {"C": "the replica that A lists"}
        await lab.advance(lab.now + 54 * HOUR_US)
        assert Convergence(lab, "Projects")()
        assert set(holders_of(lab, "Projects").known) == {"A", "B", "E"}


async def test_a_holder_that_does_not_run() -> None:
    """A stopped holder is a difference. The hierarchy is held by every store that has joined, and by no other."""
    async with Simulator(LAB) as lab:
        assert Convergence(lab, HIERARCHY)()
        await post(lab, "A")
        await lab.kill("C")
        await lab.advance(lab.now + ALWAYS_US)
        for folder in ("Projects", HIERARCHY):
            holders = holders_of(lab, folder)
            assert (set(holders.known), holders.not_running, holders.agree) == ({"A", "B"}, ["C"], False)


async def test_a_replica_that_leaves_has_what_the_holders_lack() -> None:
    """A folder whose replica moves to an empty store converges when the new store has everything (RP-2)."""
    async with Simulator(LAB) as lab:
        await lab.do("A", lambda node, now: node.create_folder(now, "Only", replicas=["A"]))
        await lab.do("A", lambda node, now: node.post(now, "Only", subject="Hello", body=""))
        await lab.advance(lab.now + HOUR_US)
        await lab.do("A", lambda node, now: node.change_replicas(now, "Only", replace="A", by="B"))
        await lab.advance(lab.now + HOUR_US)
        holders = holders_of(lab, "Only")
        assert (set(holders.known), set(holders.leaving), holders.agree) == ({"B"}, {"A"}, False)
        lacks, not_running = Convergence(lab, ALL).shortfall({})
        assert (set(lacks), not_running) == ({"B"}, [])
        assert lacks["B"].endswith(" of Only")
        assert await lab.until(Convergence(lab, ALL), lab.now + 54 * HOUR_US)
        assert [view.subject for view in lab.read("B", lambda node: node.messages("Only"))] == ["Hello"]


async def test_a_folder_can_be_named_as_all_folders() -> None:
    """`all` is every folder, unless a folder has this path."""
    async with Simulator(LAB) as lab:
        await lab.do("A", lambda node, now: node.create_folder(now, "all", replicas=["A"]))
        assert Convergence(lab, ALL)()
        assert not Convergence(lab, HIERARCHY)()
