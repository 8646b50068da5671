"""The small form of the torture test: see tests/torture/torture.py, and `make torture` for the large one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pflab.errors import LabError
from tests.support.topologies import THREE_STORES
from tests.torture.load import check_load
from tests.torture.machine import LAB, Machine
from tests.torture.torture import Plan, torture
from topology.file.load import topology_from_text

pytestmark = pytest.mark.live


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with Machine(topology_from_text(THREE_STORES), tmp_path / "disk", tmp_path / "logs") as machine:
        yield machine


async def test_no_post_is_lost_or_doubled_while_processes_are_killed(machine: Machine) -> None:
    """Every post that the API or SMTP acknowledged is on every store exactly once, although two stores and the coordinator are
    killed repeatedly and connections drop inside DATA. Lab time is right."""
    tally = await torture(machine, Plan(posts=120, kills=3, drops=6, coordinator_kills=3, fills=0, seed=3))
    assert (tally.kills, tally.coordinator_kills) == (3, 3)
    assert {name for name, _ in machine.codes} >= {LAB}
    assert len(tally.mailed) == 60
    assert tally.hung_up + tally.unheard > 0


async def test_the_load_has_the_right_instants(tmp_path: Path) -> None:
    """The small form of the load: over HTTP, large posts converge at the next cycle, and `advance` delivers
    all posts."""
    told = await check_load("http", tmp_path, mails=50, unsent=2000)
    assert told.startswith("http: 50 posts of 200 KB")


async def test_an_error_of_one_client_ends_the_test(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a client or the killer fails, the others, some of them threads, end too, and the error is raised."""

    def fails(*_: object) -> None:
        raise LabError("it cannot be killed")

    monkeypatch.setattr(machine, "take_down", fails)
    with pytest.raises(BaseExceptionGroup) as raised:
        await torture(machine, Plan(posts=600, kills=3, drops=0, coordinator_kills=0, fills=0, seed=3))
    assert raised.group_contains(LabError)
