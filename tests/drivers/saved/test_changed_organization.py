"""A lab whose organization was changed is saved, taken, copied and continued with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from node.errors import Misuse
from pflab.forecast.fork import present_of
from pflab.lab.lab import Lab
from pflab.lab.served_lab import ServedLab
from pflab.oracle.judge import Observer
from pflab.runs.continued import continue_run
from pflab.runs.databases import RunReader
from pflab.runs.lab_file import unpack
from pflab.runs.run_folder import RunFolder
from pflab.server.events import page_of
from pflab.simulation.simulated_lab import SimulatedLab
from pflab.simulation.simulator import Simulator
from pflab.terms.verdict import Judgement
from tests.support.lab_actions import events_of, post, subjects
from tests.support.lab_factory import LabFactory
from tests.support.replay_pages import document_in
from tests.support.topologies import THREE_SITES
from topology.changes import ChangeError, connector_changed, successor
from topology.file.load import topology_from_text
from traces.events import OrganizationRead, StoreCreated
from traces.labtime import DAY_US, HOUR_US
from traces.reading import read_folder

ONE_SITE = "servers: {A: , B: , C: , D: }\nfolders: {Projects: {replicas: [A, B, C, D]}}\n"


@pytest.fixture(
    params=[
        "simulated lab",
        pytest.param("live", marks=pytest.mark.live),
        pytest.param("managed", marks=[pytest.mark.live, pytest.mark.long]),
    ]
)
def driver(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_a_changed_organization_goes_with_the_lab(make_lab: LabFactory, tmp_path: Path) -> None:
    """RT-6: a copy that plays forward, and a lab that is continued from a file, have the routes of the last change. A server
    that was stopped during the change reads it in the other lab."""
    async with make_lab(THREE_SITES) as lab:
        assert isinstance(lab, ServedLab)
        await lab.stop("B")
        await lab.change_connector("SEA-NYC", cost=1)
        async with (await present_of(lab)).fork() as fork:
            assert fork.organization == lab.organization
            await fork.start("B")
            await post(fork, "A", "direct")
            await fork.advance(fork.began_at + HOUR_US)
            assert subjects(fork, "B") == ["direct"]
        content = await lab.as_file()
    unpacked, folder = RunFolder.at(tmp_path / "file"), RunFolder.at(tmp_path / "up" / "second")
    unpack(content, unpacked)
    earlier = continue_run(unpacked.path, folder)
    async with SimulatedLab(topology_from_text(THREE_SITES), folder=folder, seed=7, earlier=earlier) as second:
        assert second.organization.revision == 1
        await second.start("B")
        assert [event.revision for event in events_of(second, OrganizationRead, "B")] == [1]
        await post(second, "A", "direct")
        await second.change_connector("LON-NYC", schedule="always", cost=1)
        await second.advance(second.now + DAY_US)
        assert subjects(second, "B") == ["direct"]
        assert second.organization.revision == 2
        await second.advance(second.now + 3 * DAY_US)
        assert Observer(second).judge().verdict().judgement is Judgement.CONVERGED
    assert read_folder(folder.traces).report() == []


async def test_an_added_server_goes_with_the_lab(make_lab: LabFactory, tmp_path: Path) -> None:
    """RT-6: a copy that plays forward, a lab that is continued from a file, and who reads the databases of its run folder know
    the servers that were added, started or not."""
    async with make_lab(THREE_SITES) as lab:
        assert isinstance(lab, ServedLab)
        await lab.add_server("E", site="LON", version="5.5")
        await lab.start("E")
        await lab.add_server("F", site="LON")
        await lab.advance(lab.now + DAY_US)
        async with (await present_of(lab)).fork() as fork:
            assert fork.names == (*topology_from_text(THREE_SITES).servers, "E", "F")
            assert (fork.running("E"), fork.running("F")) == (True, False)
            await fork.start("F")
            await fork.advance(fork.began_at + DAY_US)
        content = await lab.as_file()
    unpacked, folder = RunFolder.at(tmp_path / "file"), RunFolder.at(tmp_path / "up" / "second")
    unpack(content, unpacked)
    earlier = continue_run(unpacked.path, folder)
    async with SimulatedLab(topology_from_text(THREE_SITES), folder=folder, seed=7, earlier=earlier) as second:
        assert (second.running("E"), second.running("F")) == (True, False)
        await second.start("F")
        assert [event.revision for event in events_of(second, OrganizationRead, "F")] == [2]
        await second.change_connector("SEA-NYC", cost=1)
        await second.do("A", lambda node, now: node.change_folder(now, "Projects", replicas=["A", "E", "F"]))
        await second.advance(second.now + 3 * DAY_US)
        assert Observer(second).judge().verdict().judgement is Judgement.CONVERGED
    assert read_folder(folder.traces).report() == []
    reader = RunReader.at(folder.path)
    assert {"E", "F"} <= set(reader.stores())
    with reader.reading("F") as store:
        assert [view.path for view in store.folders()] == ["Projects"]


async def test_removed_servers_go_with_the_lab(make_lab: LabFactory, tmp_path: Path) -> None:
    """RP-9, RP-7: a copy that plays forward, and a lab that is continued from a file, have none of the servers that were
    removed, and their later stores under the names continue: directory objects, names of GUIDs and numbers of events. A server
    that did not run meanwhile learns it in the other lab."""
    async with make_lab(ONE_SITE) as lab:
        assert isinstance(lab, ServedLab)
        await post(lab, "C", "before")
        await lab.advance(lab.now + HOUR_US)
        await lab.stop("B")
        for name in ("C", "D"):
            await lab.stop(name)
            await lab.delete_store(name, on="A", force=True)
            await lab.remove_server(name)
        await lab.add_server("D", version="5.5")
        async with (await present_of(lab)).fork() as fork:
            assert fork.names == ("A", "B", "D")
            await begin_again(fork)
        content = await lab.as_file()
    unpacked, folder = RunFolder.at(tmp_path / "file"), RunFolder.at(tmp_path / "up" / "second")
    unpack(content, unpacked)
    earlier = continue_run(unpacked.path, folder)
    async with SimulatedLab(topology_from_text(ONE_SITE), folder=folder, seed=7, earlier=earlier) as second:
        assert second.names == ("A", "B", "D")
        await begin_again(second)
        assert Observer(second).judge().verdict().judgement is Judgement.CONVERGED
        again = await second.as_file()
    assert read_folder(folder.traces).report() == []
    unpack(again, RunFolder.at(tmp_path / "third"))
    assert set(RunReader.at(folder.path).stores()) == {"A", "B", "C", "D"}


async def begin_again(lab: Lab) -> None:
    """Start B, add C again, and start both new servers, which get what there is."""
    await lab.start("B")
    assert {entry.store for entry in lab.read("B", lambda node: node.directory())} == {"A", "B"}
    await lab.add_server("C", version="2000")
    for name in ("C", "D"):
        await lab.start(name)
    created = [(event.store, event.directory_object) for event in events_of(lab, StoreCreated)]
    assert created == [("C", 1), ("D", 1)]
    await lab.do("A", lambda node, now: node.change_folder(now, "Projects", replicas=["A", "B", "C", "D"]))
    await lab.advance(lab.now + 3 * DAY_US)
    assert subjects(lab, "C") == subjects(lab, "D") == ["before"]
    for name in ("C", "D"):
        numbers = [event.seq for event in lab.events() if event.node == name]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), name


async def test_a_backup_from_before_a_change_reads_it_again(make_lab: LabFactory) -> None:
    """RT-6, RP-4: a store that is restored knows the organization of its backup, and reads the last change at its start."""
    async with make_lab(THREE_SITES) as lab:
        backup = await lab.backup("B")
        await lab.change_connector("SEA-NYC", cost=1)
        await lab.change_connector("SEA-NYC", cost=2)
        await lab.restore("B", backup)
        assert [event.revision for event in events_of(lab, OrganizationRead, "B")] == [1, 2, 2]
        await lab.restore("B", await lab.backup("B"))
        assert [event.revision for event in events_of(lab, OrganizationRead, "B")] == [1, 2, 2]


def test_only_a_later_organization_of_the_lab_is_taken() -> None:
    """A state or a database from elsewhere cannot give a lab other servers, folders or addresses."""
    began = topology_from_text(THREE_SITES)
    later = connector_changed(began, "SEA-NYC", {"cost": 1})
    assert successor(began, later.as_json()) == later
    for text in (
        began.as_json(),
        later.as_json().replace("contoso.test", "fabrikam.test"),
        later.as_json().replace('"A":', '"Z":').replace('"A"', '"Z"'),
        "servers: {A: ",
        "{}",
    ):
        with pytest.raises(ChangeError):
            successor(began, text)


async def test_a_store_reads_no_other_organization() -> None:
    """A store takes only a later organization of its own lab, whoever sends it, and stays as it was."""
    began = topology_from_text(THREE_SITES)
    other = topology_from_text(
        connector_changed(began, "SEA-NYC", {"cost": 1}).as_json().replace("contoso", "fabrikam")
    )
    async with Simulator(began, seed=7) as lab:
        with pytest.raises(Misuse, match="not a later one of this lab"):
            await lab.do("A", lambda node, now: node.reorganize(now, other))
        await lab.change_connector("SEA-NYC", cost=1)
        assert [event.revision for event in events_of(lab, OrganizationRead, "A")] == [1]


def cost_in(page: str) -> int:
    """Return the cost of SEA-NYC with which the file of a replay begins."""
    connectors = document_in(page)["topology"]["connectors"]
    return next(connector["cost"] for connector in connectors if connector["name"] == "SEA-NYC")


async def test_a_replay_begins_with_the_organization_before_its_first_event(tmp_path: Path) -> None:
    """RT-6: if the change of a connector is no longer in memory, the file of a replay begins with the changed connector."""
    began = topology_from_text(THREE_SITES)
    async with SimulatedLab(began, folder=RunFolder.at(tmp_path / "lab"), seed=7, most_events=40) as lab:
        await lab.change_connector("SEA-NYC", cost=1)
        assert cost_in(await page_of(lab)) == 10
        for number in range(40):
            await post(lab, "A", str(number))
        await lab.advance(lab.now + HOUR_US)
        assert lab.record.first > 0
        assert cost_in(await page_of(lab)) == 1
