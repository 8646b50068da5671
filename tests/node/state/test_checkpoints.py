"""The write-ahead log of a database: a thread copies it into the database, and its length has a limit."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from node.state.database import CHECKPOINT_SHARE, LOG_SHARE, LOOK_COMMITS, PAGE_BYTES, Checkpoints, Database

LIMIT_PAGES = 500
COMMITS = 768
"""They fill the log more than once."""
MOST_OF_A_COMMIT_BYTES = 8 * PAGE_BYTES
NOTE = "INSERT INTO mta_link_free (connector, next_hop, free_at) VALUES (?, 'B', 1)"


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """A database on a disk so small that its log may have LIMIT_PAGES."""
    total = LIMIT_PAGES * PAGE_BYTES * LOG_SHARE
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=total, free=total))
    database = Database(tmp_path / "A.sqlite", "normal")
    database.open()
    yield database
    database.close()


def log_bytes(database: Database) -> int:
    assert database.path is not None
    return database.path.with_name("A.sqlite-wal").stat().st_size


def commit(database: Database, note: str) -> None:
    with database.writing() as conn:
        conn.exec_driver_sql(NOTE, (note,))


def noted(path: Path) -> int:
    with closing(sqlite3.connect(path)) as conn:
        return int(conn.execute("SELECT count(*) FROM mta_link_free").fetchone()[0])


def test_the_log_begins_again_after_the_thread_has_copied_it(database: Database) -> None:
    """If no commit comes meanwhile, one checkpoint of the thread copies the whole log, and the next commit begins it again."""
    lengths = []
    for number in range(COMMITS):
        commit(database, f"note {number}")
        lengths.append(log_bytes(database))
        database._checkpoints.finish()  # type: ignore[union-attr]
    assert max(lengths) < CHECKPOINT_SHARE * LIMIT_PAGES * PAGE_BYTES + LOOK_COMMITS * MOST_OF_A_COMMIT_BYTES


def test_the_thread_leaves_a_short_log_alone(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is one checkpoint for each CHECKPOINT_SHARE of the limit, because a commit that meets one may wait for the disk."""
    begun: list[Path] = []
    monkeypatch.setattr("node.state.database.closing", lambda conn: begun.append(database.path) or closing(conn))  # type: ignore[func-returns-value,arg-type]
    for number in range(4 * LOOK_COMMITS):
        commit(database, f"note {number}")
        database._checkpoints.finish()  # type: ignore[union-attr]
        if log_bytes(database) < CHECKPOINT_SHARE * LIMIT_PAGES * PAGE_BYTES:
            assert not begun
    assert begun


def test_the_log_stays_within_its_limit_without_the_thread(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the thread does not get to work, the commit that reaches the limit copies the log."""
    monkeypatch.setattr(Checkpoints, "_checkpoint", lambda _: None)
    lengths = []
    for number in range(COMMITS):
        commit(database, f"note {number}")
        lengths.append(log_bytes(database))
    assert lengths[COMMITS // 6] * 2 < max(lengths) < LIMIT_PAGES * PAGE_BYTES + MOST_OF_A_COMMIT_BYTES


def test_nothing_is_lost_when_a_database_closes_during_a_checkpoint(database: Database) -> None:
    """A close waits for the thread. Afterwards the database is one file with every commit."""
    assert database.path is not None
    for number in range(200):
        commit(database, f"note {number}")
    database.close()
    assert [each.name for each in database.path.parent.iterdir()] == ["A.sqlite"]
    assert noted(database.path) == 200


def test_a_checkpoint_that_fails_is_made_later(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that cannot open the database leaves the log to a later checkpoint; the commits succeed."""
    connect = sqlite3.connect

    def refused(*_: object, **__: object) -> sqlite3.Connection:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(sqlite3, "connect", refused)
    for number in range(100):
        commit(database, f"note {number}")
    monkeypatch.setattr(sqlite3, "connect", connect)
    commit(database, "the last note")
    database.close()
    assert database.path is not None
    assert noted(database.path) == 101
