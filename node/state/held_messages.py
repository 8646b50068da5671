"""The replication message queue: mail that arrived before the folder that it needs (spec: HI-4).

The queue holds single updates of the hierarchy and whole mails of content. Numbers of held updates are not missing (spec:
BF-2). When the wait of a held item ends, the store drops the item, and its numbers are missing from then on.
"""

from __future__ import annotations

from typing import Any

from node.codec.items import Version, object_text, read_version
from node.codec.replication_message import Update
from node.state.context import Context, pcl_fields
from node.state.timers import Timer, clear_timer, set_timer
from node.tracking.cnset import CNSet
from node.tracking.idset import decode_idset, encode_idset
from traces.events import VersionDropped, VersionHeld
from traces.events.change import Way
from transport.sql import Connection, Statement
from transport.stimulus import Stimulus

SAME_FOLDER = Statement("SELECT id FROM held WHERE waits_for = ? AND kind = ? AND object = ? AND payload = ?")
HOLD = Statement(
    "INSERT INTO held (waits_for, kind, object, numbers, until_at, sender, payload) VALUES (?, ?, ?, ?, ?, ?, ?)"
    " RETURNING id"
)
AWAITED_BY_OBJECT = Statement("SELECT waits_for FROM held WHERE object = ? AND kind <> ? ORDER BY id")
FREED_FOLDERS = Statement("SELECT id, numbers, payload FROM held WHERE waits_for = ? AND kind = ? ORDER BY id")
FORGET_FREED_FOLDERS = Statement("DELETE FROM held WHERE kind = ? AND (waits_for = ? OR object = ?)")
FREED_MAILS = Statement("SELECT id, sender, payload FROM held WHERE waits_for = ? AND kind = ? ORDER BY id")
FORGET = Statement("DELETE FROM held WHERE id = ?")
HELD = Statement("SELECT kind, object, numbers, payload, waits_for FROM held WHERE id = ?")
FORGET_EDGE = Statement("DELETE FROM held WHERE waits_for = ? AND kind = ? AND object = ?")
HELD_NUMBERS = Statement("SELECT numbers FROM held WHERE kind = ? ORDER BY id")

FOLDER, MAIL, EDGE = "folder", "mail", "edge"
"""The kinds of row: an update of a folder, a content mail, and the parent that a dropped update waited for."""


def hold_folder(ctx: Context, s: Stimulus, parent: bytes, update: Update, way: Way, sender: str) -> None:
    """Hold the update of a folder whose parent is not known here.

    way: how the update came.
    """
    version = update.version
    assert version.item is not None, "a deletion needs no parent"
    until_at = s.now + ctx.config.tree_wait_us
    same = s.conn.exec_driver_sql(
        SAME_FOLDER,
        (parent, FOLDER, version.object, version.item),
    ).first()
    if same:
        return
    _hold(s, parent, FOLDER, version.object, update.names, until_at, sender, version.item)
    s.trace.record(VersionHeld, waits_for=object_text(parent), until_at=until_at, **_fields(update, way))


def hold_mail(ctx: Context, s: Stimulus, folder: bytes, numbers: CNSet, sender: str, content: bytes) -> None:
    """Hold a content mail for a folder that is not known or not held here yet."""
    _hold(s, folder, MAIL, folder, numbers, s.now + ctx.config.content_wait_us, sender, content)


def _hold(
    s: Stimulus, waits_for: bytes, kind: str, object_id: bytes, numbers: CNSet, until_at: int, sender: str, data: bytes
) -> None:
    held_id = _put(s, waits_for, kind, object_id, numbers, until_at, sender, data)
    set_timer(s.conn, Timer.HELD, held_id, until_at)


def _put(
    s: Stimulus, waits_for: bytes, kind: str, object_id: bytes, numbers: CNSet, until_at: int, sender: str, data: bytes
) -> int:
    held_id: int = s.conn.exec_driver_sql(
        HOLD,
        (waits_for, kind, object_id, encode_idset(numbers), until_at, sender, data),
    ).scalar_one()
    return held_id


def _fields(update: Update, way: Way) -> dict[str, Any]:
    version = update.version
    return {
        "folder": "1-1",
        "object": object_text(version.object),
        "number": version.number.text,
        "kind": "folder",
        **pcl_fields(version),
        "modified_at": version.modified_at,
        "way": way,
        "stands_for": update.names.text(),
        "digest": version.digest,
        "deleted": False,
    }


def waits_for(conn: Connection, folder: bytes, other: bytes) -> bool:
    """Return whether a version of `folder` is held until `other` arrives, directly or through other held versions.

    A version that was held and dropped counts too. Otherwise two halves of a cycle that arrive alternately, each after the
    other was dropped, would never be applied.
    """
    ahead, visited = [folder], {folder}
    while ahead:
        for (parent,) in conn.exec_driver_sql(AWAITED_BY_OBJECT, (ahead.pop(), MAIL)):
            if parent == other:
                return True
            if parent not in visited:
                visited.add(parent)
                ahead.append(parent)
    return False


def freed_folders(s: Stimulus, parent: bytes) -> list[Update]:
    """Remove and return the updates that waited for this folder."""
    freed = []
    for held_id, numbers, item in s.conn.exec_driver_sql(FREED_FOLDERS, (parent, FOLDER)).all():
        _forget(s, held_id)
        freed.append(_update(item, numbers))
    s.conn.exec_driver_sql(FORGET_FREED_FOLDERS, (EDGE, parent, parent))
    return freed


def _update(item: bytes, numbers: bytes) -> Update:
    version: Version = read_version(item)
    return Update(version, decode_idset(numbers) - CNSet.of(version.number))


def freed_mails(s: Stimulus, folder: bytes) -> list[tuple[str, bytes]]:
    """Remove and return the content mails that waited for this folder, as (sender, content)."""
    freed = []
    for held_id, sender, content in s.conn.exec_driver_sql(FREED_MAILS, (folder, MAIL)).all():
        _forget(s, held_id)
        freed.append((sender, content))
    return freed


def _forget(s: Stimulus, held_id: int) -> None:
    s.conn.exec_driver_sql(FORGET, (held_id,))
    clear_timer(s.conn, Timer.HELD, held_id)


def expired(s: Stimulus, held_id: int) -> bytes | None:
    """Drop a held item whose wait has ended. Return the folder that it waited for, or None if the item is not held now."""
    row = s.conn.exec_driver_sql(HELD, (held_id,)).first()
    if row is None:
        return None
    _forget(s, held_id)
    kind, object_id, numbers, payload, awaited = row
    if kind == FOLDER:
        s.trace.record(
            VersionDropped, reason="its parent did not come in time", **_fields(_update(payload, numbers), "queue")
        )
        _remember_edge(s, object_id, awaited)
    folder: bytes = awaited
    return folder


def _remember_edge(s: Stimulus, object_id: bytes, awaited: bytes) -> None:
    s.conn.exec_driver_sql(FORGET_EDGE, (awaited, EDGE, object_id))
    _put(s, awaited, EDGE, object_id, CNSet.EMPTY, s.now, "", b"")


def held_hierarchy(conn: Connection) -> CNSet:
    """Return the numbers of the held hierarchy updates, which are not missing."""
    return CNSet.union_all(decode_idset(numbers) for (numbers,) in conn.exec_driver_sql(HELD_NUMBERS, (FOLDER,)))
