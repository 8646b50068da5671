"""What tests of whole labs share: all drivers behind one factory, and a toy node for what no real node does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import pytest

from pflab.containers.managed_lab import ManagedLab
from pflab.drivers.live import LiveLab
from pflab.drivers.processes import ProcessLab
from pflab.drivers.remote_lab import HttpOptions
from pflab.lab.lab import Lab
from pflab.lab.servers import NodeFactory, default_node
from pflab.runs.run_folder import RunFolder
from pflab.simulation.simulator import Simulator
from tests.support.process_keeper import Keeper
from topology import topology_from_text

TOKEN = "known-to-the-lab"
"""Of labs whose processes somebody else keeps alive."""

ONE_SITE = """
servers: {A: , B: , C: }
folders:
  Projects: {replicas: [A, B, C]}
"""


class LabFactory(Protocol):
    """Makes a lab that is not up yet, out of a topology's text; `async with` brings it up."""

    def __call__(
        self, text: str = ONE_SITE, *, seed: int = 1, make_node: NodeFactory = default_node, keeps_mails: bool = False
    ) -> Lab: ...


@pytest.fixture(
    params=[
        "simulator",
        pytest.param("live", marks=pytest.mark.live),
        pytest.param("processes", marks=pytest.mark.live),
    ]
)
def driver(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def kept() -> Iterator[ExitStack]:
    """What outlives a lab and ends with the test."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def make_lab(driver: str, tmp_path: Path, kept: ExitStack) -> LabFactory:
    def make(
        text: str = ONE_SITE, *, seed: int = 1, make_node: NodeFactory = default_node, keeps_mails: bool = False
    ) -> Lab:
        topology = topology_from_text(text)
        folder = RunFolder.create(tmp_path / "runs", "test", keeps_mails=keeps_mails)
        if driver in {"processes", "tenants"} and make_node is not default_node:
            pytest.skip("a process runs the real node")
        makers: dict[str, Callable[[], Lab]] = {
            "simulator": lambda: Simulator(topology, seed=seed, folder=folder, make_node=make_node),
            "live": lambda: LiveLab(topology, seed=seed, folder=folder, make_node=make_node),
            "processes": lambda: ProcessLab(topology, seed=seed, folder=folder),
            "tenants": lambda: ManagedLab(
                topology,
                seed=seed,
                folder=folder,
                addresses=kept.enter_context(Keeper(topology, folder, token=TOKEN)).addresses,
                face=HttpOptions(token=TOKEN),
            ),
        }
        return makers[driver]()

    return make
