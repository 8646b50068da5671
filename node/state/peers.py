"""What a store knows about each other store: whether it is down, how long its mail takes, when it was asked (table `peer`).

(spec: BF-4, BF-9, RT-3)
"""

from __future__ import annotations

from typing import Final, NamedTuple

from traces.labtime import LabTime
from transport.sql import Connection, Statement

PEER = Statement("SELECT down, heard_sent_at, backfilled_at, transit_us FROM peer WHERE store = ?")
HEARD = Statement(
    "INSERT INTO peer (store, down, heard_sent_at, backfilled_at, transit_us) VALUES (?, 0, ?, 0, ?)"
    " ON CONFLICT (store) DO UPDATE SET down = 0,"
    " heard_sent_at = excluded.heard_sent_at, transit_us = excluded.transit_us"
)
DOWN = Statement(
    "INSERT INTO peer (store, down, heard_sent_at, backfilled_at) VALUES (?, 1, 0, 0)"
    " ON CONFLICT (store) DO UPDATE SET down = 1"
)
REQUESTED = Statement(
    "INSERT INTO peer (store, down, heard_sent_at, backfilled_at) VALUES (?, 0, 0, ?)"
    " ON CONFLICT (store) DO UPDATE SET backfilled_at = excluded.backfilled_at"
)

TRANSIT_WEIGHT: Final = 4  # spec: RT-3 the newest transit time has a weight of 1/4


class Peer(NamedTuple):
    """One other store.

    down           it did not answer a request in time, and no mail of it has arrived since (spec: BF-4)
    heard_sent_at  when the newest mail of it was sent; -1 if none has arrived
    backfilled_at  when it was last asked; 0 for never (spec: BF-9)
    transit_us     how long its mail takes; None if none has arrived (spec: RT-3)
    """

    down: bool = False
    heard_sent_at: LabTime = -1
    backfilled_at: LabTime = 0
    transit_us: int | None = None


def peer_of(conn: Connection, store: str) -> Peer:
    """Return what is known about a store."""
    row = conn.exec_driver_sql(PEER, (store,)).first()
    return Peer() if row is None else Peer(bool(row[0]), *row[1:])


def note_arrival(conn: Connection, store: str, sent_at: LabTime, duration_us: int) -> Peer | None:
    """Record the arrival of a mail that was on its way for `duration_us`. Return what was known about the store before.

    If a mail that was sent later has arrived already, or the same mail, nothing changes, and None is returned.
    """
    peer = peer_of(conn, store)
    if sent_at <= peer.heard_sent_at:
        return None
    before_us = peer.transit_us
    transit_us = duration_us if before_us is None else before_us + (duration_us - before_us) // TRANSIT_WEIGHT
    conn.exec_driver_sql(HEARD, (store, sent_at, transit_us))
    return peer


def mark_down(conn: Connection, store: str) -> None:
    """Record that a source did not answer before the retry time-out (spec: BF-4)."""
    conn.exec_driver_sql(DOWN, (store,))


def note_request(conn: Connection, store: str, now: LabTime) -> None:
    """Record that a request is sent to a store now (spec: BF-9)."""
    conn.exec_driver_sql(REQUESTED, (store, now))
