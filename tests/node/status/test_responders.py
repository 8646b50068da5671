"""Which stores must answer a status request, and when each version sends one (spec: ST-3, ST-4, ST-6)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from node.backfill.source_selection import Source
from node.state.version_profiles import PROFILES
from node.status.responders import THE_OLDEST, six_steps
from node.tracking.number_sets import NumberSets
from tests.support.clock import HOUR_MIN
from tests.support.post_office import PostOffice
from traces.events import MailSubmitted, ReplicaDropped, RespondersConsidered, StatusDue
from traces.labtime import DAY_US, HOUR_US


def holder(store: str, *, version: str = "2003", **fields: object) -> Source:
    """A holder near by; `joined_at` is when its replica was added."""
    source = Source(
        store=store,
        guid=store.encode(),
        joined_at=0,
        site="SEA",
        version=version,
        rank=PROFILES[version].rank,
        near=True,
        down=False,
        preferred=False,
        cost=0,
        affinity=0,
        transit_us=None,
        backfilled_at=0,
        unreached="",
        has_all=True,
        numbers=NumberSets.EMPTY,
    )
    return replace(source, **fields)  # type: ignore[arg-type]


def far(store: str, affinity: int | None = 10, transit_us: int | None = 1, **fields: object) -> Source:
    """A holder in another site; without `transit_us` no mail from it has arrived."""
    return holder(store, near=False, cost=affinity, affinity=affinity, transit_us=transit_us, **fields)  # type: ignore[arg-type]


def listed(*holders: Source, limit: int = 4) -> str:
    added_at = {holder.store: holder.joined_at for holder in holders}
    return " ".join(f"{step}{holder.store}" for step, holder in six_steps(holders, added_at, limit))


def test_each_step_adds_its_first_server_and_the_steps_go_round() -> None:
    """The steps take turns: in the site by oldest backfill, outside it and active by affinity, any in the site, and so on
    (spec: ST-4)."""
    assert listed(holder("A", backfilled_at=9), holder("B", backfilled_at=5), far("C"), far("D", 5)) == "1B 2D 3A"
    assert listed(far("A", transit_us=None), far("B", None), far("C", None, None)) == "4A 5B 6C"
    assert listed(far("A"), far("B"), far("C")) == "2A 4B 5C"
    assert listed(holder("A"), holder("B")) == "1A 3B", "fewer than three are all listed"
    assert listed(far("A", 50, None), far("B", 10), far("C", 5, None)) == "2B 4C 6A"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (holder("Z"), holder("A", version="5.5")),
        (holder("Z"), holder("A", has_all=False)),
        (holder("A"), holder("Z")),
        (holder("Z", version="2000", has_all=False), holder("A", version="5.5")),
    ],
)
def test_within_a_step_newer_before_older_and_full_before_partial(first: Source, second: Source) -> None:
    """Within a step 2000 and later come before 5.5, full before partial matches, and ties go to the smaller GUID (spec:
    ST-4)."""
    assert listed(second, first)[:2] == f"1{first.store}"


def test_the_oldest_replica_is_the_fourth() -> None:
    """The holder of the oldest replica is added if it is not listed, so up to four; 2003 and 2007 shorten the list to three
    (spec: ST-4)."""
    four = [holder(name, joined_at=20) for name in "ABC"] + [far("D", joined_at=10), far("E", joined_at=30)]
    assert listed(*four) == "1A 2D 3B", "it is listed already"
    old = [holder(name, joined_at=20) for name in "ABC"] + [holder("D", version="5.5", joined_at=10)]
    assert listed(*old) == f"1A 3B 1C {THE_OLDEST}D"
    assert listed(*old, limit=3) == "1A 3B 1C"


SIX = """
organization: Test
sites: [SEA]
servers: {%s}
folders:
  Projects: {replicas: [%s]}
"""


def office(versions: str, holders: str, settings: str = "") -> PostOffice:
    """A post office of servers A, B, ... of these versions; `holders` hold Projects."""
    names = "ABCDEFGH"
    servers = ", ".join(
        f'{name}: {{version: "{version}"}}' for name, version in zip(names, versions.split(), strict=False)
    )
    return PostOffice(SIX % (servers, ", ".join(holders)) + settings)


def requests(lab: PostOffice, node: str = "") -> list[MailSubmitted]:
    return [
        each
        for each in lab.events
        if isinstance(each, MailSubmitted) and each.message_type == 0x20 and each.node in (node or each.node)
    ]


def chosen(lab: PostOffice, node: str) -> list[tuple[str, ...]]:
    return [each.chosen for each in lab.events if isinstance(each, RespondersConsidered) and each.node == node]


@pytest.mark.parametrize(
    ("version", "asking", "responders"),
    [("2000", "F", 3), ("2003", "ABCDEF", 5), ("2007", "ABCDEF", 5), ("5.5", "F", 5)],
)
def test_which_store_asks_when_a_replica_is_added(version: str, asking: str, responders: int) -> None:
    """In 2003 and 2007 every holder asks and all respond; in 2000 the added store asks the listed ones; in 5.5 it asks all
    (spec: ST-3)."""
    lab = office(" ".join([version] * 6), "ABCDE")
    lab.run(lab.at(15))
    lab.events.clear()  # of the night's requests of 5.5
    lab["A"].change_folder(lab.at(16), "Projects", replicas=list("ABCDEF"))
    for minutes in (30, 45):
        lab.run(lab.at(minutes))
    assert "".join(sorted({each.node for each in requests(lab)})) == asking
    assert [len(each) for each in chosen(lab, "F")] == [responders]


def test_a_store_of_2000_rotates_the_servers_that_it_asks() -> None:
    """A server listed by the first step moves to the end of that step's queue (spec: ST-4)."""
    servers = ", ".join(f'{name}: {{version: "2000"}}' for name in "ABCDEF")
    lab = PostOffice(SIX % (servers, "A, B, C, D, E") + "  More: {replicas: [A, B, C, D, E]}\n")
    for path in ("Projects", "More"):
        lab["A"].change_folder(lab.at(1), path, replicas=list("ABCDEF"))
    for minutes in (15, 30):
        lab.run(lab.at(minutes))
    first, second = chosen(lab, "F")
    assert len(first) == len(second) == 3
    assert first[0] != second[0]


@pytest.mark.parametrize(
    ("version", "name", "behind", "folders"),
    [
        ("2003", "Enable Replication Messages At Startup", False, 2),
        ("2003", "Replication Flags", False, 1),
        ("2000", "Replication Flags", True, 2),
        ("2007", "Replication Flags", True, 0),
        ("5.5", "Replication Flags", True, 2),
    ],
)
def test_registry_values_for_status_requests_at_the_start(version: str, name: str, behind: bool, folders: int) -> None:
    """With the Enable value a start asks for all folders, with Replication Flags for 1-1 and every folder that is behind.
    2007 has neither value, and 5.5 asks at each start anyway (spec: ST-3)."""
    lab = office(f"{version} 2003 2003 2003 2003", "ABCDE")
    lab["A"].configure(lab.at(0), {name: 1})
    if behind:
        lab["B"].post(lab.at(1), "Projects", subject="lost")
        lab.cycle("B", lab.at(15))
        lab["B"].post(lab.at(16), "Projects", subject="tells")
        lab.run(lab.at(30))
    lab.events.clear()
    lab["A"].close(lab.at(40))
    lab["A"].open(lab.at(41))
    assert sum(len(each.folders) for each in requests(lab, "A")) == folders
    assert {len(each) for each in chosen(lab, "A")} <= ({4} if version == "5.5" else {3})


def test_5_5_does_not_ask_at_its_start_if_that_is_disabled() -> None:
    """Disable Replication Messages At Startup keeps a 5.5 server from asking at its start (spec: ST-3, SE-1)."""
    lab = office("5.5 2003", "AB", "settings: {Disable Replication Messages At Startup: 1}\n")
    lab["A"].close(lab.at(40))
    lab["A"].open(lab.at(41))
    assert requests(lab) == []


def test_5_5_asks_each_night() -> None:
    """A 5.5 server requests the status of all it holds at the day's first check, and repeats nothing (spec: ST-3, ST-7)."""
    lab = office("5.5 2003", "AB")
    for hours in range(0, 72, 12):
        lab.run(lab.at(hours * HOUR_MIN + 15))
    asked = requests(lab)
    assert [each.at for each in asked] == [lab.at(days * 24 * HOUR_MIN + 15) for days in range(3)]
    assert {len(each.folders) for each in asked} == {2}
    assert not any(each.marks and "repeat" in each.marks for each in asked)


@pytest.mark.parametrize(("pack", "daily"), [(3, 4), (4, 0)])
def test_5_5_before_sp4_broadcasts_the_hierarchy_status_daily(pack: int, daily: int) -> None:
    """5.5 before SP4 broadcasts the hierarchy's status to all stores each day; SP4 follows ST-1 (spec: ST-6, ST-1)."""
    lab = office("5.5 2003", "AB", f"settings: {{Service Pack: {pack}}}\n")
    for hours in range(0, 96, 12):
        lab.run(lab.at(hours * HOUR_MIN + 15))
    statuses = [each for each in lab.events if isinstance(each, MailSubmitted) and each.message_type == 0x10]
    assert len(statuses) == daily


def due_statuses(lab: PostOffice) -> list[tuple[str, float]]:
    """Return the stores that found a status of Projects due, each with the hour."""
    folder = lab["A"].folders()[0].id
    found = [each for each in lab.events if isinstance(each, StatusDue) and folder in each.folders]
    return [(each.node, (each.at - lab.start) / HOUR_US) for each in found]


@pytest.mark.parametrize(
    ("versions", "pack", "reporting"),
    [("5.5 5.5 5.5", 4, ""), ("5.5 5.5 5.5", 3, "BC"), ("5.5 2003 5.5", 4, "B"), ("2003 5.5 5.5", 4, "")],
)
def test_from_sp4_a_status_of_5_5_follows_only_changes_made_there(versions: str, pack: int, reporting: str) -> None:
    """From SP4 a 5.5 store owes no status after a received update. Nothing is repeated for that (spec: ST-6, ST-7)."""
    lab = office(versions, "ABC", f"settings: {{Service Pack: {pack}}}\n")
    lab["A"].post(lab.at(60), "Projects", subject="x")
    for hours in range(1, 120):
        lab.run(lab.at(hours * HOUR_MIN + 15))
    assert due_statuses(lab) == [(store, 36.25) for store in "A" + reporting]
    lab["C"].post(lab.at(120 * HOUR_MIN), "Projects", subject="y")
    for hours in range(120, 240):
        lab.run(lab.at(hours * HOUR_MIN + 15))
    again = {"C", *reporting} | ({"A"} if pack == 3 or versions.startswith("2003") else set())
    assert [store for store, hour in due_statuses(lab) if hour > 120] == sorted(again)
    assert not any("repeat" in each.marks for each in lab.events if isinstance(each, MailSubmitted))


def test_a_received_update_delays_the_status_of_an_own_change() -> None:
    """A store of 5.5 that owes a status of its own change sends it when the folder was quiet for a day (spec: ST-1, ST-6)."""
    lab = office("5.5 5.5", "AB")
    lab["A"].post(lab.at(60), "Projects", subject="x")
    lab.run(lab.at(75))
    lab["B"].post(lab.at(20 * HOUR_MIN), "Projects", subject="y")
    for hours in range(20, 120):
        lab.run(lab.at(hours * HOUR_MIN + 15))
    assert due_statuses(lab) == [("A", 48.25), ("B", 48.25)]


def test_a_replica_of_5_5_goes_after_midnight() -> None:
    """A 5.5 store drops a removed replica at the first midnight after another has all of it (spec: RP-2)."""
    for version, at in (("5.5", DAY_US), ("2003", 0)):
        lab = office(f"{version} 2003", "AB")
        lab["B"].change_folder(lab.at(1), "Projects", replicas=["B"])
        for minutes in (15, 30, 45, 12 * HOUR_MIN + 15, 24 * HOUR_MIN, 24 * HOUR_MIN + 15):
            lab.run(lab.at(minutes))
        (dropped,) = [each for each in lab.events if isinstance(each, ReplicaDropped)]
        assert dropped.at - lab.start == (at or 15 * 60 * 1_000_000)
        pending = [each for each in requests(lab, "A") if "delete-pending" in each.marks]
        assert len(pending) == 1, "it has its answer, so it does not ask again"
