"""Run folders: what a run leaves behind, where, and what happens if they cannot be written."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from pflab.errors import LabError
from pflab.runs.run_folder import RunFolder


def test_runs_are_numbered(tmp_path: Path) -> None:
    """Simulated runs of one name are numbered, and `latest` is the last one."""
    paths = [RunFolder.create(tmp_path, "demo").path for _ in range(3)]
    assert [path.name for path in paths] == ["00001", "00002", "00003"]
    assert (tmp_path / "latest").resolve() == paths[-1].resolve()


def test_live_runs_are_called_by_their_time_in_utc(tmp_path: Path) -> None:
    """A live run's folder is named after the UTC time of its start; two runs in one second have different folders."""
    started = datetime(2024, 5, 6, 9, 8, 7, tzinfo=timezone(timedelta(hours=2)))
    first = RunFolder.create(tmp_path, "demo", started=started)
    second = RunFolder.create(tmp_path, "demo", started=started.astimezone(UTC))
    assert [first.path.name, second.path.name] == ["2024-05-06T070807Z", "2024-05-06T070807Z-2"]


def test_a_name_never_leaves_the_runs_folder(tmp_path: Path) -> None:
    """A run's name becomes one folder below `runs`, whatever characters it has."""
    folder = RunFolder.create(tmp_path, "../A lost mail / comes back")
    assert folder.path.parent.parent == tmp_path
    assert RunFolder.create(tmp_path, "..").path.parent == tmp_path / "lab"


def test_a_run_folder_has_topology_seed_and_verdict(tmp_path: Path) -> None:
    """Topology, seed and verdict are in the run folder, beside traces and databases."""
    folder = RunFolder.create(tmp_path, "demo")
    folder.write_inputs("servers: {A: }\n", 7)
    folder.write_verdict({"verdict": "passed", "seed": 7})
    assert sorted(path.name for path in folder.path.iterdir()) == [
        "databases",
        "seed",
        "topology.yaml",
        "traces",
        "verdict.json",
    ]
    assert json.loads((folder.path / "verdict.json").read_text()) == {"verdict": "passed", "seed": 7}
    assert folder.database("A").parent == folder.path / "databases"


def test_a_folder_named_latest_is_refused(tmp_path: Path) -> None:
    """If `latest` is a real folder the error names it, and no run is begun."""
    (tmp_path / "runs" / "latest").mkdir(parents=True)
    with pytest.raises(LabError, match="runs/latest is a folder"):
        RunFolder.create(tmp_path / "runs", "demo")
    assert [each.name for each in (tmp_path / "runs").iterdir()] == ["latest"]


def test_an_unwritable_folder_is_one_clear_line(tmp_path: Path) -> None:
    """Where no folder can be made, the error is one line that names it."""
    blocker = tmp_path / "runs"
    blocker.write_text("a file, not a folder")
    with pytest.raises(LabError, match="cannot be written") as error:
        RunFolder.create(blocker, "demo")
    assert str(blocker) in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(LabError, match="cannot be written"):
        RunFolder.at(blocker / "demo")
