"""What all tests share: the Hypothesis profiles and the project's root folder."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# "steady" draws the same examples on every run, so that a red build is the fault of the change in hand;
# "explore" draws new ones. Neither has a deadline: no test may fail for a slow machine.
settings.register_profile("steady", deadline=None, derandomize=True, database=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("PFLAB_HYPOTHESIS", "steady"))


@pytest.fixture(scope="session")
def project_root() -> Path:
    """Return the folder of pyproject.toml."""
    return Path(__file__).resolve().parents[1]
