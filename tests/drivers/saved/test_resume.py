"""A run that continues an earlier one: the same stores, from the instant at which the earlier lab stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.drivers.live import LiveLab
from pflab.errors import LabError
from pflab.faults.fault import Lose, Skew
from pflab.oracle.judge import Observer
from pflab.runs.continued import continue_run
from pflab.runs.run_folder import RunFolder
from pflab.terms.verdict import Judgement
from topology.file.load import topology_from_text
from traces.events import ChangeMade, FaultHealed, NodeStarted, RunEnded, RunStarted
from traces.labtime import HOUR_US, MINUTE_US
from traces.reading import read_folder

TEXT = """
sites: [SEA]
servers: {A: , B: , C: {joins: later}}
folders: {Projects: {replicas: [A, B]}}
"""


def resumed(earlier: RunFolder, path: Path) -> LiveLab:
    folder = RunFolder.at(path)
    return LiveLab(topology_from_text(TEXT), folder=folder, earlier=continue_run(earlier.path, folder))


async def test_a_lab_continues_where_it_stopped(tmp_path: Path) -> None:
    """A change that was not sent before the stop is sent after it; time, servers, faults and the trace go on."""
    first = RunFolder.at(tmp_path / "up" / "first")
    async with LiveLab(topology_from_text(TEXT), folder=first) as lab:
        lab.faults.inject(Lose(from_="A", to="B", type="content"))
        await lab.do("A", lambda node, now: node.post(now, "Projects", subject="before"))
        await lab.advance(lab.now + 5 * MINUTE_US)
        stopped_at = lab.now
    for number in range(2):  # the earlier run stays as it was, so it can be continued again
        async with resumed(first, tmp_path / "up" / f"second{number}") as lab:
            assert lab.now == stopped_at
            assert lab.run == "up/first"
            assert lab.history == f"up/second{number}"
            assert [lab.running(name) for name in "ABC"] == [True, True, False]
            assert [fault.id for fault in lab.faults.active()] == ["F1"]
            lab.faults.heal()
            await lab.advance(lab.now + HOUR_US)
            assert [each.subject for each in lab.read("B", lambda node: node.messages("Projects"))] == ["before"]
            assert Observer(lab).judge().verdict().judgement is Judgement.CONVERGED
    second = tmp_path / "up" / "second0"
    assert (second / "continues").read_text("utf-8").strip() == str(first.path)
    trace = read_folder(second / "traces")
    assert trace.report() == []
    assert [sum(isinstance(each, kind) for each in trace.events) for kind in (RunStarted, RunEnded, FaultHealed)] == [
        1
    ] * 3
    assert [each.incarnation for each in trace.events if isinstance(each, NodeStarted) and each.node == "A"] == [1, 2]
    async with resumed(RunFolder.at(second), tmp_path / "up" / "third") as lab:
        await lab.start("C")
        assert lab.running("C")


async def test_a_wrong_clock_is_wrong_in_a_continued_lab_too(tmp_path: Path) -> None:
    """TM-1: the fault stays in force, lab time continues where it stopped, and the clock is right when the fault is healed."""
    first = RunFolder.at(tmp_path / "up" / "first")
    async with LiveLab(topology_from_text(TEXT), folder=first) as lab:
        lab.faults.inject(Skew(server="A", by="-10 min"))
        await lab.advance(lab.now + HOUR_US)
        stopped_at = lab.now
    async with resumed(first, tmp_path / "up" / "second") as lab:
        assert lab.now == stopped_at
        await lab.do("A", lambda node, now: node.post(now, "Projects", subject="slow"))
        lab.faults.heal()
        await lab.do("A", lambda node, now: node.post(now, "Projects", subject="right"))
        times = [event.at for event in lab.events() if isinstance(event, ChangeMade) and event.node == "A"]
        assert times == [stopped_at - 10 * MINUTE_US, stopped_at]


async def test_a_run_continues_in_which_nothing_happened(tmp_path: Path) -> None:
    """The lab of a run that continued another one, also after a reset, may have recorded only its own end."""
    first = RunFolder.at(tmp_path / "up" / "first")
    async with LiveLab(topology_from_text(TEXT), folder=first):
        pass
    async with resumed(first, tmp_path / "up" / "second"):
        pass
    async with resumed(RunFolder.at(tmp_path / "up" / "second"), tmp_path / "up" / "third") as lab:
        assert lab.running("A")
    assert read_folder(tmp_path / "up" / "third" / "traces").report() == []


async def test_a_folder_without_a_state_cannot_be_continued(tmp_path: Path) -> None:
    """A folder that is no run of pflab up is refused."""
    with pytest.raises(LabError, match=r"has no lab\.json"):
        continue_run(tmp_path, RunFolder.at(tmp_path / "next"))


async def stopped(path: Path) -> RunFolder:
    folder = RunFolder.at(path)
    async with LiveLab(topology_from_text(TEXT), folder=folder) as lab:
        await lab.do("A", lambda node, now: node.post(now, "Projects", subject="before"))
        await lab.advance(lab.now + HOUR_US)
    return folder


async def test_a_run_whose_files_were_changed_is_refused(tmp_path: Path) -> None:
    """A missing or damaged database, another topology and a damaged state are named. No store begins again without its data."""
    run = (await stopped(tmp_path / "up" / "first")).path
    database, topology, state = run / "databases" / "A.sqlite", run / "topology.yaml", run / "lab.json"
    for file, content, told in (
        (database, None, "the database of server A is missing"),
        (database, b"not a database, but long enough to be read as one" * 40, "the database of server A is damaged"),
        (topology, topology.read_bytes().replace(b"later", b"start"), "is not the topology with which this run began"),
        (state, b'{"format": 3, "run": 1}', "cannot be read"),
        (state, b'{"run": "up/1"}', "in format 1, and this version of pflab reads only format 3"),
        (state, b"{", "cannot be read"),
    ):
        kept = file.read_bytes()
        if content is None:
            file.unlink()
        else:
            file.write_bytes(content)
        with pytest.raises(LabError, match=told):
            continue_run(run, RunFolder.at(tmp_path / "up" / "next"))
        file.write_bytes(kept)
    continue_run(run, RunFolder.at(tmp_path / "up" / "next"))
