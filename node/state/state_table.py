"""The replication state table (spec: RST-1 to RST-4).

For each folder that the store holds, the table has one row of the store itself and one row of each other holder:

| row | class | what it says |
|---|---|---|
| own row | `OwnRow` | the numbers that this store has applied or broadcast |
| row of another holder | `PeerRow` | the numbers that the holder claimed in its last mail about the folder |

The rows are decoded when the store starts and kept in memory. A stimulus that changes a row of this store marks the row with
`touch`; `save` writes the marked rows at the end of the stimulus.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from traces.labtime import LabTime
from transport.sql import Connection, Statement

OWN_ROWS = Statement(
    "SELECT fid, pending, began, last_sent, last_sent_fai, numbers, numbers_fai, last_update_at, status_sent_at,"
    " fresh FROM replica ORDER BY fid"
)
PEER_ROWS = Statement(
    "SELECT fid, store, numbers, numbers_fai, heard_at, sent_at, sent_number FROM rst ORDER BY fid, store"
)
BEGIN = Statement("INSERT INTO replica (fid, began, numbers, numbers_fai, fresh) VALUES (?, ?, ?, ?, ?)")
DROP_OWN_ROW = Statement("DELETE FROM replica WHERE fid = ?")
DROP_PEER_ROWS = Statement("DELETE FROM rst WHERE fid = ?")
SAVE_OWN_ROW = Statement(
    "UPDATE replica SET pending = ?, began = ?, last_sent = ?, last_sent_fai = ?, numbers = ?, numbers_fai = ?,"
    " last_update_at = ?, status_sent_at = ?, fresh = ? WHERE fid = ?"
)
PUT_PEER_ROW = Statement(
    "INSERT OR REPLACE INTO rst (fid, store, numbers, numbers_fai, heard_at, sent_at, sent_number)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
DROP_PEER_ROW = Statement("DELETE FROM rst WHERE fid = ? AND store = ?")


class LastSent(NamedTuple):
    """For each kind of item, the counter of this store's last change that a broadcast of the folder contained; 0 if none."""

    contents: int = 0
    associated: int = 0


@dataclass(slots=True)
class OwnRow:
    """This store's row for one folder: the state of its replica.

    pending         the replica is delete-pending (spec: RP-2)
    began           the change counter when the replica began (spec: CN-6)
    last_update_at  when the store last applied or made a change in the folder; None if no status is owed (spec: ST-1, ST-6)
    status_sent_at  when the store sent a status after that; None if it has not
    fresh           the replica is new, and no backfill response has contained anything yet (spec: BF-2)
    """

    fid: int
    pending: bool
    began: int
    last_sent: LastSent
    numbers: NumberSets
    last_update_at: LabTime | None
    status_sent_at: LabTime | None
    fresh: bool

    def unsent(self, guid: bytes, upto: LastSent) -> NumberSets:
        """Return this store's own numbers up to `upto` that no broadcast of the folder has covered (spec: CN-6).

        Numbers up to `began` are omitted, because the folder had no replica here at that time.
        """
        contents, associated = (
            CNSet.span(guid, bottom + 1, top) if top > (bottom := max(self.began, last)) else CNSet.EMPTY
            for last, top in zip(self.last_sent, upto, strict=True)
        )
        return NumberSets(contents, associated)


@dataclass(frozen=True, slots=True)
class PeerRow:
    """The row of another holder. `sent_at` and `sent_number` order that holder's mails (spec: RST-4)."""

    store: str
    numbers: NumberSets
    heard_at: LabTime | None
    sent_at: LabTime
    sent_number: int


class ReplicationStateTable:
    """All rows of this store. After a rollback the store builds a new table from the database."""

    def __init__(self, conn: Connection) -> None:
        self._own: dict[int, OwnRow] = {}
        self._rows: dict[int, dict[str, PeerRow]] = {}
        self._dirty: set[int] = set()
        for fid, pending, began, sent, sent_fai, numbers, fai, updated_at, status_at, fresh in conn.exec_driver_sql(
            OWN_ROWS
        ):
            row_numbers = NumberSets.decode(numbers, fai)
            self._own[fid] = OwnRow(
                fid, bool(pending), began, LastSent(sent, sent_fai), row_numbers, updated_at, status_at, bool(fresh)
            )
        for fid, store, numbers, fai, heard_at, sent_at, sent_number in conn.exec_driver_sql(PEER_ROWS):
            row = PeerRow(store, NumberSets.decode(numbers, fai), heard_at, sent_at, sent_number)
            self._rows.setdefault(fid, {})[store] = row

    # -- own rows

    def own(self, fid: int) -> OwnRow | None:
        """Return this store's row for a folder, or None if this store holds no replica."""
        return self._own.get(fid)

    def held_fids(self) -> list[int]:
        """Return the folders that have a replica here, the hierarchy first."""
        return sorted(self._own)

    def served_fids(self) -> list[int]:
        """Return the folders that have a replica here that is not delete-pending, in no particular order."""
        return [fid for fid, own in self._own.items() if not own.pending]

    def begin(self, conn: Connection, fid: int, began: int, *, fresh: bool = False) -> OwnRow:
        """Add this store's row for a new replica. `began` is the present change counter (spec: CN-6)."""
        own = OwnRow(fid, False, began, LastSent(), NumberSets.EMPTY, None, None, fresh)
        conn.exec_driver_sql(
            BEGIN,
            (fid, began, *own.numbers.encode(), int(fresh)),
        )
        self._own[fid] = own
        return own

    def touch(self, own: OwnRow) -> None:
        """Mark a row that was changed, so that `save` writes it."""
        self._dirty.add(own.fid)

    def add(self, fid: int, numbers: NumberSets) -> None:
        """Add numbers to this store's row for a folder."""
        own = self._own[fid]
        if not numbers <= own.numbers:
            own.numbers |= numbers
            self._dirty.add(fid)

    def drop(self, conn: Connection, fid: int) -> None:
        """Delete every row of a folder whose replica is removed."""
        conn.exec_driver_sql(DROP_OWN_ROW, (fid,))
        conn.exec_driver_sql(DROP_PEER_ROWS, (fid,))
        self._own.pop(fid, None)
        self._rows.pop(fid, None)
        self._dirty.discard(fid)

    def save(self, conn: Connection) -> None:
        """Write this store's marked rows to the database."""
        for fid in sorted(self._dirty):
            own = self._own[fid]
            conn.exec_driver_sql(
                SAVE_OWN_ROW,
                (
                    int(own.pending),
                    own.began,
                    *own.last_sent,
                    *own.numbers.encode(),
                    own.last_update_at,
                    own.status_sent_at,
                    int(own.fresh),
                    fid,
                ),
            )
        self._dirty.clear()

    # -- rows of the other holders

    def rows(self, fid: int) -> list[PeerRow]:
        """Return the rows of the other holders of a folder, ordered by store name."""
        rows = self._rows.get(fid)
        return [rows[store] for store in sorted(rows)] if rows else []

    def row(self, fid: int, store: str) -> PeerRow | None:
        """Return the row of one other holder, or None if there is none."""
        return self._rows.get(fid, {}).get(store)

    def put(self, conn: Connection, fid: int, *rows: PeerRow) -> None:
        """Replace rows of other holders. A new row may claim fewer numbers (spec: RST-4)."""
        values = [(fid, row.store, *row.numbers.encode(), row.heard_at, row.sent_at, row.sent_number) for row in rows]
        conn.exec_driver_sql(PUT_PEER_ROW, values)
        self._rows.setdefault(fid, {}).update({row.store: row for row in rows})

    def drop_row(self, conn: Connection, fid: int, store: str) -> bool:
        """Delete the row of a store that left the replica list (spec: RST-4). Return whether there was one."""
        rows = self._rows.get(fid, {})
        if store not in rows:
            return False
        conn.exec_driver_sql(DROP_PEER_ROW, (fid, store))
        del rows[store]
        return True

    def union(self, fid: int) -> NumberSets:
        """Return the union of what the other holders claim (spec: BF-1, RST-3)."""
        return NumberSets.union_all(row.numbers for row in self.rows(fid))
