"""Sockets that a lesson's lab left open are told with the test that left them.

On a busy machine about one of fifty lessons leaves six to eight connections of its lab open until the garbage collector finds
them; why is not known yet. Without this, it finds them at any later time, and a test fails that has nothing to do with it.
"""

from __future__ import annotations

import gc
import sys
import warnings

import pytest


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    if item.get_closest_marker("live") is None:
        return
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", ResourceWarning)
        gc.collect()
    capture = item.config.pluginmanager.getplugin("capturemanager")
    if found and capture is not None:
        with capture.global_and_fixture_disabled():
            told = "\n".join(f"  {each.message}" for each in found)
            print(f"\n{item.nodeid} left open:\n{told}", file=sys.__stderr__)
