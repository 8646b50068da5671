"""The same seed gives the same traces, byte for byte, in another process with another hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.samples import sampled

PLAY = """
import sys
from pathlib import Path
from pflab.campaign.seed import run_seed
print(run_seed(int(sys.argv[1]), days=1, folder=Path(sys.argv[2])).judgement)
"""


def traces_of(seed: int, folder: Path, hash_seed: str, root: Path) -> dict[str, bytes]:
    played = subprocess.run(
        [sys.executable, "-c", PLAY, str(seed), str(folder)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert played.stdout.strip() == "converged"
    return {path.name: path.read_bytes() for path in sorted(folder.glob("**/*.jsonl"))}


@pytest.mark.parametrize("seed", sampled([4, 11], 2))
def test_the_same_seed_gives_byte_identical_traces(seed: int, tmp_path: Path, project_root: Path) -> None:
    """A seed determines GUIDs, order, faults and events, whatever PYTHONHASHSEED is."""
    first = traces_of(seed, tmp_path / "one", "1", project_root)
    second = traces_of(seed, tmp_path / "two", "4242", project_root)
    assert first.keys() == second.keys()
    assert len(first) > 2
    assert first == second
