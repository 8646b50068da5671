"""Labs that were killed: a run folder has all that happened, and another lab continues the run."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from pflab.cli.app import run
from pflab.client import Client
from pflab.lab.killed_run import end_killed, is_left_behind
from pflab.runs.lab_state import read_state
from pflab.terms.verdict import ExitCode
from tests.support.running_lab import lab_process, lab_up
from traces.events import FaultHealed, FaultInjected, RunEnded, RunStarted
from traces.labtime import format_instant
from traces.reading import read_folder

ENDED_S = 60.0


def the_run(folder: Path) -> Path:
    return (folder / "runs" / "latest").resolve()


pytestmark = [pytest.mark.live, pytest.mark.long]

TWO = """
servers: {A: , B: }
folders: {Projects: {replicas: [A, B]}}
"""


@pytest.mark.parametrize("more", [[], ["--processes"]])
def test_a_killed_lab_is_continued(more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DU-1: after SIGKILL, up --resume begins where the lab was: posts, stopped and killed servers, faults, lab time. The
    traces of both runs are whole."""
    monkeypatch.chdir(tmp_path)
    with lab_process(tmp_path, *more) as (lab, url), Client(url) as client:
        client.post("A", "Projects", subject="before")
        client.advance("15 min")
        client.inject("lose", from_="A", to="B", type="content")
        client.post("A", "Projects", subject="lost")
        at = client.advance("1 h")["now_at"]
        client.stop("B")
        client.post("A", "Projects", subject="last")
        lab.send_signal(signal.SIGKILL)
        lab.wait(ENDED_S)
    killed = the_run(tmp_path)
    with lab_up(tmp_path, "--resume", "runs/latest", topology=None) as url, Client(url) as client:
        assert client.lab()["run"] == f"up/{killed.name}"
        assert client.clock()["now_at"] == at
        assert [fault["id"] for fault in client.faults()] == ["F1"]
        client.heal()
        assert {server["name"]: server["status"] for server in client.lab()["servers"]} == {
            "A": "running",
            "B": "not running",
        }
        assert read_state(the_run(tmp_path)).settings.driver == ("processes" if more else "live")
        client.start("B")
        assert client.until_converged("Projects", "54 h")["held"]
        assert {each["subject"] for each in client.messages("B", "Projects")} == {"before", "lost", "last"}
    assert not is_left_behind(killed)
    assert read_folder(killed / "traces").report() == []
    trace = read_folder(the_run(tmp_path) / "traces")
    assert trace.report() == []
    kinds = (RunStarted, RunEnded, FaultInjected, FaultHealed)
    assert [sum(isinstance(event, kind) for event in trace.events) for kind in kinds] == [1] * 4


@pytest.mark.parametrize("more", [[], ["--processes"]])
def test_a_lab_that_is_killed_again_and_again_loses_nothing(
    more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DU-1: with its clock running, a lab is killed at some moment and continued, three times. Every post that was acknowledged
    reaches both stores."""
    monkeypatch.chdir(tmp_path)
    acknowledged, order = [], more
    for number in range(3):
        topology = None if number else TWO
        with lab_process(tmp_path, *order, topology=topology) as (lab, url), Client(url) as client:
            client.set_rate(3600)
            until = time.monotonic() + 0.3 + number / 4
            while time.monotonic() < until:
                subject = f"{number} {len(acknowledged)}"
                client.post("AB"[len(acknowledged) % 2], "Projects", subject=subject)
                acknowledged.append(subject)
            lab.send_signal(signal.SIGKILL)
            lab.wait(ENDED_S)
        order = ["--resume", "runs/latest"]
    with lab_up(tmp_path, *order, topology=None) as url, Client(url) as client:
        assert client.until_converged("Projects", "80 h")["held"]
        for store in "AB":
            assert sorted(each["subject"] for each in client.messages(store, "Projects")) == sorted(acknowledged)
    assert read_folder(the_run(tmp_path) / "traces").report() == []


def test_the_state_of_a_killed_lab_is_that_of_its_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file with the state may be older than the events: what these say of servers, faults and time is true. The
    clock of a server that was fast says nothing about lab time."""
    monkeypatch.chdir(tmp_path)
    with lab_process(tmp_path) as (lab, url), Client(url) as client:
        client.inject("cut", between=["A", "B"])
        client.inject("lose", from_="A", to="B", type="content")
        client.inject("skew", server="A", by="2 h")
        began = (the_run(tmp_path) / "lab.json").read_bytes()
        at = client.advance("1 h")["now_at"]
        client.heal("F1")
        client.stop("A")
        client.kill("B")
        lab.send_signal(signal.SIGKILL)
        lab.wait(ENDED_S)
    (the_run(tmp_path) / "lab.json").write_bytes(began)
    end_killed(the_run(tmp_path))
    state = read_state(the_run(tmp_path))
    assert {name: server.status for name, server in state.servers.items()} == {"A": "stopped", "B": "killed"}
    assert state.faults["number"] == 4
    assert [fault["id"] for fault, _ in state.faults["active"]] == ["F2", "F3"]
    assert format_instant(state.at) == at


def test_a_run_of_a_lab_that_runs_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run is not continued while its lab still runs, also if this lab was started in another folder."""
    monkeypatch.chdir(tmp_path)
    with lab_up(tmp_path):
        running = the_run(tmp_path)
        other = tmp_path / "other"
        other.mkdir()
        monkeypatch.chdir(other)
        assert run(["up", "--resume", str(running)]) == ExitCode.UNKNOWN
        assert "is still running; stop it first" in capsys.readouterr().err
        monkeypatch.chdir(tmp_path)


def test_a_killed_simulated_lab_says_what_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The databases of a simulated lab are in memory, so a kill ends its run; after Ctrl-C it is continued like any other."""
    monkeypatch.chdir(tmp_path)
    with lab_process(tmp_path, "--simulated") as (lab, _):
        lab.send_signal(signal.SIGKILL)
        lab.wait(ENDED_S)
    assert run(["up", "--resume", "runs/latest"]) == ExitCode.UNKNOWN
    assert "its databases were in memory" in capsys.readouterr().err
    with lab_up(tmp_path, "--simulated") as url, Client(url) as client:
        client.post("A", "Projects", subject="before")
        client.stop("B")
    with lab_up(tmp_path, "--resume", "runs/latest", topology=None) as url, Client(url) as client:
        client.start("B")
        assert client.until_converged("Projects", "54 h")["held"]
        assert [each["subject"] for each in client.messages("B", "Projects")] == ["before"]
    assert read_folder(the_run(tmp_path) / "traces").report() == []


def test_a_run_keeps_its_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """up --resume keeps --durability, --tls, --imap with its password, --keep-mails, and the saved labs."""
    monkeypatch.chdir(tmp_path)
    with lab_up(tmp_path, "--durability", "full", "--tls", "--imap", "--keep-mails") as url, Client(url) as client:
        client.save("start")
    first = the_run(tmp_path)
    password = (first / "imap-password").read_text("ascii")
    assert (first / "imap-password").stat().st_mode & 0o777 == 0o600
    for saved in (["start"], ["again", "start"]):  # the second run has what the first one saved
        with lab_up(tmp_path, "--resume", "runs/latest", topology=None) as url, Client(url) as client:
            assert client.saved() == saved
            client.save("again", replace=True)
            assert password.strip() in (tmp_path / "printed").read_text("utf-8")
            assert run(["lab", "reset", "again"]) == ExitCode.GOOD
            assert client.saved() == ["again", "start"]
    second = the_run(tmp_path)
    assert second != first
    assert read_state(second).settings == read_state(first).settings
    assert (second / "mails").is_dir()


def test_end_killed_does_nothing_for_a_run_that_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that ended as usual has nothing left to write."""
    monkeypatch.chdir(tmp_path)
    with lab_up(tmp_path):
        pass
    before = {path: path.stat().st_mtime_ns for path in the_run(tmp_path).rglob("*") if path.is_file()}
    end_killed(the_run(tmp_path))
    assert {path: path.stat().st_mtime_ns for path in the_run(tmp_path).rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("more", [[], ["--processes"]])
def test_a_server_is_removed_from_the_lab_or_not(
    more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RP-9, DU-1: a lab that is killed after a server was removed, and before it has written its state, does not have it when
    it continues. Another one of its name gets a new store."""
    monkeypatch.chdir(tmp_path)
    with lab_process(tmp_path, *more) as (lab, url), Client(url) as client:
        client.inject("lose", from_="A", to="B", type="content")
        client.kill("B")
        client.delete_store("B", on="A", force=True)
        began = (the_run(tmp_path) / "lab.json").read_bytes()
        client.remove_server("B")
        lab.send_signal(signal.SIGKILL)
        lab.wait(ENDED_S)
    (the_run(tmp_path) / "lab.json").write_bytes(began)
    with lab_up(tmp_path, "--resume", "runs/latest", topology=None) as url, Client(url) as client:
        assert [server["name"] for server in client.lab()["servers"]] == ["A"]
        assert client.faults() == []
        client.add_server("B", version="2007")
        client.start("B")
        client.change_folder("A", "Projects", replicas=["A", "B"])
        client.post("A", "Projects", subject="new")
        assert client.until_converged("Projects", "54 h")["held"]
        assert [each["subject"] for each in client.messages("B", "Projects")] == ["new"]
    assert read_folder(the_run(tmp_path) / "traces").report() == []


@pytest.mark.parametrize("more", [[], ["--processes"]])
def test_a_change_of_the_organization_is_in_the_lab_or_nowhere(
    more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RT-6, DU-1: a lab that is killed after its stores have read a change, and before it has written its state, has the change
    when it continues. A server that is added then joins."""
    monkeypatch.chdir(tmp_path)
    with lab_process(tmp_path, *more) as (lab, url), Client(url) as client:
        began = (the_run(tmp_path) / "lab.json").read_bytes()
        client.add_site("LON")
        lab.send_signal(signal.SIGKILL)
        lab.wait(ENDED_S)
    (the_run(tmp_path) / "lab.json").write_bytes(began)
    with lab_up(tmp_path, "--resume", "runs/latest", topology=None) as url, Client(url) as client:
        organization = client.json("GET", "/lab/topology")
        assert (organization["revision"], organization["sites"][-1]) == (1, "LON")
        client.add_server("G", site=organization["sites"][0])
        client.start("G")
        assert {entry["store"] for entry in client.json("GET", "/nodes/A/directory")} == {"A", "B", "G"}


@pytest.mark.parametrize("more", [[], ["--processes"]])
def test_a_change_of_the_recipient_policies_is_in_the_lab_or_nowhere(
    more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DU-1: a lab that is killed after its stores have new addresses, and before it has written its state, has the policies
    when it continues."""
    monkeypatch.chdir(tmp_path)
    with lab_process(tmp_path, *more) as (lab, url), Client(url) as client:
        began = (the_run(tmp_path) / "lab.json").read_bytes()
        client.add_policy("One", domain="fabrikam.test", filter={"servers": ["B"], "versions": ["2003"]})
        lab.send_signal(signal.SIGKILL)
        lab.wait(ENDED_S)
    (the_run(tmp_path) / "lab.json").write_bytes(began)
    with lab_up(tmp_path, "--resume", "runs/latest", topology=None) as url, Client(url) as client:
        assert [policy["name"] for policy in client.recipient_policies()] == ["One", "Default Policy"]
        client.remove_policy("One")
        (entry,) = [entry for entry in client.json("GET", "/nodes/A/directory") if entry["store"] == "B"]
        assert entry["proxy_addresses"][:2] == ["SMTP:B-IS@contoso.test", "smtp:B-IS@fabrikam.test"]
