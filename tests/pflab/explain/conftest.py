"""Where the runs are played that are told of."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in a folder of their own, as a user's do."""
    monkeypatch.chdir(tmp_path)
