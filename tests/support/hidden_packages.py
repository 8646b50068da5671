"""Runs a verb where packages of an extra are not installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ABSENT = """\
import sys


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)


sys.meta_path.insert(0, Absent())
"""
"""Hides packages from a process and from those that it starts: Python imports `sitecustomize` at its start."""

PATIENCE_S = 120


def pflab_without(folder: Path, packages: tuple[str, ...], *order: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a verb in this folder, in an environment where these packages are not installed."""
    (folder / "hidden").mkdir(exist_ok=True)
    (folder / "hidden" / "sitecustomize.py").write_text(ABSENT.format(names=packages))
    here = str(Path(__file__).resolve().parents[2])
    return subprocess.run(
        [sys.executable, "-c", "from pflab.cli import main; main()", *order],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "hidden"), here]), **env},
    )
