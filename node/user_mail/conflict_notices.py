"""Notices to a folder's contacts about conflicts and lost edits, with the messages attached (spec: CF-2, DL-2).

The home store sends the notices of a conflict when the conflict arises there. Another holder sends one if no holder before it
in the replica list is heard to have the versions: the home store may be stopped, or out of reach (`notify_for_silent_stores`).

Notices to people are put into the lab's mailbox, and notices to a folder's address become posts. A folder that is its own
contact gets no notice, and no notice answers another notice (spec: ML-7).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from node.codec.items import Version, body_of, export_mail, object_text
from node.objects.apply_versions import Applied, Joined
from node.objects.version_rows import kept_versions
from node.state.context import Context
from node.state.folders import Folder
from node.tracking.change_number import ChangeNumber, named
from node.tracking.cnset import CNSet
from node.user_mail.letters import Letter, send
from traces.events import ConflictNotice
from transport.errors import CodecError
from transport.mime.compose import Attached
from transport.sql import Statement
from transport.stimulus import Stimulus

UNNOTIFIED = Statement("SELECT object, fid, since_at FROM conflict WHERE notified = 0 ORDER BY since_at, object")
SET_NOTIFIED = Statement("UPDATE conflict SET notified = ? WHERE object = ?")
SUBJECT = Statement("SELECT subject FROM message WHERE object = ? ORDER BY shown DESC")
ITEM_OF_VERSION = Statement("SELECT item FROM message WHERE object = ? AND rep = ? AND ctr = ?")

MAX_ATTACHED: Final = 16 * 1024 * 1024
"""The largest number of bytes of messages that a notice attaches. The notice names further messages, which are in the
folder."""

MAX_LOST: Final = 40 * 1024 * 1024
"""Largest lost edit that is attached, in bytes. It is large enough for any message, because no store has the edit any more."""


def notify_contacts(ctx: Context, s: Stimulus, fid: int, applied: Applied) -> None:
    """Send the notices about the conflicts and lost edits of a mail, if this store has to (spec: CF-2, CF-4, DL-2)."""
    folder = ctx.folders.at(fid)
    props = folder.props
    if props is None:
        return
    home = folder.home == ctx.name
    for conflict in applied.conflicts:
        if home and props.notifies_conflicts:
            _conflict(ctx, s, folder, conflict, props.contacts)
        _set_notified(s, conflict.object, home)
    for version, is_sent in applied.lost_edits:
        # Only this store knows an edit that it never broadcast, so it sends the notice itself.
        if home or not is_sent:
            _lost_edit(ctx, s, folder, version, props.contacts)


def notify_for_silent_stores(ctx: Context, s: Stimulus) -> None:
    """At a status check, send the notices of conflicts that no earlier holder is heard to have, once for each (spec: CF-2).

    A holder that has the versions says so in a status, at the latest 36 hours after the folder's last update (spec: ST-1).
    """
    conflicts = s.conn.exec_driver_sql(UNNOTIFIED).all()
    for object_id, fid, since_at in conflicts:
        folder, own = ctx.folders.at(fid), ctx.rst.own(fid)
        props = folder.props
        versions = [version for version in kept_versions(ctx, s.conn, object_id) if not version.expired]
        if props is None or own is None or ctx.name not in props.replicas or len(versions) < 2:
            continue
        numbers = CNSet.of(*(version.number for version in versions))
        rows = (ctx.rst.row(fid, store) for store in takewhile(lambda store: store != ctx.name, props.replicas))
        if any(row is not None and numbers <= row.numbers.contents for row in rows):
            _set_notified(s, object_id, True)
        elif props.notifies_conflicts and s.now - max(since_at, own.last_update_at or 0) >= ctx.config.silence_us:
            _conflict(ctx, s, folder, Joined(object_id, tuple(version.number for version in versions)), props.contacts)
            _set_notified(s, object_id, True)


def _set_notified(s: Stimulus, object_id: bytes, notified: bool) -> None:
    s.conn.exec_driver_sql(SET_NOTIFIED, (int(notified), object_id))


def _conflict(ctx: Context, s: Stimulus, folder: Folder, conflict: Joined, contacts: Sequence[str]) -> None:
    object_id, numbers = conflict
    recipients = _recipients(ctx, s, folder, object_id, contacts, numbers)
    if not recipients:
        return
    attachments, left_out = _conflicting(ctx, s, object_id, numbers)
    number_words = ", ".join(named(number, ctx.store.store_of) for number in numbers)
    subject = s.conn.exec_driver_sql(SUBJECT, (object_id,)).scalar()
    first, last = named(numbers[0], ctx.store.store_of), named(numbers[-1], ctx.store.store_of)
    text = (
        f"The message '{subject}' has concurrent versions: {number_words} (the first is shown).\n\n"
        "A contact of the folder ends the conflict on any server that has a replica, in one of three ways:\n"
        f"- keep one version: pflab resolve {first} --on {ctx.name} --keep {last}\n"
        f"- keep each version, as a message of its own: pflab resolve {first} --on {ctx.name} --keep all\n"
        "- edit the message: the edit replaces all its versions"
    )
    if left_out:
        text += f"\n\nToo large to be attached: {', '.join(left_out)}."
    send_notice(ctx, s, folder, recipients, f"Conflict in {folder.path}", text, attachments)


def _conflicting(
    ctx: Context, s: Stimulus, object_id: bytes, numbers: Sequence[ChangeNumber]
) -> tuple[list[Attached], list[str]]:
    """Return the versions as attached mails, in the order of `numbers`, and the names of those that do not fit.

    A later update of the same mail may have replaced a version. Nobody has to decide about it any more, so it is not attached.
    """
    attachments: list[Attached] = []
    left_out: list[str] = []
    room = MAX_ATTACHED
    for number in numbers:
        rep = ctx.store.known_rep(number.guid)
        item = s.conn.exec_driver_sql(ITEM_OF_VERSION, (object_id, rep, number.counter)).scalar()
        if item is None:
            continue
        name = named(number, ctx.store.store_of)
        if len(item) > room:
            left_out.append(name)
            continue
        attachments.append(_as_mail(ctx, item, number, name))
        room -= len(item)
    return attachments, left_out


def _lost_edit(ctx: Context, s: Stimulus, folder: Folder, version: Version, contacts: Sequence[str]) -> None:
    recipients = _recipients(ctx, s, folder, version.object, contacts, [version.number])
    if not recipients:
        return
    text = body_of(version.item) if version.item is not None else ""
    name = named(version.number, ctx.store.store_of)
    fits = version.item is not None and len(version.item) <= MAX_LOST
    attachments = [_as_mail(ctx, version.item, version.number, name)] if fits and version.item is not None else []
    subject = f"An edit in {folder.path} lost to a deletion: {version.subject}"
    send_notice(
        ctx,
        s,
        folder,
        recipients,
        subject,
        f"Version {name} of a message that was deleted meanwhile:\n\n{text}",
        attachments,
    )


def _recipients(
    ctx: Context,
    s: Stimulus,
    folder: Folder,
    object_id: bytes,
    contacts: Sequence[str],
    numbers: Sequence[ChangeNumber],
) -> tuple[str, ...]:
    """Return the contacts without the folder itself (spec: ML-7). An event records them, even if there are none."""
    recipients = contacts_to_notify(ctx, folder, contacts)
    s.trace.record(
        ConflictNotice,
        folder=folder.text,
        object=object_text(object_id),
        contacts=recipients,
        versions=tuple(number.text for number in numbers),
    )
    return recipients


def contacts_to_notify(ctx: Context, folder: Folder, contacts: Sequence[str]) -> tuple[str, ...]:
    """Return the contacts without the folder itself (spec: ML-7)."""
    return tuple(dict.fromkeys(contact for contact in contacts if ctx.book.folder_of(contact) is not folder))


def _as_mail(ctx: Context, item: bytes, number: ChangeNumber, name: str) -> Attached:
    store = ctx.directory.sender(ctx.name)
    message_id = f"{number.counter}.{number.guid.hex()}@{ctx.name}.{store.rpartition('@')[2]}"
    try:
        content = export_mail(item, message_id=message_id, sender=store)
    except CodecError:  # a version that cannot be written as a mail is attached as bytes
        return Attached(f"{name}.bin", "application/ms-tnef", item)
    return Attached(f"{name}.eml", "message/rfc822", content)


def send_notice(
    ctx: Context,
    s: Stimulus,
    folder: Folder,
    contacts: tuple[str, ...],
    subject: str,
    text: str,
    attached: Sequence[Attached] = (),
) -> None:
    """Send a notice from the folder's address, or from the store's if the folder has none."""
    address = ctx.book.address_of(folder)
    sender = address or ctx.directory.sender(ctx.name)
    send(ctx, s, Letter(sender, contacts, subject, text, tuple(attached)), loop=address)
