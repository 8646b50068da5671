"""The statements on the MTA's queue. `transport.mta.mta` explains the states of a row.

Every call makes a bounded number of index look-ups, however long the queue is. Due rows are sent in order of priority,
then due time, then id (spec: OUT-8, RT-2).
"""

from collections.abc import Collection
from typing import Any, Final

import msgspec

from traces.labtime import LabTime
from transport.envelope import OutgoingMail, Priority, Transmission
from transport.sql import Connection, Rows, Statement

CONTENT = Statement("SELECT bytes FROM mta_content WHERE id = ?")

MOST_URGENT_FIRST: Final = (Priority.URGENT, Priority.NORMAL, Priority.NOT_URGENT)

FROZEN_QUEUE: Final = 1
"""A copy is frozen with the queue of its next hop."""

FROZEN_MAIL: Final = 2
"""A copy is frozen itself, and stays so if it gets another next hop."""

_IN_FROZEN_QUEUE = f"{FROZEN_QUEUE} * (SELECT count(*) FROM mta_frozen_queue f WHERE f.next_hop = ?)"
_INSERT_CONTENT = (
    "INSERT INTO mta_content (message_id, sender, subject, priority, lamport, size, far_size, system, bytes)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_ROW = (
    "INSERT INTO mta_queue (content_id, next_hop, connector, recipients, priority, due_at, expires_at,"
    " attempts, starts_at, transfer_us, last_error, frozen)"
    f" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? + {_IN_FROZEN_QUEUE})"
)
_UPDATE_ROW = (
    "UPDATE mta_queue SET content_id = ?, next_hop = ?, connector = ?, recipients = ?, due_at = ?, attempts = ?,"
    f" starts_at = ?, transfer_us = ?, last_error = ?, frozen = (frozen & {FROZEN_MAIL}) + {_IN_FROZEN_QUEUE} WHERE id = ?"
)
_COLUMNS = (
    "q.id, q.content_id, q.next_hop, q.connector, q.recipients, q.priority, q.due_at, q.expires_at, q.attempts,"
    " q.starts_at, q.last_error, c.message_id, c.sender, c.subject, c.lamport, c.size, c.far_size, c.system, q.frozen"
)
_SELECT_ROW = f"SELECT {_COLUMNS} FROM mta_queue q JOIN mta_content c ON c.id = q.content_id"
_ROW = _SELECT_ROW + " WHERE q.id = ?"
_ALL_ROWS = _SELECT_ROW + " ORDER BY q.priority DESC, q.due_at, q.id"
# Each priority is one range of the index, in order. So nothing is sorted.
_DUE_OF_PRIORITY = (
    _SELECT_ROW + " WHERE q.priority = ? AND q.due_at <= ? AND q.next_hop IS NOT NULL AND q.frozen = 0"
    " ORDER BY q.due_at, q.id LIMIT ?"
)
_FIRST_DUE = "SELECT " + ", ".join(
    f"(SELECT min(due_at) FROM mta_queue WHERE priority = {int(priority)} AND frozen = 0)"
    for priority in MOST_URGENT_FIRST
)
_UNROUTED = "SELECT id FROM mta_queue WHERE next_hop IS NULL AND frozen = 0 AND due_at <= ? ORDER BY due_at, id LIMIT ?"
_ALL_IDS = "SELECT id FROM mta_queue ORDER BY id"
_OF_QUEUE = _SELECT_ROW + " WHERE q.next_hop = ? ORDER BY q.id"
_FREEZE_QUEUE = "INSERT OR IGNORE INTO mta_frozen_queue (next_hop) VALUES (?)"
_UNFREEZE_QUEUE = "DELETE FROM mta_frozen_queue WHERE next_hop = ?"
_FROZEN_QUEUES = "SELECT next_hop FROM mta_frozen_queue ORDER BY next_hop"
_SET_FROZEN = "UPDATE mta_queue SET frozen = ? WHERE id = ?"
_DELETE_ROW = "DELETE FROM mta_queue WHERE id = ?"
_DELETE_CONTENT = "DELETE FROM mta_content WHERE id = ? AND NOT EXISTS (SELECT 1 FROM mta_queue WHERE content_id = ?)"
_HOLD = "UPDATE mta_queue SET due_at = ?, starts_at = NULL WHERE id = ?"
_LINK_FREE = "SELECT free_at FROM mta_link_free WHERE connector = ? AND next_hop = ?"
_SET_LINK_FREE = "INSERT OR REPLACE INTO mta_link_free (connector, next_hop, free_at) VALUES (?, ?, ?)"
_FORGET_LINK = "DELETE FROM mta_link_free WHERE connector = ?"
_FORGET_PLACES = "UPDATE mta_queue SET starts_at = NULL WHERE connector = ? AND starts_at > ?"
_LINK_OF_CROSSING = (
    "INSERT INTO mta_link_free (connector, next_hop, free_at) SELECT connector, next_hop, max(starts_at + transfer_us)"
    " FROM mta_queue WHERE connector = ? AND starts_at <= ? GROUP BY next_hop"
)
_FIRST_WAITING = (
    "SELECT min(starts_at) FROM mta_queue WHERE connector = ? AND next_hop = ? AND priority = ? AND starts_at > ?"
)
_PUSH_BACK = (
    "UPDATE mta_queue SET starts_at = starts_at + ?, due_at = due_at + ?"
    " WHERE connector = ? AND next_hop = ? AND priority = ? AND starts_at >= ?"
)


class QueueRow(msgspec.Struct, frozen=True):
    """One queued copy and its mail without the content. `next_hop` is None if the copy is unrouted."""

    queue_id: int
    content_id: int
    next_hop: str | None
    connector: str | None
    recipients: tuple[str, ...]
    priority: Priority
    due_at: LabTime
    expires_at: LabTime
    attempts: int
    starts_at: LabTime | None
    """When it began, or will begin, to cross a connector; None for a copy that crosses none, or that is sent again."""
    last_error: str
    message_id: str
    sender: str
    subject: str
    lamport: int
    size: int
    far_size: int
    """The size as it crosses a connector; differs from `size` for a binary mail (ML-4)."""
    system: bool
    frozen: int = 0
    """0, or the sum of FROZEN_QUEUE and FROZEN_MAIL: the copy is neither tried nor expires."""

    @property
    def binary(self) -> bool:
        """True if only BDAT can carry the content."""
        return self.far_size != self.size


class Place(msgspec.Struct, frozen=True):
    """Where and when a copy goes next. `starts_at`: when it begins to cross a connector, which takes `transfer_us` and
    the latency; None if it crosses none, or is sent again."""

    next_hop: str | None
    connector: str | None
    due_at: LabTime
    starts_at: LabTime | None = None
    transfer_us: int = 0


def add_content(conn: Connection, mail: OutgoingMail, lamport: int, far_size: int) -> int:
    """Store a mail's content, once for all its copies; return its id."""
    cursor = conn.exec_driver_sql(
        _INSERT_CONTENT,
        (
            mail.message_id,
            mail.sender,
            mail.subject,
            int(mail.priority),
            lamport,
            len(mail.content),
            far_size,
            int(mail.system),
            mail.content,
        ),
    )
    return _new_id(cursor)


def add_row(
    conn: Connection,
    content_id: int,
    place: Place,
    recipients: tuple[str, ...],
    *,
    priority: Priority,
    expires_at: LabTime,
    attempts: int = 0,
    last_error: str = "",
    frozen: int = 0,
) -> int:
    """Queue one copy; return the row's id, which is never reused.

    frozen: of the copy in whose place it comes. In a frozen queue the new copy is frozen too.
    """
    values = (
        content_id,
        place.next_hop,
        place.connector,
        "\n".join(recipients),
        int(priority),
        place.due_at,
        expires_at,
        attempts,
        place.starts_at,
        place.transfer_us,
        last_error,
        frozen & FROZEN_MAIL,
        place.next_hop,
    )
    return _new_id(conn.exec_driver_sql(_INSERT_ROW, values))


def change_row(conn: Connection, row: QueueRow, place: Place) -> None:
    """Give a copy another place, and store the content, recipients, attempts and last error of `row`."""
    values = (
        row.content_id,
        place.next_hop,
        place.connector,
        "\n".join(row.recipients),
        place.due_at,
        row.attempts,
        place.starts_at,
        place.transfer_us,
        row.last_error,
        place.next_hop,
        row.queue_id,
    )
    conn.exec_driver_sql(_UPDATE_ROW, values)


def drop_row(conn: Connection, row: QueueRow) -> None:
    """Remove a copy from the queue. If it is the mail's last copy, also remove the content."""
    conn.exec_driver_sql(_DELETE_ROW, (row.queue_id,))
    drop_content(conn, row.content_id)


def forget_row(conn: Connection, row: QueueRow) -> None:
    """Remove a copy from the queue and keep the content, which copies with new ids need."""
    conn.exec_driver_sql(_DELETE_ROW, (row.queue_id,))


def drop_content(conn: Connection, content_id: int) -> None:
    """Remove a mail's content unless a copy still needs it."""
    conn.exec_driver_sql(_DELETE_CONTENT, (content_id, content_id))


def find_row(conn: Connection, queue_id: int) -> QueueRow | None:
    """Return one row; None if it no longer exists."""
    row = conn.exec_driver_sql(_ROW, (queue_id,)).first()
    return None if row is None else _row(row)


def find_content(conn: Connection, content_id: int) -> bytes:
    """Return the bytes of a queued mail."""
    row = conn.exec_driver_sql(CONTENT, (content_id,)).first()
    if row is None:
        raise LookupError(f"mail content {content_id} is missing, but a queue row refers to it")
    return bytes(row[0])


def due_rows(conn: Connection, now: LabTime, limit: int, crowded: Collection[str] = ()) -> list[QueueRow]:
    """Return the first `limit` due rows in sending order.

    Rows for the next hops in `crowded` are skipped; SQLite reads each of them.
    """
    filter_sql = f" AND q.next_hop NOT IN ({', '.join('?' * len(crowded))}) ORDER BY" if crowded else " ORDER BY"
    statement = _DUE_OF_PRIORITY.replace(" ORDER BY", filter_sql)
    rows: list[QueueRow] = []
    for priority, first_at in zip(MOST_URGENT_FIRST, _first_due(conn), strict=True):
        if first_at is not None and first_at <= now and len(rows) < limit:
            rows_of_priority = conn.exec_driver_sql(statement, (int(priority), now, *crowded, limit - len(rows)))
            rows += map(_row, rows_of_priority.all())
    return rows


def transmission(row: QueueRow, content: bytes, now: LabTime, links: tuple[str, ...] = ()) -> Transmission:
    """Return the attempt at `now` to send a row that has a route.

    `links`: the reports that this server has of links.
    """
    assert row.next_hop is not None
    return Transmission(
        queue_id=row.queue_id,
        next_hop=row.next_hop,
        connector=row.connector,
        sender=row.sender,
        recipients=row.recipients,
        content=content,
        message_id=row.message_id,
        subject=row.subject,
        attempts=row.attempts,
        priority=row.priority,
        sent_at=now,
        lamport=row.lamport,
        system=row.system,
        links=links,
    )


def next_due(conn: Connection) -> LabTime | None:
    """Return when the first row is due, routed or not; None if the queue is empty."""
    return min((first_at for first_at in _first_due(conn) if first_at is not None), default=None)


def _first_due(conn: Connection) -> tuple[LabTime | None, ...]:
    """Return when the first row of each priority is due, routed or not; the priorities in the order MOST_URGENT_FIRST."""
    times: tuple[LabTime | None, ...] = conn.exec_driver_sql(_FIRST_DUE).one()
    return times


def unrouted_ids(conn: Connection, now: LabTime, limit: int) -> list[int]:
    """Return the ids of at most `limit` unrouted rows that expire at `now` or earlier."""
    return [row[0] for row in conn.exec_driver_sql(_UNROUTED, (now, limit)).all()]


def all_ids(conn: Connection) -> list[int]:
    """Return the ids of all rows."""
    return [row[0] for row in conn.exec_driver_sql(_ALL_IDS).all()]


def queued_mails(conn: Connection) -> list[QueueRow]:
    """Return the whole queue in sending order, for display."""
    rows = conn.exec_driver_sql(_ALL_ROWS)
    return [_row(row) for row in rows]


def reserve_link(
    conn: Connection,
    link: tuple[str, str],
    priority: Priority,
    *,
    now: LabTime,
    opens_at: LabTime,
    transfer_us: int,
) -> LabTime:
    """Reserve `transfer_us` on a slow link (connector, next hop) that opens at `opens_at`; return when the transfer begins.

    A link carries one mail at a time. A transfer begins after all transfers that have begun or have the same or a higher
    priority. Transfers of a lower priority that have not begun are delayed.
    """
    # spec: RT-2
    row = conn.exec_driver_sql(_LINK_FREE, link).first()
    free_at = opens_at if row is None else max(opens_at, int(row[0]))
    starts_at = free_at
    for lower in (p for p in MOST_URGENT_FIRST if p < priority):
        first = conn.exec_driver_sql(_FIRST_WAITING, (*link, int(lower), now)).first()
        if first is not None and first[0] is not None:
            starts_at = min(starts_at, int(first[0]))
            conn.exec_driver_sql(_PUSH_BACK, (transfer_us, transfer_us, *link, int(lower), int(first[0])))
    conn.exec_driver_sql(_SET_LINK_FREE, (*link, free_at + transfer_us))
    return starts_at


def free_link(conn: Connection, connector: str, now: LabTime) -> None:
    """Forget the places on a link of the copies that have not begun to cross it. The caller gives them other places."""
    conn.exec_driver_sql(_FORGET_LINK, (connector,))
    conn.exec_driver_sql(_FORGET_PLACES, (connector, now))
    conn.exec_driver_sql(_LINK_OF_CROSSING, (connector, now))


def hold_row(conn: Connection, queue_id: int, until_at: LabTime) -> None:
    """Make a copy wait until `until_at`. The copy loses its place on a slow link."""
    conn.exec_driver_sql(_HOLD, (until_at, queue_id))


def of_queue(conn: Connection, next_hop: str) -> list[QueueRow]:
    """Return the copies for a next hop, the oldest first."""
    return [_row(row) for row in conn.exec_driver_sql(_OF_QUEUE, (next_hop,))]


def freeze_queue(conn: Connection, next_hop: str, *, frozen: bool) -> None:
    """Let new copies for a next hop be frozen, or no longer."""
    conn.exec_driver_sql(_FREEZE_QUEUE if frozen else _UNFREEZE_QUEUE, (next_hop,))


def frozen_queues(conn: Connection) -> list[str]:
    """Return the next hops whose queues are frozen."""
    return [row[0] for row in conn.exec_driver_sql(_FROZEN_QUEUES)]


def set_frozen(conn: Connection, queue_id: int, frozen: int) -> None:
    """Store whether a copy is frozen, as in `QueueRow.frozen`."""
    conn.exec_driver_sql(_SET_FROZEN, (frozen, queue_id))


def _new_id(rows: Rows) -> int:
    assert rows.lastrowid is not None
    return rows.lastrowid


def _row(row: Any) -> QueueRow:
    return QueueRow(
        queue_id=row[0],
        content_id=row[1],
        next_hop=row[2],
        connector=row[3],
        recipients=tuple(row[4].split("\n")),
        priority=Priority(row[5]),
        due_at=row[6],
        expires_at=row[7],
        attempts=row[8],
        starts_at=row[9],
        last_error=row[10],
        message_id=row[11],
        sender=row[12],
        subject=row[13],
        lamport=row[14],
        size=row[15],
        far_size=row[16],
        system=bool(row[17]),
        frozen=row[18],
    )
