"""The invariant of servers: only those of the organization act (RP-9, RT-6).

Example: the server D is removed, and a day later another server D is added and started. In between D neither starts nor sends
nor receives anything.
"""

from __future__ import annotations

from pflab.invariants.invariant import Invariant, Witnesses
from pflab.terms.event_handlers import event_handler
from traces.events import ChangeMade, HopFailed, HopReceived, HopSent, MailReceived, MailSubmitted, NodeStarted

_Act = NodeStarted | ChangeMade | MailSubmitted | MailReceived | HopSent | HopReceived | HopFailed


class OnlyServersOfTheOrganizationAct(Invariant):
    id = "only servers of the organization act"
    rules = ("RP-9", "RT-6")
    says = "A server does nothing before it is added to the organization, or after it was removed."

    @event_handler
    def _acted(self, event: _Act) -> Witnesses:
        if event.node not in self.facts.organizations.present.servers:
            yield f"{event.node} has the event {event.__struct_config__.tag}, but the organization has no such server"


SERVERS = (OnlyServersOfTheOrganizationAct,)
