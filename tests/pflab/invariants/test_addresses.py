"""The invariant of addresses reports an address that no recipient policy gives, and nothing else (ML-1)."""

from __future__ import annotations

from pflab.invariants.addresses import AddressesAreThoseOfThePolicies
from tests.support.invariant_builders import Trace
from topology.file.load import topology_from_text
from traces.events import AddressStamped, FaultInjected, NodeStarted, PolicyOfStores, RecipientPolicy

BEGAN = topology_from_text(
    """
sites: [SEA, LON]
connectors: [{between: [SEA, LON]}]
servers: {A: {site: SEA}, B: {site: LON}, C: {site: LON, version: "5.5"}}
recipient_policies:
  - {name: London, domain: fabrikam.test, filter: {sites: [LON]}}
"""
)
OLD = PolicyOfStores(name="Old", domain="adatum.test", sites=("LON",), servers=(), versions=("5.5",))
LONDON = PolicyOfStores(name="London", domain="fabrikam.test", sites=("LON",), servers=(), versions=())


def lab() -> Trace:
    trace = Trace(AddressesAreThoseOfThePolicies, topology=BEGAN)
    finds(trace, A="contoso.test", B="fabrikam.test", C="fabrikam.test")
    quiet(trace)
    return trace


def finds(trace: Trace, **domains: str) -> None:
    """Let A find these stores with addresses of these domains."""
    for store, domain in domains.items():
        trace.add(AddressStamped, "A", store=store, address=f"{store}-IS@{domain}")


def policies(trace: Trace, *listed: PolicyOfStores) -> None:
    trace.add(RecipientPolicy, "lab", recipient_update="always", domain="contoso.test", at_once=False, policies=listed)


def quiet(trace: Trace) -> None:
    trace.guard.quiet("A", trace.at, trace.at)


def test_what_the_first_policy_gives_is_right() -> None:
    """The topology's policies come first, and then those of each change."""
    trace = lab()
    policies(trace, OLD, LONDON)
    quiet(trace)
    finds(trace, C="adatum.test")
    policies(trace, LONDON)
    quiet(trace)
    finds(trace, C="fabrikam.test")
    assert trace.witnesses() == []


def test_an_address_that_no_policy_gives_is_reported() -> None:
    """Also that of a policy that applies too, but comes later, and that of a list that is no longer there."""
    trace = lab()
    policies(trace, OLD, LONDON)
    quiet(trace)
    finds(trace, A="fabrikam.test", B="adatum.test", C="fabrikam.test")
    policies(trace)
    quiet(trace)
    finds(trace, B="fabrikam.test")
    assert [witness.partition(",")[0] for witness in trace.witnesses()] == [
        "A knows A as A-IS@fabrikam.test",
        "A knows B as B-IS@adatum.test",
        "A knows C as C-IS@fabrikam.test",
        "A knows B as B-IS@fabrikam.test",
    ]


def test_a_server_that_starts_may_find_what_was_given_before() -> None:
    """So may one that has not done everything due since the change, and one with a wrong clock."""
    trace = lab()
    policies(trace)
    finds(trace, B="fabrikam.test")
    quiet(trace)
    trace.add(NodeStarted, "A", version="2003", replica_guid="a" * 32, reason="restart")
    finds(trace, B="fabrikam.test")
    quiet(trace)
    trace.add(FaultInjected, "lab", fault="F1", kind="skew", details={"server": "A", "by": "10 min"})
    finds(trace, B="fabrikam.test")
    assert trace.witnesses() == []
