"""The texts about replication mail in the application log, in the forms of Exchange (spec: EV-1).

An id is printed as `<replid hex>-<counter hex>`. This store has replid 1. The other replica GUIDs are numbered in the order in
which this store learns of them. The hierarchy is 1-1, its name is IPM_SUBTREE, and all folders are under it. A folder or
message that is a tombstone here is shown by its id, without a name (spec: IN-4). A form whose full text is not public follows
the most similar public form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from node.codec.items import ROOT, ROOT_TEXT, object_from_text, read_folder
from node.codec.replication_message import HIERARCHIES, MessageType, ReplicationMail, Section, Update
from node.errors import Misuse
from node.state.context import Context
from node.state.store_settings import Config
from node.state.version_profiles import LogForm, MailId
from node.tracking.change_number import ChangeNumber
from node.tracking.cnset import CNSet
from transport.errors import CodecError
from transport.sql import Connection

MAX_LISTED: Final = 20
"""How many folders, items or ranges an entry lists. The entry only counts further ones."""

SUBTREE: Final = "IPM_SUBTREE"

FIRST_OFFSET: Final = 28
"""The offset of the first record in a packed message, as in the published example [X, section 1.1]."""

_NO_NUMBERS: Final = "{0}"


def outgoing(ctx: Context, conn: Connection, mail: ReplicationMail, stores: Sequence[str], number: int) -> list[str]:
    """Return the lines of the entry about an outgoing mail.

    `number`: which no other mail has in this store's log.
    """
    body = _BODIES[mail.type](ctx, conn, mail)
    if mail.type is MessageType.BACKFILL_REQUEST:
        body += [f"Server: {store_dn(ctx, store)}" for store in stores[:MAX_LISTED]]
    if mail.type in _SHORT:
        head = [f"Outgoing message type {_hex(mail)}", _mail_id(ctx, mail, number)]
    else:
        head = ["An outgoing replication message was issued.", f"Type: {_hex(mail)}", _mail_id(ctx, mail, number)]
    return [*head, *body]


def incoming(ctx: Context, conn: Connection, mail: ReplicationMail, number: int) -> list[str]:
    """Return the lines of the entry about an incoming mail.

    `number`: as for `outgoing`.
    """
    head = ["An incoming replication message was processed.", f"Type: {_hex(mail)}", _mail_id(ctx, mail, number)]
    return [*head, *_BODIES[mail.type](ctx, conn, mail), "Server:", store_dn(ctx, mail.store)]


def _hex(mail: ReplicationMail) -> str:
    return f"{int(mail.type):#x}"


def _mail_id(ctx: Context, mail: ReplicationMail, number: int) -> str:
    mail_id = f"1-{number:X}" if _form(ctx).mail_id is MailId.OF_STORE else f"<{mail.message_id}>"
    return f"Message ID: {mail_id}"


def _form(ctx: Context) -> LogForm:
    return ctx.config.profile.log


def database_name(config: Config) -> str:
    """Return the name of the store's database in the administrator's tool, or '' in a version whose log has none."""
    return (config.profile.log.database or "").format(server=config.store)


def _database(ctx: Context) -> list[str]:
    database = database_name(ctx.config)
    return [_form(ctx).database_line.format(database=database)] if database else []


def store_dn(ctx: Context, store: str) -> str:
    """Return a store's name in the directory."""
    name = ctx.directory.distinguished_name(store)
    return name.upper() if _form(ctx).capitals else name


def id_text(ctx: Context, conn: Connection, number: ChangeNumber) -> str:
    """Return a number such as `1-14CE`: replid and counter, both hexadecimal."""
    return f"{ctx.store.rep(conn, number.guid):x}-{number.counter:X}"


def object_id(ctx: Context, conn: Connection, object_: bytes) -> str:
    return ROOT_TEXT if object_ == ROOT else id_text(ctx, conn, ChangeNumber.from_xid(object_))


def folder_values(ctx: Context, conn: Connection, folder: str) -> dict[str, str]:
    """Return id and path of a folder, given by its id in traces. The path begins with a space, or is ''."""
    try:
        object_ = ROOT if folder == ROOT_TEXT else object_from_text(folder)
    except (ValueError, Misuse):
        return {"folder": folder, "path": ""}
    path = _path(ctx, object_)
    return {"folder": object_id(ctx, conn, object_), "path": f" {path}" if path else ""}


def _path(ctx: Context, object_: bytes) -> str:
    """Return a path such as `IPM_SUBTREE\\Projects`, or '' for a folder that is a tombstone here or unknown."""
    if object_ == ROOT:
        return SUBTREE
    folder = ctx.folders.get(object_)
    if folder is None or folder.props is None:
        return ""
    return "\\".join([SUBTREE, *(folder.path or folder.props.name).split("/")])


# --- bodies, by type


def _hierarchy(ctx: Context, conn: Connection, mail: ReplicationMail) -> list[str]:
    return [*_database(ctx), *_ends(ctx, conn, mail.updates), *_updates(ctx, conn, mail)]


def _content(ctx: Context, conn: Connection, mail: ReplicationMail) -> list[str]:
    return [*_folder_line(ctx, conn, mail), *_hierarchy(ctx, conn, mail)]


def _request(ctx: Context, conn: Connection, mail: ReplicationMail) -> list[str]:
    section = mail.sections[0]
    database = [line.rstrip(".") + "." for line in _database(ctx)]
    return [*_folder_line(ctx, conn, mail), *database, *_sets(ctx, conn, section)]


def _status(ctx: Context, conn: Connection, mail: ReplicationMail) -> list[str]:
    folders = [
        f"({object_id(ctx, conn, section.folder)}) {_path(ctx, section.folder)}"
        for section in mail.sections[:MAX_LISTED]
    ]
    return [f"Folder(s): {folders[0] if folders else ''}", *folders[1:], *_more(len(mail.sections))]


def _hierarchy_response(ctx: Context, conn: Connection, mail: ReplicationMail) -> list[str]:
    return [*_sets(ctx, conn, mail.sections[0]), *_updates(ctx, conn, mail, always=True)]


def _content_response(ctx: Context, conn: Connection, mail: ReplicationMail) -> list[str]:
    return [*_folder_line(ctx, conn, mail), *_hierarchy_response(ctx, conn, mail)]


def _updates(ctx: Context, conn: Connection, mail: ReplicationMail, *, always: bool = False) -> list[str]:
    """Return the lines about a mail's folders or messages, and its deletions."""
    live = [update for update in mail.updates if update.version.item is not None]
    name, lines_of = ("RFIs", _folders) if mail.type in HIERARCHIES else ("RMIs", _messages)
    return [f"{name}: {len(live)}", *lines_of(ctx, conn, live), *_deleted(ctx, conn, mail, always=always)]


_BODIES: Final = {
    MessageType.HIERARCHY: _hierarchy,
    MessageType.CONTENT: _content,
    MessageType.BACKFILL_REQUEST: _request,
    MessageType.STATUS: _status,
    MessageType.STATUS_REQUEST: _status,
    MessageType.HIERARCHY_RESPONSE: _hierarchy_response,
    MessageType.CONTENT_RESPONSE: _content_response,
}
_SHORT: Final = frozenset({MessageType.BACKFILL_REQUEST, MessageType.STATUS, MessageType.STATUS_REQUEST})


# --- pieces


def _more(count: int) -> list[str]:
    return [f"... ({count} in all)"] if count > MAX_LISTED else []


def _folder_line(ctx: Context, conn: Connection, mail: ReplicationMail) -> list[str]:
    folder = mail.sections[0].folder
    return [f"Folder: ({object_id(ctx, conn, folder)}) {_path(ctx, folder)}".rstrip()]


def _ends(ctx: Context, conn: Connection, updates: Sequence[Update]) -> list[str]:
    if not updates:
        return []
    numbers = [update.version.number for update in updates]
    low, high = min(numbers), max(numbers)
    return _form(ctx).ends.format(low=id_text(ctx, conn, low), high=id_text(ctx, conn, high)).splitlines()


def _sets(ctx: Context, conn: Connection, section: Section) -> list[str]:
    return [
        *_set("CNSET", ctx, conn, section.numbers.contents),
        *_set(_form(ctx).associated, ctx, conn, section.numbers.associated),
    ]


def _set(label: str, ctx: Context, conn: Connection, numbers: CNSet) -> list[str]:
    pairs: list[str] = []
    for guid in numbers.guids():
        rep = ctx.store.rep(conn, guid)
        for low, high in numbers.ranges(guid)[: MAX_LISTED + 1]:
            pairs.append(f"{rep:x}-{low:X},{rep:x}-{high:X}")
    if not pairs:
        return [f"{label}: {_NO_NUMBERS}"]
    return [f"{label}: {pairs[0]}", *pairs[1:MAX_LISTED], *_more(numbers.range_count())]


def _folders(ctx: Context, conn: Connection, updates: Sequence[Update]) -> list[str]:
    lines: list[str] = []
    offset = FIRST_OFFSET
    for index, update in enumerate(updates[:MAX_LISTED], start=1):
        version = update.version
        assert version.item is not None
        try:
            props = read_folder(version.item)
            parent, name = object_id(ctx, conn, props.parent), props.name
        except CodecError:
            parent, name = "?", ""
        folder = ctx.folders.get(version.object)
        dead = folder is not None and folder.props is None  # spec: IN-4
        path = "" if dead else _path(ctx, version.object) or f"{SUBTREE}\\{name}"
        id_ = object_id(ctx, conn, version.object)
        lines.append(_form(ctx).folder.format(index=index, id=id_, parent=parent, offset=offset))
        lines.append(path)
        offset += len(version.item)
    return [*lines, *_more(len(updates))]


def _messages(ctx: Context, conn: Connection, updates: Sequence[Update]) -> list[str]:
    versions = [update.version for update in updates[:MAX_LISTED]]
    dead = _tombstoned(conn, [version.object for version in versions])
    lines: list[str] = []
    offset = FIRST_OFFSET
    for index, version in enumerate(versions, start=1):
        assert version.item is not None
        number = id_text(ctx, conn, version.number)
        id_ = object_id(ctx, conn, version.object)
        lines.append(_form(ctx).message.format(index=index, id=id_, number=number, offset=offset))
        lines.append("" if version.object in dead else version.subject)  # spec: IN-4
        offset += len(version.item)
    return [*lines, *_more(len(updates))]


def _tombstoned(conn: Connection, objects: Sequence[bytes]) -> set[bytes]:
    if not objects:
        return set()
    marks = ",".join("?" * len(objects))
    rows = conn.exec_driver_sql(
        # No ORDER BY, because the result is a set.
        f"SELECT object FROM message WHERE deleted = 1 AND object IN ({marks})",
        tuple(objects),
    )
    return {row[0] for row in rows}


def _deleted(ctx: Context, conn: Connection, mail: ReplicationMail, *, always: bool = False) -> list[str]:
    deleted = [update.version for update in mail.updates if update.version.item is None]
    pairs = [
        f"{object_id(ctx, conn, version.object)},{id_text(ctx, conn, version.number)}"
        for version in deleted[:MAX_LISTED]
    ]
    if not pairs:
        return ["IDCN Deleted:", _NO_NUMBERS] if always else []
    return [f"IDCN deleted: {pairs[0]}", *pairs[1:], *_more(len(deleted))]
