"""The planted defects of tests/mutants fit the code as it is; they are hunted by `make mutants`."""

from __future__ import annotations

import subprocess
from pathlib import Path


def test_each_planted_defect_fits(project_root: Path) -> None:
    """A patch that does not apply any more would be found by the hunt alone, minutes later."""
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
