"""The names of snapshots."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.containers.snapshots import Snapshots
from pflab.errors import LabError


@pytest.mark.parametrize(
    "name", ["x" * 300, "x" * 101, "\u00fc" * 60, "", ".", "..", "a/b", "a\0b", "-a", "a b", "\ud800"]
)
def test_a_name_that_no_folder_can_have_is_refused(tmp_path: Path, name: str) -> None:
    """A snapshot is a folder of its name, so a name has only letters, digits, - and _, and is not long."""
    with pytest.raises(LabError, match="is not a name for a snapshot; use at most 100 letters"):
        Snapshots(tmp_path / "saved", tmp_path / "traces").begin(name)
    assert list(tmp_path.iterdir()) == []


def test_the_longest_name_can_be_saved(tmp_path: Path) -> None:
    snapshots = Snapshots(tmp_path / "saved", tmp_path / "traces")
    draft = snapshots.begin("x" * 100)
    (draft.folder / "run").mkdir()
    draft.done()
    assert snapshots.names() == ["x" * 100]
