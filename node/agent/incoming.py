"""Mail for the store: read it, take its rows, apply what it brings, note what is missing (spec: IN-1 to IN-5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from node.agent import backfill, replica_removal, status
from node.agent.replicas import settle, snapshot
from node.codec.items import object_text
from node.codec.replication_message import RESPONSES, Mark, MessageType, ReplicationMail, Section, decode
from node.errors import BadMail, OrdinaryMail
from node.mail.backfill_responses import answer
from node.mail.conflict_notices import tell_contacts
from node.mail.send import traced_marks, traced_sections
from node.mail.user_mail import note_replicated
from node.objects import apply_folders, conflicts, expiry
from node.objects.apply_versions import Way, apply_updates, record_version
from node.state import application_log, held_messages
from node.state.context import Context
from node.state.folders import Folder
from node.state.state_table import PeerRow
from node.state.tables import HIERARCHY_FID
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from traces.events import MailBad, MailReceived, RowReplaced, SourceUp, VersionFailed
from transport.errors import CodecError
from transport.mapi.mdbef import decode_mdbef
from transport.mapi.system_message import SystemMessage
from transport.mapi.tnef import decode_tnef
from transport.mime.message import BodyForm, system_body
from transport.mta.non_delivery import NULL_SENDER
from transport.protocol.hop_headers import MAX_LAMPORT
from transport.stimulus import Stimulus

_DECODERS: Mapping[BodyForm, Callable[[bytes], SystemMessage]] = {  # spec: ML-4 every version reads all forms
    BodyForm.TNEF: decode_tnef,
    BodyForm.S_TNEF: decode_tnef,
    BodyForm.MDBEF: decode_mdbef,
}
BAD_MAIL_KEPT = 1000
"""Bad mails that are kept for people to look at; the oldest go first."""

TRANSIT_WEIGHT = 4  # spec: RT-3 the newest weighs 1/4


def receive(ctx: Context, s: Stimulus, sender: str, content: bytes, message_id: str, *, system: bool) -> None:
    """A mail to this store's address; `system`: it came as a system message. Whatever is wrong with it harms nothing
    (spec: IN-5)."""
    try:
        if not system:  # spec: ML-3
            raise OrdinaryMail(
                "an ordinary mail: it came without XEXCH50, so that it is no replication mail whatever is in it"
            )
        mail = read(ctx, content)
    except BadMail as error:
        if isinstance(error, OrdinaryMail) and sender == NULL_SENDER:
            return  # a notice that a mail of ours came back: its expiry is traced, status and backfill mend the loss
        s.conn.exec_driver_sql(
            "INSERT INTO bad_mail (at, sender, reason, content) VALUES (?, ?, ?, ?)",
            (s.now, sender, str(error), content),
        )
        s.conn.exec_driver_sql("DELETE FROM bad_mail WHERE id <= (SELECT max(id) FROM bad_mail) - ?", (BAD_MAIL_KEPT,))
        s.trace.record(MailBad, mail=message_id or None, sender=sender, reason=str(error), size=len(content))
        return
    _greet(ctx, s, mail, len(content))
    process(ctx, s, mail, content, "backfill" if mail.type in RESPONSES else "broadcast")


def read(ctx: Context, content: bytes) -> ReplicationMail:
    """The replication mail in a mail's content. BadMail if it is none, or from no store of the organization."""
    mail = read_again(ctx, content)
    if ctx.directory.get(mail.store) is None:
        raise BadMail(f"store {mail.store} is not in the directory")
    if mail.store == ctx.name:
        raise BadMail("a mail of this store's own")
    return mail


def read_again(ctx: Context, content: bytes) -> ReplicationMail:
    """A mail that was taken when it came; its sender may have been deleted from the directory since (spec: RP-6)."""
    try:
        found = system_body(content)
        if found is None:
            raise OrdinaryMail("an ordinary mail: no replication message in it")
        form, body = found
        message = _DECODERS[form](body)
    except CodecError as error:
        raise BadMail(str(error)) from None
    return decode(message, ctx.verifier)


def _greet(ctx: Context, s: Stimulus, mail: ReplicationMail, size: int) -> None:
    """What a mail says by coming, if none sent later came before: its sender is up (spec: BF-4), and how long the way takes
    (spec: RT-3). A captured mail that an outsider sends again says neither.
    """
    if mail.lamport <= MAX_LAMPORT:
        s.trace.lamport_seen(mail.lamport)
    s.trace.record(
        MailReceived,
        mail=mail.message_id,
        sender=mail.store,
        message_type=int(mail.type),
        folders=traced_sections(mail),
        recipients=(ctx.name,),
        size=size,
        number=mail.number,
        marks=traced_marks(mail),
    )
    ctx.store.learn_store(s.conn, mail.replica_guid, mail.store)
    application_log.mail_in(ctx, s, mail)
    row = s.conn.exec_driver_sql(
        "SELECT down, transit_us, heard_sent_at FROM peer WHERE store = ?", (mail.store,)
    ).first()
    if row is not None and mail.sent_at <= row[2]:
        return  # a duplicate, or overtaken by a later one: no news of its sender
    took = max(0, s.now - mail.sent_at)
    transit = took if row is None or row[1] is None else row[1] + (took - row[1]) // TRANSIT_WEIGHT
    s.conn.exec_driver_sql(
        "INSERT INTO peer (store, down, heard_sent_at, backfilled_at, transit_us) VALUES (?, 0, ?, 0, ?)"
        " ON CONFLICT (store) DO UPDATE SET down = 0,"
        " heard_sent_at = excluded.heard_sent_at, transit_us = excluded.transit_us",
        (mail.store, mail.sent_at, transit),
    )
    if row is not None and row[0]:
        s.trace.record(SourceUp, store=mail.store)


def process(ctx: Context, s: Stimulus, mail: ReplicationMail, content: bytes, way: Way) -> None:
    """A sound mail, fresh or out of the queue. Rows come first (spec: RST-4), what is missing last (spec: BF-1)."""
    for section in mail.sections:
        _take_row(ctx, s, mail, section)
    _HANDLERS[mail.type](ctx, s, mail, content, way)
    for section in mail.sections:
        fid = ctx.folders.fid_of(section.folder)
        if fid is not None and ctx.rst.own(fid) is not None:
            note_missing(ctx, s, fid, mail.store)
            backfill.came_near(ctx, s, fid, mail.store)


def note_missing(ctx: Context, s: Stimulus, fid: int, store: str) -> None:
    held = held_messages.held_hierarchy(s.conn) if fid == HIERARCHY_FID else CNSet.EMPTY
    backfill.note_missing(ctx, s, fid, held, store)


def _take_row(ctx: Context, s: Stimulus, mail: ReplicationMail, section: Section) -> None:
    """The sender's row is what it says now, a smaller set too, unless a later mail has spoken (spec: RST-4)."""
    fid = ctx.folders.fid_of(section.folder)
    if fid is None or ctx.rst.own(fid) is None or mail.store not in ctx.holders(fid):
        return
    status.heard(s.conn, fid, mail.store, mail.sent_at)
    old = ctx.rst.row(fid, mail.store)
    if old is not None and (old.sent_at, old.sent_number) >= (mail.sent_at, mail.number):
        return
    ctx.rst.put(s.conn, fid, PeerRow(mail.store, section.row, s.now, mail.sent_at, mail.number))
    s.trace.record(
        RowReplaced,
        mail=mail.message_id,
        folder=object_text(section.folder),
        store=mail.store,
        **section.row.texts(),
        sent_at=mail.sent_at,
        sent_number=mail.number,
    )
    expiry.take_back(s, fid, mail.store, section.row)
    if old is not None and not old.numbers <= section.row:
        backfill.prune(ctx, s, fid, f"{mail.store} no longer claims it")


# -- what each type does


def _on_hierarchy(ctx: Context, s: Stimulus, mail: ReplicationMail, content: bytes, way: Way) -> None:
    del content
    section = mail.sections[0]
    before = snapshot(ctx)
    applied = apply_folders.apply_folders(ctx, s, mail.updates, way, mail.store)
    _tell_failures(s, mail)
    waiting = held_messages.held_hierarchy(s.conn)
    numbers = section.numbers.contents - waiting - mail.failed - applied.failed
    account(ctx, s, HIERARCHY_FID, NumberSets(numbers) | applied.numbers, applied.fresh, waiting)
    news = settle(ctx, s, before)
    if mail.type in RESPONSES:
        backfill.response_came(ctx, s, HIERARCHY_FID, mail.store, mail.sent_at, empty=_is_empty(mail))
    free_content(ctx, s, news)


def free_content(ctx: Context, s: Stimulus, news: list[Folder]) -> None:
    """Content that waited for these folders, or for their replicas here, is processed now (spec: HI-4)."""
    for folder in news:
        if folder.props is not None and not folder.hidden and ctx.rst.own(folder.fid) is None:
            continue  # known now, but no replica here: it goes on waiting
        for _, content in held_messages.freed_mails(s, folder.object):
            process(ctx, s, read_again(ctx, content), content, "queue")


def _on_content(ctx: Context, s: Stimulus, mail: ReplicationMail, content: bytes, way: Way) -> None:
    section = mail.sections[0]
    fid = ctx.folders.fid_of(section.folder)
    if fid == HIERARCHY_FID:
        _tell_failures(s, mail)
        return
    folder = ctx.folders.at(fid) if fid is not None else None
    if folder is not None and (folder.props is None or folder.hidden):
        _drop_dead(ctx, s, folder, mail, way)  # spec: HI-6 dropped, never held
        return
    if folder is None or ctx.rst.own(folder.fid) is None:
        held_messages.hold_mail(ctx, s, section.folder, section.numbers.merged(), mail.store, content)
        return
    applied = apply_updates(ctx, s, folder.fid, mail.updates, way)
    note_replicated(s, folder.fid, [update.version for update in mail.updates])
    _tell_failures(s, mail)
    numbers = section.numbers.without(mail.failed) | applied.numbers
    account(ctx, s, folder.fid, numbers, applied.fresh)
    tell_contacts(ctx, s, folder.fid, applied)
    if applied.conflicts:
        conflicts.arose(ctx, s, folder)
    if mail.type in RESPONSES:
        backfill.expired_there(ctx, s, folder.fid, mail.store, section.expired)
        replica_removal.answer_leavers(ctx, s, folder.fid)  # what nobody has any more is accounted for now
        backfill.response_came(ctx, s, folder.fid, mail.store, mail.sent_at, empty=_is_empty(mail))
        if Mark.NO_REPLICA in section.marks:
            replica_removal.leaver_gone(ctx, s, folder.fid, mail.store)


def _is_empty(mail: ReplicationMail) -> bool:
    """Whether a response says that its source has none of what it was asked for (spec: BF-5). One of several mails may bring
    a version whose number was not asked for, beside that of another mail, and claim nothing."""
    said = mail.sections[0]
    return not (mail.updates or mail.failures or said.numbers or said.expired)


def _drop_dead(ctx: Context, s: Stimulus, folder: Folder, mail: ReplicationMail, way: Way) -> None:
    for update in mail.updates:
        record_version(ctx, s, folder.fid, update.version, way, update.names, "tombstoned")


def _tell_failures(s: Stimulus, mail: ReplicationMail) -> None:
    """Items that could not be decoded stay missing (spec: IN-5)."""
    for reason in mail.failures:
        s.trace.record(VersionFailed, mail=mail.message_id, number=reason.split(": ", 1)[0], reason=reason)


def account(ctx: Context, s: Stimulus, fid: int, numbers: NumberSets, fresh: bool, held: CNSet = CNSet.EMPTY) -> None:
    """Numbers are accounted for here; an update begins the folder's 24 hours anew (spec: CN-7, ST-1)."""
    ctx.rst.add(fid, numbers)
    own = ctx.rst.own(fid)
    if fresh and own is not None:
        own.last_update_at = s.now
        own.status_sent_at = None
        ctx.rst.touch(own)
    backfill.came_in(ctx, s, fid, held)
    replica_removal.answer_leavers(ctx, s, fid)


def _on_request(ctx: Context, s: Stimulus, mail: ReplicationMail, content: bytes, way: Way) -> None:
    del content, way
    answer(ctx, s, mail)


def _on_status(ctx: Context, s: Stimulus, mail: ReplicationMail, content: bytes, way: Way) -> None:
    del content, way
    status.on_status(ctx, s, mail)


def _on_status_request(ctx: Context, s: Stimulus, mail: ReplicationMail, content: bytes, way: Way) -> None:
    del content, way
    status.on_request(ctx, s, mail)


_HANDLERS: Mapping[MessageType, Callable[[Context, Stimulus, ReplicationMail, bytes, Way], None]] = {
    MessageType.HIERARCHY: _on_hierarchy,
    MessageType.HIERARCHY_RESPONSE: _on_hierarchy,
    MessageType.CONTENT: _on_content,
    MessageType.CONTENT_RESPONSE: _on_content,
    MessageType.BACKFILL_REQUEST: _on_request,
    MessageType.STATUS: _on_status,
    MessageType.STATUS_REQUEST: _on_status_request,
}
