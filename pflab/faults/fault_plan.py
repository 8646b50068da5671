"""The faults of a lab: what goes wrong on purpose, where exactly, and how often.

One :class:`FaultPlan` belongs to one lab. Every driver asks it the same questions: `decide` at the four points of
`transport.protocol.fault_points`, and `crash_point` before each stimulus.

Faults on mails (`inject`) act on the mails that a `Mails` selects:

- Without a link they act on the last hop, which enters the server of the recipient `to`, or of any recipient if `to` is None.
- With `link` (two servers, in the direction of travel) or `connector` they act on the hops of this link or connector,
  whatever the destination is.
- With `to` they act on the copy for that store only. If a mail on the hop is also for other stores, the mail is divided
  before it leaves. Without `to`, a mail that is lost at a bridgehead is also lost for all servers behind the bridgehead.
- With `mail` they act on the mail with this Message-ID. Together with `link` and a count of 1, a fault acts on one copy of one
  mail.
- A fault acts on each mail once: a delayed mail is not delayed again when its time comes.

Faults on links (`smtp`, `hold`, `cut`, `blackhole`) act on a link and a direction, whatever mail travels on the link. The
effect of `smtp` happens in the receiving server, when the dialogue reaches the verb. Effects that need no dialogue are decided
before the mail leaves: a refused connection, a black hole, a tarpit and a hold. The delay of a tarpit is lab time, so the mail
waits in the queue, as with every delay. The same is true of the time that an attempt into a black hole takes.

Every injection is an event of node "lab" (fault.injected), and so is its end (fault.healed). A fault ends by `heal`, because
its `count` is used up, or because its time (`until_at`) is over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import msgspec

from pflab.errors import LabError, NotThere
from pflab.faults.fault import (
    ALL,
    CONNECT_US,
    CRASH_POINTS,
    MAIL_FAULTS,
    MAIL_TYPES,
    REORDER_BY_US,
    SEPARATIONS,
    Fault,
    FaultKind,
    Mails,
)
from topology.enums import ConnectorKind
from traces.labtime import DAY_US, LabTime, check_not_after_end, format_duration
from transport.envelope import Priority, Transmission
from transport.protocol.fault_points import (
    GO,
    AfterSend,
    AtArrival,
    AtVerb,
    BeforeSend,
    Decision,
    FaultPoint,
    Mishap,
    QueueRow,
    Verb,
    VerbFault,
)
from transport.protocol.xexch50 import NEED_AUTHENTICATION

if TYPE_CHECKING:
    from node.views import QueueView
    from topology.model import Connector, Topology

TARPIT = "tarpit"
"""One effect of an SMTP fault: the answer comes late. The others are a reply, disconnect and silence."""

MAX_DELAY_US = 400 * DAY_US
"""The longest delay of one mail: far longer than a mail stays in a queue."""

_REPLY = re.compile(r"([45][0-9]{2})(?: ([\x20-\x7e]{1,200}))?")


class FaultPlan:
    """The faults of one lab. Not thread-safe.

    The plan calls `injected(fault id, kind, details)` and `healed(fault id)` once for each fault. Between these calls it calls
    `altered(fault id, server, transmission)` for each altered mail that has crossed its hop. The lab records each call as an
    event. The plan checks every name against the topology; for an unknown name it raises LabError with the known ones.

    `crash_points`: whether the driver can crash a server in the middle of a stimulus; `tls`: whether servers offer STARTTLS.
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
        self._crash_points = crash_points
        self._tls = tls
        self._sites = {name: server.site for name, server in topology.servers.items()}
        self._stores = {local_part(topology.address_of(name)): name for name in topology.servers}
        self._hops_over = {connector.name: _hops_over(topology, connector) for connector in topology.connectors}
        self._injected = injected
        self._altered = altered
        self._healed = healed
        self._number = 0
        self._active: dict[str, Fault] = {}
        # A loss on a link is decided when the mail leaves, and takes effect when it arrives.
        self._armed: dict[AtArrival, str] = {}
        self._held: dict[QueueRow, LabTime] = {}
        self._released: set[QueueRow] = set()

    # --- the faults of a lab that is saved

    def as_document(self) -> dict[str, Any]:
        """Return the faults in force, with all that they have decided, and the number of the last one, as JSON values."""
        state = _State(
            self._number,
            [(replace(fault, decided={}), list(fault.decided.items())) for fault in self._active.values()],
            list(self._armed.items()),
            list(self._held.items()),
            list(self._released),
        )
        document: dict[str, Any] = msgspec.to_builtins(state)
        return document

    def recall(self, document: Mapping[str, Any]) -> None:
        """Continue with the faults that `as_document` returned. They have been injected already, so no callback is called."""
        state = msgspec.convert(document, _State)
        self._number = state.number
        self._active = {fault.id: replace(fault, decided=dict(decided)) for fault, decided in state.active}
        self._armed, self._held = dict(state.armed), dict(state.held)
        self._released = set(state.released)

    # --- injecting: each method returns the fault's id, "F1", "F2", ...

    def inject(
        self,
        kind: FaultKind,
        mails: Mails = ALL,
        *,
        count: int | None = None,
        by_us: int = REORDER_BY_US,
        until_at: LabTime | None = None,
    ) -> str:
        """Inject a fault that acts on mails (one of MAIL_FAULTS).

        count: how many mails, or pairs of mails for a reorder; None: until it is healed.
        by_us: how long a delay or a reorder holds a mail.
        until_at: the lab time at which the fault ends by itself.
        """
        assert kind in MAIL_FAULTS, kind
        for name in (mails.from_, mails.to, *(mails.link or ())):
            if name is not None:
                _check(name, self._sites, "server")
        if mails.type is not None:
            _check(mails.type, MAIL_TYPES, "message type")
        if mails.connector is not None:
            _check(mails.connector, self._hops_over, "connector")
        if kind not in {FaultKind.DELAY, FaultKind.REORDER}:
            by_us = 0
        elif by_us <= 0:
            raise LabError("a delay must be longer than zero, for example 20 min")
        return self._add(Fault("", kind, **asdict(mails), count=count, by_us=by_us, until_at=until_at))

    def separate(self, kind: FaultKind, between: Sequence[str] | str, one_way: bool = False) -> str:
        """Interrupt connections (a kind of SEPARATIONS) over the connector of that name, or between two ends. An end is a
        server or a site.

        `one_way` interrupts only connections from the first end to the second.
        """
        assert kind in SEPARATIONS, kind
        if isinstance(between, str):
            _check(between, self._hops_over, "connector")
            if one_way:
                raise LabError(f"a one-way {kind.value} needs two ends; write [from, to] instead of the connector")
            return self._add(Fault("", kind, connector=between))
        if len(between) != 2:
            raise LabError(f"a {kind.value} needs two ends, not {len(between)}")
        for end in between:
            _check(end, [*self._sites, *self._sites.values()], "server or site")
        return self._add(Fault("", kind, between=(between[0], between[1]), one_way=one_way))

    def cut(self, between: Sequence[str] | str, one_way: bool = False) -> str:
        """Refuse connections; see `separate`."""
        return self.separate(FaultKind.CUT, between, one_way)

    def smtp(
        self,
        verb: str,
        does: str,
        *,
        from_: str | None = None,
        to: str | None = None,
        connector: str | None = None,
        count: int | None = None,
        by_us: int = 0,
        until_at: LabTime | None = None,
    ) -> str:
        """Let an SMTP verb go wrong on the hops from one server to another (None: any), or on a connector.

        does: a reply (`451`, `504 Need to authenticate first`), `disconnect`, `silence`, or `tarpit`, which makes each mail
            `by_us` late.
        count: how many times.
        until_at: the lab time at which the fault ends by itself.

        Raises LabError for a fault that this lab cannot have.
        """
        known = {each.value.lower(): each for each in Verb}
        _check(verb.lower(), known, "SMTP verb")
        fault = Fault(
            "", FaultKind.SMTP, from_=from_, to=to, connector=connector, count=count, by_us=by_us, until_at=until_at
        )
        fault.verb = known[verb.lower()]
        fault.does = does
        if fault.verb is Verb.STARTTLS and not self._tls:
            raise LabError("no server of this lab offers STARTTLS; give the lab certificates, or choose another verb")
        if does != TARPIT:
            fault.answer = _answer(does, fault.verb)
        elif by_us <= 0:
            raise LabError("a tarpit delays mail; give its duration, for example 20 min")
        self._check_link(fault)
        return self._add(fault)

    def hold(
        self,
        *,
        until_at: LabTime,
        from_: str | None = None,
        to: str | None = None,
        connector: str | None = None,
    ) -> str:
        """Keep mails from one server to another in the queue until `until_at`. They leave at that time, even if the fault is
        healed before."""
        fault = Fault("", FaultKind.HOLD, from_=from_, to=to, connector=connector, until_at=until_at)
        self._check_link(fault)
        return self._add(fault)

    def unstamp(self, server: str) -> str:
        """Remove the addresses of the server's entry in the directory, and let the recipient update service fail for it. When
        the fault ends, the service stamps the entry at its next run (spec: ML-1)."""
        _check(server, self._sites, "server")
        return self._add(Fault("", FaultKind.UNSTAMP, server=server))

    def unstamped(self) -> frozenset[str]:
        """Return the servers for which the recipient update service fails."""
        return frozenset(fault.server for fault in self._of_kind(FaultKind.UNSTAMP) if fault.server is not None)

    def crash(self, server: str, point: str = "before commit", after: int = 0) -> str:
        """Crash the server at `point` of a stimulus, after `after` more complete stimuli. The server restarts by itself."""
        if not self._crash_points:
            raise LabError("only the simulator crashes a server during a stimulus; kill and start the server instead")
        _check(server, self._sites, "server")
        _check(point, CRASH_POINTS, "crash point")
        return self._add(Fault("", FaultKind.CRASH, server=server, point=point, count=after + 1))

    def killed(self, server: str) -> str:
        """Note that the server was killed; the lab heals this fault when it starts the server."""
        return self._add(Fault("", FaultKind.KILL, server=server, acted=1))

    def heal(self, fault: str | None = None) -> None:
        """End one fault, or all. Faults of killed servers end only when the servers are started."""
        if fault is not None:
            if fault not in self._active:
                raise NotThere(
                    f"there is no active fault {fault!r}; active: {', '.join(sorted(self._active)) or 'none'}"
                )
            self._end(self._active[fault])
            return
        for each in [each for each in self._active.values() if each.kind is not FaultKind.KILL]:
            self._end(each)

    def held(self, mail: str) -> Mapping[QueueRow, LabTime]:
        """Return the queue rows in which faults hold a mail, given by its Message-ID, and until when."""
        return {row: until_at for row, until_at in self._held.items() if row[2] == mail}

    def release(self, mail: str) -> Sequence[QueueRow]:
        """End every delay of one mail, and return the rows in which it was held. The caller makes these rows due.

        A fault that delays other mails too stays active, but does not hold this mail again.
        """
        for fault in self._of_kind(FaultKind.DELAY):
            if fault.mail == mail:
                self._end(fault)
        rows = tuple(self.held(mail))
        for row in rows:
            del self._held[row]
            self._released.add(row)
        return rows

    # --- what is active

    def active(self) -> Sequence[Fault]:
        """Return the active faults, oldest first."""
        return tuple(self._active.values())

    @property
    def held_until_at(self) -> LabTime:
        """When the last mail leaves that a fault holds, even if the fault was healed; 0 if no mail is held."""
        return max(self._held.values(), default=0)

    @property
    def has_verb_faults(self) -> bool:
        """Whether a fault may act at an SMTP verb."""
        return bool(self._of_kind(FaultKind.SMTP))

    @property
    def has_crashes(self) -> bool:
        """Whether a crash is planned."""
        return bool(self._of_kind(FaultKind.CRASH))

    @property
    def next_end_at(self) -> LabTime | None:
        """When the next fault ends by itself."""
        ends = [fault.until_at for fault in self._active.values() if fault.until_at is not None]
        return min(ends, default=None)

    def expire(self, now: LabTime) -> None:
        """End the faults whose time is over."""
        for fault in self.active():
            if fault.until_at is not None and fault.until_at <= now:
                self._end(fault)

    # --- decisions

    def decide(self, point: FaultPoint) -> Decision:
        """Return what the faults do at this point. Call it once for each point that a mail reaches."""
        match point:
            case AfterSend():
                self._after_send(point)
                return GO
            case _ if not self._active:
                return GO
            case BeforeSend():
                return self._before_send(point)
            case AtVerb():
                return self._at_verb(point)
            case AtArrival():
                return self._at_arrival(point)

    def crash_point(self, server: str) -> str | None:
        """Return the point at which the next stimulus of `server` must crash, or None."""
        for fault in self._of_kind(FaultKind.CRASH):
            if fault.server == server and self._use(fault):
                return fault.point
        return None

    def _before_send(self, point: BeforeSend) -> Decision:
        link = self._on_its_link(point)
        if link.refuse is not None:
            return link
        separated = any(fault.kind in SEPARATIONS and self._separates(fault, point) for fault in self.active())
        if not separated and (apart := self._apart(point)):
            return Decision(apart=apart)
        hold_until_at, copies, alter = link.hold_until_at, 1, False
        for fault in self.active():
            if fault.kind is FaultKind.CUT:
                if self._separates(fault, point):
                    fault.acted += 1
                    return Decision(refuse=f"connection refused: cut ({fault.id})")
            elif fault.kind in MAIL_FAULTS and not point.transmission.is_call and self._meets(fault, point):
                decision = self._of_mail_fault(fault, point)
                copies = max(copies, decision.copies)
                alter = alter or decision.alter
                if decision.hold_until_at is not None:
                    hold_until_at = max(hold_until_at or 0, decision.hold_until_at)
        if hold_until_at is not None and hold_until_at > point.now and point.row not in self._released:
            self._held[point.row] = hold_until_at
            return Decision(hold_until_at=hold_until_at)
        for fault in self._of_kind(FaultKind.BLACKHOLE):
            if self._separates(fault, point):
                return _swallow(fault, point)
        decided = Decision(copies=copies, fresh=link.fresh, alter=alter)
        return GO if decided == GO else decided

    def _apart(self, point: BeforeSend) -> tuple[str, ...]:
        """Return the recipients that a fault on this hop names, if the mail is also for others and so must be divided."""
        recipients = point.transmission.recipients
        for fault in self.active():
            if fault.kind in MAIL_FAULTS and fault.to is not None and self._meets(fault, point):
                named = tuple(each for each in recipients if self._named((each,)) == [fault.to])
                if len(named) < len(recipients):
                    return named
        return ()

    def _on_its_link(self, point: BeforeSend) -> Decision:
        """Return what the faults of the link do to a mail that is about to leave."""
        self.expire(point.now)
        hold_until_at, fresh = None, False
        for fault in [*self._of_kind(FaultKind.SMTP), *self._of_kind(FaultKind.HOLD)]:
            if not self._on_link(fault, point.server, point.transmission.next_hop):
                continue
            if fault.kind is FaultKind.HOLD:
                hold_until_at = max(hold_until_at or 0, fault.until_at or 0)
            elif fault.does == TARPIT:
                if point.row not in fault.decided:
                    fault.decided[point.row] = Decision(hold_until_at=point.now + fault.by_us)
                    self._use(fault)
                hold_until_at = max(hold_until_at or 0, fault.decided[point.row].hold_until_at or point.now)
            elif fault.verb is Verb.CONNECT and fault.answer is not None:
                self._use(fault)
                return Decision(refuse=_refusal(fault.answer))
            else:
                # Use a new connection. A reused one skips the first verbs, and its failures at later verbs are not attempts.
                fresh = True
        return Decision(hold_until_at=hold_until_at, fresh=fresh)

    def _of_mail_fault(self, fault: Fault, point: BeforeSend) -> Decision:
        known = fault.decided.get(point.row)
        if known is not None:
            return known
        decision = GO
        if fault.kind is FaultKind.LOSE:
            if fault.link is not None or fault.connector is not None:
                self._armed[_arrival(point.transmission)] = fault.id
            return GO  # decided again at each attempt, because only the arrival counts as a use
        if fault.kind is FaultKind.ALTER:
            if fault.count is None or len(fault.decided) < fault.count:
                decision = fault.decided[point.row] = Decision(alter=True)
            return decision  # the use is counted when the mail has crossed its hop
        if fault.kind is FaultKind.DUPLICATE:
            decision = Decision(copies=2)
        elif fault.kind is FaultKind.DELAY or fault.holds_next:
            decision = Decision(hold_until_at=point.now + fault.by_us)
        fault.decided[point.row] = decision
        if fault.kind is FaultKind.REORDER:
            fault.holds_next = not fault.holds_next
            if not fault.holds_next:
                return decision  # the first mail of a pair
        self._use(fault)
        return decision

    def _after_send(self, point: AfterSend) -> None:
        """Forget what was decided for an attempt that has ended."""
        if self._armed:
            self._armed.pop(_arrival(point.transmission), None)
        if point.delivered:
            self._held.pop(point.row, None)
            self._released.discard(point.row)
            for fault in self.active():
                if fault.decided.pop(point.row, GO).alter:
                    if self._altered is not None:
                        self._altered(fault.id, point.server, point.transmission)
                    self._use(fault)

    def _at_arrival(self, point: AtArrival) -> Decision:
        armed = self._armed.get(point)
        if armed is not None:
            return self._lose(self._active[armed]) if armed in self._active else GO
        for fault in self._of_kind(FaultKind.LOSE):
            if (
                fault.link is None
                and fault.connector is None
                and self._is_destination(fault, point.server, point.recipients)
                and (fault.to is None or len(point.recipients) == 1)  # an undivided mail left before the fault
                and self._fits(fault, point.sender, point.subject, point.message_id)
            ):
                return self._lose(fault)
        return GO

    def _lose(self, fault: Fault) -> Decision:
        self._use(fault)
        return Decision(lost_by=fault.id)

    def _at_verb(self, point: AtVerb) -> Decision:
        if not self.has_verb_faults:
            return GO
        self.expire(point.now)
        for fault in self._of_kind(FaultKind.SMTP):
            if fault.verb is point.verb and fault.answer is not None and self._on_link(fault, point.peer, point.server):
                self._use(fault)
                return Decision(at_verb=fault.answer)
        return GO

    # --- on which mails and hops a fault acts

    def will_meet(self, fault: Fault, server: str, mail: QueueView) -> bool:
        """Return whether a fault acts on the next attempt to send a mail that waits in the queue of a server."""
        if not mail.next_hop:
            return False
        transmission = Transmission(
            queue_id=mail.id,
            next_hop=mail.next_hop,
            connector=mail.connector,
            sender=mail.sender,
            recipients=mail.recipients,
            content=b"",
            message_id=mail.message_id,
            subject=mail.subject,
            attempts=mail.attempts,
            priority=Priority.NORMAL,
            sent_at=mail.due_at,
            lamport=0,
        )
        point = BeforeSend(server, transmission, mail.due_at)
        if fault.kind in MAIL_FAULTS:
            return self._meets(fault, point)
        if fault.kind in SEPARATIONS:
            return self._separates(fault, point)
        return fault.kind in {FaultKind.SMTP, FaultKind.HOLD} and self._on_link(fault, server, mail.next_hop)

    def _meets(self, fault: Fault, point: BeforeSend) -> bool:
        """Return whether a fault on mails acts on this hop."""
        transmission = point.transmission
        if not self._fits(fault, transmission.sender, transmission.subject, transmission.message_id):
            return False
        if fault.link is None and fault.connector is None:
            return self._is_destination(fault, transmission.next_hop, transmission.recipients)
        if fault.link is not None and fault.link != (point.server, transmission.next_hop):
            return False
        if fault.connector is not None and fault.connector != transmission.connector:
            return False
        return fault.to is None or fault.to in self._named(transmission.recipients)

    def _fits(self, fault: Fault, sender: str, subject: str, message_id: str) -> bool:
        """Return whether the fault acts on this sender, message type and mail."""
        if fault.mail is not None and fault.mail != message_id:
            return False
        if fault.type is not None and subject != MAIL_TYPES[fault.type]:
            return False
        return fault.from_ is None or self._stores.get(local_part(sender)) == fault.from_

    def _is_destination(self, fault: Fault, server: str, recipients: Sequence[str]) -> bool:
        """Return whether `server` is the destination of a recipient, and also of the fault's `to`, if that is given."""
        return (fault.to is None or fault.to == server) and server in self._named(recipients)

    def _named(self, recipients: Sequence[str]) -> list[str | None]:
        return [self._stores.get(local_part(recipient)) for recipient in recipients]

    def _separates(self, fault: Fault, point: BeforeSend) -> bool:
        """Return whether a fault of SEPARATIONS lies on this hop."""
        if fault.connector is not None:
            return point.transmission.connector == fault.connector
        assert fault.between is not None
        first, second = fault.between
        if self._at(first, point.server) and self._at(second, point.transmission.next_hop):
            return True
        return not fault.one_way and self._at(second, point.server) and self._at(first, point.transmission.next_hop)

    def _at(self, end: str, server: str) -> bool:
        return end == server or (end not in self._sites and self._sites[server] == end)

    def _on_link(self, fault: Fault, from_: str, to: str) -> bool:
        if fault.connector is not None and (from_, to) not in self._hops_over[fault.connector]:
            return False
        return fault.from_ in (None, from_) and fault.to in (None, to)

    # --- inside

    def _of_kind(self, kind: FaultKind) -> list[Fault]:
        return [fault for fault in self._active.values() if fault.kind is kind]

    def _check_link(self, fault: Fault) -> None:
        for name in (fault.from_, fault.to):
            if name is not None:
                _check(name, self._sites, "server")
        if fault.connector is not None:
            _check(fault.connector, self._hops_over, "connector")

    def _add(self, fault: Fault) -> str:
        if fault.count is not None and fault.count < 1:
            raise LabError(f"the count of a fault must be at least 1, not {fault.count}")
        ends = fault.link or fault.between or (fault.from_, fault.to)
        if ends[0] is not None and ends[0] == ends[1]:
            raise LabError(f"no mail travels from {ends[0]} to itself; name two different ends")
        if not 0 <= fault.by_us <= MAX_DELAY_US:
            raise LabError(f"a fault delays mail by at most {format_duration(MAX_DELAY_US)}")
        if fault.until_at is not None:
            check_not_after_end(fault.until_at)
        self._number += 1
        fault.id = f"F{self._number}"
        self._active[fault.id] = fault
        if self._injected is not None:
            self._injected(fault.id, fault.kind.value, fault.details())
        return fault.id

    def _use(self, fault: Fault) -> bool:
        """Count one use; return True if it was the last one."""
        fault.acted += 1
        if fault.count is None:
            return False
        fault.count -= 1
        if fault.count > 0:
            return False
        self._end(fault)
        return True

    def _end(self, fault: Fault) -> None:
        """End a fault, unless it is over. The end of one fault can end another: when an address is stamped again, the servers
        take it in, and a planned crash happens."""
        if self._active.pop(fault.id, None) is not None and self._healed is not None:
            self._healed(fault.id)


class _State(msgspec.Struct, frozen=True):
    """What `FaultPlan.as_document` returns: `number` is that of the last fault, and what is decided is beside each fault,
    because a row is no key in JSON."""

    number: int
    active: list[tuple[Fault, list[tuple[QueueRow, Decision]]]]
    armed: list[tuple[AtArrival, str]]
    held: list[tuple[QueueRow, LabTime]]
    released: list[QueueRow]


def faults_at_end(document: Mapping[str, Any], injected: int, active: Collection[str]) -> dict[str, Any]:
    """Return the faults of a lab that was killed, as `FaultPlan.as_document` does, from what was saved last and from events.

    injected: how many faults began.
    active: the ids of those that had not ended.
    """
    state = msgspec.convert(document, _State)
    number = max(state.number, injected)
    in_force = [each for each in state.active if each[0].id in active]
    ended: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(state, number=number, active=in_force))
    return ended


def local_part(address: str) -> str:
    """Return the part of a store's address that names the store. The recipient policy can change the domain."""
    return address.partition("@")[0].lower()


def _check(name: str, names: Iterable[str], what: str) -> None:
    listed = sorted(set(names))
    if name not in listed:
        raise LabError(f"there is no {what} {name!r}; known: {', '.join(listed) or 'none'}")


def _arrival(transmission: Transmission) -> AtArrival:
    return AtArrival(
        transmission.next_hop,
        transmission.sender,
        tuple(transmission.recipients),
        transmission.subject,
        transmission.message_id,
    )


def _hops_over(topology: Topology, connector: Connector) -> frozenset[tuple[str, str]]:
    """Return the hops, from server to server, that cross a connector."""
    found = set()
    for site in connector.between:
        into = connector.bridgehead(connector.other_site(site))
        direct = connector.kind is ConnectorKind.DIRECT
        found |= {(name, into) for name in (topology.servers_in(site) if direct else (connector.bridgehead(site),))}
    return frozenset(found)


def _answer(does: str, verb: Verb) -> VerbFault:
    if does in {Mishap.DISCONNECT.value, Mishap.SILENCE.value}:
        return VerbFault(Mishap(does))
    match = _REPLY.fullmatch(does)
    if match is None:
        raise LabError(
            f"{does!r} cannot happen at an SMTP verb; write disconnect, silence, tarpit, or a reply from 400 to 599 with"
            " an optional text, such as 451 or 504 Need to authenticate first"
        )
    code = int(match[1])
    if match[2]:
        text = match[2]
    elif code == 504 and verb is Verb.XEXCH50:
        text = NEED_AUTHENTICATION.partition(" ")[2]
    else:
        text = f"{code // 100}.3.0 refused by the lab"
    return VerbFault(Mishap.REPLY, code, text)


def _swallow(fault: Fault, point: BeforeSend) -> Decision:
    """Return the decision of a black hole: the attempt waits for CONNECT_US, and then fails. If the fault is healed before, the
    mail leaves, because the sender still asks for the connection."""
    waits = fault.decided.setdefault(point.row, Decision(hold_until_at=point.now + CONNECT_US))
    if waits.hold_until_at is not None and waits.hold_until_at > point.now:
        return waits
    del fault.decided[point.row]
    fault.acted += 1
    next_hop, after = point.transmission.next_hop, format_duration(CONNECT_US)
    return Decision(
        refuse=f"no connection: {next_hop} neither accepted nor refused it within {after}: blackhole ({fault.id})"
    )


def _refusal(answer: VerbFault) -> str:
    if answer.mishap is Mishap.REPLY:
        return f"no connection: {answer.line}"
    return (
        "connection refused" if answer.mishap is Mishap.DISCONNECT else "no connection: the peer did not answer in time"
    )
