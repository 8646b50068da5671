"""The invariant of servers reports what a server does that is not part of the organization, and nothing else (RP-9)."""

from __future__ import annotations

from pflab.invariants.servers import OnlyServersOfTheOrganizationAct
from tests.support.invariant_builders import Trace
from topology.changes import server_added, server_removed
from topology.file.load import topology_from_text
from topology.model import Topology
from traces.events import HopFailed, NodeStarted, OrganizationChanged

BEGAN = topology_from_text("servers: {A: , B: , C: }\nfolders: {Projects: }\n")
TAG = "has the event node.started, but the organization has no such server"


def changed(trace: Trace, topology: Topology, subject: str, change: str) -> None:
    text = topology.as_json()
    trace.add(OrganizationChanged, "lab", revision=topology.revision, subject=subject, change=change, topology=text)


def starts(trace: Trace, node: str) -> None:
    trace.add(NodeStarted, node, version="2003", replica_guid="f" * 32, reason="first")


def test_a_server_acts_from_its_addition_to_its_removal() -> None:
    """RP-9: a server that was added starts, and so does another one of its name."""
    trace = Trace(OnlyServersOfTheOrganizationAct, topology=BEGAN)
    added = server_added(BEGAN, "D", {})
    changed(trace, added, "server D", "added")
    starts(trace, "D")
    removed = server_removed(added, "D")
    changed(trace, removed, "server D", "removed")
    changed(trace, server_added(removed, "D", {}), "server D", "added")
    starts(trace, "D")
    assert trace.guard.violations == []


def test_a_server_that_is_not_part_of_the_organization_does_nothing() -> None:
    """RP-9: a start before the addition, and mail after the removal, are violations."""
    trace = Trace(OnlyServersOfTheOrganizationAct, topology=BEGAN)
    starts(trace, "D")
    changed(trace, server_removed(BEGAN, "B"), "server B", "removed")
    trace.add(HopFailed, "B", mail="<1@B>", queue_id=1, next_hop="A", connector=None, reason="refused", retry_at=None)
    witnesses = [violation.witness for violation in trace.guard.violations]
    assert witnesses == [f"D {TAG}", f"B {TAG.replace('node.started', 'hop.failed')}"]
