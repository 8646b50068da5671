"""The small form of the torture test: see tests/torture/torture.py, and `make torture` for the large one."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pflab.errors import LabError
from tests.torture.hazards import possible
from tests.torture.ledger import Ledger
from tests.torture.load import check_load
from tests.torture.machine import LAB, Machine
from tests.torture.posters import STORES
from tests.torture.torture import Plan, torture, without_effect

pytestmark = [pytest.mark.live, pytest.mark.long]


SMALL = {"kill": 2, "coordinator": 2, "power": 3, "drop": 6}
"""How often a hazard strikes if not once."""


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with closing(Ledger(tmp_path / "ledger.jsonl")) as ledger:
        yield ledger


@pytest.fixture
def plan() -> Plan:
    names, _ = possible()
    times = {name: SMALL.get(name, 1) for name in names if name != "disk"}  # it needs a command of its own
    return Plan(posts=120, times=times, seed=3)


@pytest.fixture
def machine(plan: Plan, tmp_path: Path) -> Iterator[Machine]:
    with plan.machine(tmp_path / "disk", tmp_path / "logs") as machine:
        yield machine


async def test_no_post_is_lost_or_doubled_while_hazards_strike(plan: Plan, machine: Machine, ledger: Ledger) -> None:
    """Every post that the API or SMTP acknowledged is on every store exactly once, although processes are killed, one by one
    and all at once, are paused and have no handles or memory left, the power fails, connections drop inside DATA, and the clock
    jumps. Lab time is right."""
    tally = await torture(machine, plan, ledger)
    assert tally.strikes == plan.times
    assert without_effect(machine, tally) == []
    assert {name for name, code in machine.codes if code == -signal.SIGKILL} == {LAB, *STORES}
    assert sum(post.message_id != "" for post in ledger.posts()) == 60
    assert tally.hung_up + tally.unheard > 0


async def test_the_load_has_the_right_instants(tmp_path: Path) -> None:
    """The small form of the load: over HTTP, large posts converge at the next cycle, and `advance` delivers
    all posts."""
    told = await check_load("http", tmp_path, mails=50, unsent=2000)
    assert told.startswith("http: 50 posts of 200 KB")


async def test_an_error_of_one_client_ends_the_test(
    machine: Machine, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a client or the killer fails, the others, some of them threads, end too, and the error is raised."""

    def fails(*_: object) -> None:
        raise LabError("it cannot be killed")

    monkeypatch.setattr(machine, "take_down", fails)
    with pytest.raises(BaseExceptionGroup) as raised:
        await torture(machine, Plan(posts=600, times={"kill": 3}, seed=3), ledger)
    assert raised.group_contains(LabError)
