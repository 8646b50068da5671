"""What happens to a database that nobody closes."""

from __future__ import annotations

import gc
import logging
import threading

import pytest

from node.state.database import Database


def test_a_database_in_memory_may_be_collected_in_any_thread(caplog: pytest.LogCaptureFixture) -> None:
    """Stores in memory are left to the garbage collector, which may run in a thread that reads events for a browser."""
    database = Database(None, "normal")
    database.open()
    kept: list[object] = [database]
    kept.append(kept)  # a cycle, so that only the collector frees it
    del database, kept
    with caplog.at_level(logging.ERROR):
        thread = threading.Thread(target=gc.collect)
        thread.start()
        thread.join()
    assert caplog.messages == []
