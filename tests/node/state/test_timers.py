"""The timers of a store in its database, and the query that plans one of them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from node.objects.conflict_age import OLDEST_FIRST
from node.state.database import Database
from node.state.timers import Timer, next_due, take_due
from transport.sql import Connection


def test_the_next_timer_is_found_by_its_time(tmp_path: Path) -> None:
    """However many timers there are, the query reads the next one from the index by time, without a scan or a sort."""
    database = Database(tmp_path / "A.db", "normal")
    database.open()
    database.close()
    asked: list[str] = []
    with closing(sqlite3.connect(tmp_path / "A.db")) as raw:
        raw.set_trace_callback(asked.append)
        assert next_due(Connection(raw), tuple(Timer)) is None
        assert take_due(Connection(raw), 1, tuple(Timer)) is None
        raw.set_trace_callback(None)
        plans = [raw.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall() for statement in asked]
    assert len(plans) == 2
    for plan in plans:
        (step,) = [row[3] for row in plan]
        assert "COVERING INDEX timer_by_due" in step


def test_the_oldest_conflict_is_found_by_its_time(tmp_path: Path) -> None:
    """However many conflicts there are, the query reads the oldest from the index by time, without a sort (spec: CF-5)."""
    database = Database(tmp_path / "A.db", "normal")
    database.open()
    database.close()
    with closing(sqlite3.connect(tmp_path / "A.db")) as raw:
        (step,) = [row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {OLDEST_FIRST}")]
    assert "USING INDEX conflict_by_time" in step
