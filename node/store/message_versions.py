"""The kept versions of a message for people. A message is named by its id, or by the number of any of its changes.

The number of an earlier change stays tied to the message (spec: CN-7). So people can name a message by the number that its post
got, even after edits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from node.codec.items import attachments_of, body_of, object_from_text, object_text, sender_of
from node.codec.property_meanings import INTERPRETERS
from node.errors import MessageUnknown, Misuse
from node.state.context import Context
from node.stored_values import EXPIRED, HIERARCHY_FID
from node.tracking.change_number import Guid, named, store_name
from node.tracking.pcl import Pcl
from node.views import VersionView, number_order
from transport.mime.describe import describe_item, outline
from transport.sql import Connection, Statement

VERSIONS = Statement(
    "SELECT fid, rep, ctr, pcl, modified_at, shown, fai, deleted, subject, item FROM message WHERE object = ?"
    " ORDER BY rep, ctr"
)
CHANGED_OBJECTS = Statement(
    "SELECT object FROM message WHERE fid IN (SELECT fid FROM folder) AND rep = ? AND ctr = ?"
    " UNION SELECT object FROM superseded WHERE rep = ? AND ctr = ? AND fid <> ?"
)

_SHOWN_NUMBER: Final = re.compile(r"(.+)-([1-9][0-9]{0,14})")
"""A change number as people see it: `A-4`."""


def versions(ctx: Context, conn: Connection, names: Mapping[Guid, str], message: str) -> list[VersionView]:
    """Return the kept versions of a message, the shown one first. Raise MessageUnknown if there is none."""
    object_id = _object_of(ctx, conn, names, message)
    rows = conn.exec_driver_sql(
        VERSIONS,
        (object_id,),
    ).all()
    views = []
    for fid, rep, ctr, pcl, at, is_shown, fai, deleted, subject, item in rows:
        if deleted:
            continue
        number = ctx.store.number(rep, ctr)
        views.append(
            VersionView(
                folder=ctx.folders.path_of(fid),
                message=object_text(object_id),
                number=named(number, names),
                change=number.text,
                store=ctx.store.store_of.get(number.guid) or store_name(number.guid, names),
                modified_at=at,
                shown=bool(is_shown),
                subject=subject,
                sender=sender_of(item),
                body=body_of(item),
                size=len(item),
                attachments=tuple((name, len(data)) for name, data in attachments_of(item)),
                includes=tuple(named(number, names) for number in Pcl.decode(pcl).numbers()),
                associated=bool(fai),
                properties=property_lines(item),
            )
        )
    if not views:
        was = "is not" if not rows else "has expired" if rows[0][7] == EXPIRED else "was deleted"
        raise MessageUnknown(f"message {message} {was} on {ctx.name}")
    return sorted(views, key=lambda version: (not version.shown, version.modified_at, number_order(version.number)))


def property_lines(item: bytes) -> tuple[str, ...]:
    """Return each property of an item, one a line."""
    return tuple("  " * (depth - 1) + line for depth, line in outline(describe_item("", item, INTERPRETERS)) if depth)


def _object_of(ctx: Context, conn: Connection, names: Mapping[Guid, str], message: str) -> bytes:
    """Return the id of the message with this id or change number."""
    match = _SHOWN_NUMBER.fullmatch(message)
    if match is None:
        try:
            return object_from_text(message)
        except ValueError:
            raise Misuse(f"{message!r} is not a message; write one of its change numbers, such as A-4") from None
    objects = {
        object_id
        for guid, name in names.items()
        if name == match[1]
        for object_id in _changed_by(ctx, conn, guid, int(match[2]))
    }
    if len(objects) > 1:
        ids = ", ".join(sorted(map(object_text, objects)))
        raise Misuse(f"{message} is a change of more than one message on {ctx.name}; give an id: {ids}")
    if not objects:
        late = match[1] != ctx.name and match[1] in ctx.directory.stores()
        hint = "; the change may not have arrived yet" if late else ""
        raise MessageUnknown(f"no message on {ctx.name} has the change {message}{hint}")
    return objects.pop()


def _changed_by(ctx: Context, conn: Connection, guid: Guid, counter: int) -> list[bytes]:
    rep = ctx.store.known_rep(guid)
    # The folders are named because the index on numbers begins with the folder.
    rows = conn.exec_driver_sql(
        CHANGED_OBJECTS,
        (rep, counter, rep, counter, HIERARCHY_FID),
    )
    return [object_id for (object_id,) in rows]
