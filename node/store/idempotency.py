"""Requests that were done already: an answer kept under the key that the asker gave it.

Who asks gives each change a key of its own (the HTTP header Idempotency-Key) and may ask again whenever no answer came.
The answer is kept in the transaction of the change, so a kill between the two is no case. Keys are forgotten after
KEPT_US of lab time, and beyond MOST_KEPT the oldest go first.
"""

from __future__ import annotations

from typing import Final

from node.errors import KeyReused
from traces import LabTime
from traces.labtime import DAY_US
from transport.sql import Connection

KEPT_US: Final = DAY_US
"""Lab time for which an answer is kept."""

MOST_KEPT: Final = 100_000
"""Answers kept at most: some 20 MB."""


def known(conn: Connection, key: str, request: bytes, now: LabTime) -> bytes | None:
    """The answer given under `key`; None if there is none. KeyReused if that was to another request."""
    row = conn.exec_driver_sql(
        "SELECT request, answer FROM request_done WHERE key = ? AND at > ?", (key, now - KEPT_US)
    ).first()
    if row is None:
        return None
    if row[0] != request:
        raise KeyReused(f"the key {key!r} was used for another request; give each change a key of its own")
    answer: bytes = row[1]
    return answer


def keep(conn: Connection, key: str, request: bytes, answer: bytes, now: LabTime) -> None:
    """Keep an answer, and forget those that are too old or too many."""
    conn.exec_driver_sql("DELETE FROM request_done WHERE at <= ? OR key = ?", (now - KEPT_US, key))
    conn.exec_driver_sql(
        "INSERT INTO request_done (key, request, answer, at) VALUES (?, ?, ?, ?)", (key, request, answer, now)
    )
    conn.exec_driver_sql("DELETE FROM request_done WHERE id <= (SELECT max(id) FROM request_done) - ?", (MOST_KEPT,))
