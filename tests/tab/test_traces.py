"""The simulator in Pyodide writes the traces that it writes here."""

from __future__ import annotations

import pytest

from tests.support.lab_site import built_lab, can_be_built
from tests.tab.compare import compare
from tests.tab.traces import scenario_names

pytestmark = [pytest.mark.long, can_be_built]

SEEDS = (1, 2, 3, 13, 28, 32, 5016, 5028)
"""Some with many branches; `python -m tests.tab.compare` plays as many as one likes."""


def test_seeds_and_scenarios_leave_equal_traces_in_pyodide(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A seed and a scenario have the same trace, byte for byte, on another processor and operating system."""
    found = compare(SEEDS, scenario_names()[::4], built_lab(tmp_path_factory) / "python")
    assert found.differences == ()
    assert found.events > 1000
