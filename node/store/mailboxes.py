"""Folders as mailboxes for IMAP: the UIDs of messages, and the flags of users. Both are this store's own and never replicated.

A UID names one version of a message, because the message of a UID never changes (RFC 3501, 2.3.1.1). An edit removes one UID
and adds another. Messages get UIDs when a mail program looks into a folder, in the order of the versions' times and numbers:

    change in the folder              at the next look
    a version is shown that was not   it gets the next UID of the folder
    a version is not shown any more   its UID and the flags on it are deleted

No UID is used twice while UIDVALIDITY stays the same. UIDVALIDITY is the real time of the first look in seconds, so it is
greater after a restore and in a folder that was made again under its old name. Copies of the database have no UIDs.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntFlag

from node.codec.items import object_text
from node.state.context import Context
from node.tracking.change_number import named
from node.views import MailboxView, NumberedMessage, number_order
from transport.sql import Connection, Statement

_SHOWN = "m.deleted = 0 AND m.shown = 1 AND m.fai = 0"
_SAME = "{0}.object = {1}.object AND {0}.rep = {1}.rep AND {0}.ctr = {1}.ctr"
_GONE = (
    "FROM imap_message WHERE fid = ? AND NOT EXISTS"
    f" (SELECT 1 FROM message m WHERE m.fid = imap_message.fid AND {_SHOWN} AND {_SAME.format('m', 'imap_message')})"
)

MAILBOX = Statement("SELECT validity, next_uid FROM imap_mailbox WHERE fid = ?")
MESSAGE_COUNT = Statement("SELECT count(*) FROM imap_message WHERE fid = ?")
BEGIN_MAILBOX = Statement("INSERT OR IGNORE INTO imap_mailbox (fid, validity, next_uid) VALUES (?, ?, 1)")
NEXT_UID = Statement("SELECT next_uid FROM imap_mailbox WHERE fid = ?")
MESSAGES = Statement(
    "SELECT u.uid, m.object, m.rep, m.ctr, m.modified_at, coalesce(f.flags, 0) FROM message m"
    f" LEFT JOIN imap_message u ON {_SAME.format('u', 'm')}"
    f" LEFT JOIN imap_flag f ON {_SAME.format('f', 'm')} AND f.user = ?"
    f" WHERE m.fid = ? AND {_SHOWN} ORDER BY u.uid"
)
REMOVE_FLAGS_OF_GONE = Statement(f"DELETE FROM imap_flag WHERE (object, rep, ctr) IN (SELECT object, rep, ctr {_GONE})")
REMOVE_GONE = Statement(f"DELETE {_GONE}")
UNNUMBERED = Statement(
    f"SELECT m.modified_at, m.object, m.rep, m.ctr FROM message m WHERE m.fid = ? AND {_SHOWN} AND NOT EXISTS"
    f" (SELECT 1 FROM imap_message u WHERE {_SAME.format('u', 'm')}) ORDER BY m.rep, m.ctr"
)
NUMBER_MESSAGE = Statement("INSERT INTO imap_message (fid, uid, object, rep, ctr) VALUES (?, ?, ?, ?, ?)")
SET_NEXT_UID = Statement("UPDATE imap_mailbox SET next_uid = ? WHERE fid = ?")
SET_FLAGS = Statement(
    "INSERT OR REPLACE INTO imap_flag (object, rep, ctr, user, flags)"
    " SELECT object, rep, ctr, ?, ? FROM imap_message WHERE fid = ? AND uid = ?"
)


class Flags(IntFlag):
    """The flags that a user can set (RFC 3501, 2.3.2)."""

    SEEN = 1
    ANSWERED = 2
    FLAGGED = 4
    DELETED = 8
    DRAFT = 16


def mailbox(ctx: Context, conn: Connection, fid: int, user: str) -> MailboxView:
    """Return a folder as a user sees it. Messages without a UID are left out."""
    row = conn.exec_driver_sql(MAILBOX, (fid,)).first()
    if row is None:
        return MailboxView(0, 1, False, ())
    rows = conn.exec_driver_sql(
        MESSAGES,
        (user, fid),
    ).all()
    messages = tuple(
        NumberedMessage(uid, object_text(object_id), ctx.store.number(rep, ctr).text, at, flags)
        for uid, object_id, rep, ctr, at, flags in rows
        if uid is not None
    )
    count = conn.exec_driver_sql(MESSAGE_COUNT, (fid,)).scalar_one()
    validity, next_uid = row
    return MailboxView(validity, next_uid, len(rows) == len(messages) == count, messages)


def number(ctx: Context, conn: Connection, fid: int, validity: int) -> None:
    """Give UIDs to the messages that are new in a folder, and delete those of messages that are gone."""
    conn.exec_driver_sql(BEGIN_MAILBOX, (fid, validity))
    conn.exec_driver_sql(REMOVE_FLAGS_OF_GONE, (fid,))
    conn.exec_driver_sql(REMOVE_GONE, (fid,))
    uid = conn.exec_driver_sql(NEXT_UID, (fid,)).scalar_one()
    new = conn.exec_driver_sql(UNNUMBERED, (fid,)).all()
    names = ctx.store.names()
    new.sort(key=lambda row: (row[0], number_order(named(ctx.store.number(*row[2:]), names))))
    for place, (_, *version) in enumerate(new):
        conn.exec_driver_sql(NUMBER_MESSAGE, (fid, uid + place, *version))
    conn.exec_driver_sql(SET_NEXT_UID, (uid + len(new), fid))


def flag(conn: Connection, fid: int, user: str, flags: Mapping[int, int]) -> None:
    """Set a user's flags on the messages with these UIDs. UIDs that the folder does not have are ignored."""
    for uid, value in flags.items():
        conn.exec_driver_sql(
            SET_FLAGS,
            (user, value, fid, uid),
        )
