"""pytest in a process of its own, as a project sees it that uses pflab's plugin."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

SIMULATED: Final = ("--pflab-driver", "simulated")


def run_pytest(folder: Path, *options: str, **variables: str) -> tuple[int, str]:
    """Run pytest in a folder as a user does at a terminal; return its exit status and what it printed.

    variables: of the environment.

    The tests run in the order of the file, also where pytest-randomly is installed.

    Where CI is set, pytest repeats a failure's whole text in the summary, which these tests do not expect.
    """
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTEST_") and name not in {"CI", "BUILD_NUMBER"}
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:schemathesis",
        "-p",
        "no:randomly",
        f"--basetemp={folder / 'temp'}",
        *options,
    ]
    done = subprocess.run(
        command, cwd=folder, env={**environment, **variables}, capture_output=True, text=True, check=False, timeout=300
    )
    return done.returncode, done.stdout + done.stderr


def write(folder: Path, text: str) -> None:
    (folder / "test_project.py").write_text(text, "utf-8")
