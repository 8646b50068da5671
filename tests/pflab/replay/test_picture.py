"""The picture that the console shows is what the trace says, at any moment."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.played_seeds import played
from tests.support.samples import sampled

NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed; on Debian: apt-get install nodejs")

SEEDS = (103, 7, 10, 29, 14)
"""Runs with mails that take time (103), that are lost, duplicated and submitted again, and with removed replicas."""

MANY = tuple(seed for seed in range(1, 31) if seed not in SEEDS)


def differences(seed: int, place: Path) -> list[str]:
    assert NODE is not None
    file = place / "run.json"
    document, _stores = asyncio.run(played(seed))
    file.write_bytes(document)
    script = Path(__file__).resolve().parents[3] / "console" / "tests" / "picture.mjs"
    return list(json.loads(subprocess.run([NODE, script, file, str(seed)], check=True, capture_output=True).stdout))


@pytest.mark.parametrize("seed", sampled(SEEDS, 6))
def test_an_effect_is_never_shown_before_its_cause(seed: int, tmp_path: Path) -> None:
    """At 1,000 random moments and in a play of 150 events, each envelope is where its hop is at this time, and no store shows a
    change before the mail that brought it has arrived."""
    assert differences(seed, tmp_path) == []


@pytest.mark.long
@pytest.mark.parametrize("seed", MANY)
def test_an_effect_is_never_shown_before_its_cause_in_many_runs(seed: int, tmp_path: Path) -> None:
    """The same holds in other runs, to make 30 in all."""
    assert differences(seed, tmp_path) == []
