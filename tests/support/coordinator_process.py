"""`pflab coordinate` as a process, for the nodes of a process supervisor."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pflab.client import Client, ClientError
from pflab.drivers.launch import node_environment
from pflab.terms.verdict import ExitCode
from tests.support.process_supervisor import ProcessSupervisor

END_S = 30


@contextmanager
def running_coordinator(
    supervisor: ProcessSupervisor, folder: Path, end: signal.Signals = signal.SIGTERM, *options: str
) -> Iterator[str]:
    """Run `pflab coordinate` for the supervised nodes of `folder/lab.yaml`, and give its URL.

    At the end it gets the signal `end`; after SIGTERM it must exit with status 0.
    """
    order = [
        sys.executable,
        "-P",
        "-m",
        "pflab",
        "coordinate",
        str(folder / "lab.yaml"),
        "--port",
        "0",
        "--stop-with-stdin",
    ]
    order += ["--data", str(folder / "run"), "--secrets", str(folder / "run"), "--clock", "0", *options]
    for name, (host, port) in supervisor.addresses.items():
        order += ["--at", f"{name}={host}:{port}"]
    pipe = subprocess.PIPE
    lab = subprocess.Popen(order, stdin=pipe, stdout=pipe, text=True, env=node_environment())
    assert lab.stdin is not None
    assert lab.stdout is not None
    try:
        told = ""
        while not told.endswith("/docs\n"):
            line = lab.stdout.readline()
            assert line, told
            told += line
        assert told.startswith("Contoso is up: ")
        yield told.splitlines()[-1].strip().removesuffix("/docs")
    finally:
        lab.send_signal(end)
        code = lab.wait(END_S)
        lab.stdin.close()
        lab.stdout.close()
    assert code == (ExitCode.GOOD if end is signal.SIGTERM else -end), f"it ended with status {code}"


def wait_for_history(client: Client, history: str, running: Collection[str] = ()) -> None:
    """Wait until the lab is up again with this run history and these servers run.

    A server that was down during a reset joins later: the lab is ready without it.
    """
    _wait(client, lambda lab: lab["history"] == history and _running(lab) >= set(running), f"{history} has not begun")


def wait_for_another(client: Client, history: str) -> None:
    """Wait until the lab is up again with another run history."""
    _wait(client, lambda lab: lab["history"] != history, f"{history} has not ended")


def _running(lab: dict[str, Any]) -> set[str]:
    return {server["name"] for server in lab["servers"] if server["status"] == "running"}


def _wait(client: Client, holds: Callable[[dict[str, Any]], bool], otherwise: str) -> None:
    give_up_s = time.monotonic() + END_S
    while time.monotonic() < give_up_s:
        with suppress(ClientError):
            lab = client.lab()
            if holds(lab) and client.text("GET", "/readyz"):
                return
        time.sleep(0.1)
    raise AssertionError(f"{otherwise} within {END_S} s")
