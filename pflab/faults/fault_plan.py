"""The faults of a lab: what goes wrong on purpose, where exactly, and how often.

One :class:`FaultPlan` belongs to one lab and both drivers ask it the same questions:

* `before_send` - before a transmission leaves: go, send it twice, hold its queue row, or the connection is refused.
* `on_arrival` - at the receiving end: must this mail be lost here (the node's ArrivalFaults protocol)?
* `crash_point` - before a stimulus: does the node die in it, and at which point?

Where a fault acts. Which mails `lose`, `alter`, `delay`, `duplicate` and `reorder` meet is a value, `Mails`. Without a
link they act on the hop that enters a recipient's own server (`to`, or any recipient's if `to` is None), so the copies
for other stores are not touched while they travel on hops of their own; a mail that is lost at a bridgehead which is a
recipient too is lost for all who lie behind it. With `link` (two servers, in the direction of travel) or `connector`
they act on that hop, whoever lies behind it. `from_` is always the store that sent the mail, never a relay. A fault
meets each transmission once: what was delayed is not delayed again when its time comes.

Every injection is an event of node "lab" (fault.injected) and so is its end (fault.healed), by `heal` or because
`count` is used up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from pflab.errors import LabError
from pflab.faults.fault import (
    ALL,
    CRASH_POINTS,
    GO,
    MAIL_TYPES,
    REORDER_BY_US,
    Arrival,
    Decision,
    Fault,
    FaultKind,
    Mails,
    Sending,
)
from pflab.faults.link_faults import LinkFaults
from traces.labtime import LabTime

if TYPE_CHECKING:
    from topology import Topology
    from transport.envelope import Transmission

__all__ = ["CRASH_POINTS", "GO", "MAIL_TYPES", "REORDER_BY_US", "Decision", "Fault", "FaultKind", "FaultPlan", "Mails"]


class FaultPlan(LinkFaults):
    """The faults of one lab. Not for several threads.

    `injected(fault id, kind, details)` and `healed(fault id)` are called once each, in order, and between them
    `altered(fault id, server, transmission)` for each mail that has crossed its hop altered; the lab makes them
    events. Every name is checked against the topology: LabError says which one is unknown and what there is.
    `crash_points`: whether the driver can let a server die in the midst of a stimulus; `tls`: whether servers offer
    STARTTLS.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        injected: Callable[[str, str, Mapping[str, str]], None] | None = None,
        altered: Callable[[str, str, Transmission], None] | None = None,
        healed: Callable[[str], None] | None = None,
        crash_points: bool = True,
        tls: bool = False,
    ) -> None:
        super().__init__(topology, tls=tls)
        self._crash_points = crash_points
        self._sites = {name: server.site for name, server in topology.servers.items()}
        self._stores = {topology.address_of(name).lower(): name for name in topology.servers}
        self._connectors = {connector.name for connector in topology.connectors}
        self._injected = injected
        self._altered = altered
        self._healed = healed
        self._number = 0
        self._active: dict[str, Fault] = {}
        # What is lost on a link is known when it leaves and happens when it arrives.
        self._armed: dict[Arrival, str] = {}
        self._held: dict[Sending, LabTime] = {}

    @property
    def number(self) -> int:
        """How many there have been."""
        return self._number

    def go_on_after(self, number: int) -> None:
        """The next is numbered after these, of a plan that has gone with its faults."""
        self._number = number

    # --- injecting: each returns the fault's id, "F1", "F2", ... `count`: how often it acts; None: until it is healed

    def lose(self, mails: Mails = ALL, count: int | None = None) -> str:
        """Lose mail at its receiving end: answered 250, traced as hop.dropped, gone."""
        return self._mail_fault(FaultKind.LOSE, mails, count)

    def alter(self, mails: Mails = ALL, count: int | None = None, *, until_at: LabTime | None = None) -> str:
        """Alter mail on its hop, so that only its signature tells (ML-6). `until_at`: the lab time at which the fault ends
        by itself."""
        return self._mail_fault(FaultKind.ALTER, mails, count, until_at=until_at)

    def delay(self, mails: Mails = ALL, *, by_us: int = REORDER_BY_US, count: int | None = None) -> str:
        """Hold mail in its last queue (or the link's) for `by_us` of lab time."""
        return self._mail_fault(FaultKind.DELAY, mails, count, by_us=by_us)

    def duplicate(self, mails: Mails = ALL, count: int | None = None) -> str:
        """Send mail twice over its hop."""
        return self._mail_fault(FaultKind.DUPLICATE, mails, count)

    def reorder(self, mails: Mails = ALL, *, by_us: int = REORDER_BY_US, count: int | None = 1) -> str:
        """Let the second mail of each of `count` pairs overtake the first, which is held for `by_us`."""
        return self._mail_fault(FaultKind.REORDER, mails, count, by_us=by_us)

    def cut(self, between: Sequence[str] | str, one_way: bool = False) -> str:
        """Refuse connections: over the connector of that name, or between two ends, each a server or a site.

        `one_way` refuses only those from the first end to the second.
        """
        if isinstance(between, str):
            self._known(between, self._connectors, "connector")
            if one_way:
                raise LabError("a one-way cut needs two ends: name a pair, [from, to], in place of the connector")
            return self._add(Fault("", FaultKind.CUT, connector=between))
        if len(between) != 2:
            raise LabError(f"a cut lies between two ends; {len(between)} were named")
        for end in between:
            self._known(end, [*self._sites, *self._sites.values()], "server or site")
        return self._add(Fault("", FaultKind.CUT, between=(between[0], between[1]), one_way=one_way))

    def crash(self, server: str, point: str = "before commit", after: int = 0) -> str:
        """Let the server die in a stimulus, the next one or the one `after` so many, at `point`; it comes back by
        itself."""
        if not self._crash_points:
            raise LabError("a server dies in mid-stimulus only in simulation; here it can be killed and started")
        self._known(server, self._sites, "server")
        self._known(point, CRASH_POINTS, "crash point")
        return self._add(Fault("", FaultKind.CRASH, server=server, point=point, count=after + 1))

    def killed(self, server: str) -> str:
        """Note that the server was killed from outside; healing it is its start."""
        return self._add(Fault("", FaultKind.KILL, server=server))

    def heal(self, fault: str | None = None) -> None:
        """End one fault, or all (those of servers killed from outside end when they are started)."""
        if fault is not None:
            self._known(fault, self._active, "active fault")
            self._end(self._active[fault])
            return
        for each in [each for each in self._active.values() if each.kind is not FaultKind.KILL]:
            self._end(each)

    def active(self) -> Sequence[Fault]:
        """The faults in force, oldest first."""
        return tuple(self._active.values())

    @property
    def held_until_at(self) -> LabTime:
        """When the last mail goes that a fault has held back, healed or not; 0 if there is none."""
        return max(self._held.values(), default=0)

    # --- asked by the drivers

    def before_send(self, server: str, transmission: Transmission, now: LabTime) -> Decision:
        """What is to happen to a transmission that `server` is about to make."""
        if not self._active:
            return GO
        line = self.before_link(server, transmission, now)
        if line.refuse is not None:
            return line
        hold_until_at, copies, alter = line.hold_until_at, 1, False
        for fault in tuple(self._active.values()):
            if fault.kind is FaultKind.CUT:
                if self._severed(fault, server, transmission):
                    return Decision(refuse=f"connection refused: cut ({fault.id})")
                continue
            if fault.kind in _ON_HOPS and not transmission.is_call and self._meets(fault, server, transmission):
                decision = self._decide(fault, server, transmission, now)
                copies = max(copies, decision.copies)
                alter = alter or decision.alter
                if decision.hold_until_at is not None:
                    hold_until_at = max(hold_until_at or 0, decision.hold_until_at)
        if hold_until_at is not None and hold_until_at > now:
            self._held[server, transmission.queue_id, transmission.message_id] = hold_until_at
            return Decision(hold_until_at=hold_until_at)
        decided = Decision(copies=copies, fresh=line.fresh, alter=alter)
        return GO if decided == GO else decided

    def after_send(self, server: str, transmission: Transmission, delivered: bool) -> None:
        """The hop is over, well or not; what was remembered of it can go."""
        if self._armed:
            self._armed.pop(_arrival(transmission.next_hop, transmission), None)
        if delivered:
            sending = (server, transmission.queue_id, transmission.message_id)
            self._held.pop(sending, None)
            for fault in tuple(self._active.values()):
                if fault.decided.pop(sending, GO).alter:
                    if self._altered is not None:
                        self._altered(fault.id, server, transmission)
                    self._use(fault)

    def on_arrival(
        self, *, node: str, sender: str, recipients: Sequence[str], subject: str, now: LabTime
    ) -> str | None:
        """The id of the fault that loses this mail here, or None. A driver asks once for each arrival."""
        if not self._active:
            return None
        armed = self._armed.get((node, sender, tuple(recipients), subject))
        if armed is not None:
            return self._lost(self._active[armed]) if armed in self._active else None
        for fault in tuple(self._active.values()):
            if (
                fault.kind is FaultKind.LOSE
                and fault.link is None
                and fault.connector is None
                and self._final(fault, node, recipients)
                and self._of(fault, sender, subject)
            ):
                return self._lost(fault)
        return None

    def crash_point(self, server: str) -> str | None:
        """The point at which the stimulus that `server` is about to run must end in a crash, or None."""
        for fault in tuple(self._active.values()):
            if fault.kind is FaultKind.CRASH and fault.server == server and self._use(fault):
                return fault.point
        return None

    @property
    def crashes_planned(self) -> bool:
        """Whether any crash is planned, so that drivers need not ask before every stimulus."""
        return any(fault.kind is FaultKind.CRASH for fault in self._active.values())

    # --- matching

    def _meets(self, fault: Fault, server: str, transmission: Transmission) -> bool:
        """Whether a fault acts on this hop."""
        if not self._of(fault, transmission.sender, transmission.subject):
            return False
        if fault.link is None and fault.connector is None:
            into, recipients = transmission.next_hop, transmission.recipients
            return fault.kind is not FaultKind.LOSE and self._final(fault, into, recipients)
        if fault.link is not None and fault.link != (server, transmission.next_hop):
            return False
        if fault.connector is not None and fault.connector != transmission.connector:
            return False
        return fault.to is None or fault.to in self._named(transmission.recipients)

    def _of(self, fault: Fault, sender: str, subject: str) -> bool:
        """Whether sender and type are those that the fault is for."""
        if fault.type is not None and subject != MAIL_TYPES[fault.type]:
            return False
        return fault.from_ is None or self._stores.get(sender.lower()) == fault.from_

    def _final(self, fault: Fault, node: str, recipients: Sequence[str]) -> bool:
        """Whether the hop into `node` enters a recipient's own server, the one that the fault names if it names one."""
        return (fault.to is None or fault.to == node) and node in self._named(recipients)

    def _named(self, recipients: Sequence[str]) -> list[str | None]:
        return [self._stores.get(recipient.lower()) for recipient in recipients]

    def _severed(self, fault: Fault, server: str, transmission: Transmission) -> bool:
        if fault.connector is not None:
            return transmission.connector == fault.connector
        assert fault.between is not None
        first, second = fault.between
        if self._at(first, server) and self._at(second, transmission.next_hop):
            return True
        return not fault.one_way and self._at(second, server) and self._at(first, transmission.next_hop)

    def _at(self, end: str, server: str) -> bool:
        return end == server or (end not in self._sites and self._sites[server] == end)

    # --- acting

    def _decide(self, fault: Fault, server: str, transmission: Transmission, now: LabTime) -> Decision:
        sending = (server, transmission.queue_id, transmission.message_id)
        known = fault.decided.get(sending)
        if known is not None:
            return known
        decision = GO
        if fault.kind is FaultKind.LOSE:
            self._armed[_arrival(transmission.next_hop, transmission)] = fault.id
            return GO  # asked again at each attempt: it is used up by the arrival, not by leaving
        if fault.kind is FaultKind.ALTER:
            if fault.count is None or len(fault.decided) < fault.count:
                decision = fault.decided[sending] = Decision(alter=True)
            return decision  # used up when the mail has crossed
        if fault.kind is FaultKind.DELAY:
            decision = Decision(hold_until_at=now + fault.by_us)
        elif fault.kind is FaultKind.DUPLICATE:
            decision = Decision(copies=2)
        elif fault.holds_next:
            decision = Decision(hold_until_at=now + fault.by_us)
        fault.decided[sending] = decision
        if fault.kind is FaultKind.REORDER:
            fault.holds_next = not fault.holds_next
            if not fault.holds_next:
                return decision  # half a pair
        self._use(fault)
        return decision

    def _lost(self, fault: Fault) -> str:
        self._use(fault)
        return fault.id

    def _use(self, fault: Fault) -> bool:
        """Count one use; True when that was the last one."""
        if fault.count is None:
            return False
        fault.count -= 1
        if fault.count > 0:
            return False
        self._end(fault)
        return True

    def _mail_fault(
        self, kind: FaultKind, mails: Mails, count: int | None, *, by_us: int = 0, until_at: LabTime | None = None
    ) -> str:
        for name in (mails.from_, mails.to, *(mails.link or ())):
            if name is not None:
                self._known(name, self._sites, "server")
        if mails.type is not None:
            self._known(mails.type, MAIL_TYPES, "message type")
        if mails.connector is not None:
            self._known(mails.connector, self._connectors, "connector")
        if count is not None and count < 1:
            raise LabError(f"a fault acts at least once; count {count} would not")
        if kind in {FaultKind.DELAY, FaultKind.REORDER} and by_us <= 0:
            raise LabError("a delay is longer than nothing; say for instance 20 min")
        return self._add(Fault("", kind, **asdict(mails), count=count, by_us=by_us, until_at=until_at))

    def _add(self, fault: Fault) -> str:
        self._number += 1
        fault.id = f"F{self._number}"
        self._active[fault.id] = fault
        if self._injected is not None:
            self._injected(fault.id, fault.kind.value, fault.details())
        return fault.id

    def _end(self, fault: Fault) -> None:
        del self._active[fault.id]
        if self._healed is not None:
            self._healed(fault.id)

    def _known(self, name: str, names: Iterable[str], what: str) -> None:
        listed = sorted(set(names))
        if name not in listed:
            raise LabError(f"there is no {what} {name!r}; there is {', '.join(listed) or 'none'}")


_ON_HOPS = (FaultKind.LOSE, FaultKind.ALTER, FaultKind.DELAY, FaultKind.DUPLICATE, FaultKind.REORDER)


def _arrival(node: str, transmission: Transmission) -> Arrival:
    return (node, transmission.sender, tuple(transmission.recipients), transmission.subject)
