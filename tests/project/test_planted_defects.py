"""The patches of tests/mutants apply to the present code; `make mutants` searches for the defects."""

from __future__ import annotations

import subprocess
from pathlib import Path


def test_each_patch_applies(project_root: Path) -> None:
    """Otherwise only the search would find a patch that no longer applies, minutes later."""
    patches = sorted((project_root / "tests" / "mutants").glob("*.patch"))
    stale = [
        patch.stem
        for patch in patches
        if subprocess.run(
            ["git", "apply", "--check", str(patch)], cwd=project_root, capture_output=True, check=False
        ).returncode
    ]
    assert len(patches) >= 30
    assert stale == []
