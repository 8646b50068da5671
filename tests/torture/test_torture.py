"""The small form of the torture test: see tests/torture/torture.py, and `make torture` for the large one."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.drivers.processes import ProcessLab
from pflab.errors import LabError
from pflab.runs.run_folder import RunFolder
from tests.support.topologies import THREE_STORES
from tests.torture.torture import torture
from topology import topology_from_text

pytestmark = pytest.mark.live


async def test_no_post_is_lost_or_doubled_while_stores_are_killed(tmp_path: Path) -> None:
    """Every post that the API or SMTP acknowledged is on every store exactly once, although two stores are killed repeatedly
    and connections drop inside DATA."""
    folder = RunFolder.create(tmp_path / "runs", "torture")
    async with ProcessLab(topology_from_text(THREE_STORES), seed=3, folder=folder) as lab:
        tally = await torture(lab, posts=120, kills=3, drops=6, seed=3)
    assert tally.kills == 3
    assert (len(tally.ids), len(tally.mailed)) == (60, 60)
    assert tally.hung_up + tally.unheard > 0
    assert tally.dropped > 0


async def test_an_error_of_one_client_ends_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a client or the killer fails, the others, some of them threads, end too, and the error is raised."""

    async def fails(*_: object) -> None:
        raise LabError("it cannot be killed")

    folder = RunFolder.create(tmp_path / "runs", "torture")
    async with ProcessLab(topology_from_text(THREE_STORES), seed=3, folder=folder) as lab:
        monkeypatch.setattr(lab, "kill", fails)
        with pytest.raises(BaseExceptionGroup) as raised:
            await torture(lab, posts=600, kills=3, drops=0, seed=3)
    assert raised.group_contains(LabError)
