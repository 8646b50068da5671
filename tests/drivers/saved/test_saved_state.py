"""One saved state of a lab, in every driver: a lab that was reset, resumed or restarted shows what it showed before."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pflab.client import Client, ClientError
from pflab.runs.run_folder import RunFolder
from tests.support.coordinator_process import running_coordinator, wait_for_another, wait_for_history
from tests.support.lab_factory import TOKEN
from tests.support.process_supervisor import ProcessSupervisor
from tests.support.running_lab import lab_up
from topology.file.load import topology_from_text

pytestmark = [pytest.mark.live, pytest.mark.long]

FOUR = """
organization: Contoso
recipient_update: 1 h
servers: {A: , B: , C: , D: {joins: later}}
folders: {Projects: {replicas: [A, B, C]}, News: {replicas: [A, B]}}
"""

OF_THIS_HISTORY = {"history", "folder", "verdict"}
"""What `/lab` says of the present run history and its folder only."""

ADDRESSES = {"smtp", "imap"}

OPTIONS = {"live": (), "simulated": ("--simulated",), "processes": ("--processes",)}


def shown(client: Client) -> dict[str, Any]:
    """Return all that the API shows of a lab: every document of the lab, its running servers and its folders."""
    paths = client.json("GET", "/openapi.json")["paths"]
    found: dict[str, Any] = {}
    lab = client.lab()
    running = [server["name"] for server in lab["servers"] if server["status"] == "running"]
    for path, methods in paths.items():
        if (
            "get" not in methods
            or not path.startswith(("/lab", "/nodes"))
            or path in {"/lab/stream", "/lab/replay", "/lab/file"}
        ):
            continue
        needed = {each["name"] for each in methods["get"].get("parameters", []) if each.get("required")}
        if not needed <= {"name", "folder"} or path.endswith(("/stream", "/events", "/verdict")):
            continue
        for name in running if "name" in needed else [""]:
            for folder in ("Projects", "News") if "folder" in needed else ("",):
                target = path.format(name=name) + (f"?folder={folder}" if folder else "")
                try:
                    found[target] = client.json("GET", target)
                except ClientError as refused:  # a server without a replica, for example
                    found[target] = refused.detail
    of_lab = found["/lab"]
    for key in OF_THIS_HISTORY:
        del of_lab[key]
    for server in of_lab["servers"]:
        for key in ADDRESSES:
            del server[key]
    for answer in (of_lab["clock"], found["/lab/clock"], found["/lab/checkpoint"]):
        del answer["history"]
    found["events"] = list(client.events())
    return found


def check_same(now: dict[str, Any], before: dict[str, Any]) -> None:
    """Check that a lab shows what it showed, and in addition only the end and the start of its servers."""
    known = {(event["node"], event["seq"]): event for event in before["events"]}
    after = {(event["node"], event["seq"]): event for event in now["events"]}
    assert {key: after[key] for key in known} == known
    new = {after[key]["type"] for key in after.keys() - known.keys()}
    assert new <= {"node.stopped", "node.started", "clock.changed", "server.logged", "setting.value"}, new
    assert now.keys() == before.keys()
    for what in now.keys() - {"events"}:
        if not what.endswith("/log"):
            assert now[what] == before[what], what
        else:
            assert now[what][: len(before[what])] == before[what], what


def live_a_little(client: Client) -> list[str]:
    """Give a lab something of everything that is saved. Return the ids of the backups of A, oldest first."""
    client.post("A", "Projects", subject="first")
    client.advance("1 h")
    backups = [client.backup("A")]
    client.start("D")
    client.inject("lose", from_="A", to="B", type="content", count=9)
    client.post("A", "Projects", subject="lost once")
    client.advance("1 h")
    client.inject("delay", from_="A", to="C", by="30 h")
    client.inject("unstamp", server="C")
    client.inject("skew", server="A", by="10 min")
    client.inject("cut", between=["B", "D"])
    client.post("A", "Projects", subject="delayed")
    backups.append(client.backup("A"))
    client.advance("20 min")
    client.configure("A", {"Deleted Item Retention": "3 days"})
    client.json("POST", "/lab/recipient-policy", {"domain": "fabrikam.test"})
    client.add_policy("Two", domain="adatum.test", filter={"servers": ["B", "D"]})
    client.stop("B")
    client.kill("D")
    return backups


def check_backups(client: Client, backups: list[str]) -> None:
    """Restore A from each backup, and make another, whose id is new."""
    with pytest.raises(ClientError, match=f"its backups are: {', '.join(backups)}"):
        client.restore("A", "backup-99")
    assert client.backup("A") not in backups
    client.restore("A", backups[0])
    subjects = [message["subject"] for message in client.messages("A", "Projects")]
    assert subjects == ["first"]


@contextmanager
def lab_of(driver: str, folder: Path, *more: str) -> Iterator[Client]:
    topology = FOUR if not more else None
    with lab_up(folder, *more, *(OPTIONS[driver] if not more else ()), topology=topology) as url, Client(url) as client:
        yield client


def go_back(client: Client, name: str) -> None:
    history = client.lab()["history"]
    client.reset(name)
    wait_for_another(client, history)


@pytest.mark.parametrize("driver", OPTIONS)
def test_a_reset_and_a_resumed_lab_show_what_they_showed(
    driver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All documents of the API are equal before and after, and each backup can be restored. No id of a backup is given twice in
    a history."""
    monkeypatch.chdir(tmp_path)
    with lab_of(driver, tmp_path) as client:
        backups = live_a_little(client)
        client.save("first")
        before = shown(client)
        client.heal()
        client.start("B")
        client.advance("2 h")
        go_back(client, "first")
        check_same(shown(client), before)
        check_backups(client, backups)
        go_back(client, "first")
        client.save("second")
        before = shown(client)
    with lab_of(driver, tmp_path, "--resume", "runs/latest") as client:
        check_same(shown(client), before)
        assert client.saved() == ["first", "second"]
        check_backups(client, backups)
        go_back(client, "second")
        check_same(shown(client), before)
        client.heal()
        for name in ("B", "D"):
            client.start(name)
        assert client.until_converged("Projects", "100 h")["held"]


@pytest.fixture
def supervisor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProcessSupervisor]:
    monkeypatch.setenv("PFLAB_TOKEN", TOKEN)
    (tmp_path / "lab.yaml").write_text(FOUR, "utf-8")
    with ProcessSupervisor(topology_from_text(FOUR), RunFolder.at(tmp_path / "run"), token=TOKEN) as supervisor:
        yield supervisor


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_a_reset_and_a_restarted_coordinator_show_what_they_showed(
    end: signal.Signals, supervisor: ProcessSupervisor, tmp_path: Path
) -> None:
    """All documents of the API are equal before and after, also if the coordinator was killed, and each backup can be
    restored."""
    with running_coordinator(supervisor, tmp_path, end) as url, Client(url, token=TOKEN) as client:
        backups = live_a_little(client)
        supervisor.bring_all_up()
        client.save("first")
        before = shown(client)
    with running_coordinator(supervisor, tmp_path, end) as url, Client(url, token=TOKEN) as client:
        check_same(shown(client), before)
        client.start("B")
        client.advance("2 h")
        client.reset("first")
        wait_for_history(client, "Contoso-2", ["A", "C"])
        check_same(shown(client), before)
        check_backups(client, backups)
        client.reset("first")
        wait_for_history(client, "Contoso-3", ["A", "C"])
        before = shown(client)
    with running_coordinator(supervisor, tmp_path) as url, Client(url, token=TOKEN) as client:
        check_same(shown(client), before)
        assert client.saved() == ["first"]
        check_backups(client, backups)
        client.heal()
        for name in ("B", "D"):
            client.start(name)
        assert client.until_converged("Projects", "100 h")["held"]
