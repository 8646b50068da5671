"""The names of backups: a lab that continues an earlier history gives none of its names again."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.containers.coordinator_state import DurableRecord, LabState
from pflab.drivers.live import LiveLab
from pflab.lab.recorded_lab import RecordedLab
from pflab.runs.continued import continue_run
from pflab.runs.run_folder import RunFolder
from pflab.simulation.simulated_lab import SimulatedLab
from topology.file.load import topology_from_text
from traces.events import BackupMade
from traces.reading import read_folder

TWO = """
servers: {A: , B: }
folders: {Projects: {replicas: [A, B]}}
"""


async def two_backups(lab: RecordedLab) -> list[str]:
    return [await lab.backup("A"), await lab.backup("B")]


@pytest.mark.live
async def test_a_lab_that_continues_a_run_gives_new_names(tmp_path: Path) -> None:
    """So each name means one copy in its traces, although the copies of the earlier lab are gone."""
    topology = topology_from_text(TWO)
    first, second = (RunFolder.at(tmp_path / "up" / name) for name in ("first", "second"))
    async with LiveLab(topology, folder=first) as lab:
        assert await two_backups(lab) == ["backup-1", "backup-2"]
    async with LiveLab(topology, folder=second, earlier=continue_run(first.path, second)) as lab:
        assert await two_backups(lab) == ["backup-3", "backup-4"]
        await lab.restore("B", "backup-4")
    made = [each.backup for each in read_folder(second.traces).events if isinstance(each, BackupMade)]
    assert len(set(made)) == len(made) == 4


async def test_a_simulated_lab_that_continues_gives_new_names(tmp_path: Path) -> None:
    """A reset brings the backups of the snapshot back; a run that was ended has lost them."""
    topology = topology_from_text(TWO)
    folders = [RunFolder.at(tmp_path / "up" / f"{number}") for number in range(3)]
    lab = SimulatedLab(topology, folder=folders[0], next_folder=lambda: folders[1])
    async with lab:
        assert await two_backups(lab) == ["backup-1", "backup-2"]
        await lab.save("start")
        assert await two_backups(lab) == ["backup-3", "backup-4"]
        await lab.reset("start")
        await lab.restore("B", "backup-2")
        assert await lab.backup("A") == "backup-3"  # this history has not given it
    earlier = continue_run(folders[1].path, folders[2])
    async with SimulatedLab(topology, folder=folders[2], next_folder=lambda: folders[1], earlier=earlier) as lab:
        assert await lab.backup("A") == "backup-4"


def test_a_coordinator_that_restarts_gives_new_names(tmp_path: Path) -> None:
    """It knows how many names it has given, although it forgets old events."""
    folder = RunFolder.at(tmp_path / "run")

    def record(backups: int) -> DurableRecord:
        state = LabState(folder.path / "lab.sqlite", run="test", topology="{}")
        state.keep(backups=backups)
        return DurableRecord(
            state, folder=folder, now=lambda: 0, real_time=lambda: 0.0, facts=dict, changed=lambda: None
        )

    assert record(backups=2).backups == 2
