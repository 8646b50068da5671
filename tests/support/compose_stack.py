"""A lab in containers for tests: the project's docker-compose.yml, with its own project name and port."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pflab.client import Client, ClientError
from pflab.testing import Lab

STORES = ("A", "B", "C", "D", "E")
FOLDERS = ("Projects", "Projects/Archive", "Company")
PATIENCE_S = 120
"""The real time limit of each operation, for a slow machine."""


def engine_is_there(tool: str | None) -> str:
    """Return '' if `docker compose` works, perhaps after installing it, or the reason why not."""
    if not _works() and tool and os.access(tool, os.X_OK):
        subprocess.run([tool], check=False, stdout=subprocess.DEVNULL)
    if _works():
        return ""
    return "no docker engine with compose here, and no tool that installs one (make test-compose ENGINE=...)"


def _works() -> bool:
    if shutil.which("docker") is None:
        return False
    return all(
        subprocess.run(["docker", *order], capture_output=True, check=False).returncode == 0
        for order in (["info"], ["compose", "version"])
    )


class Stack:
    """One compose project. Its clock is paused at first; `figures` are printed at the end."""

    def __init__(self, root: Path, project: str) -> None:
        self.project = project
        # An address of its own: there the default ports are free, also beside a lab of this machine's user.
        self.loopback, self.port = f"127.0.0.{2 + os.getpid() % 250}", 8025
        self.url = f"http://{self.loopback}:{self.port}"
        self.figures: list[str] = []
        self.root = root
        given = {
            "PFLAB_LOOPBACK": self.loopback.rpartition(".")[2],
            "PFLAB_CLOCK": "0",
            "PFLAB_TAG": "test",
            "PFLAB_JUDGE_EVERY": "2",
        }
        given["PFLAB_PATIENCE"] = "5"
        self._environment = {**os.environ, **given}

    def compose(self, *order: str) -> str:
        """Run `docker compose` and return its output."""
        return self._run(["docker", "compose", "-p", self.project, *order])

    def docker(self, *order: str) -> str:
        return self._run(["docker", *order])

    def _run(self, order: Sequence[str]) -> str:
        done = subprocess.run(
            order, cwd=self.root, env=self._environment, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, f"{' '.join(order)}: {done.stdout}{done.stderr}"
        return done.stdout

    def logs(self, container: str) -> str:
        """Return the log of a container, both streams."""
        order = ["docker", "logs", container]
        done = subprocess.run(order, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
        return done.stdout

    def container(self, service: str) -> str:
        return f"{self.project}-{service.lower()}-1"

    def inspected(self, service: str) -> dict[str, Any]:
        (found,) = json.loads(self.docker("inspect", self.container(service)))
        return dict(found)

    def address(self, service: str) -> str:
        """Return the address of the container in the lab's network."""
        (network,) = self.inspected(service)["NetworkSettings"]["Networks"].values()
        return str(network["IPAddress"])

    def client(self) -> Client:
        return Client(self.url)

    def running(self) -> list[str]:
        """Return the running servers by the lab, or none while it does not answer or does not take changes yet."""
        try:
            with self.client() as client:
                client.text("GET", "/readyz")
                return [each["name"] for each in client.lab()["servers"] if each["status"] == "running"]
        except ClientError:
            return []

    def begin_again(self, topology: Mapping[str, Any]) -> None:
        """Start a new run with this topology, and wait until all its stores run. The run before may have the same stores."""
        with Lab(self.url) as lab:
            lab.begin_again(topology)
        self.until_all_run()

    def until(self, holds: Callable[[], bool], what: str, within_s: float = PATIENCE_S) -> None:
        """Wait until containers have done something by themselves."""
        give_up_s = time.monotonic() + within_s
        while not holds():
            assert time.monotonic() < give_up_s, (
                f"{what}: not within {within_s} s\n{self.compose('--profile', '*', 'logs', '--tail', '20')}"
            )
            time.sleep(0.2)

    def until_all_run(self) -> None:
        self.until(lambda: self.running() == list(STORES), "all stores to run")

    def converge(self, *folders: str) -> None:
        """Wait until all holders agree by the digests of the stores."""
        with self.client() as client:
            for folder in folders:
                assert client.until_converged(folder, "7 d")["held"], folder
            for folder in folders:
                found = {name: client.digests(name).get(folder) for name in STORES}
                held = {name: each for name, each in found.items() if each is not None and each.get("held_here", True)}
                assert len({json.dumps(each, sort_keys=True) for each in held.values()}) == 1, held

    def figure(self, what: str) -> None:
        self.figures.append(what)
