"""The state in memory that every part of the replication agent works on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self

from node.codec.items import Version
from node.codec.signing import Identity, Verifier
from node.state.addresses import AddressBook
from node.state.directory import Directory, known_organization
from node.state.folders import Folders
from node.state.state_table import ReplicationStateTable
from node.state.store_identity import StoreState
from node.state.store_settings import Config
from node.state.timers import Timer, set_timer_if_none
from node.stored_values import HIERARCHY_FID
from node.tracking.change_number import ChangeNumber
from node.tracking.cnset import CNSet
from node.views import FolderView
from topology.model import Topology
from topology.schedule import ALWAYS, Schedule, parse_schedule
from traces.labtime import LabTime
from transport.mta.mta import Mta
from transport.sql import Connection
from transport.stimulus import Stimulus


@dataclass(slots=True)
class Context:
    """The store's state in memory. It is built from the tables at the start and again after each rollback."""

    name: str
    seed: bytes
    store: StoreState
    folders: Folders
    rst: ReplicationStateTable
    directory: Directory
    config: Config
    identity: Identity
    verifier: Verifier
    mta: Mta
    book: AddressBook
    replica_limits: Mapping[bytes, int]
    """The age limits of this store's replicas by folder id, in microseconds (spec: DL-3)."""
    due_cycles: set[int] = field(default_factory=set)
    """Folders whose cycle is due at once, because of a change of the present stimulus (`plan_cycle`)."""
    fresh: dict[int, list[Version]] = field(default_factory=dict)
    """The new messages of the present stimulus by folder, so that a cycle in it need not read them again."""
    folder_views: tuple[tuple[int, list[int]], list[FolderView]] | None = None
    """A cache for `StoreReader.folders`: what the views depend on (the tree and the replicas), and the views."""

    @property
    def replicates(self) -> bool:
        """Whether the replication agent runs: its setting permits it, and the store is not another server's (spec: SE-1,
        RP-8)."""
        return self.config.replicates and self.store.copy_of is None

    @classmethod
    def load(
        cls,
        conn: Connection,
        name: str,
        topology: Topology,
        *,
        config: Config,
        seed: bytes,
        identity: Identity,
        replica_limits: Mapping[bytes, int] = MappingProxyType({}),
    ) -> Self:
        """Read the state of the store `name` from its tables. This writes nothing."""
        store = StoreState(conn)
        directory = Directory(name, known_organization(topology, conn), conn)
        folders, rst = Folders(conn, store), ReplicationStateTable(conn)
        book = AddressBook(name, topology.domain, directory, folders, rst)
        mta = Mta(name, directory.routing, book.server_of, config.mail_policy, book.accepts)
        mta.recall(conn)
        verifier = Verifier(identity.authority_key)
        return cls(name, seed, store, folders, rst, directory, config, identity, verifier, mta, book, replica_limits)

    def holders(self, fid: int) -> list[str]:
        """Return the joined stores in a folder's replica list, ordered by name; for the hierarchy, all stores (spec: HI-1)."""
        if fid == HIERARCHY_FID:
            return self.directory.stores()
        props = self.folders.at(fid).props
        return sorted(store for store in props.replicas if self.directory.get(store)) if props else []

    def is_holder(self, fid: int, store: str) -> bool:
        """Return whether `holders` has a store. With many stores, this is much faster."""
        props = None if fid == HIERARCHY_FID else self.folders.at(fid).props
        listed = fid == HIERARCHY_FID or (props is not None and store in props.replicas)
        return listed and self.directory.get(store) is not None

    def other_holders(self, fid: int) -> list[str]:
        return [store for store in self.holders(fid) if store != self.name]

    def unlinked_holders(self, fid: int) -> tuple[str, ...]:
        """Return the other holders of a folder whose objects name no tree (spec: ML-8)."""
        if not self.directory.unlinked:
            return ()
        return tuple(store for store in self.other_holders(fid) if store in self.directory.unlinked)

    def in_tree(self, fid: int | None, stores: Sequence[str]) -> list[str]:
        """Return those of `stores` to which mail about a folder may go: about the hierarchy, those whose objects name the tree;
        about another folder, all, or none if the object of a holder names no tree (spec: ML-8).

        fid: None for a folder that this store does not know.
        """
        if fid is None:
            return list(stores)
        if fid == HIERARCHY_FID:
            return [store for store in stores if store not in self.directory.unlinked]
        return [] if self.unlinked_holders(fid) else list(stores)

    def reached(self, fid: int, stores: Sequence[str]) -> list[str]:
        """Return those of `stores` to which mail about a folder can be sent (spec: ML-1, ML-8)."""
        return [store for store in self.in_tree(fid, stores) if self.directory.address(store) is not None]

    def schedule(self, fid: int) -> Schedule:
        """Return the schedule of a folder's broadcasts. For the hierarchy it is "always" (spec: HI-3, OUT-1)."""
        if fid == HIERARCHY_FID:
            return ALWAYS
        props = self.folders.at(fid).props
        own = props.schedule if props else None
        return parse_schedule(own) if own else self.config.schedule

    def priority(self, fid: int) -> int:
        props = None if fid == HIERARCHY_FID else self.folders.at(fid).props
        return props.priority if props else 0

    def save(self, conn: Connection) -> None:
        """Write the state that the stimulus changed. Every stimulus calls this at its end."""
        self.fresh.clear()
        self.rst.save(conn)
        self.store.save(conn)


def next_cycle(config: Config, schedule: Schedule, now: LabTime) -> LabTime | None:
    """Return the next replication cycle after `now` (spec: OUT-1), or None if the schedule never fires."""
    if schedule.is_always and config.always_us == 0:
        return now  # an interval of 0 replicates at once
    return schedule.next_fire(now, config.always_us)


def plan_cycle(ctx: Context, s: Stimulus, fid: int) -> None:
    """Plan the next cycle of a folder after a change made here. If replication is immediate, it ends this stimulus."""
    # spec: OUT-1
    due_at = next_cycle(ctx.config, ctx.schedule(fid), s.now)
    if due_at == s.now:
        ctx.due_cycles.add(fid)
    elif due_at is not None:
        set_timer_if_none(s.conn, Timer.CYCLE, fid, due_at)


def version_rank(number: ChangeNumber, modified_at: LabTime) -> tuple[LabTime, ChangeNumber]:
    """Return the key that orders concurrent versions: by time, then GUID, then counter (spec: CF-1, HI-5, CN-8)."""
    return modified_at, number


def pcl_fields(version: Version) -> dict[str, Any]:
    """Return a version's predecessor change list as traces write it: a set of single numbers, and its rivals if it has any."""
    number = version.number
    if version.pcl.is_only(number):
        return {"pcl": number.text}
    rivals = tuple(rival.text for rival in version.pcl.rivals)
    return {"pcl": CNSet.from_numbers(version.pcl.numbers()).text(), **({"rivals": rivals} if rivals else {})}
