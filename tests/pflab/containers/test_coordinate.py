"""`pflab coordinate`: the process that leads servers which run elsewhere, and its end and return."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from pflab.cli.app import run
from pflab.client import Client, ClientError
from pflab.drivers.launch import node_environment
from pflab.runs.run_folder import RunFolder
from pflab.terms.verdict import ExitCode
from tests.drivers.conftest import TOKEN
from tests.support.process_keeper import Keeper
from topology import topology_from_text
from traces import read_folder

pytestmark = pytest.mark.live

ORGANIZATION = "{servers: {A: , B: }, folders: {Projects: {replicas: [A, B]}}}"
END_S = 30


@contextmanager
def coordinated(keeper: Keeper, folder: Path, end: signal.Signals = signal.SIGTERM) -> Iterator[str]:
    """The coordinator until it is up; its URL. It ends well, unless it is killed."""
    order = [sys.executable, "-P", "-m", "pflab", "coordinate", str(folder / "lab.yaml"), "--port", "0"]
    order += ["--data", str(folder / "run"), "--secrets", str(folder / "run"), "--clock", "0"]
    for name, (host, port) in keeper.addresses.items():
        order += ["--at", f"{name}={host}:{port}"]
    lab = subprocess.Popen(order, stdout=subprocess.PIPE, text=True, env=node_environment())
    assert lab.stdout is not None
    try:
        told = ""
        while not told.endswith("/docs\n"):
            line = lab.stdout.readline()
            assert line, told
            told += line
        assert told.startswith("Contoso is up: A, B\n")
        yield told.splitlines()[-1].strip().removesuffix("/docs")
    finally:
        lab.send_signal(end)
        code = lab.wait(END_S)
        lab.stdout.close()
    assert code == (ExitCode.GOOD if end is signal.SIGTERM else -end)


def test_a_coordinator_that_is_killed_comes_back_and_goes_on(tmp_path: Path) -> None:
    """Whoever asks needs the token; time, run, what was posted and what has happened are there again after SIGKILL of the
    coordinator."""
    (tmp_path / "lab.yaml").write_text(ORGANIZATION, "utf-8")
    folder = RunFolder.at(tmp_path / "run")
    with Keeper(topology_from_text(ORGANIZATION), folder, token=TOKEN) as keeper:
        with coordinated(keeper, tmp_path, signal.SIGKILL) as url:
            with Client(url) as stranger, pytest.raises(ClientError, match="wants its token"):
                stranger.lab()
            with Client(url, token=TOKEN) as client:
                client.post("A", "Projects", subject="Hello")
                client.advance("15 min")
                told = list(client.events())
                assert "version.applied" in {each["type"] for each in told}
                before = client.lab()
        with coordinated(keeper, tmp_path) as url, Client(url, token=TOKEN) as client:
            after = client.lab()
            assert {name: after[name] for name in ("run", "clock", "servers")} == {
                name: before[name] for name in ("run", "clock", "servers")
            }
            assert [each["subject"] for each in client.messages("B", "Projects")] == ["Hello"]
            assert list(client.events())[: len(told)] == told
            assert "version.applied" in {each["type"] for each in client.events("B")}


def everything(client: Client) -> dict[str, Any]:
    """What users see of a lab: its time, who runs, and what each store has."""
    shown = client.lab()
    there = [each["name"] for each in shown["servers"] if each["standing"] == "running"]
    return {
        "now": shown["clock"]["now_at"],
        "there": there,
        "messages": {name: client.messages(name, "Projects") for name in there},
        "digests": {name: client.digests(name) for name in there},
    }


def wait_for(client: Client, history: str) -> None:
    """Until the lab is up again, in another course of events."""
    give_up_s = time.monotonic() + END_S
    while time.monotonic() < give_up_s:
        with suppress(ClientError):
            if client.lab()["history"] == history and client.text("GET", "/readyz"):
                return
        time.sleep(0.1)
    raise AssertionError(f"{history} has not begun within {END_S} s")


def test_a_class_goes_back_to_where_it_began(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A saved lab comes back as it was, as often as it is wanted: time, who runs and who does not, what each store has, its
    traces whole; a server that was away meanwhile comes back to the same. The coordinator's restart changes nothing."""
    monkeypatch.setenv("PFLAB_TOKEN", TOKEN)
    (tmp_path / "lab.yaml").write_text(ORGANIZATION, "utf-8")
    folder = RunFolder.at(tmp_path / "run")
    with Keeper(topology_from_text(ORGANIZATION), folder, token=TOKEN) as keeper:
        with coordinated(keeper, tmp_path) as url, Client(url, token=TOKEN) as client:
            client.post("A", "Projects", subject="before")
            client.advance("15 min")
            client.inject("lose", from_="A", to="B", type="content")
            client.post("A", "Projects", subject="lost")
            client.advance("1 h")
            assert client.save("start")["at"] == client.now()
            start = everything(client)
            client.post("B", "Projects", subject="afterwards")
            client.advance("2 d")
            client.stop("B")
            for number in range(2):
                assert run(["lab", "reset", "start", "--lab", url]) == ExitCode.GOOD
                assert "back at start" in capsys.readouterr().out
                assert everything(client) == start
                assert client.faults() == []
                assert client.clock()["rate"] == 0
                client.post("A", "Projects", subject=f"another {number}")
                client.advance("1 h")
            with pytest.raises(ClientError, match="no lab was saved as 'end'"):
                client.reset("end")
            keeper.take_away("B")
            client.reset("start")
            keeper.bring_back("B")
            wait_for(client, "Contoso-4")
            assert everything(client) == start
            client.advance("1 h")
        with coordinated(keeper, tmp_path) as url, Client(url, token=TOKEN) as client:
            assert client.saved() == ["start"]
            assert client.until_converged("Projects", "54 h")["held"]
            shipped = client.ship()
            trace = read_folder(tmp_path / "run" / "traces" / shipped["traces"])
            assert trace.report() == []
            assert len(trace.events) == shipped["events"]
            assert {each["subject"] for each in client.messages("B", "Projects")} == {"before", "lost"}
