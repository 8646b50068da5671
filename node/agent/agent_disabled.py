"""A store whose replication agent is disabled: the registry value `Replication` was 0 at its start (spec: SE-1).

Users can still change messages; their changes wait for a broadcast. Age limits are applied. The store sends nothing, no
replication timer fires, and replication mail that arrives is kept. The next start with the agent enabled processes the kept
mail.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from node.state import application_log
from node.state.context import Context
from node.state.timers import Timer
from transport.envelope import LocalDelivery
from transport.sql import Connection, Statement
from transport.stimulus import Stimulus

KEEP_MAIL = Statement("INSERT INTO waiting (sender, content) VALUES (?, ?)")
FIRST_KEPT_MAIL = Statement("SELECT id, sender, content FROM waiting ORDER BY id LIMIT 1")
REMOVE_KEPT_MAIL = Statement("DELETE FROM waiting WHERE id = ?")

TIMERS: Final = (Timer.EXPIRY, Timer.RETENTION, Timer.LIMITS, Timer.STAMP)
"""The timers that fire without an agent: age limits, retention (spec: DL-3, DL-5), warnings of full folders
(spec: AD-2) and the directory are not replication."""

SENDING_TIMERS: Final = (Timer.CYCLE, Timer.STATUS_CHECK, Timer.STATUS_REQUEST, Timer.ENTRY, Timer.RESPONSE)
"""The timers whose handlers send mail. They wait while the store itself has no address (spec: ML-1)."""

ALL_TIMERS: Final = tuple(Timer)
SILENT_TIMERS: Final = tuple(timer for timer in Timer if timer not in SENDING_TIMERS)


def timers_of(ctx: Context) -> tuple[Timer, ...]:
    """Return the kinds of timer that fire in this store."""
    if not ctx.config.replicates:
        return TIMERS
    return ALL_TIMERS if ctx.directory.address(ctx.name) is not None else SILENT_TIMERS


def log_disabled(ctx: Context, s: Stimulus) -> None:
    """Write event 3002 to the application log, at each start (spec: EV-1)."""
    application_log.write(ctx.config, s.conn, s.now, 3002, {})


def keep_mail(s: Stimulus, mail: LocalDelivery) -> None:
    """Keep a replication mail durably until the agent is enabled, so that its sender may delete it (spec: IN-2)."""
    s.conn.exec_driver_sql(KEEP_MAIL, (mail.sender, mail.content))


def take_mails(conn: Connection) -> Iterator[tuple[str, bytes]]:
    """Yield and delete the kept mails in order of arrival, as (sender, content)."""
    while (row := conn.exec_driver_sql(FIRST_KEPT_MAIL).first()) is not None:
        conn.exec_driver_sql(REMOVE_KEPT_MAIL, (row[0],))
        yield row[1], row[2]
