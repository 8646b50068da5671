"""The invariant of addresses: each store has the address that the recipient policies give it (ML-1).

Example: the policies are London (the stores of LON, fabrikam.test) and the Default Policy (contoso.test). B of LON is stamped
with B-IS@fabrikam.test. When London is removed, B keeps this address until the service runs, and is then stamped
with B-IS@contoso.test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pflab.invariants.invariant import Invariant, Witnesses
from pflab.terms.event_handlers import event_handler
from traces.events import AddressStamped, FaultInjected, NodeStarted, RecipientPolicy
from traces.labtime import LabTime


@dataclass(frozen=True, slots=True)
class _Policies:
    """The policies of a time. rows: domain, sites, servers and versions of each, the first one first."""

    rows: tuple[tuple[str, Sequence[str], Sequence[str], Sequence[str]], ...]

    def give(self, domain: str, store: str, site: str, version: str) -> bool:
        """Return whether a store gets addresses of the domain."""
        member = (site, store, version)
        for domain_of_policy, *filters in self.rows:
            if all(name in names for name, names in zip(member, filters, strict=True) if names):
                return domain_of_policy == domain
        return False


class AddressesAreThoseOfThePolicies(Invariant):
    id = "addresses are those of the recipient policies"
    rules = ("ML-1",)
    says = "A store is stamped with an address of the domain that the first recipient policy for it gives."

    def remember(self) -> None:
        began = self.facts.organizations.present
        rows = [
            (entry["domain"], *_parts(entry["filter"])) for entry in began.as_document().get("recipient_policies", ())
        ]
        self._lists = [_Policies((*rows, (began.domain, (), (), ())))]
        """The policies of the lab, one list after the other."""
        self._oldest: dict[str, int] = {}
        """By server: the first of the lists from which its directory may still be."""
        self._skewed: set[str] = set()

    @event_handler
    def _changed(self, event: RecipientPolicy) -> None:
        rows = [(entry.domain, entry.sites, entry.servers, entry.versions) for entry in event.policies]
        self._lists.append(_Policies((*rows, (event.domain, (), (), ()))))

    @event_handler
    def _started(self, event: NodeStarted) -> None:
        self._oldest[event.node] = 0

    @event_handler
    def _fault(self, event: FaultInjected) -> None:
        if event.kind == "skew":
            self._skewed.add(str(event.details["server"]))

    def on_quiet(self, store: str, now: LabTime) -> Witnesses:
        self._oldest[store] = len(self._lists) - 1
        return iter(())

    @event_handler
    def _stamped(self, event: AddressStamped) -> Witnesses:
        server = self.facts.organizations.present.servers.get(event.store)
        if (
            server is None or event.node in self._skewed
        ):  # by a wrong clock it is stamped at another time than in the lab
            return
        domain = event.address.rpartition("@")[2]
        lists = self._lists[self._oldest.get(event.node, 0) :]
        if not any(policies.give(domain, server.name, server.site, str(server.version)) for policies in lists):
            yield f"{event.node} knows {event.store} as {event.address}, which no recipient policy for it gives"


def _parts(filter_: Mapping[str, Sequence[str]]) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    return filter_.get("sites", ()), filter_.get("servers", ()), filter_.get("versions", ())


ADDRESSES = (AddressesAreThoseOfThePolicies,)
