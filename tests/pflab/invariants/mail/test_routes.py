"""The invariant of routes reports mail that leaves off the organization which its store has read, and nothing else (RT-6)."""

from __future__ import annotations

from typing import Any

import pytest

from pflab.invariants.mail.routes import MailTakesTheRoutesOfTheOrganization, RunningStoresReadTheOrganization
from tests.support.clock import START_AT
from tests.support.invariant_builders import Trace
from topology.changes import connector_added, connector_changed, connector_removed, server_added
from topology.file.load import topology_from_text
from topology.model import Topology
from traces.events import (
    BackupMade,
    BackupRestored,
    HopFailed,
    HopReceived,
    HopSent,
    LinkDown,
    LinkUp,
    NodeStarted,
    OrganizationChanged,
    OrganizationRead,
)
from traces.labtime import MINUTE_US

BEGAN = topology_from_text(
    """
sites: [SEA, NYC, LON]
servers: {A: {site: SEA}, B: {site: NYC}, C: {site: LON}}
connectors:
  - {name: SEA-NYC, between: [SEA, NYC], cost: 10, latency: 20 min}
  - {name: SEA-LON, between: [SEA, LON], cost: 10}
  - {name: LON-NYC, between: [LON, NYC], cost: 10}
folders: {Projects: {replicas: [A, B, C]}}
"""
)


def lab() -> Trace:
    return Trace(MailTakesTheRoutesOfTheOrganization, topology=BEGAN)


def changes(trace: Trace, topology: Topology, *readers: str) -> None:
    """Change the organization, and let these stores read it a minute later."""
    trace.at += MINUTE_US
    names = {"revision": topology.revision, "subject": "connector SEA-NYC", "change": "changed"}
    trace.add(OrganizationChanged, "lab", topology=topology.as_json(), **names)
    for store in readers:
        trace.add(OrganizationRead, store, revision=topology.revision)
    trace.at += MINUTE_US


def sends(trace: Trace, hop: str, connector: str | None, to: str = "B", **fields: Any) -> None:
    """Let A send a mail to the store `to`."""
    recipients = (f"{to}-IS@contoso.test",)
    values: dict[str, Any] = {"mail": "<1@A>", "size": 100, "attempt": 1, "queue_id": 1, "begun_at": trace.at}
    trace.add(HopSent, "A", next_hop=hop, connector=connector, recipients=recipients, **values | fields)


GONE = connector_removed(BEGAN, "SEA-NYC")
DEAR = connector_changed(BEGAN, "SEA-NYC", {"cost": 100})


def test_a_removed_connector_carries_nothing() -> None:
    """RT-6: a store that has read that a connector is gone sends no mail over it, whenever the mail was queued."""
    trace = lab()
    sends(trace, "B", "SEA-NYC")
    changes(trace, GONE, "A")
    sends(trace, "C", "SEA-LON")
    assert trace.guard.violations == []
    sends(trace, "B", "SEA-NYC", begun_at=START_AT)
    (violation,) = trace.guard.violations
    assert violation.witness == "A sends mail to B over SEA-NYC, which its organization does not have"


def test_a_store_that_has_not_read_the_change_uses_the_old_routes() -> None:
    """RT-6: a store that was stopped reads the change when it starts."""
    trace = lab()
    changes(trace, GONE, "C")
    sends(trace, "B", "SEA-NYC")
    assert trace.guard.violations == []


def test_mail_that_had_begun_to_cross_arrives() -> None:
    """RT-6: another cost does not stop what crosses, but what begins later takes the cheaper way."""
    trace = lab()
    changes(trace, DEAR, "A")
    sends(trace, "B", "SEA-NYC", begun_at=START_AT)
    assert trace.guard.violations == []
    sends(trace, "B", "SEA-NYC")
    (violation,) = trace.guard.violations
    assert violation.witness == "A sends mail for B to B over SEA-NYC, but the route is to C over SEA-LON"


@pytest.mark.parametrize("entered_late", [False, True])
def test_mail_that_the_network_delays_may_have_begun_before(entered_late: bool) -> None:
    """The event of a delayed mail does not say when it began; only a mail that came after the change surely began after it."""
    trace = lab()
    if not entered_late:
        trace.add(HopReceived, "A", mail="<1@A>", peer="C", recipients=(), size=100)
    changes(trace, DEAR, "A")
    if entered_late:
        trace.add(HopReceived, "A", mail="<1@A>", peer="C", recipients=(), size=100)
    sends(trace, "B", "SEA-NYC", begun_at=None)
    assert len(trace.guard.violations) == int(entered_late)


def test_an_attempt_that_failed_counts_too() -> None:
    """RT-6: a store does not try a connector that is gone; a mail without a route is no attempt."""
    trace = lab()
    changes(trace, GONE, "A")
    trace.add(HopFailed, "A", next_hop="", connector=None, reason="no route", retry_at=None, queue_id=1)
    assert trace.guard.violations == []
    trace.add(HopFailed, "A", next_hop="B", connector="SEA-NYC", reason="refused", retry_at=None, queue_id=1)
    assert len(trace.guard.violations) == 1


def test_a_link_that_is_down_has_a_detour() -> None:
    """RT-2: while a store knows of a link that is down, mail may take dearer connectors, if the organization has them."""
    trace = lab()
    changes(trace, connector_changed(BEGAN, "SEA-LON", {"cost": 20}), "A")
    trace.add(LinkDown, "A", connector="SEA-NYC", by="A", reason="refused", avoided=True)
    sends(trace, "C", "SEA-LON")
    assert trace.guard.violations == []
    sends(trace, "B", "cable")
    assert len(trace.guard.violations) == 1


def test_a_link_is_down_until_each_server_reports_it_up() -> None:
    """RT-2: both ends of a connector report it, and one of them may still find it down."""
    trace = lab()
    for server in ("A", "B"):
        trace.add(LinkDown, "A", connector="SEA-NYC", by=server, reason="refused", avoided=True)
    trace.add(LinkUp, "A", connector="SEA-NYC", by="A")
    sends(trace, "C", "SEA-LON")
    assert trace.guard.violations == []
    trace.add(LinkUp, "A", connector="SEA-NYC", by="B")
    sends(trace, "C", "SEA-LON")
    assert len(trace.guard.violations) == 1


def test_a_connector_that_was_added_is_a_route() -> None:
    """RT-6: a new connector is used as soon as it is read."""
    trace = lab()
    changes(trace, connector_added(GONE, "cable", {"between": ["SEA", "NYC"]}), "A")
    sends(trace, "B", "cable")
    assert trace.guard.violations == []


def test_a_restored_store_knows_what_its_backup_knew() -> None:
    """RP-4, RT-6: until it reads the change again, it uses the routes of its backup."""
    trace = lab()
    trace.add(BackupMade, "lab", store="A", backup="tape", through=1)
    changes(trace, GONE, "A")
    trace.add(BackupRestored, "lab", store="A", backup="tape")
    trace.add(NodeStarted, "A", version="2003", replica_guid="ee" * 16, reason="restored")
    sends(trace, "B", "SEA-NYC")
    assert trace.guard.violations == []
    trace.add(OrganizationRead, "A", revision=1)
    trace.at += MINUTE_US
    sends(trace, "B", "SEA-NYC")
    assert len(trace.guard.violations) == 1


def test_a_running_store_has_read_the_last_change() -> None:
    """RT-6: a store that runs and has not read the last change is reported, also one that was added by it."""
    trace = Trace(RunningStoresReadTheOrganization, topology=BEGAN)
    trace.guard.quiet("A", trace.at, trace.at)
    added = server_added(GONE, "D", {"site": "SEA"})
    changes(trace, GONE, "A", "B")
    changes(trace, added, "A")
    trace.add(NodeStarted, "D", version="2003", replica_guid="d" * 32, reason="first")
    trace.guard.quiet("A", trace.at, trace.at)
    assert trace.guard.violations == []
    for store in ("B", "D"):
        trace.guard.quiet(store, trace.at, trace.at)
    assert [violation.witness for violation in trace.guard.violations] == [
        f"{store} runs, but has not read the last change of the organization" for store in ("B", "D")
    ]
