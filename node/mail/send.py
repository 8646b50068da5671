"""Put replication mail into the queue, in the transaction of the state that it reports (spec: OUT-5, OUT-9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from node.codec.items import object_text
from node.codec.replication_message import (
    SUBJECTS,
    UPDATES,
    Mark,
    MessageType,
    ReplicationMail,
    Section,
    Update,
    encode,
)
from node.seeded_ids import token_from
from node.state import application_log
from node.state.context import Context
from node.state.state_table import OwnRow
from node.stored_values import HIERARCHY_FID
from node.tracking.number_sets import NumberSets
from traces.events import AddressLacking, MailFolder, MailSubmitted, TreeLacking
from transport.envelope import OutgoingMail, Priority
from transport.mapi.mdbef import encode_mdbef
from transport.mapi.system_message import SystemMessage
from transport.mapi.tnef import encode_tnef
from transport.mime.message import BodyForm, MailHeaders, build_mail
from transport.stimulus import Stimulus

ENCODERS: Mapping[BodyForm, Callable[[SystemMessage], bytes]] = {  # spec: ML-2
    BodyForm.TNEF: encode_tnef,  # a bridgehead has encoded the body for a connector
    BodyForm.S_TNEF: encode_tnef,
    BodyForm.MDBEF: encode_mdbef,
}
_MARK_TEXTS = {
    Mark.REPEAT: "repeat",
    Mark.NO_REPLICA: "no replica",
    Mark.DELETE_PENDING: "delete-pending",
    Mark.ALL_RESPOND: "all respond",
    Mark.RETAINED: "retained",
    Mark.RESENT: "resent",
}


def section_of(
    ctx: Context,
    own: OwnRow,
    numbers: NumberSets = NumberSets.EMPTY,
    *,
    marks: Mark = Mark.NONE,
    responders: Sequence[str] = (),
    expired: NumberSets = NumberSets.EMPTY,
) -> Section:
    """Return what a mail says about one folder. It always contains this store's complete row (spec: OUT-4, RST-4)."""
    return Section(
        folder=ctx.folders.object_of(own.fid),
        row=own.numbers,
        numbers=numbers,
        marks=marks,
        responders=tuple(responders),
        expired=expired,
    )


def send(
    ctx: Context,
    s: Stimulus,
    kind: MessageType,
    stores: Sequence[str],
    sections: Sequence[Section],
    *,
    updates: Sequence[Update] = (),
    in_reply_to: str = "",
    priority: int = 0,
) -> str | None:
    """Queue one mail to `stores`. Return its Message-ID, or None if none of them, or not this store, has an address.

    An event names the stores without an address (spec: ML-1). The mail leaves out the folders about which nothing can be sent
    (spec: ML-8).
    """
    to = {section.folder: in_tree(ctx, s, kind, section.folder, stores) for section in sections}
    sections = [section for section in sections if to[section.folder]]
    stores = [store for store in stores if all(store in to[section.folder] for section in sections)]
    if not sections or cannot_reach(ctx, s, kind, stores, [section.folder for section in sections]):
        return None
    sender = ctx.directory.address(ctx.name)
    assert sender is not None, "a store without an address cannot reach anybody"
    addresses = [address for address in map(ctx.directory.address, stores) if address is not None]
    ctx.store.mail_number += 1
    number = ctx.store.mail_number
    message_id = (
        f"{number}.{token_from(ctx.seed, 'mail', ctx.store.incarnation, number)}@{ctx.name}.{sender.partition('@')[2]}"
    )
    mail = ReplicationMail(
        type=kind,
        store=ctx.name,
        replica_guid=ctx.store.guid,
        sent_at=s.now,
        number=number,
        lamport=s.trace.lamport + 1,
        message_id=message_id,
        sections=tuple(sections),
        updates=tuple(updates),
        in_reply_to=in_reply_to,
    )
    headers = MailHeaders(message_id, sender, tuple(addresses), SUBJECTS[kind], s.now)
    form = ctx.config.profile.body
    content = build_mail(headers, form, ENCODERS[form](encode(mail, ctx.identity)))
    _record(s, mail, addresses, len(content))
    application_log.mail_out(ctx, s, mail, stores)
    outgoing = OutgoingMail(
        message_id, sender, tuple(addresses), content, Priority(priority), SUBJECTS[kind], system=True
    )
    ctx.mta.submit(s, outgoing)
    return message_id


def in_tree(ctx: Context, s: Stimulus, kind: MessageType, folder: bytes, stores: Sequence[str]) -> list[str]:
    """Return those of `stores` to which mail about a folder may go, because the objects in the directory name the tree.

    An event names the stores whose objects name none (spec: ML-8).
    """
    fid = ctx.folders.fid_of(folder)
    recipients = ctx.in_tree(fid, stores)
    if fid is not None and len(recipients) < len(stores):
        unlinked = tuple(sorted(set(stores) - set(recipients))) if fid == HIERARCHY_FID else ctx.unlinked_holders(fid)
        s.trace.record(TreeLacking, message_type=int(kind), folder=object_text(folder), stores=unlinked)
    return recipients


def cannot_reach(ctx: Context, s: Stimulus, kind: MessageType, stores: Sequence[str], folders: Sequence[bytes]) -> bool:
    """Return whether a mail to `stores` reaches none of them, because they, or this store, have no address (spec: ML-1).

    An event names the stores without an address, even if others are reached.
    """
    address = ctx.directory.address
    stores_without = tuple(store for store in (ctx.name, *stores) if address(store) is None)
    if stores_without:
        folder_texts = tuple(map(object_text, folders))
        s.trace.record(AddressLacking, message_type=int(kind), folders=folder_texts, stores=stores_without)
    return address(ctx.name) is None or len(stores_without) == len(stores)


def traced_sections(mail: ReplicationMail) -> tuple[MailFolder, ...]:
    """Return the sections of a mail for an event. Items that could not be decoded count as updates."""
    count = len(mail.updates) + len(mail.failures) if mail.type in UPDATES else 0
    return tuple(
        MailFolder(
            folder=object_text(section.folder),
            updates=count,
            **section.numbers.texts(),
            **section.row.texts("row"),
            **section.expired.texts("expired"),
        )
        for section in mail.sections
    )


def traced_marks(mail: ReplicationMail) -> tuple[str, ...]:
    """Return the marks of all sections for an event."""
    marks = Mark.NONE
    for section in mail.sections:
        marks |= section.marks
    if not marks:
        return ()
    return tuple(text for mark, text in _MARK_TEXTS.items() if mark in marks)


def _record(s: Stimulus, mail: ReplicationMail, addresses: list[str], size: int) -> None:
    s.trace.record(
        MailSubmitted,
        mail=mail.message_id,
        message_type=int(mail.type),
        folders=traced_sections(mail),
        recipients=tuple(addresses),
        size=size,
        number=mail.number,
        marks=traced_marks(mail),
    )
