"""A folder of its own for each test that plays a run."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run commands in a folder of their own, as a user does."""
    monkeypatch.chdir(tmp_path)
