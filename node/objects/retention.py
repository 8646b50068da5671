"""Deleted-item retention: a store keeps what it deletes for some time, so that people can recover it (spec: DL-5).

Each store has its own setting, `Deleted Item Retention`; by default it is 0 and nothing is kept. A store keeps the version
shown of a message that it deletes, whichever store made the deletion. If a folder is deleted, each store with a replica keeps
the folder and the messages of its replica.

    state       what happens                                      next state
    live        a deletion is made or applied here                retained, if the store's retention is more than 0
    retained    somebody recovers it                              recovered: a new message or folder with a new id
    retained    the retention has passed                          gone

Deletion wins for ever (DL-2), so the old id never returns. Recovering makes its own change, which replicates as every
change does. Stores with other settings, or without the deleted item, get the new item with that change.

What must never happen: a retained item that a mail or a digest shows; a recovery that changes a tombstone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from node.codec.items import FolderProperties, encode_folder, object_text
from node.errors import FolderUnknown, MessageUnknown
from node.state.context import Context
from node.state.folders import Folder
from node.state.timers import Timer, clear_timer, set_timer, set_timer_if_none
from traces.events import ItemRecovered
from traces.labtime import LabTime
from transport.sql import Statement
from transport.stimulus import Stimulus

_KEEP = (
    "INSERT INTO retained (folder, object, rep, ctr, within, deleted_at, path, subject, fai, item)"
    " SELECT ?, object, rep, ctr, ?, ?, '', subject, fai, item FROM message WHERE {which} AND deleted = 0 AND shown = 1"
)
_COLUMNS = "id, folder, object, deleted_at, path, subject, fai, item"

KEEP_MESSAGE = Statement(_KEEP.format(which="object = ?"))
KEEP_MESSAGES_OF_FOLDER = Statement(_KEEP.format(which="fid = ?"))
RETAINED_MESSAGE = Statement(
    f"SELECT {_COLUMNS} FROM retained WHERE object = ? AND folder = ? AND path = '' ORDER BY id DESC LIMIT 1"
)
RETAINED_FOLDER = Statement(f"SELECT {_COLUMNS} FROM retained WHERE path = ? ORDER BY id DESC LIMIT 1")
FOLDERS_OF_INSTANT = Statement(f"SELECT {_COLUMNS} FROM retained WHERE deleted_at = ? AND path <> '' ORDER BY id")
MESSAGES_WITHIN = Statement(f"SELECT {_COLUMNS} FROM retained WHERE within = ? ORDER BY id")
KEEP_FOLDER = Statement(
    "INSERT INTO retained (folder, object, rep, ctr, within, deleted_at, path, subject, fai, item)"
    " VALUES (?, ?, ?, ?, 0, ?, ?, ?, 0, ?)"
)
FIRST_DELETED_AT = Statement("SELECT min(deleted_at) FROM retained")
PURGE = Statement(
    "DELETE FROM retained WHERE id IN (SELECT id FROM retained WHERE deleted_at <= ? ORDER BY deleted_at, id LIMIT ?)"
)
MOVE = Statement("UPDATE retained SET folder = ? WHERE folder = ? AND path = ''")
REMOVE = Statement("DELETE FROM retained WHERE id = ?")

MOST_AT_ONCE: Final = 1_000
"""The most retained items that one stimulus deletes."""


@dataclass(frozen=True, slots=True)
class Retained:
    """A message or a folder that was deleted here.

    folder: where the message was.
    path: of a folder; '' for a message.
    """

    id: int
    folder: bytes
    object: bytes
    deleted_at: LabTime
    path: str
    subject: str
    fai: bool
    item: bytes


def _retained(row: tuple[int, bytes, bytes, LabTime, str, str, int, bytes]) -> Retained:
    id_, folder, object_id, deleted_at, path, subject, fai, item = row
    return Retained(id_, folder, object_id, deleted_at, path, subject, bool(fai), item)


# -- keeping


def keep_message(ctx: Context, s: Stimulus, fid: int, object_id: bytes) -> None:
    """Retain the version shown of a message. Call this just before the message is deleted."""
    if ctx.config.settings.item_retention_us:
        s.conn.exec_driver_sql(KEEP_MESSAGE, (ctx.folders.object_of(fid), 0, s.now, object_id))
        _schedule(ctx, s)


def keep_folder(ctx: Context, s: Stimulus, folder: Folder, props: FolderProperties, path: str) -> None:
    """Retain a deleted folder and the messages of its replica here. Call this just before the replica is dropped."""
    if not ctx.config.settings.item_retention_us:
        return
    item = encode_folder(folder.object, folder.number, folder.pcl, folder.modified_at, props, None)
    rep = ctx.store.rep(s.conn, folder.number.guid)
    row = s.conn.exec_driver_sql(
        KEEP_FOLDER,
        (folder.object, folder.object, rep, folder.number.counter, s.now, path, props.name, item),
    ).lastrowid
    s.conn.exec_driver_sql(KEEP_MESSAGES_OF_FOLDER, (folder.object, row, s.now, folder.fid))
    _schedule(ctx, s)


def _schedule(ctx: Context, s: Stimulus) -> None:
    """Set the timer for what was retained now. If a timer is set, it belongs to an older item and stays."""
    set_timer_if_none(s.conn, Timer.RETENTION, 0, s.now + ctx.config.settings.item_retention_us)


def plan(ctx: Context, s: Stimulus) -> None:
    """Set the timer for the oldest retained item. Call this when the setting may have changed."""
    oldest = s.conn.exec_driver_sql(FIRST_DELETED_AT).scalar()
    if oldest is None:
        clear_timer(s.conn, Timer.RETENTION, 0)
    else:
        set_timer(s.conn, Timer.RETENTION, 0, max(s.now, oldest + ctx.config.settings.item_retention_us))


def purge(ctx: Context, s: Stimulus) -> None:
    """Delete the items whose retention has passed, some in each stimulus."""
    s.conn.exec_driver_sql(
        PURGE,
        (s.now - ctx.config.settings.item_retention_us, MOST_AT_ONCE),
    )
    plan(ctx, s)


# -- recovering


def message_of(ctx: Context, s: Stimulus, folder: Folder, object_id: bytes) -> Retained:
    """Return a retained message of a folder. Raise MessageUnknown if this store has none."""
    row = s.conn.exec_driver_sql(
        RETAINED_MESSAGE,
        (object_id, folder.object),
    ).first()
    if row is None:
        raise MessageUnknown(
            f"{ctx.name} does not retain the message {object_text(object_id)} of {folder.path}; {_why_not(ctx)}"
        )
    return _retained(row)


def folder_at(ctx: Context, s: Stimulus, path: str) -> Retained:
    """Return the retained folder that last had this path. Raise FolderUnknown if this store has none."""
    row = s.conn.exec_driver_sql(RETAINED_FOLDER, (path.strip("/"),)).first()
    if row is None:
        raise FolderUnknown(f"{ctx.name} retains no deleted folder {path!r}; {_why_not(ctx)}")
    return _retained(row)


def _why_not(ctx: Context) -> str:
    if not ctx.config.settings.item_retention_us:
        return "its Deleted Item Retention is 0, so it keeps nothing that it deletes"
    return "it was not deleted here, was recovered already, or its retention has passed"


def folders_under(s: Stimulus, folder: Retained) -> list[Retained]:
    """Return the folders directly below a folder that were deleted with it."""
    rows = s.conn.exec_driver_sql(FOLDERS_OF_INSTANT, (folder.deleted_at,)).all()
    return [deletion for deletion in map(_retained, rows) if deletion.path.rpartition("/")[0] == folder.path]


def messages_within(s: Stimulus, folder: Retained) -> list[Retained]:
    """Return the messages that were deleted with a folder."""
    rows = s.conn.exec_driver_sql(MESSAGES_WITHIN, (folder.id,))
    return [_retained(row) for row in rows]


def move(s: Stimulus, old: bytes, new: bytes) -> None:
    """Make the messages that were deleted before their folder recoverable into the new folder."""
    s.conn.exec_driver_sql(MOVE, (new, old))


def recovered(ctx: Context, s: Stimulus, item: Retained, new: bytes, number: str, folder: str) -> None:
    """Record a recovery. The item is no longer retained."""
    s.conn.exec_driver_sql(REMOVE, (item.id,))
    s.trace.record(
        ItemRecovered,
        folder=folder,
        object=object_text(new),
        number=number,
        of=object_text(item.object),
        deleted_at=item.deleted_at,
        retention_us=ctx.config.settings.item_retention_us,
    )
