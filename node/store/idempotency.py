"""Answers to earlier requests, each stored under the key that the client sent.

A client gives each change its own key (the HTTP header Idempotency-Key) and can repeat the request if it got no answer.
The answer is stored in the transaction of the change, so no change is without its answer. A key is deleted after
KEPT_US of lab time. If there are more than MOST_KEPT, the oldest are deleted first.
"""

from __future__ import annotations

from typing import Final

from node.errors import KeyReused
from traces.labtime import DAY_US, LabTime
from transport.sql import Connection, Statement

ANSWER = Statement("SELECT request, answer FROM request_done WHERE key = ? AND at > ?")
FORGET_OLD = Statement("DELETE FROM request_done WHERE at <= ? OR key = ?")
KEEP = Statement("INSERT INTO request_done (key, request, answer, at) VALUES (?, ?, ?, ?)")
FORGET_OLDEST = Statement("DELETE FROM request_done WHERE id <= (SELECT max(id) FROM request_done) - ?")

KEPT_US: Final = DAY_US
"""How long an answer is kept, in lab time."""

MOST_KEPT: Final = 100_000
"""The largest number of answers that are kept. Together they have about 20 MB."""


def known(conn: Connection, key: str, request: bytes, now: LabTime) -> bytes | None:
    """Return the answer stored under `key`, or None. Raises KeyReused if it belongs to another request."""
    row = conn.exec_driver_sql(ANSWER, (key, now - KEPT_US)).first()
    if row is None:
        return None
    if row[0] != request:
        raise KeyReused(f"the key {key!r} was used for another request; use a new key for each change")
    answer: bytes = row[1]
    return answer


def keep(conn: Connection, key: str, request: bytes, answer: bytes, now: LabTime) -> None:
    """Store an answer, and delete those that are too old or too many."""
    conn.exec_driver_sql(FORGET_OLD, (now - KEPT_US, key))
    conn.exec_driver_sql(KEEP, (key, request, answer, now))
    conn.exec_driver_sql(FORGET_OLDEST, (MOST_KEPT,))
