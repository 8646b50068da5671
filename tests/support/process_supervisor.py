"""The nodes of a lab as processes that are restarted when they end, as a container engine does."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp
from types import MappingProxyType, TracebackType
from typing import Self

from node.state.database import Durability
from pflab.drivers.launch import node_environment, node_order
from pflab.runs.run_folder import RunFolder
from topology.model import Topology

SECRET = "of this test"
"""What the keys of the stores derive from."""

END_S = 20
START_S = 60


class ProcessSupervisor:
    """Runs the node of each server as a process that waits for its lab, and restarts it at the same address when it ends.

    The processes run inside the `with` block.

    token: what their HTTP clients must show.
    environment: more variables of the processes.
    durability: what a commit of the stores survives.
    """

    def __init__(
        self,
        topology: Topology,
        folder: RunFolder,
        *,
        token: str,
        environment: Mapping[str, str] = MappingProxyType({}),
        durability: Durability = "normal",
    ) -> None:
        self.addresses: dict[str, tuple[str, int]] = {}
        self._names = list(topology.servers)
        self._environment = {**node_environment(), **environment}
        self._durability = durability
        self._folder = folder
        self._secret = folder.path / "secret"
        self._secret.write_text(SECRET, "utf-8")
        self._token = folder.path / "token"
        self._token.write_text(token, "utf-8")
        self._processes: dict[str, subprocess.Popen[str]] = {}
        self._down: Counter[str] = Counter()
        self.codes: list[tuple[str, int]] = []
        """Each process that has ended before the block did, with its exit code."""
        self._ending = threading.Event()
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        for name in self._names:
            self._start(name)
        for name in self._names:
            out = self._processes[name].stdout
            assert out is not None
            told = json.loads(out.readline())
            self.addresses[name] = (told["http"][0], told["http"][1])
            self._keep(name)
        return self

    def _keep(self, name: str) -> None:
        thread = threading.Thread(target=self._restart, args=(name,))
        thread.start()
        self._threads.append(thread)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._ending.set()
            self._changed.notify_all()
            for process in self._processes.values():
                process.kill()
        for thread in self._threads:
            thread.join(END_S)

    def next_run(self, path: Path, *, keeps_mails: bool = False) -> RunFolder:
        """Return the folder of another run of these processes; its traces are in a folder that no other run has."""
        traces = Path(mkdtemp(dir=self._folder.traces))
        return RunFolder.at(path, keeps_mails=keeps_mails, traces_at=traces)

    def database(self, name: str) -> Path:
        return self._folder.database(name)

    def bring_all_up(self) -> None:
        """Wait until every process takes requests, also one that was taken down or killed."""
        with self._changed:
            self._down.clear()
            self._changed.notify_all()
        for address in self.addresses.values():
            until_s = time.monotonic() + START_S
            while True:
                try:
                    socket.create_connection(address).close()
                    break
                except ConnectionRefusedError:
                    assert time.monotonic() < until_s, f"nothing listens at {address}"
                    time.sleep(0.02)

    def process(self, name: str) -> subprocess.Popen[str]:
        """Return the process that runs now, or that ran last."""
        return self._processes[name]

    def pid_of(self, name: str) -> int:
        return self.process(name).pid

    def take_down(self, name: str) -> None:
        """Kill the process, and do not restart it before `bring_up` was called as often as this."""
        with self._changed:
            self._down[name] += 1
            self._processes[name].kill()

    def wait_until_ended(self) -> None:
        """Wait until the processes that were killed have ended."""
        for process in list(self._processes.values()):
            process.wait(END_S)

    def bring_up(self, name: str) -> None:
        with self._changed:
            self._down[name] = max(0, self._down[name] - 1)
            self._changed.notify_all()

    def _restart(self, name: str) -> None:
        while not self._ending.is_set():
            process = self._processes[name]
            code = process.wait()
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                pipe.close()
            with self._changed:
                if not self._ending.is_set():
                    self.codes.append((name, code))
                self._changed.wait_for(lambda: self._ending.is_set() or self._down[name] <= 0)
                if not self._ending.is_set():
                    self._start(name)

    def _start(self, name: str) -> None:
        path = self._folder.path
        (path / "logs").mkdir(exist_ok=True)
        with Path(path / "logs" / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                self._order(name),
                stdin=subprocess.PIPE,  # the node ends if the tests are killed
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self._environment,
            )

    def _order(self, name: str) -> list[str]:
        """Return the command of a process."""
        return [
            *node_order(name, "--managed", "--leashed"),
            *("--data", str(self._folder.database(name).parent), "--traces", str(self._folder.traces)),
            *("--lab-secret-file", str(self._secret), "--durability", self._durability),
            *("--http-port", str(self.addresses[name][1] if name in self.addresses else 0)),
            *("--token-file", str(self._token)),
        ]
