"""What all tests share: the Hypothesis profiles, the project's root folder, and what a test leaves open."""

import gc
import os
import sys
import warnings
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

# "steady" draws the same examples on every run, so that a red build is the fault of the change in hand;
# "explore" draws new ones. Neither has a deadline: no test may fail for a slow machine.
settings.register_profile("steady", deadline=None, derandomize=True, database=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("PFLAB_HYPOTHESIS", "steady"))

_OPEN = Path("/proc/self/fd")


@pytest.fixture(scope="session")
def project_root() -> Path:
    """Return the folder of pyproject.toml."""
    return Path(__file__).resolve().parents[1]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Tell which test left sockets open, on Linux.

    On a busy machine about one of fifty lessons, and seldom another test, leaves connections of its lab open until the garbage
    collector finds them; why is not known yet. Without this, it finds them at any later time, and a test fails that has
    nothing to do with it.
    """
    before = _open_handles()
    result = yield
    if _open_handles() > before:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always", ResourceWarning)
            gc.collect()
        capture = item.config.pluginmanager.getplugin("capturemanager")
        if found and capture is not None:
            told = "\n".join(f"  {each.message}" for each in found)
            with capture.global_and_fixture_disabled():
                print(f"\n{item.nodeid} left open:\n{told}", file=sys.__stderr__)
    return result


def _open_handles() -> int:
    return sum(1 for _ in _OPEN.iterdir()) if _OPEN.is_dir() else 0
