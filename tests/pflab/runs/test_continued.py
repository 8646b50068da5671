"""The files of a run that goes on in another folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pflab.runs.continued import link_all


def test_a_system_without_links_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a browser there are no links between files: a run goes on with copies."""
    monkeypatch.delattr(os, "link")
    segment = tmp_path / "A-1-1.jsonl"
    segment.write_bytes(b"{}\n")
    link_all([segment, tmp_path / "removed.jsonl"], tmp_path / "next")
    copies = {path.name: path.read_bytes() for path in (tmp_path / "next").iterdir()}
    assert copies == {segment.name: b"{}\n"}
