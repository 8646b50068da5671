"""Faults of a line between two servers: an SMTP verb that is answered otherwise than it should, and a queue on hold.

They act per link and direction, whatever mail is on it. At a verb acts the receiving end (`at_verb`); before a mail
leaves act those that need no dialogue (`before_link`): a connection that is refused, a tarpit, a hold. A tarpit's delay
is lab time and so a queue row, like every delay.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pflab.errors import LabError
from pflab.faults.fault import GO, Decision, Fault, FaultKind, Sending
from topology.enums import ConnectorKind
from transport.protocol.fault_points import Mishap, Verb, VerbFault
from transport.protocol.xexch50 import NEED_AUTHENTICATION

if TYPE_CHECKING:
    from topology import Topology
    from topology.model import Connector
    from traces.labtime import LabTime
    from transport.envelope import Transmission

TARPIT = "tarpit"
"""Beside disconnect and silence: the answer comes, late."""

_REPLY = re.compile(r"([45][0-9]{2})(?: ([\x20-\x7e]{1,200}))?")


class LinkFaults(ABC):
    """What a fault plan does about links."""

    def __init__(self, topology: Topology, *, tls: bool) -> None:
        self._tls = tls
        self._links = {connector.name: _links(topology, connector) for connector in topology.connectors}
        self._servers = tuple(topology.servers)
        self._verbs_wait = False

    # --- injecting

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
        """Let an SMTP verb go wrong on the hops from one server to another (either may be any), or on a connector.

        does: a reply (`451`, `504 Need to authenticate first`), `disconnect`, `silence` or `tarpit`, which makes each
        mail `by_us` late. `count`: so many times. `until_at`: the lab time at which it ends by itself. Raises LabError.
        """
        known = {each.value.lower(): each for each in Verb}
        self._known(verb.lower(), known, "SMTP verb")
        fault = Fault(
            "", FaultKind.SMTP, from_=from_, to=to, connector=connector, count=count, by_us=by_us, until_at=until_at
        )
        fault.verb = known[verb.lower()]
        fault.does = does
        if fault.verb is Verb.STARTTLS and not self._tls:
            raise LabError("no server of this lab offers STARTTLS; give the lab certificates, or take another verb")
        if does == TARPIT:
            if by_us <= 0:
                raise LabError("a tarpit makes mail late; say by how much, for instance 20 min")
        else:
            fault.answer = _answer(does, fault.verb)
        self._check_link(fault)
        self._verbs_wait = True
        return self._add(fault)

    def hold(
        self,
        *,
        until_at: LabTime,
        from_: str | None = None,
        to: str | None = None,
        connector: str | None = None,
    ) -> str:
        """Freeze a server's queue for another until that lab time; what is held then goes then, healed or not."""
        fault = Fault("", FaultKind.HOLD, from_=from_, to=to, connector=connector, until_at=until_at)
        self._check_link(fault)
        return self._add(fault)

    # --- asked by the drivers

    @property
    def verbs_wait(self) -> bool:
        """Whether `at_verb` may have anything to say."""
        return self._verbs_wait

    def at_verb(self, from_: str, to: str, verb: Verb, now: LabTime) -> VerbFault | None:
        """What the server `to` does at a verb of `from_`, a server or anybody else, in place of its duty."""
        if not self._verbs_wait:
            return None
        self.expire(now)
        for fault in self._of_kind(FaultKind.SMTP):
            if fault.verb is verb and fault.answer is not None and self._on_link(fault, from_, to):
                self._use(fault)
                return fault.answer
        return None

    def expire(self, now: LabTime) -> None:
        """End the faults whose time is over."""
        for fault in [fault for fault in self.active() if fault.until_at is not None]:
            if fault.until_at is not None and fault.until_at <= now:
                self._end(fault)
        self._verbs_wait = bool(self._of_kind(FaultKind.SMTP))

    @property
    def next_end_at(self) -> LabTime | None:
        """When the first fault ends by itself."""
        ends = [fault.until_at for fault in self.active() if fault.until_at is not None]
        return min(ends, default=None)

    def before_link(self, server: str, transmission: Transmission, now: LabTime) -> Decision:
        """What the line to the next server does to a transmission that is about to leave."""
        self.expire(now)
        hold_until_at, fresh = None, False
        for fault in [*self._of_kind(FaultKind.SMTP), *self._of_kind(FaultKind.HOLD)]:
            if not self._on_link(fault, server, transmission.next_hop):
                continue
            if fault.kind is FaultKind.HOLD:
                hold_until_at = max(hold_until_at or 0, fault.until_at or 0)
            elif fault.does == TARPIT:
                sending = (server, transmission.queue_id, transmission.message_id)
                hold_until_at = max(hold_until_at or 0, self._mired(fault, sending, now))
            elif fault.verb is Verb.CONNECT and fault.answer is not None:
                self._use(fault)
                return Decision(refuse=_refusal(fault.answer))
            else:
                # A kept connection has its first verbs behind it, and its end at the next ones costs no attempt.
                fresh = True
        if hold_until_at is not None and hold_until_at > now:
            return Decision(hold_until_at=hold_until_at)
        return Decision(fresh=True) if fresh else GO

    # --- inside

    def _mired(self, fault: Fault, sending: Sending, now: LabTime) -> LabTime:
        known = fault.decided.get(sending)
        if known is None:
            known = fault.decided[sending] = Decision(hold_until_at=now + fault.by_us)
            self._use(fault)
        return known.hold_until_at or now

    def _on_link(self, fault: Fault, from_: str, to: str) -> bool:
        if fault.connector is not None and (from_, to) not in self._links[fault.connector]:
            return False
        return fault.from_ in (None, from_) and fault.to in (None, to)

    def _check_link(self, fault: Fault) -> None:
        for name in (fault.from_, fault.to):
            if name is not None:
                self._known(name, self._servers, "server")
        if fault.connector is not None:
            self._known(fault.connector, self._links, "connector")
        if fault.count is not None and fault.count < 1:
            raise LabError(f"a fault acts at least once; count {fault.count} would not")

    def _of_kind(self, kind: FaultKind) -> list[Fault]:
        return [fault for fault in self.active() if fault.kind is kind]

    @abstractmethod
    def active(self) -> Iterable[Fault]: ...
    @abstractmethod
    def _add(self, fault: Fault) -> str: ...
    @abstractmethod
    def _use(self, fault: Fault) -> bool: ...
    @abstractmethod
    def _end(self, fault: Fault) -> None: ...
    @abstractmethod
    def _known(self, name: str, names: Iterable[str], what: str) -> None: ...


def _links(topology: Topology, connector: Connector) -> frozenset[tuple[str, str]]:
    """The hops, from server to server, that cross a connector."""
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
            f"{does!r} is nothing that happens at an SMTP verb; there is disconnect, silence, tarpit, or a reply from"
            " 400 to 599 with a text if you like, such as 451 or 504 Need to authenticate first"
        )
    code = int(match[1])
    if match[2]:
        text = match[2]
    elif code == 504 and verb is Verb.XEXCH50:
        text = NEED_AUTHENTICATION.partition(" ")[2]
    else:
        text = f"{code // 100}.3.0 refused by the lab"
    return VerbFault(Mishap.REPLY, code, text)


def _refusal(answer: VerbFault) -> str:
    if answer.mishap is Mishap.REPLY:
        return f"no connection: {answer.line}"
    return (
        "connection refused" if answer.mishap is Mishap.DISCONNECT else "no connection: the peer did not answer in time"
    )
