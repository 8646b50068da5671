"""A lab as one file: the same lab has the same file, and what was unpacked is what was packed."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import pytest

from pflab.errors import LabError
from pflab.runs import lab_file
from pflab.runs.continued import continue_run
from pflab.runs.lab_file import pack, unpack
from pflab.runs.run_folder import RunFolder
from pflab.simulation.simulated_lab import SimulatedLab
from tests.support.lab_files import THREE, files_of, small_lab_file
from topology.file.load import topology_from_text


async def test_equal_labs_have_equal_files(tmp_path: Path) -> None:
    """The same lab, played twice, is the same file: its names are in order, and it has no times."""
    first, second = [await small_lab_file(tmp_path / name) for name in ("first", "second")]
    assert first == second
    with ZipFile(io.BytesIO(first)) as archive:
        members = archive.infolist()
    assert [member.filename for member in members] == sorted(
        [
            *(
                "backups/backup-1.sqlite",
                "databases/A.sqlite",
                "databases/B.sqlite",
                "lab.json",
                "seed",
                "topology.yaml",
            ),
            *("traces/A-1-1.jsonl", "traces/B-1-1.jsonl", "traces/lab-1-1.jsonl"),
        ]
    )
    assert {member.date_time for member in members} == {(1980, 1, 1, 0, 0, 0)}


async def test_what_is_unpacked_is_what_was_packed(tmp_path: Path) -> None:
    """An unpacked file is packed into the same file again."""
    content = await small_lab_file(tmp_path)
    unpacked = RunFolder.at(tmp_path / "unpacked")
    unpack(content, unpacked)
    assert pack(unpacked) == content


async def test_a_run_that_ended_is_packed(tmp_path: Path) -> None:
    """The file of a run folder is the lab at its end: a lab that continues it has the posts."""
    topology, run = topology_from_text(THREE), RunFolder.at(tmp_path / "up" / "first")
    async with SimulatedLab(topology, folder=run, seed=7) as lab:
        await lab.do("A", lambda node, now: node.post(now, "Projects", subject="Hello"))
    unpacked, second = RunFolder.at(tmp_path / "unpacked"), RunFolder.at(tmp_path / "up" / "second")
    unpack(pack(run), unpacked)
    shutil.rmtree(run.path)
    earlier = continue_run(unpacked.path, second)
    async with SimulatedLab(topology, folder=second, seed=7, earlier=earlier) as lab:
        assert [each.subject for each in lab.read("A", lambda node: node.messages("Projects"))] == ["Hello"]


async def test_a_file_is_never_packed_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lab whose content would be packed smaller than unpack permits is not packed, so that every file can be unpacked."""
    monkeypatch.setattr(lab_file, "MOST_RATIO", 10)
    content = await small_lab_file(tmp_path)
    with ZipFile(io.BytesIO(content)) as archive:
        assert {member.compress_type for member in archive.infolist()} == {ZIP_STORED}
    unpack(content, RunFolder.at(tmp_path / "unpacked"))


@pytest.mark.parametrize("limit", ["MOST_BYTES", "MOST_FILES", "MOST_PACKED_BYTES"])
async def test_a_lab_that_is_too_large_is_refused(limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What unpack would refuse is not packed."""
    monkeypatch.setattr(lab_file, limit, 5)
    with pytest.raises(LabError, match="save the lab where it is"):
        await small_lab_file(tmp_path)


def test_what_is_no_run_folder_is_refused(tmp_path: Path) -> None:
    """A folder without the state of a lab cannot be packed."""
    with pytest.raises(LabError, match="so it is not a run of pflab up"):
        pack(RunFolder.at(tmp_path / "empty"))


async def test_a_damaged_database_is_told(tmp_path: Path) -> None:
    """A lab whose database is damaged is not packed."""
    content = await small_lab_file(tmp_path)
    unpacked = RunFolder.at(tmp_path / "unpacked")
    unpack(content, unpacked)
    assert "databases/A.sqlite" in files_of(content)
    unpacked.database("A").write_bytes(b"x" * 4096)
    with pytest.raises(LabError, match="cannot be read: file is not a database"):
        pack(unpacked)
