"""Responses to backfill requests: sent at once, to the requester only. A mail names only what it satisfies (spec: BF-5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from node.codec.items import Version
from node.codec.replication_message import Mark, MessageType, ReplicationMail, Section, Update
from node.mail.packing import in_order, shares, split
from node.mail.send import section_of, send
from node.objects.apply_folders import hiding
from node.objects.expiry import expired_among
from node.objects.version_rows import named_by, tied_numbers
from node.state.context import Context
from node.state.state_table import OwnRow
from node.state.tables import EXPIRED, HIERARCHY_FID
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from node.tracking.pcl import Pcl
from traces.events import RequestAnswered, RequestRefused
from transport.sql import Connection
from transport.stimulus import Stimulus

_Response: TypeAlias = tuple[Section, list[Update]]


def answer(ctx: Context, s: Stimulus, mail: ReplicationMail) -> None:
    """Answer each folder that a request names. A request mail that arrives again is not answered again (spec: BF-5)."""
    if s.conn.exec_driver_sql("SELECT 1 FROM answered WHERE mail = ?", (mail.message_id,)).first():
        return
    for requested in {section.folder: section for section in mail.sections}.values():
        _answer_folder(ctx, s, mail, requested)


def _answer_folder(ctx: Context, s: Stimulus, mail: ReplicationMail, requested: Section) -> None:
    """Send the responses for one folder. A response without numbers says that this store has none of the requested ones."""
    fid = ctx.folders.fid_of(requested.folder)
    own = ctx.rst.own(fid) if fid is not None else None
    hierarchy = fid == HIERARCHY_FID
    folder = ctx.folders.text_of(fid) if fid is not None else requested.folder.hex()
    if not hierarchy and ctx.config.content_suspended:
        s.trace.record(RequestRefused, folder=folder, requester=mail.store, request_mail=mail.message_id)
        return
    s.conn.exec_driver_sql("INSERT OR IGNORE INTO answered (mail, at) VALUES (?, ?)", (mail.message_id, s.now))
    have = expired = NumberSets.EMPTY
    priority = 0
    responses: list[_Response] = [(Section(requested.folder, NumberSets.EMPTY, marks=Mark.NO_REPLICA), [])]
    if own is not None:
        have = requested.numbers & own.numbers
        priority = ctx.priority(own.fid) if have else 0
        expired = expired_among(ctx, s.conn, own.fid, have)  # spec: DL-3
        have -= expired
        responses = _responses(ctx, s.conn, own, have, expired)
    kind = MessageType.HIERARCHY_RESPONSE if hierarchy else MessageType.CONTENT_RESPONSE
    for section, updates in responses:
        send(ctx, s, kind, [mail.store], [section], updates=updates, in_reply_to=mail.message_id, priority=priority)
    s.trace.record(
        RequestAnswered,
        folder=folder,
        requester=mail.store,
        cnset=have.merged().text(),
        mails=len(responses),
        request_mail=mail.message_id,
        expired=expired.merged().text(),
    )


def _responses(ctx: Context, conn: Connection, own: OwnRow, have: NumberSets, expired: NumberSets) -> list[_Response]:
    """Return the mails that bring the objects of the numbers. The first mail also names the numbers that have expired."""
    hierarchy = own.fid == HIERARCHY_FID
    found = _folders_for(ctx, conn, have.contents) if hierarchy else _messages_for(ctx, conn, own.fid, have)
    limit = ctx.config.folder_limit if hierarchy else ctx.config.message_limit
    mails = split(in_order([*found]), ctx.config.message_size, limit, hierarchy=hierarchy) or [[]]
    return [
        (
            section_of(ctx, own, numbers, expired=NumberSets.EMPTY if index else expired),
            [*hiding(ctx, updates), *updates] if hierarchy else updates,
        )
        for index, (updates, numbers) in enumerate(zip(mails, shares(have, mails), strict=True))
    ]


def _ranges(ctx: Context, numbers: CNSet) -> Iterator[tuple[int, int, int]]:
    """Yield the ranges of numbers as (local replica number, lowest, highest), without unknown replicas."""
    for guid in numbers.guids():
        rep = ctx.store.known_rep(guid)
        if rep is not None:
            for lo, hi in numbers.ranges(guid):
                yield rep, lo, hi


def _objects_for(ctx: Context, conn: Connection, fid: int, table: str, numbers: CNSet) -> list[bytes]:
    """Return the objects that the numbers belong to, also by superseded numbers (spec: CN-7)."""
    found: dict[bytes, None] = {}
    by_folder = "" if table == "folder" else "fid = ? AND "
    first = () if table == "folder" else (fid,)
    for rep, lo, hi in _ranges(ctx, numbers):
        for (object_id,) in conn.exec_driver_sql(
            f"SELECT object FROM {table} WHERE {by_folder}rep = ? AND ctr BETWEEN ? AND ? ORDER BY ctr",
            (*first, rep, lo, hi),
        ):
            found[object_id] = None
        for (object_id,) in conn.exec_driver_sql(
            "SELECT object FROM superseded WHERE fid = ? AND rep = ? AND ctr BETWEEN ? AND ? ORDER BY ctr",
            (fid, rep, lo, hi),
        ):
            found[object_id] = None
    return list(found)


def _messages_for(ctx: Context, conn: Connection, fid: int, numbers: NumberSets) -> Iterator[Update]:
    """Yield all kept versions, or the tombstone, of every message that a number of its kind belongs to.

    In the set of one kind, a number of the other kind is a hole (spec: CN-9).
    """
    kinds = [
        (fai, each) for fai in (False, True) for each in _objects_for(ctx, conn, fid, "message", numbers.kind(fai))
    ]
    for fai, object_id in kinds:
        tied = CNSet.EMPTY
        for rep, ctr, pcl, at, item, subject, supersedes in conn.exec_driver_sql(
            "SELECT rep, ctr, pcl, modified_at, item, subject, supersedes FROM message"
            " WHERE object = ? AND deleted <> ? AND fai = ? ORDER BY rep, ctr",
            (object_id, EXPIRED, int(fai)),
        ).all():
            if supersedes and not tied:
                tied = tied_numbers(ctx, conn, object_id)
            version = Version(object_id, ctx.store.number(rep, ctr), Pcl.decode(pcl), at, item, subject, fai)
            yield Update(version, named_by(version, tied))


def _folders_for(ctx: Context, conn: Connection, numbers: CNSet) -> Iterator[Update]:
    for object_id in _objects_for(ctx, conn, HIERARCHY_FID, "folder", numbers):
        rep, ctr, pcl, at, deleted, item, supersedes = conn.exec_driver_sql(
            "SELECT rep, ctr, pcl, modified_at, deleted, item, supersedes FROM folder WHERE object = ?", (object_id,)
        ).one()
        version = Version(object_id, ctx.store.number(rep, ctr), Pcl.decode(pcl), at, None if deleted else item)
        yield Update(version, tied_numbers(ctx, conn, object_id) if supersedes else CNSet.EMPTY)
