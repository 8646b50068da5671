"""Notices to a folder's contacts (spec: CF-2, DL-2). They land in the lab's mailbox, which people can read."""

from __future__ import annotations

from collections.abc import Sequence

from node.context import Context
from node.folders import object_text
from node.items import RESOLVE_NO_NOTIFICATION, Version, body_of
from node.numbers import named
from node.versions import Applied, kept_versions
from traces.events import ConflictNotice
from transport.stimulus import Stimulus


def tell_contacts(ctx: Context, s: Stimulus, fid: int, applied: Applied) -> None:
    """What the contacts must hear of a mail's updates. The folder's home store, first in the replica list, tells it."""
    props = ctx.folders.at(fid).props
    if props is None:
        return
    home = bool(props.replicas) and props.replicas[0] == ctx.name
    if home and props.resolve != RESOLVE_NO_NOTIFICATION:
        for object_id in applied.conflicts:
            _conflict(ctx, s, fid, object_id, props.contacts)
    for version, sent in applied.lost_edits:
        # An edit that never left this store is known to no other, so this store tells of it itself.
        if home or not sent:
            _lost_edit(ctx, s, fid, version, props.contacts)


def _conflict(ctx: Context, s: Stimulus, fid: int, object_id: bytes, contacts: Sequence[str]) -> None:
    kept = kept_versions(ctx, s.conn, object_id)
    numbers = tuple(each.number.text for each in kept)
    s.trace.record(
        ConflictNotice,
        folder=ctx.folders.text_of(fid),
        object=object_text(object_id),
        contacts=tuple(contacts),
        versions=numbers,
    )
    shown = ", ".join(named(each.number, ctx.store.store_of) for each in kept)
    subject = f"Conflict in {ctx.folders.path_of(fid)}"
    body = f"Message {object_text(object_id)} has concurrent versions: {shown} (the first is shown)."
    _deliver(s, contacts, subject, body)


def _lost_edit(ctx: Context, s: Stimulus, fid: int, version: Version, contacts: Sequence[str]) -> None:
    s.trace.record(
        ConflictNotice,
        folder=ctx.folders.text_of(fid),
        object=object_text(version.object),
        contacts=tuple(contacts),
        versions=(version.number.text,),
    )
    text = body_of(version.item) if version.item is not None else ""
    subject = f"An edit in {ctx.folders.path_of(fid)} lost to a deletion: {version.subject}"
    number = named(version.number, ctx.store.store_of)
    _deliver(s, contacts, subject, f"Version {number} of a message that was deleted meanwhile:\n\n{text}")


def _deliver(s: Stimulus, contacts: Sequence[str], subject: str, body: str) -> None:
    rows = [(s.now, contact, subject, body) for contact in contacts]
    if rows:
        s.conn.exec_driver_sql("INSERT INTO mailbox (at, recipient, subject, body) VALUES (?, ?, ?, ?)", rows)
