"""The ids of backups: a lab that continues an earlier one gives none of its ids again, and can restore its backups."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.drivers.live import LiveLab
from pflab.errors import LabError
from pflab.lab.histories import Histories
from pflab.lab.recorded_lab import RecordedLab
from pflab.runs.continued import Earlier, continue_run
from pflab.runs.run_folder import RunFolder
from pflab.simulation.simulated_lab import SimulatedLab
from topology.file.load import topology_from_text
from traces.events import BackupMade
from traces.reading import read_folder

TWO = """
servers: {A: , B: }
folders: {Projects: {replicas: [A, B]}}
"""

TOPOLOGY = topology_from_text(TWO)


async def two_backups(lab: RecordedLab) -> list[str]:
    return [await lab.backup("A"), await lab.backup("B")]


@pytest.mark.live
async def test_a_lab_that_continues_a_run_has_its_backups(tmp_path: Path) -> None:
    """Each id means one backup in the traces, and an earlier backup can be restored."""
    first, second = (RunFolder.at(tmp_path / "up" / name) for name in ("first", "second"))
    async with LiveLab(TOPOLOGY, folder=first) as lab:
        assert await two_backups(lab) == ["backup-1", "backup-2"]
    async with LiveLab(TOPOLOGY, folder=second, earlier=continue_run(first.path, second)) as lab:
        assert await two_backups(lab) == ["backup-3", "backup-4"]
        await lab.restore("B", "backup-2")
    made = [each.backup for each in read_folder(second.traces).events if isinstance(each, BackupMade)]
    assert made == ["backup-1", "backup-2", "backup-3", "backup-4"]


async def test_a_reset_brings_back_the_backups_that_were_saved(tmp_path: Path) -> None:
    """Later backups are gone with their history. Their ids are free, because no trace has both."""
    names = iter("123")

    def folder() -> RunFolder:
        return RunFolder.at(tmp_path / "up" / next(names))

    def make(folder: RunFolder, earlier: Earlier | None) -> SimulatedLab:
        return SimulatedLab(TOPOLOGY, folder=folder, earlier=earlier)

    histories = Histories(folder(), make, folder)
    async with histories.lab as lab:
        assert await two_backups(lab) == ["backup-1", "backup-2"]
        await lab.save("start")
        assert await two_backups(lab) == ["backup-3", "backup-4"]
        await lab.reset("start")
        assert await histories.next()
    async with histories.lab as lab:
        with pytest.raises(LabError, match="its backups are: backup-2"):
            await lab.restore("B", "backup-4")
        await lab.restore("B", "backup-2")
        assert await lab.backup("A") == "backup-3"
    last = RunFolder.at(tmp_path / "up" / "last")
    async with make(last, continue_run(histories.folder.path, last)) as lab:
        assert await lab.backup("A") == "backup-4"
        await lab.restore("A", "backup-1")
