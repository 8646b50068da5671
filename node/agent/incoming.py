"""What happens to a mail that arrives at the store's address (spec: IN-1 to IN-5).

    1 read            decode the mail and check its signature; if this fails, it is bad mail and no other step runs
    2 record arrival  the sender is up, unless a later mail from it arrived first (spec: BF-4, RT-3)
    3 replace rows    the sender's row of each section replaces the row here, unless that row is from a later mail (spec: RST-4)
    4 handle          by type: apply updates, answer a request, read a status
    5 note missing    numbers that the sender's rows claim and this store lacks go into the backfill array (spec: BF-1)

Rows are replaced before step 4, so that every decision uses the sender's newest claims. Missing numbers are noted after step 4,
because the mail itself may contain them.

What step 4 does with an update:

    update of                                 becomes   and its numbers
    a folder whose parent is known            APPLIED   are accounted for
    a version that is old here                IGNORED   are accounted for (spec: CN-7)
    a folder whose parent is unknown          HELD      are neither missing nor accounted for (spec: HI-4)
    a folder held here (content)              APPLIED   are accounted for
    a folder unknown or not held (content)    HELD      are neither missing nor accounted for; the whole mail is held
    a deleted or hidden folder (content)      IGNORED   belong to no replica here (spec: HI-6)
    bytes that cannot be decoded              FAILED    stay missing (spec: IN-5)

HELD ends when the awaited folder arrives: steps 3 to 5 run for a held mail, and a held folder update is applied. If the wait
ends first (by default 7 days for a folder update, 4 hours for a mail), the item is dropped and its numbers are missing.

Example: A creates folder F with replicas on A and B (A-7) and posts there (A-8). The content mail overtakes the hierarchy
mail.

    10:00  content mail with A-8    F is unknown at B: the mail is held until 14:00
    10:05  hierarchy mail with A-7  F is applied, its replica begins, the held mail is processed: A-8 is applied

If the hierarchy mail comes after 14:00, the held mail is gone. B requests the status of F, and gets A-8 by backfill.

What must never happen: a bad mail that changes a row; a mail that replaces a row from a mail sent later; a held or failed
update whose numbers enter the store's row; a mail that arrives twice and has an effect twice (spec: IN-3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from node.backfill import array, requests
from node.backfill.responses import answer
from node.codec.items import object_text
from node.codec.replication_message import RESPONSES, Mark, MessageType, ReplicationMail, Section, decode
from node.codec.signing import Verifier
from node.errors import BadMail, OrdinaryMail
from node.mail.send import traced_marks, traced_sections
from node.objects import apply_folders, conflict_age, expiry
from node.objects.apply_versions import apply_updates, record_version
from node.replicas import removal
from node.replicas.tree_changes import settle, snapshot
from node.state import application_log, held_messages, peers
from node.state.context import Context
from node.state.folders import Folder
from node.state.state_table import PeerRow
from node.status import statuses
from node.stored_values import HIERARCHY_FID
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from node.user_mail.conflict_notices import notify_contacts
from node.user_mail.deliveries import note_replicated
from node.user_mail.design_conflicts import notify_of_lost_designs
from traces.events import MailBad, MailReceived, RowReplaced, SourceUp, VersionFailed
from traces.events.change import Way
from transport.errors import CodecError
from transport.mapi.mdbef import decode_mdbef
from transport.mapi.system_message import SystemMessage
from transport.mapi.tnef import decode_tnef
from transport.mime.message import BodyForm, system_body
from transport.mta.non_delivery import NULL_SENDER
from transport.protocol.hop_headers import MAX_LAMPORT
from transport.sql import Statement
from transport.stimulus import Stimulus

KEEP_BAD_MAIL = Statement("INSERT INTO bad_mail (at, sender, reason, content) VALUES (?, ?, ?, ?)")
FORGET_OLDEST_BAD_MAIL = Statement("DELETE FROM bad_mail WHERE id <= (SELECT max(id) FROM bad_mail) - ?")

DECODERS: Mapping[BodyForm, Callable[[bytes], SystemMessage]] = {  # spec: ML-4 every version reads all forms
    BodyForm.TNEF: decode_tnef,
    BodyForm.S_TNEF: decode_tnef,
    BodyForm.MDBEF: decode_mdbef,
}
_BODIES_REMEMBERED: Final = 64
"""How many decoded bodies a process remembers: the broadcasts of one instant in a lab of one process. In a process with one
store nothing is read twice, so the bodies that it remembers must be small."""

_REMEMBERED_BODY_BYTES: Final = 16 * 1024
BAD_MAIL_KEPT = 1000
"""How many bad mails are kept for people to read. The oldest are deleted first."""


def receive(ctx: Context, s: Stimulus, sender: str, content: bytes, message_id: str, *, system: bool) -> None:
    """Receive a mail to this store's address. A bad mail is put aside and has no other effect (spec: IN-5).

    `system`: the mail arrived as a system message.
    """
    try:
        if not system:  # spec: ML-3
            raise OrdinaryMail(
                "an ordinary mail: it arrived without XEXCH50, so it does not count as a replication mail"
            )
        mail = read(ctx, content)
    except BadMail as error:
        if isinstance(error, OrdinaryMail) and sender == NULL_SENDER:
            return  # a non-delivery report about our mail; status and backfill repair the loss
        s.conn.exec_driver_sql(
            KEEP_BAD_MAIL,
            (s.now, sender, str(error), content),
        )
        s.conn.exec_driver_sql(FORGET_OLDEST_BAD_MAIL, (BAD_MAIL_KEPT,))
        s.trace.record(MailBad, mail=message_id or None, sender=sender, reason=str(error), size=len(content))
        return
    _record_arrival(ctx, s, mail, len(content))
    process(ctx, s, mail, content, "backfill" if mail.type in RESPONSES else "broadcast")


def read(ctx: Context, content: bytes) -> ReplicationMail:
    """Return the replication mail in a mail's content.

    Raise BadMail if there is none, or if its sender is not another store in the directory.
    """
    mail = decode_content(ctx, content)
    if ctx.directory.get(mail.store) is None:
        raise BadMail(f"store {mail.store} is not in the directory")
    if mail.store == ctx.name:
        raise BadMail("the mail comes from this store itself")
    return mail


def decode_content(ctx: Context, content: bytes) -> ReplicationMail:
    """Decode and verify a mail, whether its sender is in the directory or not.

    The sender of a held mail may have been deleted since it arrived (spec: RP-6).
    """
    try:
        form_and_body = system_body(content)
        if form_and_body is None:
            raise OrdinaryMail("an ordinary mail: it contains no replication message")
        return decode_body(*form_and_body, ctx.verifier)
    except CodecError as error:
        raise BadMail(str(error)) from None


def decode_body(form: BodyForm, body: bytes, verifier: Verifier) -> ReplicationMail:
    """Decode and verify the body of a mail. The stores of one process decode a broadcast once, because nobody changes it.

    Raise CodecError if the body is none of its form, and BadMail if it is not valid or not signed by its store.
    """
    return (_decoded if len(body) <= _REMEMBERED_BODY_BYTES else _decoded.__wrapped__)(form, body, verifier)


@lru_cache(maxsize=_BODIES_REMEMBERED)
def _decoded(form: BodyForm, body: bytes, verifier: Verifier) -> ReplicationMail:
    return decode(DECODERS[form](body), verifier)


def _record_arrival(ctx: Context, s: Stimulus, mail: ReplicationMail, size: int) -> None:
    """Record that a mail arrived, that its sender is up (spec: BF-4), and the mail's transit time (spec: RT-3).

    If a mail that was sent later has arrived already, only the arrival is recorded. So an outsider who sends a captured mail
    again cannot mark the sender as up.
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
    before = peers.note_arrival(s.conn, mail.store, mail.sent_at, max(0, s.now - mail.sent_at))
    if before is not None and before.down:
        s.trace.record(SourceUp, store=mail.store)


def process(ctx: Context, s: Stimulus, mail: ReplicationMail, content: bytes, way: Way) -> None:
    """Run steps 3 to 5 for a valid mail: one that just arrived, or one that was held."""
    for section in mail.sections:
        _replace_row(ctx, s, mail, section)
    _HANDLERS[mail.type](ctx, s, mail, content, way)
    for section in mail.sections:
        fid = ctx.folders.fid_of(section.folder)
        if fid is not None and ctx.rst.own(fid) is not None:
            array.note_missing(ctx, s, fid, mail.store)
            array.make_local(ctx, s, fid, mail.store)


def _replace_row(ctx: Context, s: Stimulus, mail: ReplicationMail, section: Section) -> None:
    """Replace the sender's row, even by a smaller set, unless the row here is from a later mail (spec: RST-4)."""
    fid = ctx.folders.fid_of(section.folder)
    if fid is None or ctx.rst.own(fid) is None or not ctx.is_holder(fid, mail.store):
        return
    statuses.clear_awaited(s.conn, fid, mail.store, mail.sent_at)
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
    expiry.drop_unclaimed(s, fid, mail.store, section.row)
    if old is not None and not old.numbers <= section.row:
        array.prune(ctx, s, fid, f"{mail.store} no longer claims it")


# -- handlers by type of mail


def _on_hierarchy(ctx: Context, s: Stimulus, mail: ReplicationMail, content: bytes, way: Way) -> None:
    del content
    section = mail.sections[0]
    before = snapshot(ctx)
    applied = apply_folders.apply_folders(ctx, s, mail.updates, way, mail.store)
    _record_failures(s, mail)
    waiting = held_messages.held_hierarchy(s.conn)
    numbers = section.numbers.contents - waiting - mail.failed - applied.failed
    account(ctx, s, HIERARCHY_FID, NumberSets(numbers) | applied.numbers, applied.fresh, waiting)
    new_folders = settle(ctx, s, before)
    if mail.type in RESPONSES:
        requests.on_response(ctx, s, HIERARCHY_FID, mail.store, mail.sent_at, empty=_is_empty(mail))
    process_freed_content(ctx, s, new_folders)
    notify_of_lost_designs(ctx, s, applied)


def process_freed_content(ctx: Context, s: Stimulus, new_folders: list[Folder]) -> None:
    """Process the held content mails of folders that are new here, or newly held (spec: HI-4)."""
    for folder in new_folders:
        if folder.props is not None and not folder.hidden and ctx.rst.own(folder.fid) is None:
            continue  # known now, but without a replica here: the content stays held
        for _, content in held_messages.freed_mails(s, folder.object):
            process(ctx, s, decode_content(ctx, content), content, "queue")


def _on_content(ctx: Context, s: Stimulus, mail: ReplicationMail, content: bytes, way: Way) -> None:
    section = mail.sections[0]
    fid = ctx.folders.fid_of(section.folder)
    folder = ctx.folders.at(fid) if fid is not None else None
    if folder is not None and (folder.props is None or folder.hidden):
        _drop_updates(ctx, s, folder, mail, way)  # spec: HI-6 dropped, never held
        return
    if folder is None or ctx.rst.own(folder.fid) is None:
        held_messages.hold_mail(ctx, s, section.folder, section.numbers.merged(), mail.store, content)
        return
    applied = apply_updates(ctx, s, folder.fid, mail.updates, way)
    note_replicated(s, folder.fid, [update.version for update in mail.updates])
    _record_failures(s, mail)
    numbers = section.numbers.without(mail.failed) | applied.numbers
    account(ctx, s, folder.fid, numbers, applied.fresh)
    notify_contacts(ctx, s, folder.fid, applied)
    if applied.conflicts:
        conflict_age.schedule(ctx, s, folder)
    if mail.type in RESPONSES:
        requests.on_expired(ctx, s, folder.fid, mail.store, section.expired)
        removal.answer_leavers(ctx, s, folder.fid)  # by now, numbers that expired everywhere are accounted for
        if Mark.NO_REPLICA in section.marks:
            removal.forget_leaver(ctx, s, folder.fid, mail.store)
        requests.on_response(ctx, s, folder.fid, mail.store, mail.sent_at, empty=_is_empty(mail))


def _on_status(ctx: Context, s: Stimulus, mail: ReplicationMail, content: bytes, way: Way) -> None:
    del content, way
    removal.on_status(ctx, s, mail)
    statuses.on_status(ctx, s, mail)


def _on_status_request(ctx: Context, s: Stimulus, mail: ReplicationMail, content: bytes, way: Way) -> None:
    del content, way
    removal.on_request(ctx, s, mail)
    statuses.on_request(ctx, s, mail)


def _is_empty(mail: ReplicationMail) -> bool:
    """Return whether a response says that its source has none of the requested numbers (spec: BF-5).

    A response without numbers is not empty if it has updates. If a response has several mails, one of them may contain only a
    version whose requested number is in another mail.
    """
    section = mail.sections[0]
    return not (mail.updates or mail.failures or section.numbers or section.expired)


def _drop_updates(ctx: Context, s: Stimulus, folder: Folder, mail: ReplicationMail, way: Way) -> None:
    for update in mail.updates:
        record_version(ctx, s, folder.fid, update.version, way, update.names, "tombstoned")


def _record_failures(s: Stimulus, mail: ReplicationMail) -> None:
    """Record the items that could not be decoded. Their numbers stay missing (spec: IN-5)."""
    for reason in mail.failures:
        s.trace.record(VersionFailed, mail=mail.message_id, number=reason.split(": ", 1)[0], reason=reason)


def account(
    ctx: Context, s: Stimulus, fid: int, numbers: NumberSets, fresh: bool, queue_numbers: CNSet = CNSet.EMPTY
) -> None:
    """Add numbers to this store's row. After an update the 24 hours before a status start again (spec: CN-7, ST-1)."""
    ctx.rst.add(fid, numbers)
    own = ctx.rst.own(fid)
    if fresh and own is not None:
        owed = ctx.config.reports_received or (own.last_update_at is not None and own.status_sent_at is None)
        own.last_update_at = s.now if owed else None  # spec: ST-6
        own.status_sent_at = None
        ctx.rst.touch(own)
    array.remove_arrived(ctx, s, fid, queue_numbers)
    removal.answer_leavers(ctx, s, fid)


_HANDLERS: Mapping[MessageType, Callable[[Context, Stimulus, ReplicationMail, bytes, Way], None]] = {
    MessageType.HIERARCHY: _on_hierarchy,
    MessageType.HIERARCHY_RESPONSE: _on_hierarchy,
    MessageType.CONTENT: _on_content,
    MessageType.CONTENT_RESPONSE: _on_content,
    MessageType.BACKFILL_REQUEST: lambda ctx, s, mail, content, way: answer(ctx, s, mail),
    MessageType.STATUS: _on_status,
    MessageType.STATUS_REQUEST: _on_status_request,
}
