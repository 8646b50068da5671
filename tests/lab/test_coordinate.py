"""`pflab coordinate`: the process that leads servers which run elsewhere, and its end and return."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pflab.client import Client, ClientError
from pflab.house import node_environment
from pflab.runfolder import RunFolder
from pflab.verdict import ExitCode
from tests.lab.conftest import TOKEN
from tests.lab.keeper import Keeper
from topology import topology_from_text

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
    """Whoever asks needs the token; time, run and what was posted are there again after SIGKILL of the coordinator."""
    (tmp_path / "lab.yaml").write_text(ORGANIZATION, "utf-8")
    folder = RunFolder.at(tmp_path / "run")
    with Keeper(topology_from_text(ORGANIZATION), folder, token=TOKEN) as keeper:
        with coordinated(keeper, tmp_path, signal.SIGKILL) as url:
            with Client(url) as stranger, pytest.raises(ClientError, match="wants its token"):
                stranger.lab()
            with Client(url, token=TOKEN) as client:
                client.post("A", "Projects", subject="Hello")
                client.advance("15 min")
                assert "version.applied" in {each["type"] for each in client.events()}
                before = client.lab()
        with coordinated(keeper, tmp_path) as url, Client(url, token=TOKEN) as client:
            after = client.lab()
            assert {name: after[name] for name in ("run", "clock", "servers")} == {
                name: before[name] for name in ("run", "clock", "servers")
            }
            assert [each["subject"] for each in client.messages("B", "Projects")] == ["Hello"]
            assert "version.applied" not in {each["type"] for each in client.events()}
            assert "version.applied" in {each["type"] for each in client.events("B")}
