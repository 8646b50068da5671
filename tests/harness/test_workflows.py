"""The workflows of .github run the stages of .ci/run, and nothing that the Makefile does not have."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

WORKFLOWS = ("ci", "weekly")


def workflow(project_root: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((project_root / ".github" / "workflows" / f"{name}.yml").read_text("utf-8"))
    return found


def stages(project_root: Path, name: str) -> set[str]:
    """Return the targets of make that a workflow runs."""
    jobs = workflow(project_root, name)["jobs"].values()
    matrices = (job.get("strategy", {}).get("matrix", {}).get("include", []) for job in jobs)
    steps = (step.get("run", "") for job in jobs for step in job["steps"])
    plain = {target for step in steps for target in re.findall(r"^make ([a-z-]+)", step, re.MULTILINE)}
    return {row["stage"] for matrix in matrices for row in matrix} | plain


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_stage_is_a_target_of_the_makefile(project_root: Path, name: str) -> None:
    """A job runs `make` with a target that there is."""
    makefile = (project_root / "Makefile").read_text("utf-8")
    assert stages(project_root, name) <= set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))


def test_the_workflows_run_what_ci_runs(project_root: Path) -> None:
    """Each target that .ci/run calls is a job of a workflow; only the system's own Python is a matter of the machine."""
    script = (project_root / ".ci" / "run").read_text("utf-8")
    commands = re.findall(r"^ *stage \".*\" \d+ make (.+)$", script, re.MULTILINE)
    targets = {word for command in commands for word in command.split() if re.fullmatch(r"[a-z][a-z-]*", word)}
    called = {"simulate", *targets} - {"install", "test-debian"}
    assert {"test", "test-package", "test-bounds"} <= called
    assert called <= stages(project_root, "ci") | stages(project_root, "weekly")
