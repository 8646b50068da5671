"""A store whose replication agent is switched off by its registry (spec: SE-1): `Replication` = 0 at its start.

Users go on: what they change waits for its broadcast, and age limits are applied. Nothing is sent, no clock of replication
fires, and replication mail that comes is taken and waits. A start with the agent on goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from node.state import application_log
from node.state.application_log_texts import database_name
from node.state.context import Context
from node.state.timers import Timer
from transport.envelope import LocalDelivery
from transport.sql import Connection
from transport.stimulus import Stimulus

TIMERS: Final = (Timer.EXPIRY,)
"""What comes due where there is no agent: age limits are the store's own affair (spec: DL-3)."""

ALL_TIMERS: Final = tuple(Timer)


def timers_of(ctx: Context) -> tuple[Timer, ...]:
    """The kinds of timer that fire here."""
    return ALL_TIMERS if ctx.config.replicates else TIMERS


def tell(ctx: Context, s: Stimulus) -> None:
    """Event 3002, at each start (spec: EV-1)."""
    application_log.write(s.conn, s.now, 3002, {"database": database_name(ctx)})


def keep(s: Stimulus, mail: LocalDelivery) -> None:
    """A replication mail waits for an agent; it is durable, so its sender is done with it (spec: IN-2)."""
    s.conn.exec_driver_sql("INSERT INTO waiting (sender, content) VALUES (?, ?)", (mail.sender, mail.content))


def take(conn: Connection) -> Iterator[tuple[str, bytes]]:
    """Sender and content of what has waited, in the order in which it came; each is gone once it is given."""
    while (
        row := conn.exec_driver_sql("SELECT id, sender, content FROM waiting ORDER BY id LIMIT 1").first()
    ) is not None:
        conn.exec_driver_sql("DELETE FROM waiting WHERE id = ?", (row[0],))
        yield row[1], row[2]
