"""The faults of a lab: what goes wrong on purpose, where exactly, and how often.

One :class:`FaultPlan` belongs to one lab. Every driver asks it the same questions: `decide` at the four points of
`transport.protocol.fault_points`, and `crash_point` before each stimulus.

Faults on mails act on the mails that their fields select:

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

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from node.state.version_profiles import PROFILES
from pflab.errors import LabError, NotThere
from pflab.faults.active_fault import ActiveFault, count_of
from pflab.faults.fault import (
    CONNECT_US,
    MAIL_TYPES,
    Alter,
    AnyFault,
    Blackhole,
    Crash,
    Cut,
    Delay,
    Double,
    Duplicate,
    Fault,
    Hold,
    Kill,
    LinkFault,
    Lose,
    MailFault,
    Reorder,
    Rewrite,
    Separation,
    Skew,
    Smtp,
    Stall,
    Unlink,
    Unstamp,
)
from pflab.runs.lab_state import DirectoryDamage
from topology.enums import ConnectorKind
from traces.labtime import LabTime, check_not_after_end, format_duration
from transport.envelope import Priority, Transmission
from transport.protocol.fault_points import (
    BODY,
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

if TYPE_CHECKING:
    from node.views import QueueView
    from topology.model import Connector, Topology

K = TypeVar("K", bound=Fault)


class FaultPlan:
    """The faults of one lab. Not thread-safe.

    The plan calls `injected(fault id, kind, details)` and `healed(fault id)` once for each fault. Between these calls it calls
    `altered(fault id, server, transmission)` for each altered mail that has crossed its hop. The lab records each call as an
    event. The plan checks every name against the topology; for an unknown name it raises LabError with the known ones.

    now: returns the lab time.
    simulated: whether the lab is simulated, and so can have every kind of fault.
    tls: whether servers offer STARTTLS.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        now: Callable[[], LabTime] = lambda: 0,
        injected: Callable[[str, str, Mapping[str, str]], None] | None = None,
        altered: Callable[[str, str, Transmission], None] | None = None,
        healed: Callable[[str], None] | None = None,
        simulated: bool = True,
        tls: bool = False,
    ) -> None:
        self._now = now
        self._simulated = simulated
        self.tls = tls
        """Whether servers offer STARTTLS."""
        self.reorganize(topology)
        self._injected = injected
        self._altered = altered
        self._healed = healed
        self._number = 0
        self._active: dict[str, ActiveFault] = {}
        # A loss on a link is decided when the mail leaves, and takes effect when it arrives.
        self._armed: dict[AtArrival, str] = {}
        self._hold_ends: dict[QueueRow, LabTime] = {}
        self._released: set[QueueRow] = set()
        self.disturbs_servers = False
        """Whether a fault is active that `pflab.simulation.environment` plays."""

    def reorganize(self, topology: Topology) -> None:
        """Take a changed organization, which has what the faults in force name (`end_without`)."""
        self._sites = {name: server.site for name, server in topology.servers.items()}
        self._stores = {local_part(topology.address_of(name)): name for name in topology.servers}
        self._in_trees = {
            name for name, server in topology.servers.items() if PROFILES[str(server.version)].has_tree_objects
        }
        self._hops_over = {connector.name: _hops_over(topology, connector) for connector in topology.connectors}

    # --- the faults of a lab that is saved

    def as_document(self) -> dict[str, Any]:
        """Return the faults in force, with all that they have decided, and the number of the last one, as JSON values."""
        state = _State(
            self._number,
            [(replace(active, decided={}), list(active.decided.items())) for active in self._active.values()],
            list(self._armed.items()),
            list(self._hold_ends.items()),
            list(self._released),
        )
        document: dict[str, Any] = msgspec.to_builtins(state)
        return document

    def recall(self, document: Mapping[str, Any]) -> None:
        """Continue with the faults that `as_document` returned. They have been injected already, so no callback is called.

        Raises LabError for a fault that this lab cannot have, and for what is no such document.
        """
        try:
            state = msgspec.convert(document, _State)
        except msgspec.ValidationError as error:
            raise LabError(f"the faults of the earlier lab cannot be read: {error}") from error
        for fault, _ in state.active:
            try:
                self._check(fault.asked)
            except LabError as error:
                raise LabError(f"fault {fault.id} of the earlier lab: {error}") from error
        self._number = state.number
        self._active = {fault.id: replace(fault, decided=dict(decided)) for fault, decided in state.active}
        self._armed, self._hold_ends = dict(state.armed), dict(state.held)
        self._released = set(state.released)
        self._note_environment()

    # --- injecting

    def inject(self, fault: AnyFault) -> str:
        """Inject a fault. Return its id: F1, F2, ...

        Raises LabError for a fault that this lab cannot have, and for a name that is not in the topology.
        """
        self._check(fault)
        until_at = None if fault.lasts_us is None else self._now() + fault.lasts_us
        if until_at is not None:
            check_not_after_end(until_at)
        self._number += 1
        active = ActiveFault(f"F{self._number}", fault, count_of(fault), until_at)
        self._active[active.id] = active
        self._note_environment()
        if self._injected is not None:
            self._injected(active.id, active.kind, active.details())
        return active.id

    def killed(self, server: str) -> str:
        """Note that the server was killed. The lab heals this fault when it starts the server."""
        id_ = self.inject(Kill(server=server))
        self._active[id_].acted = 1
        return id_

    def skew_us(self, server: str) -> int:
        """Return by how much the clock of a server is fast; negative if it is slow."""
        return next((fault.by_us for _, fault in reversed(self.of(Skew)) if fault.server == server), 0)

    def lets_act(self, server: str) -> bool:
        """Return whether a server surely carries out its next stimulus: no crash is planned, and the server does not stall."""
        return not self.has_crashes and not any(fault.server == server for _, fault in self.of(Stall))

    def directory_damage(self) -> DirectoryDamage:
        """Return the servers whose directory objects are damaged."""
        kinds = (Unstamp, Unlink, Double)
        return DirectoryDamage(*(tuple(sorted({fault.server for _, fault in self.of(kind)})) for kind in kinds))

    def heal(self, fault: str | None = None) -> None:
        """End one fault, or all. Faults of killed servers end only when the servers are started."""
        if fault is not None:
            if fault not in self._active:
                raise NotThere(
                    f"there is no active fault {fault!r}; active: {', '.join(sorted(self._active)) or 'none'}"
                )
            self._end(self._active[fault])
            return
        for active in self.active():
            if not isinstance(active.asked, Kill):
                self._end(active)

    def end_without(self, topology: Topology) -> None:
        """End the faults that name a server, a site or a connector that an organization does not have."""
        known = FaultPlan(topology, simulated=self._simulated, tls=self.tls)
        for active in self.active():
            try:
                known._check(active.asked)
            except LabError:
                self._end(active)

    def held(self, mail: str) -> Mapping[QueueRow, LabTime]:
        """Return the queue rows in which faults hold a mail, given by its Message-ID, and until when."""
        return {row: until_at for row, until_at in self._hold_ends.items() if row[2] == mail}

    def release(self, mail: str) -> Sequence[QueueRow]:
        """End every delay of one mail, and return the rows in which it was held. The caller makes these rows due.

        A fault that delays other mails too stays active, but does not hold this mail again.
        """
        for active, fault in self.of(Delay):
            if fault.mail == mail:
                self._end(active)
        rows = tuple(self.held(mail))
        for row in rows:
            del self._hold_ends[row]
            self._released.add(row)
        return rows

    # --- what is active

    def active(self) -> Sequence[ActiveFault]:
        """Return the active faults, oldest first."""
        return tuple(self._active.values())

    @property
    def held_until_at(self) -> LabTime:
        """When the last held mail leaves, even if its fault was healed; 0 if no mail is held."""
        return max(self._hold_ends.values(), default=0)

    @property
    def has_verb_faults(self) -> bool:
        """Whether a fault may act at an SMTP verb."""
        return bool(self.of(Smtp))

    @property
    def has_crashes(self) -> bool:
        """Whether a crash is planned."""
        return bool(self.of(Crash))

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
        for active, fault in self.of(Crash):
            if fault.server == server and self.use(active):
                return fault.point
        return None

    def _before_send(self, point: BeforeSend) -> Decision:
        link = self._on_its_link(point)
        if link.refuse is not None:
            return link
        separated = any(self._separates(fault, point) for _, fault in self.of(Separation))
        if not separated and (apart := self._apart(point)):
            return Decision(apart=apart)
        hold_until_at, copies = link.hold_until_at, 1
        alter: tuple[str, ...] = ()
        for active in self.active():
            fault = active.asked
            if isinstance(fault, Cut):
                if self._separates(fault, point):
                    active.acted += 1
                    return Decision(refuse=f"connection refused: cut ({active.id})")
            elif (
                isinstance(fault, MailFault)
                and not _plays_environment(fault)
                and not point.transmission.is_call
                and self.meets(fault, point)
            ):
                decision = self._of_mail_fault(active, fault, point)
                copies = max(copies, decision.copies)
                alter += tuple(part for part in decision.alter if part not in alter)
                if decision.hold_until_at is not None:
                    hold_until_at = max(hold_until_at or 0, decision.hold_until_at)
        if hold_until_at is not None and hold_until_at > point.now and point.row not in self._released:
            self._hold_ends[point.row] = hold_until_at
            return Decision(hold_until_at=hold_until_at)
        for active, hole in self.of(Blackhole):
            if self._separates(hole, point):
                return _swallow(active, point)
        decided = Decision(copies=copies, fresh=link.fresh, alter=alter)
        return GO if decided == GO else decided

    def _apart(self, point: BeforeSend) -> tuple[str, ...]:
        """Return the recipients that a fault on this hop names, if the mail is also for others and so must be divided."""
        recipients = point.transmission.recipients
        for _, fault in self.of(MailFault):
            if fault.to is not None and not _plays_environment(fault) and self.meets(fault, point):
                named = tuple(recipient for recipient in recipients if self._named((recipient,)) == [fault.to])
                if len(named) < len(recipients):
                    return named
        return ()

    def _on_its_link(self, point: BeforeSend) -> Decision:
        """Return what the faults of the link do to a mail that is about to leave."""
        ahead_us = self.skew_us(point.server)
        self.expire(point.now - ahead_us)
        hold_until_at, fresh = None, False
        hop = point.server, point.transmission.next_hop
        for active, fault in self.of(Smtp):
            if not self._on_link(fault, *hop):
                continue
            answer = fault.answer
            if answer is None:  # a tarpit
                if point.row not in active.decided:
                    active.decided[point.row] = Decision(hold_until_at=point.now + fault.by_us)
                    self.use(active)
                hold_until_at = max(hold_until_at or 0, active.decided[point.row].hold_until_at or point.now)
            elif fault.at is Verb.CONNECT:
                self.use(active)
                return Decision(refuse=_refusal(answer))
            else:
                # Use a new connection. A reused one skips the first verbs, and its failures at later verbs are not attempts.
                fresh = True
        for active, hold in self.of(Hold):
            if self._on_link(hold, *hop):
                hold_until_at = max(hold_until_at or 0, (active.until_at or 0) + ahead_us)
        return Decision(hold_until_at=hold_until_at, fresh=fresh)

    def _of_mail_fault(self, active: ActiveFault, fault: MailFault, point: BeforeSend) -> Decision:
        previous = active.decided.get(point.row)
        if previous is not None:
            return previous
        decision = GO
        if isinstance(fault, Lose):
            if fault.link is not None or fault.connector is not None:
                self._armed[_arrival(point.transmission)] = active.id
            return GO  # decided again at each attempt, because only the arrival counts as a use
        if isinstance(fault, Alter | Rewrite):
            if active.count is None or len(active.decided) < active.count:
                decision = active.decided[point.row] = Decision(
                    alter=(fault.header if isinstance(fault, Rewrite) else BODY,)
                )
            return decision  # the use is counted when the mail has crossed its hop
        if isinstance(fault, Duplicate):
            decision = Decision(copies=2)
        elif isinstance(fault, Delay) or active.holds_next:
            decision = Decision(hold_until_at=point.now + fault.by_us)
        active.decided[point.row] = decision
        if isinstance(fault, Reorder):
            active.holds_next = not active.holds_next
            if not active.holds_next:
                return decision  # the first mail of a pair
        self.use(active)
        return decision

    def _after_send(self, point: AfterSend) -> None:
        """Forget what was decided for an attempt that has ended."""
        if self._armed:
            self._armed.pop(_arrival(point.transmission), None)
        if point.delivered:
            self._hold_ends.pop(point.row, None)
            self._released.discard(point.row)
            for fault in self.active():
                if fault.decided.pop(point.row, GO).alter:
                    if self._altered is not None:
                        self._altered(fault.id, point.server, point.transmission)
                    self.use(fault)

    def _at_arrival(self, point: AtArrival) -> Decision:
        armed = self._armed.get(point)
        if armed is not None:
            return self._lose(self._active[armed]) if armed in self._active else GO
        for active, fault in self.of(Lose):
            if (
                fault.link is None
                and fault.connector is None
                and self._is_destination(fault, point.server, point.recipients)
                and (fault.to is None or len(point.recipients) == 1)  # an undivided mail left before the fault
                and self._fits(fault, point.sender, point.subject, point.message_id)
            ):
                return self._lose(active)
        return GO

    def _lose(self, active: ActiveFault) -> Decision:
        self.use(active)
        return Decision(lost_by=active.id)

    def _at_verb(self, point: AtVerb) -> Decision:
        if not self.has_verb_faults:
            return GO
        self.expire(point.now)
        for active, fault in self.of(Smtp):
            answer = fault.answer
            if fault.at is point.verb and answer is not None and self._on_link(fault, point.peer, point.server):
                self.use(active)
                return Decision(at_verb=answer)
        return GO

    # --- on which mails and hops a fault acts

    def will_meet(self, active: ActiveFault, server: str, mail: QueueView) -> bool:
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
        fault = active.asked
        if isinstance(fault, MailFault):
            return self.meets(fault, point)
        if isinstance(fault, Separation):
            return self._separates(fault, point)
        return isinstance(fault, LinkFault) and self._on_link(fault, server, mail.next_hop)

    def meets(self, fault: MailFault, point: BeforeSend) -> bool:
        """Return whether a fault on mails acts on this hop."""
        transmission = point.transmission
        if not self._fits(fault, transmission.sender, transmission.subject, transmission.message_id):
            return False
        if fault.link is None and fault.connector is None:
            return self._is_destination(fault, transmission.next_hop, transmission.recipients)
        if fault.link is not None and fault.link != [point.server, transmission.next_hop]:
            return False
        if fault.connector is not None and fault.connector != transmission.connector:
            return False
        return fault.to is None or fault.to in self._named(transmission.recipients)

    def _fits(self, fault: MailFault, sender: str, subject: str, message_id: str) -> bool:
        """Return whether the fault acts on this sender, message type and mail."""
        if fault.mail is not None and fault.mail != message_id:
            return False
        if fault.type is not None and subject != MAIL_TYPES[fault.type]:
            return False
        return fault.from_ is None or self._stores.get(local_part(sender)) == fault.from_

    def _is_destination(self, fault: MailFault, server: str, recipients: Sequence[str]) -> bool:
        """Return whether `server` is the destination of a recipient, and also of the fault's `to`, if that is given."""
        return (fault.to is None or fault.to == server) and server in self._named(recipients)

    def _named(self, recipients: Sequence[str]) -> list[str | None]:
        return [self._stores.get(local_part(recipient)) for recipient in recipients]

    def _separates(self, fault: Separation, point: BeforeSend) -> bool:
        """Return whether the fault separates the ends of this hop."""
        if fault.connector is not None:
            return point.transmission.connector == fault.connector
        assert fault.between is not None
        first, second = fault.between
        if self._at(first, point.server) and self._at(second, point.transmission.next_hop):
            return True
        return not fault.one_way and self._at(second, point.server) and self._at(first, point.transmission.next_hop)

    def _at(self, end: str, server: str) -> bool:
        return end == server or (end not in self._sites and self._sites[server] == end)

    def _on_link(self, fault: LinkFault, from_: str, to: str) -> bool:
        if fault.connector is not None and (from_, to) not in self._hops_over.get(fault.connector, ()):
            return False
        return fault.from_ in (None, from_) and fault.to in (None, to)

    # --- inside

    def of(self, kind: type[K]) -> list[tuple[ActiveFault, K]]:
        """Return the active faults of a kind, each with what was asked for."""
        return [(active, active.asked) for active in self._active.values() if isinstance(active.asked, kind)]

    def _check(self, fault: Fault) -> None:
        """Raise LabError if this lab cannot have the fault."""
        if not self._simulated:
            if fault.only_simulated:
                raise LabError(fault.only_simulated)
            if isinstance(fault, Alter) and fault.how is not None:
                raise LabError("only the simulator chooses how a mail is altered; leave out how")
        if isinstance(fault, Smtp) and fault.at is Verb.STARTTLS and not self.tls:
            raise LabError("no server of this lab offers STARTTLS; give the lab certificates, or choose another verb")
        for name in ("from_", "to", "server"):
            server = getattr(fault, name, None)
            if server is not None:
                _check_known(server, self._sites, "server")
        if isinstance(fault, Unlink) and fault.server not in self._in_trees:  # spec: ML-8
            raise LabError(
                f"server {fault.server} has a version whose directory has no objects of trees; name another server"
            )
        for server in getattr(fault, "link", None) or ():
            _check_known(server, self._sites, "server")
        for end in getattr(fault, "between", None) or ():
            _check_known(end, [*self._sites, *self._sites.values()], "server or site")
        connector = getattr(fault, "connector", None)
        if connector is not None:
            _check_known(connector, self._hops_over, "connector")

    def use(self, active: ActiveFault) -> bool:
        """Count one use; return True if it was the last one."""
        active.acted += 1
        if active.count is None:
            return False
        active.count -= 1
        if active.count > 0:
            return False
        self._end(active)
        return True

    def _end(self, active: ActiveFault) -> None:
        """End a fault, unless it is over. The end of one fault can end another: when an address is stamped again, the servers
        take it in, and a planned crash happens."""
        if self._active.pop(active.id, None) is None:
            return
        self._note_environment()
        if self._healed is not None:
            self._healed(active.id)

    def _note_environment(self) -> None:
        self.disturbs_servers = any(
            isinstance(active.asked, Stall | Skew) or _plays_environment(active.asked)
            for active in self._active.values()
        )


def _plays_environment(fault: Fault) -> bool:
    """Return whether the simulator alters a mail by its own choice."""
    return isinstance(fault, Alter) and fault.how is not None


class _State(msgspec.Struct, frozen=True):
    """What `FaultPlan.as_document` returns: `number` is that of the last fault, and what is decided is beside each fault,
    because a row is no key in JSON."""

    number: int
    active: list[tuple[ActiveFault, list[tuple[QueueRow, Decision]]]]
    armed: list[tuple[AtArrival, str]]
    held: list[tuple[QueueRow, LabTime]]
    released: list[QueueRow]


def faults_at_end(document: Mapping[str, Any], injected: int, active: Collection[str]) -> dict[str, Any]:
    """Return the faults of a lab that was killed, in the form of `FaultPlan.as_document`. They follow from the last saved
    document and from the events since.

    injected: how many faults began.
    active: the ids of those that had not ended.
    """
    state = msgspec.convert(document, _State)
    number = max(state.number, injected)
    in_force = [(fault, decided) for fault, decided in state.active if fault.id in active]
    ended: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(state, number=number, active=in_force))
    return ended


def local_part(address: str) -> str:
    """Return the part of a store's address that names the store. The recipient policy can change the domain."""
    return address.partition("@")[0].lower()


def _check_known(name: str, names: Iterable[str], what: str) -> None:
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
    hops = set()
    for site in connector.between:
        into = connector.bridgehead(connector.other_site(site))
        direct = connector.kind is ConnectorKind.DIRECT
        hops |= {(name, into) for name in (topology.servers_in(site) if direct else (connector.bridgehead(site),))}
    return frozenset(hops)


def _swallow(active: ActiveFault, point: BeforeSend) -> Decision:
    """Return the decision of a black hole: the attempt waits for CONNECT_US, and then fails. If the fault is healed before, the
    mail leaves, because the sender still asks for the connection."""
    waits = active.decided.setdefault(point.row, Decision(hold_until_at=point.now + CONNECT_US))
    if waits.hold_until_at is not None and waits.hold_until_at > point.now:
        return waits
    del active.decided[point.row]
    active.acted += 1
    next_hop, after = point.transmission.next_hop, format_duration(CONNECT_US)
    return Decision(
        refuse=f"no connection: {next_hop} neither accepted nor refused it within {after}: blackhole ({active.id})"
    )


def _refusal(answer: VerbFault) -> str:
    if answer.mishap is Mishap.REPLY:
        return f"no connection: {answer.line}"
    return (
        "connection refused" if answer.mishap is Mishap.DISCONNECT else "no connection: the peer did not answer in time"
    )
