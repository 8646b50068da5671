"""A tab opens no hostile file: each is refused in plain lines, before anything of it runs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from pflab.errors import LabError
from pflab.tab.tab import Tab
from tests.support.hostile_files import HOSTILE_TOPOLOGIES, hostile_labs
from tests.support.lab_files import files_of, small_lab_file
from topology.problems import ProblemsError


def refused(lab: str | bytes, folder: Path) -> str:
    """Return why a tab does not open a lab."""
    with pytest.raises((LabError, ProblemsError)) as told:
        Tab(lab, folder=folder, lessons=dict, now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    return str(told.value)


async def test_a_hostile_lab_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For each way of an attack, the lab file is refused in one line, and no command has run."""
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    for way, content in hostile_labs(files_of(await small_lab_file(tmp_path / "lab"))).items():
        line = refused(content, tmp_path / "runs")
        assert line.isprintable(), way
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("way", HOSTILE_TOPOLOGIES)
def test_a_hostile_topology_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """For each way of an attack, the topology is refused, and no command has run."""
    monkeypatch.chdir(tmp_path)
    lines = refused(HOSTILE_TOPOLOGIES[way], tmp_path / "runs").splitlines()
    assert all(line.isprintable() for line in lines)
    assert not (tmp_path / "owned").exists()
