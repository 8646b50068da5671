"""The list of recipient policies: which domain each store gets, and how the list is changed (ML-1)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from topology.file.load import topology_from_text
from topology.problems import TopologyError, ValueTextError
from topology.recipient_policy import DEFAULT_POLICY, KnownNames, RecipientPolicies

TEXT = """
domain: contoso.test
sites: [SEA, LON]
connectors: [{between: [SEA, LON]}]
servers: {A: {site: SEA}, B: {site: LON}, C: {site: LON, version: "5.5"}, D: {site: SEA, version: "5.5"}}
recipient_policies:
  - {name: Old, domain: adatum.test, filter: {sites: [LON], versions: ["5.5"]}}
  - {name: London, domain: fabrikam.test, filter: {sites: [LON]}}
  - {name: Two, domain: tailspin.test, filter: {servers: [A, B]}}
"""
TOPOLOGY = topology_from_text(TEXT)
KNOWN = KnownNames(TOPOLOGY.sites, tuple(TOPOLOGY.servers))


def domains(policies: RecipientPolicies) -> str:
    """Return the domains of A, B, C and D without their `.test`."""
    servers = TOPOLOGY.servers.values()
    found = [policies.domain_of(server.name, server.site, server.version) for server in servers]
    return " ".join(domain.removesuffix(".test") for domain in found)


def names(policies: RecipientPolicies) -> list[str]:
    return [policy["name"] for policy in policies.as_documents()]


def test_the_first_policy_that_applies_gives_the_address() -> None:
    """A store meets every part of a filter; one name of a part is enough. The Default Policy is for the rest."""
    assert [TOPOLOGY.address_of(name) for name in TOPOLOGY.servers] == [
        "A-IS@tailspin.test",
        "B-IS@fabrikam.test",
        "C-IS@adatum.test",
        "D-IS@contoso.test",
    ]
    assert topology_from_text(TOPOLOGY.as_json()) == TOPOLOGY


def test_a_topology_without_policies_has_the_default_one() -> None:
    """The key `domain` is the domain of the Default Policy, and the text of such a topology is what it was."""
    topology = topology_from_text("domain: fabrikam.test\nservers: {A: }")
    assert topology.policies.as_documents() == [
        {"name": DEFAULT_POLICY, "domain": "fabrikam.test", "filter": None, "priority": "lowest"}
    ]
    assert "recipient_policies" not in topology.as_document()


def test_the_list_is_changed() -> None:
    """A new policy comes before the Default Policy only, unless a priority is given; a priority moves a policy."""
    policies = TOPOLOGY.policies
    added = policies.added("New", {"domain": "x.test", "filter": {"versions": ["5.5"]}}, KNOWN)
    assert names(added) == ["Old", "London", "Two", "New", DEFAULT_POLICY]
    assert domains(added) == "tailspin fabrikam adatum x"
    first = policies.added("New", {"domain": "x.test", "filter": {"sites": ["LON"]}, "priority": 1}, KNOWN)
    assert (names(first)[0], domains(first)) == ("New", "tailspin x x contoso")
    moved = policies.changed("Two", {"priority": 2}, KNOWN)
    assert (names(moved), domains(moved)) == (
        ["Old", "Two", "London", DEFAULT_POLICY],
        "tailspin tailspin adatum contoso",
    )
    assert domains(policies.changed("Old", {"domain": "x.test"}, KNOWN)) == "tailspin fabrikam x contoso"
    assert (
        domains(policies.changed("Two", {"filter": {"versions": ["5.5"]}}, KNOWN)) == "contoso fabrikam adatum tailspin"
    )
    assert domains(policies.changed("default policy", {"domain": "x.test"}, KNOWN)) == "tailspin fabrikam adatum x"
    assert domains(policies.removed("London")) == "tailspin tailspin adatum contoso"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda list_: list_.added("London", {"domain": "x.test", "filter": {"sites": ["LON"]}}, KNOWN), "already"),
        (lambda list_: list_.added("Default policy", {}, KNOWN), "every organization has the Default Policy already"),
        (lambda list_: list_.added("a/b", {}, KNOWN), "not a name for a recipient policy"),
        (lambda list_: list_.added("X", {"domain": "x.test"}, KNOWN), "a new policy needs both"),
        (lambda list_: list_.added("X", {"domain": "x.test", "filter": {}}, KNOWN), "the filter is empty"),
        (lambda list_: list_.added("X", {"domain": "x y", "filter": {"sites": ["LON"]}}, KNOWN), "not a mail domain"),
        (lambda list_: list_.changed("London", {"filter": {"sites": ["LN"]}}, KNOWN), 'did you mean "LON"'),
        (lambda list_: list_.changed("London", {"filter": {"servers": ["X"]}}, KNOWN), '"X" is not a server'),
        (lambda list_: list_.changed("London", {"filter": {"versions": ["6"]}}, KNOWN), '"6" is not a version'),
        (lambda list_: list_.changed("London", {"priority": 4}, KNOWN), "from 1, the highest, to 3"),
        (lambda list_: list_.changed("London", {"priority": 0}, KNOWN), "from 1, the highest, to 3"),
        (lambda list_: list_.changed("Londn", {"priority": 1}, KNOWN), 'did you mean "London"'),
        (lambda list_: list_.changed(DEFAULT_POLICY, {"priority": 1}, KNOWN), "only its domain can be changed"),
        (lambda list_: list_.removed(DEFAULT_POLICY), "cannot be removed"),
        (lambda list_: list_.removed("Paris"), 'there is no recipient policy "Paris"'),
    ],
)
def test_what_is_no_list_of_policies_is_refused(
    change: Callable[[RecipientPolicies], RecipientPolicies], words: str
) -> None:
    """Each mistake says what is wrong and what would be right."""
    with pytest.raises(ValueTextError) as refused:
        change(TOPOLOGY.policies)
    assert words in f"{refused.value.what}; {refused.value.would_be_right}"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            "sites: [LON]}}",
            "sites: [LN]}}",
            'recipient_policies[1].filter.sites[0]: "LN" is not a site; did you mean "LON"?',
        ),
        ("servers: [A, B]", "servers: [A, X]", 'recipient_policies[2].filter.servers[1]: "X" is not a server'),
        ("servers: [A, B]", "", "recipient_policies[2].filter: the filter is empty; name sites, servers or versions"),
        ("servers: [A, B]", "server: [A]", 'did you mean "servers"?'),
        ("name: Two", "name: london", 'is already there as "London"'),
        ("name: Two", "name: Default Policy", "every organization has the Default Policy already"),
    ],
)
def test_a_mistake_in_a_file_has_its_place(before: str, after: str, words: str) -> None:
    """Names of filters exist, no filter is empty, and no two policies have one name."""
    with pytest.raises(TopologyError) as wrong:
        topology_from_text(TEXT.replace(before, after))
    assert words in str(wrong.value)


def test_a_filter_may_outlive_what_it_names() -> None:
    """RT-6: an organization that was changed may have lost a site that a filter names; the filter then applies to no store."""
    text = TEXT.replace("sites: [SEA, LON]", "sites: [SEA, LON, OSL]").replace("sites: [LON]}}", "sites: [OSL]}}")
    changed = topology_from_text(text.replace("sites: [SEA, LON, OSL]", "sites: [SEA, LON]") + "revision: 2\n")
    assert changed.domain_of("B") == "tailspin.test"
