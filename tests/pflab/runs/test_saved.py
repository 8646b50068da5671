"""Saved labs as folders: which names they can have."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.errors import LabError
from pflab.runs.lab_state import STATE
from pflab.runs.run_folder import RunFolder
from pflab.runs.saved import MOST_NAME_BYTES, SavedRuns


async def write(folder: RunFolder) -> None:
    """Write what makes a folder a saved lab: its state."""
    (folder.path / STATE).write_text("{}", "utf-8")


async def test_the_longest_name_can_be_saved(tmp_path: Path) -> None:
    """A name of the greatest length is a folder's name, also while the lab is being written."""
    saved = SavedRuns(tmp_path)
    await saved.save("x" * MOST_NAME_BYTES, write, replace=False)
    assert saved.names() == ["x" * MOST_NAME_BYTES]


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../x", "a\0b", "x" * (MOST_NAME_BYTES + 1)])
async def test_a_name_that_no_folder_can_have_is_refused(tmp_path: Path, name: str) -> None:
    """A saved lab is a folder of its name, so a name has only letters, digits, - and _, and nothing is written for another."""
    with pytest.raises(LabError, match="is not a name for a saved lab; use at most 100 letters"):
        await SavedRuns(tmp_path / "saved").save(name, write, replace=False)
    assert SavedRuns(tmp_path / "saved").names() == []
    assert not [*tmp_path.iterdir()]  # noqa: ASYNC240 - a folder of the test
