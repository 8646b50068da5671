"""The invariants of routes: mail leaves a store by the organization that the store has read, and every store reads each change
(RT-1, RT-6).

Example: A has read that the connector SEA-NYC costs more than the way by LON. A mail that had begun to cross it still arrives
over it. Mail that had not begun, and later mail, goes by LON. While A knows that a link is down, its mail may take other ways,
but only over connectors that its organization has, to the servers at their ends.
"""

from __future__ import annotations

from pflab.invariants.invariant import Invariant, Witnesses
from pflab.terms.event_handlers import event_handler
from topology.model import STORE_ADDRESS_SUFFIX
from topology.routing import NextHop, Routing
from traces.events import HopFailed, HopReceived, HopSent, LinkDown, LinkUp, MailSubmitted, OrganizationRead
from traces.labtime import LabTime


class MailTakesTheRoutesOfTheOrganization(Invariant):
    id = "mail takes the routes of the organization"
    rules = ("RT-1", "RT-6")
    says = "A store that has read a change of the organization sends mail only over the connectors that it has now."

    def remember(self) -> None:
        self._read_at: dict[str, LabTime] = self.facts.backups.follow({})
        self._entered_at: dict[tuple[str, str], LabTime] = self.facts.backups.follow({})
        """By store and mail: when the mail came into the queue."""
        self._down: dict[tuple[str, str, str], bool] = self.facts.backups.follow({})
        """By store, connector and the server that reports it: a link that the store knows to be down."""

    @event_handler
    def _read(self, event: OrganizationRead) -> None:
        self._read_at[event.node] = event.at

    @event_handler
    def _entered(self, event: MailSubmitted | HopReceived) -> None:
        self._entered_at[event.node, event.mail or ""] = event.at

    @event_handler
    def _link_down(self, event: LinkDown) -> None:
        self._down[event.node, event.connector, event.by] = True

    @event_handler
    def _link_up(self, event: LinkUp) -> None:
        self._down.pop((event.node, event.connector, event.by), None)

    @event_handler
    def _failed(self, event: HopFailed) -> Witnesses:
        if event.next_hop:
            yield from self._off_the_organization(event)

    @event_handler
    def _sent(self, event: HopSent) -> Witnesses:
        wrong = list(self._off_the_organization(event))
        yield from wrong
        if wrong or self._may_have_begun_before(event) or self._knows_of_a_link_down(event.node):
            return
        routing = self.facts.organizations.routing(event.node)
        for address in event.recipients:
            store = address.partition("@")[0].removesuffix(STORE_ADDRESS_SUFFIX)
            if not address.partition("@")[0].endswith(STORE_ADDRESS_SUFFIX) or not routing.has(store):
                continue
            right = routing.next_hop(event.node, store) if store != event.node else None
            if right is None or _way(right) != (event.next_hop, event.connector):
                way = "there is no route" if right is None else f"the route is {_words(*_way(right))}"
                yield f"{event.node} sends mail for {store} {_words(event.next_hop, event.connector)}, but {way}"

    def _off_the_organization(self, event: HopSent | HopFailed) -> Witnesses:
        """Yield a witness if a mail does not go to a server that is one hop away."""
        routing = self.facts.organizations.routing(event.node)
        if not routing.has(event.node) or not _is_hop(routing, event.node, event.next_hop, event.connector):
            words = _words(event.next_hop, event.connector)
            yield f"{event.node} sends mail {words}, which its organization does not have"

    def _may_have_begun_before(self, event: HopSent) -> bool:
        """Return whether a mail may have begun to cross its connector before the store read the last change.

        The event does not say when a mail began that was delayed on its way.
        """
        began_at = event.begun_at
        if began_at is None and event.connector is not None and self.facts.organizations.takes_time(event.connector):
            began_at = self._entered_at.get((event.node, event.mail or ""), -1)
        return (event.at if began_at is None else began_at) <= self._read_at.get(event.node, -1)

    def _knows_of_a_link_down(self, store: str) -> bool:
        routing = self.facts.organizations.routing(store)
        return any(node == store and routing.connector(name) is not None for node, name, _ in self._down)


class RunningStoresReadTheOrganization(Invariant):
    id = "running stores read the organization"
    rules = ("RT-6",)
    says = "A store that runs has read the last change of the organization."

    def on_quiet(self, store: str, now: LabTime) -> Witnesses:
        if self.facts.organizations.is_behind(store):
            yield f"{store} runs, but has not read the last change of the organization"


def _is_hop(routing: Routing, server: str, next_hop: str, name: str | None) -> bool:
    if name is None:
        return NextHop(next_hop, None) in routing.neighbours(server)
    connector = routing.connector(name)
    if connector is None or not routing.crosses(server, connector):
        return False
    return next_hop in connector.bridgeheads and next_hop != server


def _way(hop: NextHop) -> tuple[str, str | None]:
    return hop.server, None if hop.connector is None else hop.connector.name


def _words(next_hop: str, connector: str | None) -> str:
    return f"to {next_hop}" if connector is None else f"to {next_hop} over {connector}"


ROUTES = (MailTakesTheRoutesOfTheOrganization, RunningStoresReadTheOrganization)
