"""Orders for a folder and all its subfolders (spec: AD-1)."""

from __future__ import annotations

import pytest

from node.errors import FolderUnknown, Misuse
from pflab.simulation.simulator import Simulator
from tests.support.lab_actions import events_of
from topology.file.load import topology_from_text
from traces.events import MailSubmitted
from traces.labtime import MINUTE_US

TREE = """
servers: {A: , B: , C: }
folders:
  Top: {replicas: [A], schedule: every 1 h, priority: urgent, contacts: [kim@contoso.test]}
  Top/Left: {replicas: [B, A]}
  Top/Left/Leaf: {replicas: [B]}
  Other: {replicas: [B]}
"""


def lists(lab: Simulator, store: str = "A") -> dict[str, str]:
    """Return the replica list of each folder as a store knows it."""
    return {view.path: "".join(view.replicas) for view in lab.read(store, lambda node: node.folders())}


async def test_replicas_of_a_subtree() -> None:
    """Each folder changes only if its list changes, the last replica stays, and all changes go out in one mail (RP-2)."""
    async with Simulator(topology_from_text(TREE)) as lab:
        done = await lab.do("A", lambda node, now: node.change_replicas(now, "Top", add=["A", "C"]))
        assert done.folders == ["Top", "Top/Left", "Top/Left/Leaf"] and len(done.changes) == 3
        assert lists(lab) == {"Top": "AC", "Top/Left": "BAC", "Top/Left/Leaf": "BAC", "Other": "B"}
        await lab.advance(lab.now + 16 * MINUTE_US)
        assert lists(lab, "C") == lists(lab)
        assert [each.folders[0].updates for each in events_of(lab, MailSubmitted, "A") if each.message_type == 2] == [3]
        done = await lab.do("A", lambda node, now: node.change_replicas(now, "1-1", remove=["B"]))
        assert (done.folders, done.kept) == (["Top/Left", "Top/Left/Leaf"], ["Other"])
        assert lists(lab) == {"Top": "AC", "Top/Left": "AC", "Top/Left/Leaf": "AC", "Other": "B"}


async def test_a_server_is_replaced() -> None:
    """The new server takes the place of the old one, once, where the old one is; other folders stay as they are."""
    async with Simulator(topology_from_text(TREE)) as lab:
        done = await lab.do("C", lambda node, now: node.change_replicas(now, "1-1", replace="B", by="A"))
        assert (done.folders, done.kept) == (["Other", "Top/Left", "Top/Left/Leaf"], [])
        assert lists(lab, "C") == {"Top": "A", "Top/Left": "A", "Top/Left/Leaf": "A", "Other": "A"}
        with pytest.raises(Misuse, match="no store D"):
            await lab.do("C", lambda node, now: node.change_replicas(now, "1-1", replace="A", by="D"))
        with pytest.raises(FolderUnknown):
            await lab.do("C", lambda node, now: node.change_replicas(now, "Nowhere", add=["A"]))


async def test_properties_are_propagated() -> None:
    """The subfolders get the named properties of the folder and keep the others."""
    async with Simulator(topology_from_text(TREE)) as lab:
        done = await lab.do("A", lambda node, now: node.propagate(now, "Top", ["schedule", "replicas"]))
        assert done.folders == ["Top/Left", "Top/Left/Leaf"]
        views = {view.path: view for view in lab.read("A", lambda node: node.folders())}
        leaf = views["Top/Left/Leaf"]
        assert (leaf.replicas, leaf.schedule, leaf.priority, leaf.contacts) == (("A",), "every 1 h", "normal", ())
        assert views["Other"].replicas == ("B",)
        assert (await lab.do("A", lambda node, now: node.propagate(now, "Top", ["schedule"]))).folders == []
        for wrong in (["alias"], []):
            with pytest.raises(Misuse, match="write some of replicas, schedule"):
                await lab.do("A", lambda node, now, wrong=wrong: node.propagate(now, "Top", wrong))  # type: ignore[misc]
