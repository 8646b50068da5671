"""The rows of message versions: for each object one tombstone, or concurrent versions.

Numbers that no longer have a version stay tied to their object in the table `superseded` (spec: CN-7).
`node.objects.apply_versions` decides what is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from node.codec.items import Version
from node.state.context import Context, version_rank
from node.stored_values import COUNT_MESSAGES, DELETED, EXPIRED
from node.tracking.change_number import ChangeNumber
from node.tracking.cnset import CNSet
from node.tracking.pcl import Pcl
from traces.labtime import LabTime
from transport.sql import Connection, Statement
from transport.stimulus import Stimulus

KEPT_VERSIONS = Statement(
    "SELECT mid, rep, ctr, pcl, modified_at, deleted, fai, sent, supersedes FROM message WHERE object = ?"
    " ORDER BY shown DESC, rep, ctr"
)
TIE = Statement("INSERT OR IGNORE INTO superseded (rep, ctr, fid, object) VALUES (?, ?, ?, ?)")
TIE_VERSION = Statement("INSERT OR IGNORE INTO superseded (rep, ctr, fid, object, pcl) VALUES (?, ?, ?, ?, ?)")
TIED_NUMBERS = Statement("SELECT rep, ctr FROM superseded WHERE object = ? ORDER BY rep, ctr")
TIED_LISTS = Statement("SELECT rep, ctr, pcl FROM superseded WHERE object = ? ORDER BY rep, ctr")
REMOVE_OBJECT = Statement("DELETE FROM message WHERE object = ?")
CONFLICT_BEGAN = Statement("INSERT OR REPLACE INTO conflict (object, fid, since_at, notified) VALUES (?, ?, ?, 0)")
CONFLICT_OVER = Statement("DELETE FROM conflict WHERE object = ?")

_LOOKUP = 400  # objects in one SELECT; old builds of SQLite allow at most 999 parameters


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """A row of the table `message`: a kept version, or a tombstone."""

    mid: int
    number: ChangeNumber
    pcl: Pcl
    modified_at: LabTime
    deleted: bool
    fai: bool
    sent: bool
    supersedes: bool
    expired: bool = False
    """Its item has expired here (spec: DL-3)."""

    @property
    def rank(self) -> tuple[LabTime, ChangeNumber]:
        return version_rank(self.number, self.modified_at)


def kept_versions(ctx: Context, conn: Connection, object_id: bytes) -> list[KeptVersion]:
    """Return the kept versions of an object, or its tombstone. The version shown is the first."""
    return [
        KeptVersion(
            mid,
            ctx.store.number(rep, ctr),
            Pcl.decode(pcl),
            at,
            deleted == DELETED,
            bool(fai),
            bool(sent),
            bool(supersedes),
            deleted == EXPIRED,
        )
        for mid, rep, ctr, pcl, at, deleted, fai, sent, supersedes in conn.exec_driver_sql(
            KEPT_VERSIONS,
            (object_id,),
        )
    ]


def tie(ctx: Context, conn: Connection, fid: int, object_id: bytes, numbers: Iterable[ChangeNumber]) -> None:
    """Tie superseded numbers to their object (spec: CN-7)."""
    rows = [(ctx.store.rep(conn, number.guid), number.counter, fid, object_id) for number in numbers]
    if rows:
        conn.exec_driver_sql(TIE, rows)


def tie_versions(ctx: Context, conn: Connection, fid: int, object_id: bytes, versions: Iterable[KeptVersion]) -> None:
    """Tie the numbers of versions that are no longer kept to their object, with their predecessor lists (spec: CN-7, CF-6)."""
    rows = [
        (ctx.store.rep(conn, version.number.guid), version.number.counter, fid, object_id, version.pcl.encode())
        for version in versions
    ]
    if rows:
        conn.exec_driver_sql(TIE_VERSION, rows)


def tied_lists(ctx: Context, conn: Connection, object_id: bytes) -> dict[ChangeNumber, Pcl | None]:
    """Return all superseded numbers of an object with their predecessor lists; None if the version was never kept here."""
    return {
        ctx.store.number(rep, ctr): None if pcl is None else Pcl.decode(pcl)
        for rep, ctr, pcl in conn.exec_driver_sql(TIED_LISTS, (object_id,))
    }


def tied_numbers(ctx: Context, conn: Connection, object_id: bytes) -> CNSet:
    """Return all superseded numbers of an object."""
    return CNSet.from_numbers(
        ctx.store.number(rep, ctr) for rep, ctr in conn.exec_driver_sql(TIED_NUMBERS, (object_id,))
    )


def named_by(version: Version, tied: CNSet) -> CNSet:
    """Return the part of an object's superseded numbers that this version stands for (spec: CN-7).

    A version stands for the numbers that it includes. A deletion and an associated message stand for all superseded numbers,
    even for those that they do not include (spec: CN-9, DL-2).
    """
    if version.fai or version.item is None:
        return tied
    return CNSet.from_numbers(number for number in tied.numbers() if version.pcl.includes(number))


_INSERT = (
    "INSERT INTO message (fid, object, rep, ctr, pcl, modified_at, fai, deleted, sent, supersedes, shown, subject, item)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_ROWS = 50
"""Rows of one statement, because `executemany` costs more for each row. Old builds of SQLite allow at most 999 parameters."""
_ROWS_BYTES = 4 * 1024 * 1024
"""Bytes of items in one statement, because the driver copies them."""
_INSERT_ROWS = _INSERT + (_ROWS - 1) * f", ({', '.join('?' * _INSERT.count('?'))})"
_COUNT = COUNT_MESSAGES.format(fid="?", difference="?")


def insert_versions(
    ctx: Context,
    conn: Connection,
    fid: int,
    versions: Sequence[Version],
    *,
    sent: bool,
    supersedes: bool = False,
) -> None:
    """Insert shown versions of one folder, and count them."""
    rows = [
        (
            fid,
            version.object,
            ctx.store.rep(conn, version.number.guid),
            version.number.counter,
            version.pcl.encode(),
            version.modified_at,
            int(version.fai),
            int(version.item is None),
            int(sent),
            int(supersedes),
            1,  # shown
            version.subject,
            version.item,
        )
        for version in versions
    ]
    if rows:
        for some in (rows[at : at + _ROWS] for at in range(0, len(rows), _ROWS)):
            if len(some) == _ROWS and sum(len(row[-1] or b"") for row in some) <= _ROWS_BYTES:
                conn.exec_driver_sql(_INSERT_ROWS, tuple(chain.from_iterable(some)))
            else:
                conn.exec_driver_sql(_INSERT, some)
        conn.exec_driver_sql(_COUNT, (fid, sum(version.item is not None for version in versions)))
    if not sent and not supersedes:
        ctx.fresh.setdefault(fid, []).extend(versions)


def known_objects(conn: Connection, objects: Sequence[bytes]) -> set[bytes]:
    """Return the objects that have a row."""
    present: set[bytes] = set()
    for at in range(0, len(objects), _LOOKUP):
        chunk = tuple(objects[at : at + _LOOKUP])
        marks = ",".join("?" * len(chunk))
        present.update(
            row[0]
            for row in conn.exec_driver_sql(
                f"SELECT DISTINCT object FROM message WHERE object IN ({marks}) ORDER BY object", chunk
            )
        )
    return present


def replace_all(
    ctx: Context, s: Stimulus, fid: int, version: Version, predecessors: Sequence[KeptVersion], sent: bool
) -> None:
    """Replace the kept versions by one. Their numbers stay tied to the object."""
    if predecessors:
        s.conn.exec_driver_sql(REMOVE_OBJECT, (version.object,))
        tie_versions(ctx, s.conn, fid, version.object, predecessors)
    if len(predecessors) > 1:
        conflict_over(s.conn, version.object)
    supersedes = bool(predecessors) or any(predecessor.supersedes for predecessor in predecessors)
    insert_versions(ctx, s.conn, fid, [version], sent=sent, supersedes=supersedes)


# -- the time since which a message is in conflict here (spec: CF-5)


def conflict_began(s: Stimulus, fid: int, object_id: bytes) -> None:
    s.conn.exec_driver_sql(CONFLICT_BEGAN, (object_id, fid, s.now))


def conflict_over(conn: Connection, object_id: bytes) -> None:
    conn.exec_driver_sql(CONFLICT_OVER, (object_id,))
