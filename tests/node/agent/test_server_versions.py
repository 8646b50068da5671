"""Stores of four versions side by side: what each version does differently (spec: section 14)."""

from __future__ import annotations

import pytest

from node.errors import NoReplicaHere
from node.state.version_profiles import PROFILES
from tests.support.clock import STATUS_CHECK_MIN
from tests.support.post_office import PostOffice, deliver_all, mails_to
from traces.events import EntryMade, RequestSent, SourcesConsidered
from traces.labtime import HOUR_US
from transport.mime.message import BodyForm, parse_mail

MIXED = """
organization: Test
sites: [SEA]
servers: {A: {version: "5.5"}, B: {version: "2000"}, C: {version: "2003"}, D: {version: "2007"}}
folders:
  Projects: {replicas: [A, B, C, D]}
"""


def partial(office: PostOffice, asker: str) -> None:
    """Each other store posts once, and its mail reaches no store; their statuses reach the asking store."""
    others = [name for name in office.running if name != asker]
    for name in others:
        office[name].post(office.at(1), "Projects", subject=f"by {name}")
        office.cycle(name, office.at(15))
    for name in others:
        deliver_all(office, office.cycle(name, office.at(STATUS_CHECK_MIN)), office.at(STATUS_CHECK_MIN), asker)


def requests(office: PostOffice, asker: str) -> list[RequestSent]:
    return [event for event in office.events if isinstance(event, RequestSent) and event.node == asker]


@pytest.mark.parametrize("asker", "ABCD")
def test_stores_of_four_versions_fill_each_other_s_gaps(asker: str) -> None:
    """Missing changes arrive whatever the versions of the requester and of the sources (spec: BF-3, ML-4)."""
    office = PostOffice(MIXED)
    partial(office, asker)
    for hours in range(0, 10 * 24, 6):
        office.run(office.at(STATUS_CHECK_MIN) + hours * HOUR_US)
    assert len(office[asker].messages("Projects")) == 3


def test_5_5_writes_mdbef_and_takes_no_binary_mail() -> None:
    """A 5.5 store writes its mails in MDBEF, the others in S-TNEF, which goes to a 5.5 server in base64 (spec: ML-2, ML-4)."""
    office = PostOffice(MIXED)
    forms = {}
    for name in "AB":
        office[name].post(office.at(1), "Projects", subject="x")
        (first, *_) = office.cycle(name, office.at(15))
        forms[name] = parse_mail(first[1].content).form
    assert forms == {"A": BodyForm.MDBEF, "B": BodyForm.S_TNEF}
    assert not office["A"].offers().chunking
    assert office["B"].offers().chunking


def test_2000_asks_one_at_a_time_and_waits_24_hours_in_the_site() -> None:
    """If no server has everything, one is asked for what it has, and after 24 h in the site the next for the rest (spec:
    BF-3)."""
    office = PostOffice(MIXED.replace('A: {version: "5.5"}', 'A: {version: "2003"}'))
    for name in "ACD":
        office[name].post(office.at(1), "Projects", subject=f"by {name}")
        for mail in office.cycle(name, office.at(15)):
            if mail[1].next_hop == "D":
                office.deliver(mail, office.at(15))
    for name in "AC":
        deliver_all(office, office.cycle(name, office.at(STATUS_CHECK_MIN)), office.at(STATUS_CHECK_MIN), "B")
    first = office["B"].backfill()[0].due_at
    office.cycle("B", first)
    (choice,) = [event for event in office.events if isinstance(event, SourcesConsidered)][:1]
    assert (choice.method, choice.one_by_one, len(choice.chosen)) == ("six groups", True, 1)
    (sent,) = [event for event in requests(office, "B") if event.entry == choice.entry]
    assert sent.retry_at == first + 24 * HOUR_US


def test_a_new_replica_of_5_5_asks_at_once() -> None:
    """From 2000 on a new replica waits for the first time-out too; 5.5 asks at once (spec: BF-2)."""
    for version, wait in (("5.5", 0), ("2000", 6 * HOUR_US)):
        office = PostOffice(MIXED.replace("replicas: [A, B, C, D]", "replicas: [C]").replace('"5.5"', f'"{version}"'))
        office["C"].post(office.at(1), "Projects", subject="x")
        office.run(office.at(15))
        office["C"].change_folder(office.at(16), "Projects", replicas=["C", "A"])
        for minutes in (30, 45, 60):
            office.run(office.at(minutes))
        (entry,) = [event for event in office.events if isinstance(event, EntryMade) and event.node == "A"]
        assert entry.due_at - entry.at == wait
        assert len(office["A"].messages("Projects")) == (wait == 0)


def test_a_replica_that_is_no_longer_new_waits_in_5_5_too() -> None:
    """After the first response, a 5.5 replica waits for the first time-out like any other (spec: BF-2)."""
    office = PostOffice(MIXED)
    office["B"].post(office.at(1), "Projects", subject="lost")
    office.cycle("B", office.at(15))
    deliver_all(office, mails_to(office.cycle("B", office.at(STATUS_CHECK_MIN)), "A"), office.at(STATUS_CHECK_MIN))
    (entry,) = [event for event in office.events if isinstance(event, EntryMade) and event.node == "A"]
    assert entry.due_at - entry.at == 6 * HOUR_US


def test_each_version_has_a_profile() -> None:
    """The four versions have four profiles, and a newer version has the higher rank (spec: BF-3)."""
    ranks = [profile.rank for profile in PROFILES.values()]
    assert list(PROFILES) == ["5.5", "2000", "2003", "2007"]
    assert ranks == sorted(ranks)


PREFERRING = """
organization: Test
sites: [SEA]
servers: {A: {version: "VERSION", settings: {Preferred Backfill Source: NAME}}, B: {}}
folders:
  Projects: {replicas: [A, B]}
"""


@pytest.mark.parametrize(
    ("version", "name", "ignored"), [("2003", "Z", 1), ("2003", "B", 0), ("2007", "Z", 1), ("2000", "Z", 0)]
)
def test_a_preferred_source_that_is_no_server_is_ignored_with_an_event(version: str, name: str, ignored: int) -> None:
    """An unknown server as preferred source is ignored with an event; versions without the setting say nothing (spec: BF-7)."""
    office = PostOffice(PREFERRING.replace("VERSION", version).replace("NAME", name))
    assert len(office.of_type("setting.ignored")) == ignored


@pytest.mark.parametrize(("version", "at_once"), [("2003", False), ("2007", True)])
def test_the_preferred_source_is_a_registry_value_in_2003_and_a_directory_value_in_2007(
    version: str, at_once: bool
) -> None:
    """A registry value applies from the next start, a directory value from the next read of the directory
    (spec: BF-7, SE-1)."""
    office = PostOffice(PREFERRING.replace("VERSION", version).replace("NAME", "B"))
    office["A"].configure(office.at(1), {"Preferred Backfill Source": "Z"})
    assert len(office.of_type("setting.ignored")) == at_once
    office["A"].close(office.at(2))
    office["A"].open(office.at(3))
    assert len(office.of_type("setting.ignored")) == at_once + 1


RING = """
organization: Test
sites: [SEA, NYC, LON, TYO]
connectors:
  - {name: SEA-NYC, between: [SEA, NYC], cost: 10}
  - {name: NYC-LON, between: [NYC, LON], cost: 10}
  - {name: SEA-TYO, between: [SEA, TYO], cost: 90}
servers: {A: {site: SEA, version: "VERSION"}, B: {site: SEA}, C: {site: NYC}, D: {site: LON}, E: {site: TYO}}
folders:
  Near: {replicas: [B, C, D]}
  Far: {replicas: [D, E]}
"""


@pytest.mark.parametrize(("version", "far"), [("5.5", "E, D"), ("2003", "D, E")])
def test_a_user_of_a_store_without_the_replica_is_referred_by_site_then_cost(version: str, far: str) -> None:
    """The site first, then the cost of referrals, which 5.5 follows over one connector only (spec: RT-4)."""
    office = PostOffice(RING.replace("VERSION", version))
    for path, order in (("Near", "B, C, D"), ("Far", far)):
        with pytest.raises(NoReplicaHere, match=f"holders are: {order}$"):
            office["A"].post(office.at(1), path, subject="x")
