"""Applying versions of messages: the heart of the lab (spec: CN-4, CN-7, CF-1, DL-1, DL-2).

A version has a change number, a predecessor change list (PCL) and a modification time. Version v *includes* version w if the
PCL of v covers the number of w: v was made from w, directly or through others. Two versions are *concurrent* if neither
includes the other. Their *rank* is (modification time, number); a version ranks above everything it includes (spec: CN-8).

For each object the table `message` keeps one of these:

    UNKNOWN    nothing
    LIVE       one version
    CONFLICT   several versions, all concurrent; the one with the highest rank is shown
    TOMBSTONE  one deletion

    kept            arriving version                     result
    UNKNOWN         any, and this store's row lacks      it is kept
                    its number
    UNKNOWN         any, and this store's row has its    ignored: the object was deleted, and its tombstone dropped
                    number                               (spec: DL-4)
    any             the same number                      ignored, "duplicate"
    LIVE, CONFLICT  a kept version includes it           ignored, "old"
    LIVE, CONFLICT  it includes all kept versions        it replaces them: LIVE
    LIVE, CONFLICT  it includes some or none of them     it replaces these and stays beside the others: CONFLICT
    LIVE, CONFLICT  a deletion                           TOMBSTONE; kept edits that it does not include are lost edits
    TOMBSTONE       not a deletion                       ignored, "tombstoned"; a lost edit, if the deletion does not include it
    TOMBSTONE       a deletion                           TOMBSTONE with the higher rank and both PCLs

Associated messages have no CONFLICT: the version with the highest rank stays (spec: CN-9). Lost edits are reported to the
folder's contacts (spec: DL-2). A version whose item expired here is still compared, but makes no conflict (spec: DL-3).

Why the order of arrival does not matter. What is kept follows from the set of versions that arrived: the deletion with the
highest rank if there is any, otherwise all versions that no other version includes. Inclusion is transitive, because the PCL of
a version covers the PCLs of all versions that it was made from. So a version that was removed or ignored earlier would be
removed again by the version that stayed, whichever came first.

Example: A creates A-1. Then A edits (A-2) and B edits (B-5), neither knowing the other. A resolves the conflict (A-3).

    A-1 {A-1}   A-2 {A-2}   B-5 {A-1, B-5}   A-3 {A-3, B-5}        PCLs; A-2 covers A-1
    C gets A-1, A-2, B-5, A-3    LIVE A-1, LIVE A-2, CONFLICT A-2 B-5, LIVE A-3
    D gets B-5, A-3, A-2, A-1    LIVE B-5, LIVE A-3, "old", "old"

When a version is replaced, the table `superseded` keeps its number and its object, so that the number stays accounted for
(spec: CN-7).

What must never happen: a concurrent version that is removed without a deletion; a version that returns while its tombstone is
kept (spec: IN-4); two stores that have the same versions but show different ones; a change number that is used up by applying
a version.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from node.codec.items import FolderProperties, Version, object_text
from node.codec.replication_message import Update
from node.objects import retention
from node.objects.version_rows import (
    KeptVersion,
    conflict_began,
    conflict_over,
    insert_versions,
    kept_versions,
    known_objects,
    replace_all,
    tie,
    tie_versions,
    tied_numbers,
)
from node.state.context import Context, pcl_fields, version_rank
from node.tracking.change_number import ChangeNumber
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from traces.events import ConflictArose, ConflictEnded, TombstoneMade, VersionApplied, VersionIgnored
from traces.events.change import Way
from transport.sql import Connection, Statement
from transport.stimulus import Stimulus

NUMBERS_OF_OBJECT = Statement("SELECT rep, ctr FROM message WHERE object = ? ORDER BY rep, ctr")
MARK_SUPERSEDING = Statement("UPDATE message SET supersedes = 1 WHERE object = ?")
MERGE_TOMBSTONE = Statement(
    "UPDATE message SET rep = ?, ctr = ?, pcl = ?, modified_at = ?, sent = 1, supersedes = 1 WHERE mid = ?"
)
SET_PREDECESSORS = Statement("UPDATE message SET pcl = ? WHERE mid = ?")
SUBJECT_AND_ITEM = Statement("SELECT subject, item FROM message WHERE mid = ?")
REMOVE_VERSION = Statement("DELETE FROM message WHERE mid = ?")
SHOW_VERSION = Statement("UPDATE message SET shown = (mid = ?) WHERE object = ?")


class Joined(NamedTuple):
    """A version joined a conflict, or began one: the versions that were then in conflict, the winner first."""

    object: bytes
    versions: tuple[ChangeNumber, ...]


@dataclass(frozen=True, slots=True)
class LostDesign:
    """A version of a folder that a concurrent one has replaced for good (spec: HI-5)."""

    object: bytes
    number: ChangeNumber
    props: FolderProperties


@dataclass(slots=True)
class Applied:
    """The result of a mail's updates: the numbers accounted for, and the conflicts and lost edits that need notices."""

    numbers: NumberSets = NumberSets.EMPTY
    fresh: bool = False  # a version was applied
    failed: CNSet = CNSet.EMPTY  # numbers that could not be decoded stay missing (spec: CN-7)
    conflicts: tuple[Joined, ...] = ()  # one for each version that joined (spec: CF-2)
    lost_edits: tuple[tuple[Version, bool], ...] = ()  # the edit, and whether it was broadcast (spec: DL-2)
    lost_designs: tuple[LostDesign, ...] = ()


# -- incoming updates


def apply_updates(ctx: Context, s: Stimulus, fid: int, updates: Sequence[Update], way: Way) -> Applied:
    """Apply a mail's versions and deletions to a folder held here."""
    result = Applied()
    present = known_objects(s.conn, [update.version.object for update in updates])
    own = ctx.rst.own(fid)
    assert own is not None, "only a folder held here is applied to"
    plain: list[Version] = []
    objects: set[bytes] = set()
    for update in updates:
        version = update.version
        if version.object not in present and version.number in own.numbers.kind(version.fai):
            _ignore_dropped(ctx, s, fid, update, way, result)
            continue
        simple = version.item is not None and not update.stands_for and version.pcl.is_only(version.number)
        if simple and version.object not in present and version.object not in objects:
            plain.append(version)
        else:
            if version.object in objects:  # two versions of one object in a mail: insert the first before the second
                insert_versions(ctx, s.conn, fid, plain, sent=True)
                _record_plain(ctx, s, fid, plain, way)
                _account(result, plain)
                plain = []
            _apply_one(ctx, s, fid, update, way, result)
        objects.add(version.object)
    insert_versions(ctx, s.conn, fid, plain, sent=True)
    _record_plain(ctx, s, fid, plain, way)
    _account(result, plain)
    return result


def _account(result: Applied, versions: Sequence[Version]) -> None:
    if not versions:
        return
    result.fresh = True
    result.numbers |= NumberSets.from_numbers((version.number, version.fai) for version in versions)


def _record_plain(ctx: Context, s: Stimulus, fid: int, versions: Sequence[Version], way: Way) -> None:
    folder = ctx.folders.text_of(fid)
    for version in versions:
        number = version.number.text
        s.trace.record(
            VersionApplied,
            folder=folder,
            object=object_text(version.object),
            number=number,
            kind="fai" if version.fai else "message",
            pcl=number,
            modified_at=version.modified_at,
            way=way,
            stands_for=number,
            digest=version.digest,
            deleted=False,
        )


def _ignore_dropped(ctx: Context, s: Stimulus, fid: int, update: Update, way: Way, result: Applied) -> None:
    """Ignore an object whose tombstone was dropped: it is unknown, but this store's row has its number (spec: IN-1, DL-4)."""
    result.numbers |= NumberSets.of_kind(update.names, update.version.fai)
    record_version(ctx, s, fid, update.version, way, update.names, "old")


def _apply_one(ctx: Context, s: Stimulus, fid: int, update: Update, way: Way, result: Applied) -> None:
    version = update.version
    versions_here = kept_versions(ctx, s.conn, version.object)
    # spec: CN-7 a version also accounts for the numbers its predecessor change list names
    names = update.names | CNSet.from_numbers(version.pcl.numbers())
    if any(kept_version.number == version.number for kept_version in versions_here):
        reason = "duplicate"
    elif versions_here and versions_here[0].deleted:
        reason = "tombstoned"
        if version.item is None:
            _merge_tombstones(ctx, s, fid, versions_here[0], version)
        elif _is_lost_edit(ctx, s.conn, versions_here[0], version):
            result.lost_edits += ((version, True),)
    elif version.item is None:
        reason = ""
        _apply_deletion(ctx, s, fid, version, versions_here, result)
    else:
        reason = _apply_edit(ctx, s, fid, version, versions_here, result)
    current = CNSet.from_numbers(
        ctx.store.number(rep, ctr) for rep, ctr in s.conn.exec_driver_sql(NUMBERS_OF_OBJECT, (version.object,))
    )
    old_numbers = names - current
    if old_numbers:
        tie(ctx, s.conn, fid, version.object, old_numbers.numbers())
        s.conn.exec_driver_sql(MARK_SUPERSEDING, (version.object,))
    result.numbers |= NumberSets.of_kind(names, version.fai)
    result.fresh = result.fresh or not reason
    record_version(ctx, s, fid, version, way, names, reason)


def _is_lost_edit(ctx: Context, conn: Connection, tombstone: KeptVersion, version: Version) -> bool:
    """Return whether an edit is concurrent with the deletion and arrives for the first time (spec: DL-2)."""
    if version.fai or tombstone.pcl.includes(version.number):
        return False
    return version.number not in tied_numbers(ctx, conn, version.object)


def record_version(
    ctx: Context, s: Stimulus, fid: int, version: Version, way: Way, names: CNSet, reason: str, kind: str = ""
) -> None:
    """Record the event of a version: applied if `reason` is empty, otherwise ignored."""
    fields: dict[str, Any] = {
        "folder": ctx.folders.text_of(fid),
        "object": object_text(version.object),
        "number": version.number.text,
        "kind": kind or ("fai" if version.fai else "message"),
        **pcl_fields(version),
        "modified_at": version.modified_at,
        "way": way,
        "stands_for": names.text(),
        "digest": version.digest,
        "deleted": version.item is None,
    }
    if reason:
        s.trace.record(VersionIgnored, reason=reason, **fields)
    else:
        s.trace.record(VersionApplied, **fields)


def _merge_tombstones(ctx: Context, s: Stimulus, fid: int, tombstone: KeptVersion, version: Version) -> None:
    """Merge a deletion into a tombstone: the higher rank stays, with both PCLs, whichever came first."""
    pcl = tombstone.pcl.merge(version.pcl)
    if version_rank(version.number, version.modified_at) > tombstone.rank:
        tie(ctx, s.conn, fid, version.object, [tombstone.number])
        # A deletion made here that is still unsent need not be broadcast, because the deletion that arrived says the same.
        s.conn.exec_driver_sql(
            MERGE_TOMBSTONE,
            (
                ctx.store.rep(s.conn, version.number.guid),
                version.number.counter,
                pcl.encode(),
                version.modified_at,
                tombstone.mid,
            ),
        )
    else:
        s.conn.exec_driver_sql(SET_PREDECESSORS, (pcl.encode(), tombstone.mid))


def _apply_deletion(
    ctx: Context, s: Stimulus, fid: int, deletion: Version, versions_here: list[KeptVersion], result: Applied
) -> None:
    """Replace all kept versions by a tombstone (spec: DL-2). An unknown object gets one too (spec: DL-1)."""
    # The tombstone keeps the PCL of its author, so that other stores can find the edits that lost to it.
    for edit in versions_here:
        if not deletion.pcl.includes(edit.number) and not edit.fai and not edit.expired:
            result.lost_edits += ((_load(ctx, s.conn, deletion.object, edit), edit.sent),)
    retention.keep_message(ctx, s, fid, deletion.object)  # spec: DL-5
    fai = versions_here[0].fai if versions_here else deletion.fai
    replace_all(
        ctx,
        s,
        fid,
        Version(deletion.object, deletion.number, deletion.pcl, deletion.modified_at, None, "", fai),
        versions_here,
        True,
    )
    s.trace.record(
        TombstoneMade,
        folder=ctx.folders.text_of(fid),
        object=object_text(deletion.object),
        number=deletion.number.text,
    )


def _load(ctx: Context, conn: Connection, object_id: bytes, row: KeptVersion) -> Version:
    subject, item = conn.exec_driver_sql(SUBJECT_AND_ITEM, (row.mid,)).one()
    return Version(object_id, row.number, row.pcl, row.modified_at, item, subject, row.fai)


def _apply_edit(
    ctx: Context, s: Stimulus, fid: int, version: Version, versions_here: list[KeptVersion], result: Applied
) -> str:
    """Compare a version with every kept version and apply it (spec: CN-4). Return why it is ignored, or ''."""
    if any(rival.pcl.includes(version.number) for rival in versions_here):
        return "old"
    if version.fai and versions_here:  # spec: CN-9
        best = max(versions_here, key=lambda rival: rival.rank)
        if best.rank > version_rank(version.number, version.modified_at):
            return "old"
        replace_all(ctx, s, fid, version, versions_here, True)
        return ""
    joined = place_version(ctx, s, fid, version, versions_here, sent=True)
    result.conflicts += () if joined is None else (joined,)
    return ""


def place_version(
    ctx: Context, s: Stimulus, fid: int, version: Version, versions_here: Sequence[KeptVersion], *, sent: bool
) -> Joined | None:
    """Put a version in the place of the kept versions that it includes, beside the others (spec: CN-4).

    Return the conflict that it joined or began, or None.
    """
    goes = [rival for rival in versions_here if version.pcl.includes(rival.number)]
    for rival in goes:
        s.conn.exec_driver_sql(REMOVE_VERSION, (rival.mid,))
    tie_versions(ctx, s.conn, fid, version.object, goes)
    supersedes = any(rival.supersedes for rival in versions_here) or bool(goes)
    insert_versions(ctx, s.conn, fid, [version], sent=sent, supersedes=supersedes)
    # spec: DL-3 a newer version of an expired item is applied as if new
    rivals = [rival for rival in versions_here if not rival.expired]
    stays = [rival for rival in rivals if rival not in goes]
    conflict = show_winner(ctx, s, fid, version.object)
    if stays:
        if len(rivals) < 2:  # a further version does not restart the age of a conflict (spec: CF-5)
            conflict_began(s, fid, version.object)
        return Joined(version.object, conflict)
    if len(rivals) > 1:
        conflict_over(s.conn, version.object)
        s.trace.record(
            ConflictEnded,
            folder=ctx.folders.text_of(fid),
            object=object_text(version.object),
            number=version.number.text,
        )
    return None


def show_winner(ctx: Context, s: Stimulus, fid: int, object_id: bytes) -> tuple[ChangeNumber, ...]:
    """Show the kept version with the highest rank (spec: CF-1). Return the kept versions, the winner first."""
    versions = [version for version in kept_versions(ctx, s.conn, object_id) if not version.expired]
    winner = max(versions, key=lambda version: version.rank)
    if len(versions) > 1:
        s.conn.exec_driver_sql(SHOW_VERSION, (winner.mid, object_id))
        s.trace.record(
            ConflictArose,
            folder=ctx.folders.text_of(fid),
            object=object_text(object_id),
            versions=tuple(sorted(version.number.text for version in versions)),
            winner=winner.number.text,
        )
    return tuple(version.number for version in sorted(versions, key=lambda version: version is not winner))
