"""The simulator in Pyodide writes the traces that it writes here."""

from __future__ import annotations

import shutil

import pytest

from tests.tab.compare import PYTHON, compare
from tests.tab.traces import scenario_names

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed"),
    pytest.mark.skipif(not (PYTHON / "lab.tar.xz").exists(), reason="make site builds the lab for browsers"),
]

SEEDS = (1, 2, 3, 13, 28, 32, 5016, 5028)
"""Some with many branches; `python -m tests.tab.compare` plays as many as one likes."""


def test_seeds_and_scenarios_leave_equal_traces_in_pyodide() -> None:
    """A seed and a scenario have the same trace, byte for byte, on another processor and operating system."""
    found = compare(SEEDS, scenario_names()[::4])
    assert found.differences == ()
    assert found.events > 1000
