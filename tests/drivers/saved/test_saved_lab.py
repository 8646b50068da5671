"""Saved labs: a lab of `pflab up` is saved while it runs, and goes back to what was saved."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pflab.cli.app import run
from pflab.client import Client, ClientError
from pflab.drivers.live import LiveLab
from pflab.errors import LabError, Taken
from pflab.faults.fault import Lose
from pflab.oracle.judge import Observer
from pflab.runs.continued import SAVED, continue_run
from pflab.runs.run_folder import RunFolder
from pflab.runs.saved import SavedRuns
from pflab.terms.verdict import ExitCode, Judgement
from tests.support.lab_actions import everything
from tests.support.running_lab import lab_up
from tests.support.samples import sampled
from topology.file.load import topology_from_text
from traces.events import FaultHealed, NodeStarted, NodeStopped, RunEnded, RunStarted
from traces.labtime import HOUR_US, MINUTE_US
from traces.reading import read_folder

pytestmark = pytest.mark.live

THREE = """
sites: [SEA]
servers: {A: , B: , C: }
folders: {Projects: {replicas: [A, B, C]}}
"""


async def test_a_saved_lab_is_a_run_that_can_be_continued(tmp_path: Path) -> None:
    """It has the databases of running, stopped and killed stores and a whole trace. Its run converges after the stores start,
    also if mail was waiting; and the lab that was saved goes on as if it had not been."""
    folder = RunFolder.at(tmp_path / "up" / "first")
    async with LiveLab(topology_from_text(THREE), folder=folder) as lab:
        lab.saved_runs = SavedRuns(folder.path / SAVED)
        await lab.do("A", lambda node, now: node.post(now, "Projects", subject="sent"))
        await lab.advance(lab.now + HOUR_US)
        await lab.stop("B")
        await lab.kill("C")
        lab.faults.inject(Lose(from_="A", to="B", type="content"))
        await lab.do("A", lambda node, now: node.post(now, "Projects", subject="waits"))
        await lab.advance(lab.now + 20 * MINUTE_US)
        saved_at = lab.now
        await lab.save("start")
        with pytest.raises(Taken, match="already saved as 'start'"):
            await lab.save("start")
        await lab.save("start", replace=True)
        with pytest.raises(LabError, match="is not a name for a saved lab"):
            await lab.save("../start")
        assert lab.saved() == ["start"]
        await lab.do("A", lambda node, now: node.post(now, "Projects", subject="after the save"))
        await lab.start("B")
        await lab.start("C")
        await lab.advance(lab.now + 54 * HOUR_US)
        assert Observer(lab).judge().verdict().judgement is Judgement.CONVERGED
    saved = lab.saved_runs.find("start").path
    assert read_folder(saved / "traces").report() == []
    second = RunFolder.at(tmp_path / "up" / "second")
    async with LiveLab(topology_from_text(THREE), folder=second, earlier=continue_run(saved, second)) as lab:
        assert (lab.now, lab.run, lab.history) == (saved_at, "up/first", "up/second")
        assert [lab.running(name) for name in "ABC"] == [True, False, False]
        assert [fault.kind for fault in lab.faults.active()] == ["kill", "lose"]
        lab.faults.heal()
        await lab.start("B")
        await lab.start("C")
        await lab.advance(lab.now + 54 * HOUR_US)
        for name in "ABC":
            found = {each.subject for each in lab.read(name, lambda node: node.messages("Projects"))}
            assert found == {"sent", "waits"}
        assert Observer(lab).judge().verdict().judgement is Judgement.CONVERGED
    trace = read_folder(second.traces)
    assert trace.report() == []
    counts = {kind: sum(isinstance(each, kind) for each in trace.events) for kind in (RunStarted, RunEnded)}
    assert counts == {RunStarted: 1, RunEnded: 1}
    assert sum(isinstance(each, FaultHealed) for each in trace.events) == 2  # the lost mails, and the kill
    assert sum(isinstance(each, NodeStarted) and each.node == "A" for each in trace.events) == 2
    assert sum(isinstance(each, NodeStopped) and each.node == "A" for each in trace.events) == 1


async def test_a_busy_lab_can_be_saved(tmp_path: Path) -> None:
    """A lab that is saved while mails are under way has, in its traces, the cause of everything that its stores have."""
    folder = RunFolder.at(tmp_path / "up" / "first")
    async with LiveLab(topology_from_text(THREE), folder=folder) as lab:
        lab.saved_runs = SavedRuns(folder.path / SAVED)
        for number in range(10):
            await lab.do("A", lambda node, now, n=number: node.post(now, "Projects", subject=str(n)))
        warp = asyncio.create_task(lab.advance(lab.now + HOUR_US))
        for number in range(3):
            await lab.save(f"s{number}")
        await warp
    for number in range(3):
        again = RunFolder.at(tmp_path / "up" / f"again{number}")
        earlier = continue_run(folder.path / SAVED / f"s{number}", again)
        async with LiveLab(topology_from_text(THREE), folder=again, earlier=earlier) as lab:
            await lab.advance(lab.now + 54 * HOUR_US)
            assert Observer(lab).judge().verdict().judgement is Judgement.CONVERGED
        assert read_folder(again.traces).report() == []


async def test_a_lab_without_a_place_for_saved_labs_refuses_to_be_saved(tmp_path: Path) -> None:
    """A lab of a test or of a lesson has no place for saved labs, and says which labs have one."""
    async with LiveLab(topology_from_text(THREE), folder=RunFolder.at(tmp_path / "run")) as lab:
        with pytest.raises(LabError, match="has no place for saved labs; a lab of pflab up has one"):
            await lab.save("start")
        with pytest.raises(LabError, match="no lab was saved as 'start'"):
            await lab.reset("start")
        assert list(lab.saved()) == []


@pytest.mark.parametrize("more", sampled([[], ["--simulated"], ["--processes"]], 3))
def test_a_lab_goes_back_to_what_was_saved(
    more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """pflab lab save and reset: time, running servers, stores, faults and traces are as saved, as often as one likes; the clock
    is paused, the address is the same, and the lab goes on replicating. Each reset begins a history."""
    monkeypatch.chdir(tmp_path)
    with lab_up(tmp_path, *more) as url, Client(url) as client:
        client.post("A", "Projects", subject="before")
        client.advance("15 min")
        client.inject("lose", from_="A", to="B", type="content")
        client.post("A", "Projects", subject="lost")
        client.advance("1 h")
        assert run(["lab", "save", "start"]) == ExitCode.GOOD
        assert run(["lab", "save", "start"]) == ExitCode.UNKNOWN
        assert "already saved as 'start'" in capsys.readouterr().err
        with pytest.raises(ClientError, match="no lab was saved as 'end'; saved: start"):
            client.reset("end")
        start, faults = everything(client), client.faults()
        histories = [client.lab()["history"]]
        assert client.clock()["history"] == histories[0]
        for number in range(2):
            client.post("B", "Projects", subject=f"afterwards {number}")
            client.inject("cut", between=["A", "B"])
            if more != ["--simulated"]:
                client.set_rate(3600)
            client.stop("B")
            assert run(["lab", "reset", "start"]) == ExitCode.GOOD
            assert "reset to start" in capsys.readouterr().out
            assert everything(client) == start
            assert client.faults() == faults
            assert client.clock()["rate"] == 0
            histories.append(client.lab()["history"])
            assert client.clock()["history"] == histories[-1]
        assert len(set(histories)) == 3
        for stale in (f"/lab/events?after=3&history={histories[1]}", f"/lab/stream?after=3&history={histories[1]}"):
            with pytest.raises(ClientError, match="was replaced or reset") as told:
                client.text("GET", stale)
            assert told.value.status == 409
        with pytest.raises(ClientError, match="was replaced or reset"):
            client.ask("GET", "/lab/stream", headers={"Last-Event-ID": f"12@{histories[0]}"})
        with client.ask("GET", f"/lab/events?history={histories[-1]}") as answer:
            assert answer.headers["Pflab-History"] == histories[-1]
            answer.read()
        assert client.saved() == ["start"]
        client.heal()
        client.post("A", "Projects", subject="another")
        assert client.until_converged("Projects", "54 h")["held"]
        assert {each["subject"] for each in client.messages("B", "Projects")} == {"before", "lost", "another"}
    latest = tmp_path / "runs" / "latest"
    assert f"up/{latest.resolve().name}" == histories[-1]
    for each in (tmp_path / "runs" / "up").iterdir():
        trace = read_folder(each / "traces")
        assert trace.report() == []
        assert [sum(isinstance(event, kind) for event in trace.events) for kind in (RunStarted, RunEnded)] == [1, 1]
        assert {event.run for event in trace.events} == {histories[0]}
    first = tmp_path / "runs" / histories[0]
    with lab_up(tmp_path, "--resume", str(first / SAVED / "start"), topology=None) as url, Client(url) as client:
        assert everything(client) == start
