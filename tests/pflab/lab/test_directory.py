"""The directory that the lab keeps: when each entry gets which address (ML-1)."""

from __future__ import annotations

import pytest

from node.state.directory import AT_ONCE, FAILS, NEVER, NOT_YET, Stamp, StoreObject
from pflab.lab.directory import OrganizationDirectory
from pflab.runs.lab_state import DirectoryDamage
from topology.file.load import topology_from_text
from topology.recipient_policy import KnownNames, PolicyFilter, RecipientPolicies, RecipientPolicy
from traces.labtime import HOUR_US, MINUTE_US

TEXT = """
recipient_update: {update}
servers: {{A: {{version: "2003"}}, B: {{version: "5.5"}}, E: {{version: "2003", joins: later}}}}
"""
CONTOSO = Stamp("contoso.test", AT_ONCE)


def directory(update: str) -> tuple[OrganizationDirectory, int]:
    topology = topology_from_text(TEXT.format(update=update))
    return OrganizationDirectory(topology), topology.start_at


@pytest.mark.parametrize(
    ("version", "update", "stamped_after_us"),
    [
        ("2000", "1 h", 40 * MINUTE_US),
        ("2003", "1 h", 40 * MINUTE_US),
        ("5.5", "1 h", None),
        ("2007", "never", None),
        ("2003", "always", None),
    ],
)
def test_only_2000_and_2003_wait_for_the_recipient_update_service(
    version: str, update: str, stamped_after_us: int | None
) -> None:
    """The service stamps a new entry of 2000 or 2003 at its next run; 5.5 and 2007 stamp an entry when they create it."""
    topology = topology_from_text(
        TEXT.format(update=update).replace('E: {version: "2003"', f'E: {{version: "{version}"')
    )
    found, now = OrganizationDirectory(topology), topology.start_at + 20 * MINUTE_US
    found.join("E", now)
    at = AT_ONCE if stamped_after_us is None else now + stamped_after_us
    assert found.object_of("E").stamps == (Stamp("contoso.test", at),)
    assert found.object_of("A").stamps == (CONTOSO,)


def test_a_store_that_waits_is_stamped_when_the_service_runs_again() -> None:
    """A service that never runs stamps nobody; set to an interval it stamps at its next run, or at once on request."""
    found, start = directory("never")
    found.join("E", start)
    assert (found.object_of("E").stamps, found.missing("E"), found.is_changed("E")) == ((), NEVER, False)
    found.set_policies(start + 1, interval_us=HOUR_US, policies=RecipientPolicies("contoso.test"), at_once=False)
    assert (found.object_of("E").stamps, found.missing("E")) == ((Stamp("contoso.test", start + HOUR_US),), NOT_YET)
    found.set_policies(start + 2, interval_us=None, policies=RecipientPolicies("contoso.test"), at_once=False)
    assert found.object_of("E").stamps == ()
    found.set_policies(start + 3, interval_us=None, policies=RecipientPolicies("contoso.test"), at_once=True)
    assert found.object_of("E").stamps == (CONTOSO,)


def test_a_fault_removes_the_addresses_until_it_ends() -> None:
    """While the service fails for a store, its entry has no address; afterwards it is stamped at the next run."""
    found, start = directory("1 h")
    assert found.damage(DirectoryDamage(unstamped=("A",)), start + 5)
    assert (found.object_of("A").stamps, found.missing("A"), found.object_of("B").stamps) == ((), FAILS, (CONTOSO,))
    assert not found.damage(DirectoryDamage(unstamped=("A",)), start + 6)
    found.set_policies(start + 7, interval_us=HOUR_US, policies=RecipientPolicies("contoso.test"), at_once=True)
    assert found.object_of("A").stamps == ()
    assert found.damage(DirectoryDamage(), start + 8)
    assert found.object_of("A").stamps == (Stamp("contoso.test", start + HOUR_US),)


def test_a_new_domain_is_stamped_at_once_in_5_5_and_at_the_next_run_in_2003() -> None:
    """The old stamp stays before the new one, so the old address is a secondary one."""
    found, start = directory("1 h")
    found.set_policies(start, interval_us=HOUR_US, policies=RecipientPolicies("fabrikam.test"), at_once=False)
    assert found.object_of("A").stamps == (CONTOSO, Stamp("fabrikam.test", start + HOUR_US))
    assert found.object_of("B").stamps == (CONTOSO, Stamp("fabrikam.test", AT_ONCE))


def test_stores_get_the_domain_of_the_first_policy_that_applies() -> None:
    """From the start and after a change of the list: only the entries whose domain changes get another stamp."""
    text = (
        TEXT.format(update="1 h")
        + "recipient_policies: [{name: Old, domain: adatum.test, filter: {versions: ['5.5']}}]\n"
    )
    topology = topology_from_text(text)
    found, start = OrganizationDirectory(topology), topology.start_at
    old = Stamp("adatum.test", AT_ONCE)
    assert (found.object_of("A").stamps, found.object_of("B").stamps) == ((CONTOSO,), (old,))
    both = found.policies.added("A", {"domain": "fabrikam.test", "filter": {"servers": ["A"]}}, KnownNames((), ("A",)))
    found.set_policies(start + 1, interval_us=HOUR_US, policies=both)
    assert (found.object_of("A").stamps, found.object_of("B").stamps) == (
        (CONTOSO, Stamp("fabrikam.test", start + HOUR_US)),
        (old,),
    )
    found.set_policies(start + 2, interval_us=HOUR_US, policies=both.removed("A").removed("Old"))
    assert (found.object_of("A").stamps, found.object_of("B").stamps) == ((CONTOSO,), (old, CONTOSO))


def test_the_directory_survives_a_restart_of_the_coordinator() -> None:
    """Its state has everything."""
    found, start = directory("1 h")
    policies = RecipientPolicies("contoso.test", (RecipientPolicy("B", "adatum.test", PolicyFilter(servers=("B",))),))
    found.set_policies(start, interval_us=HOUR_US, policies=policies)
    found.join("E", start)
    found.damage(DirectoryDamage(unstamped=("B",), doubled=("A",)), start)
    again, _ = directory("1 h")
    again.recall(found.state)
    assert again.state == found.state
    assert again.missing("B") == FAILS
    assert again.object_of("A").doubled


def test_damaged_objects_are_given_to_the_stores_and_mended() -> None:
    """ML-8: an object that names no tree, and one with a twin, differ from what stores begin with, and so does a mended one."""
    found, start = directory("1 h")
    assert found.damage(DirectoryDamage(unlinked=("A",), doubled=("B",)), start)
    assert (found.object_of("A").linked, found.object_of("A").doubled) == (False, False)
    assert (found.object_of("B").linked, found.object_of("B").doubled) == (True, True)
    assert not found.damage(DirectoryDamage(unlinked=("A",), doubled=("B",)), start + 1)
    assert found.damage(DirectoryDamage(), start + 2)
    assert found.object_of("A") == found.object_of("B") == StoreObject((CONTOSO,))
    assert found.is_changed("A")
    assert found.is_changed("B")
