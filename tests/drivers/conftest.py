"""The fixtures that make labs for the driver under test."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from pflab.runs.run_folder import RunFolder
from tests.support.lab_factory import TOKEN, LabFactory, lab_factory
from tests.support.process_supervisor import ProcessSupervisor
from tests.support.topologies import SIX_STORES
from topology.file.load import topology_from_text


@pytest.fixture(scope="session")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessSupervisor]:
    """Processes in which the stores of one lab after the other begin and end, as in containers. Each takes a second of
    processor time to start."""
    folder = RunFolder.at(tmp_path_factory.mktemp("processes"))
    with ProcessSupervisor(topology_from_text(SIX_STORES), folder, token=TOKEN) as supervisor:
        yield supervisor


@pytest.fixture(
    params=[
        "simulator",
        pytest.param("live", marks=pytest.mark.live),
        pytest.param("managed", marks=pytest.mark.live),  # clock, mail and faults are those of the driver of processes
    ]
)
def driver(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make_lab(request: pytest.FixtureRequest, driver: str, tmp_path: Path) -> LabFactory:
    return lab_factory(driver, tmp_path, partial(request.getfixturevalue, "processes"))
