"""The identity of this store, and its counters (spec: CN-1).

Identity and counters are one row of a table. The store reads this row when it starts and after a rollback. If a stimulus
changed the row, the store writes it once at the end of the stimulus, in the same transaction (spec: CN-2).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from node.errors import Misuse
from node.tracking.change_number import ChangeNumber, Guid
from traces.labtime import LabTime
from traces.store_names import guid_name
from transport.sql import Connection, Statement

STATE = Statement(
    "SELECT name, guid, change_counter, object_counter, mail_number, incarnation, seq, lamport, last_at, begins,"
    " directory_object, copy_of FROM store_state"
)
ALL_REPLICAS = Statement("SELECT rep, guid, store FROM replid ORDER BY rep")
EXISTS = Statement("SELECT 1 FROM store_state")
CREATE = Statement(
    "INSERT INTO store_state (id, name, guid, change_counter, object_counter, mail_number, incarnation, seq,"
    " lamport, last_at, directory_object) VALUES (1, ?, ?, 0, 0, 0, 0, 0, 0, ?, ?)"
)
ADD_OWN_REPLICA = Statement("INSERT INTO replid (rep, guid, store) VALUES (?, ?, ?)")
SAVE = Statement(
    "UPDATE store_state SET change_counter = ?, object_counter = ?, mail_number = ?, incarnation = ?, seq = ?,"
    " lamport = ?, last_at = ?, begins = ? WHERE id = 1"
)
ADD_REPLICA = Statement("INSERT INTO replid (rep, guid) VALUES (?, ?)")
NAME_REPLICA = Statement("UPDATE replid SET store = ? WHERE rep = ?")

LOCAL_REP = 1  # event texts print the local store as replid 1 [X, section 1.2]


class Begins(StrEnum):
    """The work that the next start must do. The stimulus that does it clears the value."""

    NOTHING = ""
    RESTORED = "restored"  # spec: RP-4 request status of all folders
    AS_NEW = (
        "as new"  # spec: DL-4, RP-7 the backup was too old, or the store is created again: begin as a new store (RP-3)
    )


class StoreState:
    """The store's identity, its counters, and the local number (`rep`) of each replica GUID."""

    def __init__(self, conn: Connection) -> None:
        row = conn.exec_driver_sql(STATE).one()
        self.name: str = row[0]
        self.guid: Guid = row[1]
        self.change_counter: int = row[2]
        self.object_counter: int = row[3]
        self.mail_number: int = row[4]
        self.incarnation: int = row[5]
        self.seq: int = row[6]
        self.lamport: int = row[7]
        self.last_at: LabTime = row[8]
        self.begins = Begins(row[9])
        self.directory_object: int = row[10]
        self.copy_of: str | None = row[11]
        """The server whose store this is, if its backup was restored here (spec: RP-8)."""
        self._rep_of: dict[Guid, int] = {}
        self._guid_of: dict[int, Guid] = {}
        self.store_of: dict[Guid, str] = {}
        self._names: dict[Guid, str] | None = None  # what `names` returns; None if it must be made again
        for rep, guid, store in conn.exec_driver_sql(ALL_REPLICAS):
            self._rep_of[guid] = rep
            self._guid_of[rep] = guid
            if store is not None:
                self.store_of[guid] = store

    @classmethod
    def exists(cls, conn: Connection) -> bool:
        """Return whether a store was created in this database."""
        return conn.exec_driver_sql(EXISTS).first() is not None

    @classmethod
    def create(cls, conn: Connection, name: str, guid: Guid, now: LabTime, directory_object: int = 0) -> StoreState:
        """Create the rows of a new store with all counters 0, and return its state."""
        conn.exec_driver_sql(
            CREATE,
            (name, guid, now, directory_object),
        )
        conn.exec_driver_sql(ADD_OWN_REPLICA, (LOCAL_REP, guid, name))
        return cls(conn)

    def next_change(self) -> ChangeNumber:
        """Return the next change number of this store. Raises Misuse if the store is only shown (spec: RP-8)."""
        if self.copy_of is not None:
            raise Misuse(
                f"{self.name} has the store of {self.copy_of}, restored from a backup: it is only shown, and takes no changes"
            )
        self.change_counter += 1
        return ChangeNumber(self.guid, self.change_counter)

    def next_object(self) -> ChangeNumber:
        """Return the number of the next object that this store creates."""
        self.object_counter += 1
        return ChangeNumber(self.guid, self.object_counter)

    def upcoming(self) -> tuple[ChangeNumber, ChangeNumber]:
        """Return the numbers that the next object and the next change get, without using them up."""
        return ChangeNumber(self.guid, self.object_counter + 1), ChangeNumber(self.guid, self.change_counter + 1)

    def save(self, conn: Connection) -> None:
        """Write the counters, and the work that the next start must do."""
        conn.exec_driver_sql(
            SAVE,
            (
                self.change_counter,
                self.object_counter,
                self.mail_number,
                self.incarnation,
                self.seq,
                self.lamport,
                self.last_at,
                self.begins.value,
            ),
        )

    def rep(self, conn: Connection, guid: Guid) -> int:
        """Return the local number of a replica GUID. A GUID that is new here gets the next number."""
        rep = self._rep_of.get(guid)
        if rep is None:
            rep = len(self._rep_of) + 1
            conn.exec_driver_sql(ADD_REPLICA, (rep, guid))
            self._rep_of[guid] = rep
            self._guid_of[rep] = guid
            self._names = None
        return rep

    def guids_in_order(self) -> list[Guid]:
        """Return every known GUID: this store's earlier ones, its present one, then the others in order of local number."""
        own = [guid for guid in self._rep_of if self.store_of.get(guid) == self.name]
        own.sort(key=lambda guid: (guid == self.guid, self._rep_of[guid]))
        return [*own, *(guid for guid in self._rep_of if guid not in own)]

    def names(self) -> Mapping[Guid, str]:
        """Return the name of the store behind each known replica GUID. A restored store A is also A.2, A.3 (spec: RP-4)."""
        if self._names is None:
            self._names = {}
            counts: dict[str, int] = {}
            for guid in self.guids_in_order():
                store = self.store_of.get(guid)
                if store is not None:
                    counts[store] = counts.get(store, 0) + 1
                    self._names[guid] = guid_name(store, counts[store])
        return self._names

    def known_rep(self, guid: Guid) -> int | None:
        """Return the local number of a replica GUID, or None if the GUID is new here."""
        return self._rep_of.get(guid)

    def number(self, rep: int, counter: int) -> ChangeNumber:
        """Return the change number that tables keep as a local number and a counter."""
        return ChangeNumber(self._guid_of[rep], counter)

    def learn_store(self, conn: Connection, guid: Guid, store: str) -> None:
        """Record which store a replica GUID belongs to, as a mail has said."""
        if self.store_of.get(guid) == store:
            return
        rep = self.rep(conn, guid)
        conn.exec_driver_sql(NAME_REPLICA, (store, rep))
        self.store_of[guid] = store
        self._names = None
