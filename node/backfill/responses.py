"""Responses to backfill requests, sent at once to the requester. A mail lists only numbers that it satisfies (spec: BF-5).

A response of many changes is divided: the stimulus of the request sends some of it, and a row of the table `response` keeps
the rest. The timer of this row is due at the same instant, so the next stimulus sends more. The event request.answered is
recorded with the last mail.

Send Hierarchy and Send Contents send such mails too, although no store asked (spec: AD-1, `node.broadcasts.resend`). These are
broadcasts with the mark "resent", to the stores that an administrator chose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from node.codec.items import Version, object_text
from node.codec.replication_message import Mark, MessageType, ReplicationMail, Section, Update, names_of
from node.mail.packing import in_order, shares, split, work_of
from node.mail.send import cannot_reach, in_tree, section_of, send
from node.objects.apply_folders import hiding
from node.objects.expiry import expired_among
from node.objects.version_rows import named_by, tied_numbers
from node.state.context import Context
from node.state.state_table import LastSent, OwnRow
from node.state.store_identity import LOCAL_REP
from node.state.timers import Timer, set_timer
from node.stored_values import EXPIRED, HIERARCHY_FID
from node.tracking.change_number import ChangeNumber
from node.tracking.cnset import CNSet
from node.tracking.idset import decode_idset, encode_idset
from node.tracking.number_sets import NumberSets
from node.tracking.pcl import Pcl
from traces.events import RequestAnswered, RequestRefused
from traces.labtime import DAY_US
from transport.sql import Connection, Statement
from transport.stimulus import Stimulus

FORGET_ANSWERED = Statement("DELETE FROM answered WHERE at < ?")
WAS_ANSWERED = Statement("SELECT 1 FROM answered WHERE mail = ?")
NOTE_ANSWERED = Statement("INSERT OR IGNORE INTO answered (mail, at) VALUES (?, ?)")
RESPONSE = Statement(
    "SELECT fid, recipients, request_mail, answered, expired, numbers, numbers_fai, mails FROM response WHERE id = ?"
)
REMOVE_RESPONSE = Statement("DELETE FROM response WHERE id = ?")
MARK_SENT = Statement("UPDATE message SET sent = 1 WHERE fid = ? AND rep = ? AND ctr = ?")
KEEP_RESPONSE = Statement(
    "INSERT INTO response (fid, recipients, request_mail, answered, expired, numbers, numbers_fai, mails)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
VERSIONS_OF_MESSAGE = Statement(
    "SELECT rep, ctr, pcl, modified_at, item, subject, supersedes FROM message"
    " WHERE object = ? AND deleted <> ? AND fai = ? ORDER BY rep, ctr"
)
_OBJECTS_OF_NUMBERS = (
    "SELECT ctr, object FROM {table} WHERE {in_folder}rep = ? AND ctr BETWEEN ? AND ?"
    " UNION ALL"
    " SELECT ctr, object FROM superseded WHERE fid = ? AND rep = ? AND ctr BETWEEN ? AND ? ORDER BY ctr"
)
OBJECTS_OF_NUMBERS = (
    Statement(_OBJECTS_OF_NUMBERS.format(table="message", in_folder="fid = ? AND ")),
    Statement(_OBJECTS_OF_NUMBERS.format(table="folder", in_folder="")),
)
"""The objects of a range of numbers: the messages of a folder, and the folders of the hierarchy."""
VERSION_OF_FOLDER = Statement(
    "SELECT rep, ctr, pcl, modified_at, deleted, item, supersedes FROM folder WHERE object = ?"
)

ANSWERED_KEPT_US = 30 * DAY_US
"""How long the store remembers a request that it answered. A mail expires after a few days."""


def forget_old_requests(s: Stimulus) -> None:
    """Delete old records of answered requests, so that they do not fill the disk."""
    s.conn.exec_driver_sql(FORGET_ANSWERED, (s.now - ANSWERED_KEPT_US,))


def answer(ctx: Context, s: Stimulus, mail: ReplicationMail) -> None:
    """Answer each folder that a request names. A request mail that arrives again is not answered again (spec: BF-5)."""
    if s.conn.exec_driver_sql(WAS_ANSWERED, (mail.message_id,)).first():
        return
    for requested in {section.folder: section for section in mail.sections}.values():
        _answer_folder(ctx, s, mail, requested)


def _answer_folder(ctx: Context, s: Stimulus, mail: ReplicationMail, requested: Section) -> None:
    """Send the responses for one folder. A response without numbers says that this store has none of the requested ones."""
    fid = ctx.folders.fid_of(requested.folder)
    own = ctx.rst.own(fid) if fid is not None else None
    hierarchy = fid == HIERARCHY_FID
    folder = object_text(requested.folder)
    if not hierarchy and ctx.config.content_suspended:
        s.trace.record(RequestRefused, folder=folder, requester=mail.store, request_mail=mail.message_id)
        return
    kind = MessageType.HIERARCHY_RESPONSE if hierarchy else MessageType.CONTENT_RESPONSE
    recipients = in_tree(ctx, s, kind, requested.folder, [mail.store])
    if not recipients or cannot_reach(ctx, s, kind, recipients, [requested.folder]):
        return
    s.conn.exec_driver_sql(NOTE_ANSWERED, (mail.message_id, s.now))
    if own is None:
        nothing = Section(requested.folder, NumberSets.EMPTY, marks=Mark.NO_REPLICA)
        send(ctx, s, kind, [mail.store], [nothing], in_reply_to=mail.message_id)
        _record(s, folder, _Response(0, (mail.store,), mail.message_id, CNSet.EMPTY, "", NumberSets.EMPTY, 1))
        return
    have = requested.numbers & own.numbers
    expired = expired_among(ctx, s.conn, own.fid, have)  # spec: DL-3
    have -= expired
    response = _Response(own.fid, (mail.store,), mail.message_id, have.merged(), expired.merged().text(), have, 0)
    _send(ctx, s, own, response, expired)


def send_again(ctx: Context, s: Stimulus, own: OwnRow, stores: Sequence[str], numbers: NumberSets) -> None:
    """Send changes to stores that have not asked for them (spec: AD-1).

    Among the numbers may be unsent changes of this store. With their mail they count as broadcast (spec: RST-1).
    """
    _send(ctx, s, own, _Response(own.fid, tuple(stores), "", CNSet.EMPTY, "", numbers, 0), NumberSets.EMPTY)


@dataclass(slots=True)
class _Response:
    """A response that was sent in part.

    request_mail: the Message-ID of the request; '' if no store asked.
    answered: all numbers that the response covers.
    numbers: those that are still to be sent.
    mails: how many mails were sent.
    """

    fid: int
    recipients: tuple[str, ...]
    request_mail: str
    answered: CNSet
    expired: str
    numbers: NumberSets
    mails: int

    @property
    def is_asked(self) -> bool:
        return self.request_mail != ""


def go_on(ctx: Context, s: Stimulus, response_id: int) -> None:
    """Send the next part of a response, or end it if this store no longer holds the folder or content is suspended."""
    fid, recipients, request_mail, answered, expired, numbers, numbers_fai, mails = s.conn.exec_driver_sql(
        RESPONSE,
        (response_id,),
    ).one()
    s.conn.exec_driver_sql(REMOVE_RESPONSE, (response_id,))
    remainder = NumberSets.decode(numbers, numbers_fai)
    response = _Response(
        fid, tuple(recipients.split(",")), request_mail, decode_idset(answered), expired, remainder, mails
    )
    own = ctx.rst.own(fid)
    if own is None or ctx.config.content_suspended or not ctx.reached(fid, response.recipients):
        response.answered -= remainder.merged()
        _record(s, ctx.folders.text_of(fid), response)
    elif not response.is_asked and not remainder <= own.numbers | _unclaimed(ctx, own):
        return  # the replica was dropped, and a new one began
    else:
        _send(ctx, s, own, response, NumberSets.EMPTY)


def _send(ctx: Context, s: Stimulus, own: OwnRow, response: _Response, expired: NumberSets) -> None:
    """Send the mails of one stimulus and leave the rest due. The first mail also names the `expired` numbers."""
    hierarchy = own.fid == HIERARCHY_FID
    numbers, updates = _portion(ctx, s, own.fid, response.numbers)
    limit = ctx.config.folder_limit if hierarchy else ctx.config.message_limit
    mails = list(split(in_order(updates), ctx.config.message_size, limit, hierarchy=hierarchy)) or [[]]
    is_asked = response.is_asked
    kind, marks = _KINDS[is_asked, hierarchy], Mark.NONE if is_asked else Mark.RESENT
    priority = ctx.priority(own.fid) if response.answered or expired or not is_asked else 0
    for mail, share in zip(mails, shares(numbers, mails), strict=True):
        if not is_asked:
            _claim(ctx, s, own, share, mail)
        section = section_of(ctx, own, share, expired=expired, marks=marks)
        expired = NumberSets.EMPTY
        brought = [*hiding(ctx, mail), *mail] if hierarchy else mail
        send(
            ctx,
            s,
            kind,
            response.recipients,
            [section],
            updates=brought,
            in_reply_to=response.request_mail,
            priority=priority,
        )
    response.mails += len(mails)
    response.numbers -= numbers
    if response.numbers:
        _keep(s, response)
    else:
        _record(s, ctx.folders.text_of(own.fid), response)


_KINDS: Final[Mapping[tuple[bool, bool], MessageType]] = {
    (False, False): MessageType.CONTENT,
    (False, True): MessageType.HIERARCHY,
    (True, False): MessageType.CONTENT_RESPONSE,
    (True, True): MessageType.HIERARCHY_RESPONSE,
}
"""The type of the mails, by whether a store asked, and whether they have the hierarchy."""


def _unclaimed(ctx: Context, own: OwnRow) -> NumberSets:
    """Return the numbers that this store has used for changes and holes since its last broadcast of the folder."""
    return own.unsent(ctx.store.guid, LastSent(ctx.store.change_counter, ctx.store.change_counter))


def _claim(ctx: Context, s: Stimulus, own: OwnRow, numbers: NumberSets, mail: Sequence[Update]) -> None:
    """Count the unsent changes among `numbers` as broadcast, because this mail has them (spec: RST-1)."""
    if numbers <= own.numbers:
        return
    guid = ctx.store.guid
    ctx.rst.add(own.fid, numbers)
    own.last_sent = LastSent(
        max(own.last_sent.contents, numbers.contents.highest(guid)),
        max(own.last_sent.associated, numbers.associated.highest(guid)),
    )
    ctx.rst.touch(own)
    named = numbers.merged()
    s.conn.exec_driver_sql(
        MARK_SENT,
        [
            (own.fid, LOCAL_REP, update.version.number.counter)
            for update in mail
            if update.version.number.guid == guid and update.version.number in named
        ],
    )


def _keep(s: Stimulus, response: _Response) -> None:
    """Keep the rest of a response for the next stimulus."""
    response_id = s.conn.exec_driver_sql(
        KEEP_RESPONSE,
        (
            response.fid,
            ",".join(response.recipients),
            response.request_mail,
            encode_idset(response.answered),
            response.expired,
            *response.numbers.encode(),
            response.mails,
        ),
    ).lastrowid
    assert response_id is not None
    set_timer(s.conn, Timer.RESPONSE, response_id, s.now)


def _record(s: Stimulus, folder: str, response: _Response) -> None:
    if not response.is_asked:
        return
    s.trace.record(
        RequestAnswered,
        folder=folder,
        requester=response.recipients[0],
        cnset=response.answered.text(),
        mails=response.mails,
        request_mail=response.request_mail,
        expired=response.expired,
    )


def _portion(ctx: Context, s: Stimulus, fid: int, numbers: NumberSets) -> tuple[NumberSets, list[Update]]:
    """Return the numbers that one stimulus answers, and the versions to send for them.

    All versions of an object go in one stimulus, with all of the numbers that they stand for. Folders are few and small, and
    the deletion of a tree is one mail (spec: HI-6), so a response of the hierarchy is one stimulus.
    """
    if fid == HIERARCHY_FID:
        return numbers, list(_folders_for(ctx, s.conn, numbers.contents))
    updates: list[Update] = []
    for fai in (False, True):
        objects: set[bytes] = set()
        for number, object_id in _objects_for(ctx, s.conn, fid, numbers.kind(fai)):
            if object_id in objects:
                continue
            if updates and s.enough:
                before = ChangeNumber(number.guid, number.counter - 1)
                reached = NumberSets(
                    numbers.contents if fai else numbers.contents.upto(before),
                    numbers.associated.upto(before) if fai else CNSet.EMPTY,
                )
                names = names_of(updates).merged()
                return reached | numbers & NumberSets(names, names), updates
            objects.add(object_id)
            for update in _versions_of(ctx, s.conn, object_id, fai=fai):
                updates.append(update)
                s.work += work_of(update)
    return numbers, updates


def _objects_for(ctx: Context, conn: Connection, fid: int, numbers: CNSet) -> Iterator[tuple[ChangeNumber, bytes]]:
    """Yield the numbers in order, each with its object. Superseded numbers have an object too (spec: CN-7). Numbers of unknown
    replicas, and holes, are left out."""
    first = () if fid == HIERARCHY_FID else (fid,)
    for guid in numbers.guids():
        rep = ctx.store.known_rep(guid)
        if rep is None:
            continue
        for lo, hi in numbers.ranges(guid):
            for ctr, object_id in conn.exec_driver_sql(
                OBJECTS_OF_NUMBERS[fid == HIERARCHY_FID],
                (*first, rep, lo, hi, fid, rep, lo, hi),
            ):
                yield ChangeNumber(guid, ctr), object_id


def _versions_of(ctx: Context, conn: Connection, object_id: bytes, *, fai: bool) -> Iterator[Update]:
    """Yield all kept versions of a message, or its tombstone. Yield nothing if the message is not of the kind `fai`.

    In the set of one kind, a number of the other kind is a hole (spec: CN-9).
    """
    tied = CNSet.EMPTY
    for rep, ctr, pcl, at, item, subject, supersedes in conn.exec_driver_sql(
        VERSIONS_OF_MESSAGE,
        (object_id, EXPIRED, int(fai)),
    ).all():
        if supersedes and not tied:
            tied = tied_numbers(ctx, conn, object_id)
        version = Version(object_id, ctx.store.number(rep, ctr), Pcl.decode(pcl), at, item, subject, fai)
        yield Update(version, named_by(version, tied))


def _folders_for(ctx: Context, conn: Connection, numbers: CNSet) -> Iterator[Update]:
    for object_id in dict.fromkeys(object_id for _, object_id in _objects_for(ctx, conn, HIERARCHY_FID, numbers)):
        rep, ctr, pcl, at, deleted, item, supersedes = conn.exec_driver_sql(VERSION_OF_FOLDER, (object_id,)).one()
        version = Version(object_id, ctx.store.number(rep, ctr), Pcl.decode(pcl), at, None if deleted else item)
        yield Update(version, tied_numbers(ctx, conn, object_id) if supersedes else CNSet.EMPTY)
