"""The machine of the torture test: the processes of a lab, which are restarted when they end, their clock, and busy loops.

The stores and the coordinator are processes of their own. Each may be killed at any moment, and starts again at the same
address.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from bench.ports import free_port
from node.errors import NotRunning
from node.state.database import Durability
from pflab.client import Client, ClientError
from pflab.runs.run_folder import RunFolder
from tests.support.lab_factory import TOKEN
from tests.support.process_supervisor import ProcessSupervisor
from tests.torture.moved_clock import MovedClock, why_no_moved_clock
from tests.torture.power_failure import UnsyncedWrites
from topology.model import Topology

LAB = "lab"
"""The name of the coordinator's process, beside those of the stores."""

ASK_S = 5.0
BEGIN_S = 180.0
BUSY_S = 330.0
"""The longest time that a busy loop runs, even if the test hangs."""

NICE = 5
"""A third of the share of each busy loop."""


class Machine(ProcessSupervisor):
    """The processes of a lab. All that the lab writes is below `folder`; the logs of the processes are in `logs`.

    durability: what a commit of the stores survives.
    power: whether the power can fail.
    """

    def __init__(self, topology: Topology, folder: Path, logs: Path, durability: Durability, *, power: bool) -> None:
        logs.mkdir(parents=True, exist_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "logs").symlink_to(logs.absolute(), target_is_directory=True)
        self.clock = None if why_no_moved_clock() else MovedClock(logs)
        self.unsynced = UnsyncedWrites(folder, logs) if power else None
        super().__init__(
            topology,
            RunFolder.at(folder, traces_at=folder / LAB / "traces"),
            token=TOKEN,
            environment=_united(*[each.environment for each in (self.clock, self.unsynced) if each is not None]),
            durability=durability,
        )
        self.topology = topology
        self.folder = folder
        self.logs = logs
        self._topology_file = logs / "topology.yaml"
        self._topology_file.write_text(topology.as_yaml(), "utf-8")
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        super().__enter__()
        self._start(LAB)
        self._keep(LAB)
        try:
            self._wait_until_ready()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _wait_until_ready(self) -> None:
        give_up_s = time.monotonic() + BEGIN_S
        with self.client() as client:
            while True:
                with suppress(ClientError):
                    client.text("GET", "/readyz")
                    return
                assert time.monotonic() < give_up_s, "the coordinator does not answer"
                time.sleep(0.1)

    def _order(self, name: str) -> list[str]:
        if name != LAB:
            return super()._order(name)
        order = [sys.executable, "-P", "-m", "pflab", "coordinate", str(self._topology_file), "--port", str(self._port)]
        order += ["--data", str(self.folder / LAB), "--secrets", str(self.folder), "--clock", "0"]
        for store, (host, port) in self.addresses.items():
            order += ["--at", f"{store}={host}:{port}"]
        return order

    def client(self, timeout_s: float = 60.0) -> Client:
        """Return a client of the lab."""
        return Client(self.url, token=TOKEN, timeout_s=timeout_s)

    def smtp_of(self, store: str) -> tuple[str, int]:
        """Return the address at which a store takes mail, by its own process. Raises NotRunning if it does not run."""
        host, port = self.addresses[store]
        with Client(f"http://{host}:{port}", token=TOKEN, timeout_s=ASK_S) as client:
            try:
                address = client.json("GET", f"/nodes/{store}/status")["smtp"]
            except ClientError as error:
                raise NotRunning(str(error)) from error
        if address is None:
            raise NotRunning(f"store {store} waits for the coordinator")
        return host, int(address[1])

    @property
    def traces(self) -> Path:
        """The folder of the only run's traces."""
        [run] = (self.folder / LAB / "traces").iterdir()
        return run

    def log_of(self, name: str) -> str:
        """Return what a process has written to its log."""
        return (self.logs / f"{name}.log").read_text("utf-8")


def _united(*environments: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of all environments, with all their preloaded libraries."""
    libraries = [each["LD_PRELOAD"] for each in environments]
    united = {name: value for each in environments for name, value in each.items()}
    return {**united, "LD_PRELOAD": ":".join(libraries)} if libraries else united


def _loop(until_s: float) -> None:
    while time.monotonic() < until_s:
        pass


@contextmanager
def busy_cores() -> Iterator[None]:
    """Run a busy loop on each core, and all that this process starts from now on with a lower priority."""
    loops = [
        multiprocessing.Process(target=_loop, args=(time.monotonic() + BUSY_S,), daemon=True)
        for _ in range(os.cpu_count() or 1)
    ]
    for each in loops:
        each.start()
    os.nice(NICE)
    try:
        yield
    finally:
        for each in loops:
            each.terminate()
            each.join()
