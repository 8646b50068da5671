"""The benchmarks still run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.__main__ import names

pytestmark = pytest.mark.long

WITHIN_S = 900
"""For all of them, on a slow machine; what they give is nobody's affair here."""

MINUTES = {"hundred_stores", "many_posts", "million_posts"}
"""Benchmarks that take minutes each. Their parts run in the others."""


def test_the_benchmarks_run_to_their_end(project_root: Path) -> None:
    """`python -m bench` succeeds, and each benchmark prints figures."""
    order = [sys.executable, "-m", "bench", "--json", *sorted({*names()} - MINUTES)]
    done = subprocess.run(order, cwd=project_root, capture_output=True, text=True, check=False, timeout=WITHIN_S)
    told = json.loads(done.stdout)["benchmarks"]
    assert [(each["name"], each["failure"]) for each in told if each["failure"] is not None] == []
    assert done.returncode == 0 and all(each["figures"] for each in told)
