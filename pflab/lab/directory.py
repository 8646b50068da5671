"""The directory of the organization: which addresses the entry of each store has, and when it gets them (spec: ML-1).

The lab keeps this directory, and sends every store the stamps of each entry (`node.state.directory`). An entry waits for a
stamp if its primary address is not of the domain that the recipient policies give its store:

| what happens | the entries that wait |
|---|---|
| a store of 2000 or 2003 joins | are stamped at the next run of the recipient update service |
| a store of 5.5 or 2007 joins | are stamped when they are created |
| the policies give it another domain | are stamped at the next run, in 5.5 and 2007 at once; the old address is now secondary |
| the service is set to never | are not stamped |
| "update now" | are stamped at once, even if the service never runs |
| the fault "unstamp" begins | have no address: it is removed, and the service fails for this entry |
| the fault ends | are stamped at the next run |

The directory also says which objects are damaged (spec: ML-8): those that the fault "unlink" or "double" acts on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from node.state.directory import AT_ONCE, FAILS, NEVER, NOT_YET, Stamp, StoreObject, next_run
from node.state.version_profiles import PROFILES
from pflab.runs.lab_state import DirectoryDamage, DirectoryState
from topology.recipient_policy import RecipientPolicies, format_recipient_update

if TYPE_CHECKING:
    from topology.model import Topology
    from traces.labtime import LabTime


class OrganizationDirectory:
    """The stamps of all entries."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self.interval_us = topology.recipient_update_us
        """How often the recipient update service runs; 0: always, None: never."""
        self.policies = topology.policies
        """The recipient policies."""
        self._stamps: dict[str, tuple[Stamp, ...]] = {
            store: (Stamp(topology.domain_of(store), AT_ONCE),) for store in topology.servers_from_start()
        }
        self._damage = DirectoryDamage()
        self._changed: set[str] = set()

    @property
    def recipient_update(self) -> str:
        """How often the recipient update service runs, as in a topology file."""
        return format_recipient_update(self.interval_us)

    def object_of(self, store: str, number: int = 0) -> StoreObject:
        """Return the object of a store in the directory. `number`: which object of this name it is."""
        return StoreObject(
            self._stamps[store],
            number,
            linked=store not in self._damage.unlinked,
            doubled=store in self._damage.doubled,
        )

    def missing(self, store: str) -> str:
        """Return why an entry without an address has none."""
        if store in self._damage.unstamped:
            return FAILS
        return NEVER if self.interval_us is None and self._is_serviced(store) else NOT_YET

    def is_changed(self, store: str) -> bool:
        """Return whether the entry of a store from the start differs from what all stores begin with."""
        return store in self._changed

    # --- what happens

    def reorganize(self, topology: Topology) -> None:
        """Take a changed organization. A server that was added gets its entry when it joins."""
        self._topology = topology

    def forget(self, store: str) -> None:
        """Forget the entry of a server that was removed."""
        self._stamps.pop(store, None)
        self._changed.discard(store)

    def join(self, store: str, now: LabTime) -> None:
        """Create the entry of a store that joins later."""
        self._stamps[store] = ()
        self._stamp_waiting([store], now)

    def damage(self, damage: DirectoryDamage, now: LabTime) -> bool:
        """Damage these objects, and no others. A store for which the service fails loses its addresses. Return whether other
        objects were damaged before."""
        if damage == self._damage:
            return False
        earlier, self._damage = self._damage, damage
        for store in damage.unstamped:
            if store in self._stamps:
                self._replace(store, ())
        self._stamp_waiting(self._stamps.keys() & (set(earlier.unstamped) - set(damage.unstamped)), now)
        damaged = {*earlier.unlinked, *earlier.doubled, *damage.unlinked, *damage.doubled}
        self._changed |= self._stamps.keys() & damaged
        return True

    def set_policies(
        self, now: LabTime, *, interval_us: int | None, policies: RecipientPolicies, at_once: bool = False
    ) -> None:
        """Change how often the service runs, and the recipient policies.

        `at_once`: stamp all entries that wait.
        """
        self.interval_us, self.policies = interval_us, policies
        self._stamp_waiting(self._stamps, now, at_once=at_once)

    def _stamp_waiting(self, stores: Iterable[str], now: LabTime, *, at_once: bool = False) -> None:
        for store in sorted(stores):
            if store in self._damage.unstamped:
                continue
            stamps = tuple(stamp for stamp in self._stamps[store] if stamp.at <= now)
            server = self._topology.servers[store]
            domain = self.policies.domain_of(store, server.site, server.version)
            if not stamps or stamps[-1].domain != domain:
                at = AT_ONCE if at_once or not self._is_serviced(store) else next_run(self.interval_us, now)
                stamps += () if at is None else (Stamp(domain, at),)
            self._replace(store, stamps)

    def _replace(self, store: str, stamps: tuple[Stamp, ...]) -> None:
        if stamps != self._stamps[store]:
            self._stamps[store] = stamps
            self._changed.add(store)

    def _is_serviced(self, store: str) -> bool:
        return PROFILES[str(self._topology.servers[store].version)].stamped_by_service

    # --- a lab that continues

    @property
    def state(self) -> DirectoryState:
        """What `recall` needs."""
        return DirectoryState(
            self.interval_us,
            self.policies.default_domain,
            dict(self._stamps),
            self._damage,
            tuple(sorted(self._changed)),
            self.policies.others,
        )

    def recall(self, state: DirectoryState) -> None:
        """Continue with the state of an earlier lab."""
        self.interval_us, self.policies = state.interval_us, RecipientPolicies(state.domain, state.policies)
        self._stamps = dict(state.stamps)
        self._damage, self._changed = state.damage, set(state.changed)
