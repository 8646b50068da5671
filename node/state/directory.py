"""The directory as a store reads it: the stores with their sites, versions and addresses (spec: ML-1).

The topology lists the stores that may join. The table `directory` lists those that have joined, with the *stamps* of each
entry. A stamp is one action of the recipient update service, or of the parts that do its work in 5.5 and 2007: from its instant
on the entry has the address of that domain in the attribute mail. The addresses of earlier stamps stay as secondary addresses,
so mail to them still arrives.

    stamps                                        addresses of the entry
    none                                          none, until further notice
    contoso.test at 10:00                         none before 10:00, then A-IS@contoso.test
    contoso.test at 10:00, fabrikam.test at noon  from noon on mail is A-IS@fabrikam.test; A-IS@contoso.test is secondary

The lab keeps the directory of the organization and gives every store the stamps of each entry, also those in the future. So
all stores have the same addresses at every instant. A stamp in the future is due at the timer STAMP. The lab does not model
the replication of the directory.

The lab also says of each object whether it is damaged (spec: ML-8). Damage of the object of this store itself stops its
replication agent, as a missing address does: the store then has no address for itself, and the events say why.

The directory also has the organization: the topology as the lab began, or after the last change that the store has read (spec:
RT-6). The table `organization` has its text from the first change on.

What must never happen: an address that some stores know and others do not, while all run; a look-up of an address that
searches the entries, because every mail needs several look-ups.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from node.errors import Misuse
from node.seeded_ids import guid_from
from node.state.timers import Timer, clear_timer, set_timer
from node.state.version_profiles import PROFILES
from node.views import DirectoryEntryView
from topology.changes import ChangeError, check_successor, successor
from topology.model import STORE_ADDRESS_SUFFIX, Server, Topology
from topology.routing import Routing
from traces.events import AddressMissing, AddressStamped, OrganizationRead, TreeLinked
from traces.labtime import END_AT, LabTime
from transport.mime.x400_form import MAX_PRMD
from transport.sql import Connection, Statement
from transport.stimulus import Stimulus

ALL_ENTRIES = Statement("SELECT store, joined_at, stamps, done, object, linked, doubled FROM directory ORDER BY store")
PUT_ENTRY = Statement(
    "INSERT OR REPLACE INTO directory (store, joined_at, stamps, done, object, linked, doubled)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
REMOVE_ENTRY = Statement("DELETE FROM directory WHERE store = ?")
ORGANIZATION = Statement("SELECT topology FROM organization")
PUT_ORGANIZATION = Statement("INSERT OR REPLACE INTO organization (id, topology) VALUES (1, ?)")

NOT_YET, NEVER = "it is not stamped yet", "the recipient update service does not run"
FAILS: Final = "the recipient update service fails"
"""Why an entry has no address, in words."""
UNLINKED: Final = "its object in the directory names no public folder tree"
DOUBLED: Final = "the directory has two objects of it"
"""Why a store does not use the address of its own entry, in words (spec: ML-8)."""


AT_ONCE: Final[LabTime] = 0
"""The instant of a stamp that takes effect when a store learns of it. The clock of a store may differ from the lab's."""


class Stamp(NamedTuple):
    """From `at` on, the entry has an address of `domain` as its primary one."""

    domain: str
    at: LabTime


@dataclass(frozen=True, slots=True)
class StoreObject:
    """The object of a store in the directory, as the lab gives it to every store.

    stamps   what the recipient update service did to it
    number   which object of this name it is: 0, and one more each time the store is created again (spec: RP-7)
    linked   whether it names the public folder tree that its store supports (spec: ML-8)
    doubled  whether the directory has a second object of this store (spec: ML-8)
    """

    stamps: tuple[Stamp, ...] = ()
    number: int = 0
    linked: bool = True
    doubled: bool = False


@dataclass(frozen=True, slots=True)
class StoreEntry:
    """The entry of a store.

    guid     of the entry; the smaller GUID wins a tie (spec: BF-3)
    in_effect  how many of the stamps have taken effect
    mail     the attribute mail; None if no stamp has taken effect
    secondary  the addresses of earlier stamps
    address  where mail for the store goes: the attribute mail. The store itself has none while its object is damaged (ML-8)
    """

    name: str
    site: str
    version: str
    object: StoreObject
    guid: bytes
    joined_at: LabTime
    in_effect: int
    mail: str | None
    secondary: tuple[str, ...]
    address: str | None

    @property
    def number(self) -> int:
        return self.object.number

    @property
    def due_at(self) -> LabTime:
        """When the next stamp takes effect; END_AT if there is none."""
        stamps = self.object.stamps
        return stamps[self.in_effect].at if self.in_effect < len(stamps) else END_AT


def next_run(interval_us: int | None, now: LabTime) -> LabTime | None:
    """Return when the recipient update service runs next; 0 means that it always runs, None that it never does."""
    if not interval_us:
        return None if interval_us is None else AT_ONCE
    return now - now % interval_us + interval_us


def known_organization(began: Topology, conn: Connection) -> Topology:
    """Return the organization as a store knows it: as it was when the store began, or after the last change that it has read.

    Raises Misuse for a database of another organization.
    """
    row = conn.exec_driver_sql(ORGANIZATION).first()
    try:
        return began if row is None else successor(began, row[0])
    except ChangeError as error:
        raise Misuse(f"the database has another organization: {error}") from None


def is_server_of(topology: Topology, name: str, conn: Connection) -> bool:
    """Return whether a database is that of the server which has this name in the topology, not of one that was removed."""
    known = known_organization(topology, conn)
    is_first = known is topology  # the store has never read a changed organization
    return not topology.revision if is_first else known.servers[name] == topology.servers[name]


class Directory:
    """The stores that have joined the organization.

    name: the store that reads the directory.
    topology: the organization as the store knows it.
    """

    def __init__(self, name: str, topology: Topology, conn: Connection) -> None:
        self._name = name
        self._topology = topology
        self.routing = Routing(topology)
        self.due_at: LabTime = END_AT
        """When the next stamp takes effect; END_AT if there is none."""
        self._entries: dict[str, StoreEntry] = {}
        self.unlinked: set[str] = set()
        """The stores whose objects name no public folder tree (spec: ML-8)."""
        self._server_of: dict[str, str] = {}
        self.domains: set[str] = set()
        """The domains of all stamps, also those of deleted stores and those that are due later, in lower case."""
        for store, joined_at, listed, in_effect, number, linked, doubled in conn.exec_driver_sql(ALL_ENTRIES):
            stamps = tuple(Stamp(*stamp) for stamp in json.loads(listed))
            self._put(
                self._entry(store, joined_at, StoreObject(stamps, number, bool(linked), bool(doubled)), in_effect)
            )

    def _entry(self, store: str, joined_at: LabTime, object_: StoreObject, in_effect: int) -> StoreEntry:
        server = self._topology.servers.get(store)
        if server is None:
            raise Misuse(
                f"the database has the server {store!r}, but the topology does not; use the topology that the lab began with"
            )
        again = (object_.number,) if object_.number else ()
        guid = guid_from(self._topology.organization.encode()[:64], "store entry", store, *again)
        addresses = [f"{store}{STORE_ADDRESS_SUFFIX}@{stamp.domain}" for stamp in object_.stamps[:in_effect]]
        mail = addresses[-1] if addresses else None
        is_usable = store != self._name or (object_.linked and not object_.doubled)
        return StoreEntry(
            name=store,
            site=server.site,
            version=str(server.version),
            object=object_,
            guid=guid,
            joined_at=joined_at,
            in_effect=in_effect,
            mail=mail,
            secondary=tuple(address for address in dict.fromkeys(addresses) if address != mail),
            address=mail if is_usable else None,
        )

    def _put(self, entry: StoreEntry) -> None:
        self._take_out(entry.name)
        self._entries[entry.name] = entry
        if not entry.object.linked:
            self.unlinked.add(entry.name)
        self.domains.update(stamp.domain.lower() for stamp in entry.object.stamps)
        for address in (entry.mail, *entry.secondary):
            if address is not None:
                self._server_of[address.lower()] = entry.name
        self.due_at = min(entry.due_at for entry in self._entries.values())

    def _take_out(self, store: str) -> None:
        entry = self._entries.pop(store, None)
        self.unlinked.discard(store)
        if entry is not None:
            for address in (entry.mail, *entry.secondary):
                if address is not None:
                    del self._server_of[address.lower()]

    # -- changes

    def begin(self, s: Stimulus) -> None:
        """Read the organization at the store's first start, if it was changed before."""
        if self._topology.revision:
            self._read(s, self._topology)

    def _read(self, s: Stimulus, topology: Topology) -> None:
        s.conn.exec_driver_sql(PUT_ORGANIZATION, (topology.as_json(),))
        self._topology, self.routing = topology, Routing(topology)
        s.trace.record(OrganizationRead, revision=topology.revision)

    def join(self, s: Stimulus, store: str) -> None:
        """Add the entry of a store that exists from the start, stamped before the lab began. Do nothing if it has an entry."""
        if store not in self._topology.servers:
            raise Misuse(
                f"{store} is not a server of the topology; its servers are {', '.join(self._topology.servers)}"
            )
        if store not in self._entries:
            self.update(s, store, StoreObject((Stamp(self._topology.domain_of(store), AT_ONCE),)), NOT_YET)

    def update(self, s: Stimulus, store: str, object_: StoreObject, missing: str) -> None:
        """Add a store's entry, or replace its object.

        missing: why the object has no address now, if it has none.
        """
        old = self._entries.get(store)
        joined_at = s.now if old is None else old.joined_at
        in_effect = sum(stamp.at <= s.now for stamp in object_.stamps)
        new = self._entry(store, joined_at, object_, in_effect)
        if new == old:
            return
        s.conn.exec_driver_sql(
            PUT_ENTRY,
            (
                store,
                joined_at,
                json.dumps(object_.stamps),
                in_effect,
                object_.number,
                int(object_.linked),
                int(object_.doubled),
            ),
        )
        self._put(new)
        if object_.linked != (old is None or old.object.linked):
            s.trace.record(TreeLinked, store=store, linked=object_.linked)
        if self.due_at < END_AT:
            set_timer(s.conn, Timer.STAMP, 0, self.due_at)
        else:
            clear_timer(s.conn, Timer.STAMP, 0)
        if old is not None and old.address == new.address:
            return
        if new.address is not None:
            s.trace.record(AddressStamped, store=store, address=new.address)
        else:
            s.trace.record(AddressMissing, store=store, reason=_reason(new, missing))

    def stamp_due(self, s: Stimulus) -> None:
        """Let the stamps that are due take effect."""
        for entry in [entry for entry in self._entries.values() if entry.due_at <= s.now]:
            self.update(s, entry.name, entry.object, NOT_YET)

    def reorganize(self, s: Stimulus, topology: Topology) -> bool:
        """Read the organization as it is after a change. Return False if the store knows this change, or a later one.

        Raises Misuse for another organization.
        """
        # spec: RT-6
        if topology.revision <= self._topology.revision:
            return False
        try:
            check_successor(self._topology, topology)
        except ChangeError as error:
            raise Misuse(str(error)) from None
        self._read(s, topology)
        return True

    def outdated(self) -> list[str]:
        """Return the stores whose server was removed from the organization, also if another one of its name was added."""
        servers = self._topology.servers
        return [
            entry.name
            for entry in self._entries.values()
            if (server := servers.get(entry.name)) is None
            or (server.site, server.version) != (entry.site, entry.version)
        ]

    def leave(self, s: Stimulus, store: str) -> None:
        """Delete a store's entry (spec: RP-6)."""
        self._take_out(store)
        s.conn.exec_driver_sql(REMOVE_ENTRY, (store,))

    # -- queries

    @property
    def organization(self) -> str:
        return self._topology.organization

    @property
    def servers(self) -> Mapping[str, Server]:
        """All servers of the organization as the store knows it, also those that have not joined."""
        return self._topology.servers

    def stores(self) -> list[str]:
        return sorted(self._entries)

    def get(self, store: str) -> StoreEntry | None:
        return self._entries.get(store)

    def address(self, store: str) -> str | None:
        entry = self._entries.get(store)
        return entry.address if entry else None

    def sender(self, store: str) -> str:
        """Return the address from which a store's notices to people come. Until it is stamped, this is what its first
        address will be."""
        return self.address(store) or self._topology.address_of(store)

    def server_of(self, address: str) -> str | None:
        """Return the server of a store's mail address, or None if no store has the address (spec: ML-7)."""
        return self._server_of.get(address.lower())

    @property
    def policies_name(self) -> str:
        """The name of the container of the recipient policies."""
        return f"CN=Recipient Policies,{self._configuration}"

    @property
    def _configuration(self) -> str:
        return f"{_cn(self.organization, 'Microsoft Exchange', 'Services')},CN=Configuration"

    def _in_group(self, group: str, *names: str) -> str:
        """Return the name of an object in an administrative group of Active Directory; its own name is the first."""
        forest = ",".join(f"DC={label}" for label in self._topology.domain.split("."))
        return f"{_cn(*names, group, 'Administrative Groups')},{self._configuration},{forest}"

    def _active_directory_name(self, entry: StoreEntry) -> str | None:
        """Return the name of a store's entry in Active Directory; None if its version has a directory of its own."""
        profile = PROFILES[entry.version]
        if profile.group is None:
            return None
        assert profile.log.database is not None, "the versions with Active Directory name their databases"
        database = profile.log.database.format(server=entry.name).split("\\")
        group = profile.group.format(site=entry.site)
        return self._in_group(group, *reversed(database), "InformationStore", entry.name, "Servers")

    def distinguished_name(self, store: str) -> str:
        """Return the name of a store's entry as the directory of 5.5 has it, and as events name it in every version."""
        entry = self._entries.get(store)
        site = entry.site if entry else "?"
        return f"/o={self.organization}/ou={site}/cn=Configuration/cn=Servers/cn={store}/cn=Microsoft Public MDB"

    def view(self) -> list[DirectoryEntryView]:
        """Return what an administrator sees of every entry (spec: ML-1)."""
        return [self._view(self._entries[store]) for store in self.stores()]

    def _view(self, entry: StoreEntry) -> DirectoryEntryView:
        x400 = f"c=US;a= ;p={self.organization[:MAX_PRMD]};o=Exchange;s={entry.name}{STORE_ADDRESS_SUFFIX};"
        proxies: list[str] = []
        if entry.mail is not None:
            proxies = [f"SMTP:{entry.mail}", *(f"smtp:{address}" for address in entry.secondary), f"X400:{x400}"]
        legacy_dn, name = self.distinguished_name(entry.name), self._active_directory_name(entry)
        tree = self._in_group(next(iter(self._topology.sites)), "Public Folders", "Folder Hierarchies")
        return DirectoryEntryView(
            store=entry.name,
            dn=name or legacy_dn,
            object_class=PROFILES[entry.version].object_class,
            legacy_dn=legacy_dn,
            owning_tree=tree if name and entry.object.linked else None,
            linked=entry.object.linked,
            doubled=entry.object.doubled,
            mail=entry.mail,
            proxy_addresses=tuple(proxies),
            joined_at=entry.joined_at,
            stamp_due_at=entry.due_at if entry.due_at < END_AT else None,
        )

    def same_site(self, store: str, other: str) -> bool:
        a, b = self._entries.get(store), self._entries.get(other)
        return a is not None and b is not None and a.site == b.site

    def cost(self, store: str, other: str) -> int | None:
        """Return the lowest routing cost between two stores: 0 within a site, None if there is no route (spec: RT-4)."""
        a, b = self._entries.get(store), self._entries.get(other)
        if a is None or b is None:
            return None
        return self.routing.site_cost(a.site, b.site)

    def affinity(self, store: str, other: str) -> int | None:
        """Return the lowest sum of referral costs between two stores, or None if they have no affinity (spec: RT-4)."""
        a, b = self._entries.get(store), self._entries.get(other)
        return self.routing.affinity_cost(a.site, b.site) if a is not None and b is not None else None

    def referred(self, referring_store: str, stores: Sequence[str], *, transitive: bool) -> list[str]:
        """Return the stores in the order in which a user of store `referring_store` is referred to them (spec: RT-4).

        Stores of the same site are first, then the others by referral cost. Stores without a referral are last.

        `transitive`: a referral may cross several connectors.
        """
        site = self._entries[referring_store].site

        def rank(store: str) -> tuple[bool, bool, int, bytes]:
            entry = self._entries[store]
            cost = self.routing.affinity_cost(site, entry.site, transitive=transitive)
            return entry.site != site, cost is None, cost or 0, entry.guid

        return sorted(stores, key=rank)


def _reason(entry: StoreEntry, missing: str) -> str:
    """Return why an entry has no address."""
    if entry.mail is None:
        return missing
    return DOUBLED if entry.object.doubled else UNLINKED


def _cn(*names: str) -> str:
    """Return names of objects as a relative name, the innermost first. No name of a topology has characters to escape."""
    return ",".join(f"CN={name}" for name in names)
