"""One SMTP hop without a socket: what the two ends would have said to each other, verb by verb, and what came of it.

The simulator hands a mail over by this. It asks for faults at the verbs at which a listener would ask, in the order in
which a sender meets them, so that a fault has the same effect on the stores under both drivers (spec: ML-3, ML-4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from transport.envelope import CommandRefused, RecipientRefusal, SendOutcome, SendState
from transport.mime.body_encoding import as_seven_bit
from transport.protocol import xexch50
from transport.protocol.fault_points import Mishap, Verb, VerbFault
from transport.protocol.xexch50 import NEED_AUTHENTICATION

if TYPE_CHECKING:
    from transport.envelope import IncomingHop, Offers, Transmission

_TO_XEXCH50 = " (to XEXCH50)"

AtVerb = Callable[[Verb], VerbFault | None]
"""Returns the fault at a verb, or None."""


def unreachable(reason: str) -> SendOutcome:
    """An attempt to which nobody answered; it may be repeated."""
    return SendOutcome(SendState.DEFERRED, reason, unreachable=True)


class _Ended(Exception):
    """The attempt ends here, with this outcome."""

    def __init__(self, outcome: SendOutcome) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome


@dataclass(slots=True)
class Dialogue:
    """What the sender has learnt before the answer to the content. `failed`: the attempt came to an end before it."""

    transmission: Transmission
    recipients: tuple[str, ...]
    refusals: tuple[RecipientRefusal, ...] = ()
    authenticated: bool = True
    chunking: bool = True
    ordinary: str = ""
    failed: SendOutcome | None = None
    end: VerbFault | None = None
    refused: CommandRefused | None = None
    greeted: bool = True

    @property
    def content(self) -> bytes:
        """The content as it crosses."""
        return self.transmission.content if self.chunking else as_seven_bit(self.transmission.content)

    def hop(self, server: str) -> IncomingHop:
        """What the receiving end is told of the hop by `server`."""
        carried = self.authenticated and not self.ordinary
        return replace(self.transmission.hop_from(server, authenticated=carried), refused=self.refused)

    @property
    def links(self) -> tuple[str, ...]:
        """What the receiving end hears of links, before any mail."""
        # spec: RT-2
        return self.transmission.links if self.greeted and self.authenticated else ()

    @property
    def stores(self) -> bool:
        """Whether the receiving end takes the mail, be its answer lost or not."""
        return (
            not self.transmission.is_call
            and self.failed is None
            and (self.end is None or self.end.mishap is not Mishap.REPLY)
        )

    @property
    def outcome(self) -> SendOutcome:
        """What the sender makes of it when the mail was taken, or was not asked for."""
        if self.failed is not None:
            return self.failed
        if self.end is not None:
            return _of_reply(self.end, "the content") if self.end.mishap is Mishap.REPLY else _lost(self.end, "it")
        ordinary = self.ordinary if self.transmission.system else ""
        return SendOutcome(SendState.DELIVERED, "250", self.refusals, ordinary, self.refused)


def dialogue(server: str, transmission: Transmission, offers: Offers, at_verb: AtVerb | None) -> Dialogue:
    """The dialogue in which `server` offers one mail to a server that offers this; `ask` is None where nothing goes wrong."""
    talk = Dialogue(transmission, transmission.recipients, (), offers.authentication, offers.chunking)
    if not offers.authentication:
        talk.ordinary = f"{NEED_AUTHENTICATION} (to XEXCH50)"
    if at_verb is not None:
        try:
            talk.greeted = False
            _session(talk, offers, at_verb)
            talk.greeted = True
            if not transmission.is_call:
                _envelope(talk, at_verb)
                _content(talk, at_verb)
        except _Ended as end:
            talk.failed = end.outcome
    if talk.ordinary.endswith(_TO_XEXCH50):
        talk.refused = CommandRefused(_command(talk, server), talk.ordinary.removesuffix(_TO_XEXCH50))
    return talk


def _command(talk: Dialogue, server: str) -> str:
    """The XEXCH50 that the sender says; it asks for all recipients, taken or not."""
    told = talk.transmission
    blob = xexch50.encode(told.hop_from(server, authenticated=talk.authenticated), told.recipients)
    return xexch50.command(blob, len(told.recipients)).decode("ascii")


def _session(talk: Dialogue, offers: Offers, at_verb: AtVerb) -> None:
    fault = _met(at_verb(Verb.EHLO), "EHLO")
    if fault is not None:
        if fault.code < 500:
            raise _Ended(unreachable(f"no connection: {fault.line}"))
        # HELO then: no extension, neither BDAT nor XEXCH50.
        talk.chunking = talk.authenticated = False
        talk.ordinary = "XEXCH50 is not offered"
        return
    if not offers.authentication:
        return
    fault = _met(at_verb(Verb.AUTH), "AUTH")
    if fault is not None:
        if fault.code < 500:
            raise _Ended(unreachable(f"no connection: {fault.line} (to AUTH)"))
        talk.authenticated = False
        talk.ordinary = f"{NEED_AUTHENTICATION} (to XEXCH50)"


def _envelope(talk: Dialogue, at_verb: AtVerb) -> None:
    fault = _met(at_verb(Verb.MAIL), "MAIL")
    if fault is not None:
        raise _Ended(_of_reply(fault, "MAIL"))
    taken, refusals = [], []
    for address in talk.recipients:
        fault = _met(at_verb(Verb.RCPT), "RCPT")
        if fault is None:
            taken.append(address)
        else:
            refusals.append(RecipientRefusal(address, f"{fault.line} (to RCPT)", fault.code >= 500))
    talk.recipients, talk.refusals = tuple(taken), tuple(refusals)
    if not taken:
        for_good = all(refusal.permanent for refusal in refusals)
        reason = "; ".join(dict.fromkeys(refusal.reason for refusal in refusals))
        raise _Ended(SendOutcome(SendState.REFUSED if for_good else SendState.DEFERRED, reason, tuple(refusals)))
    if talk.ordinary == "XEXCH50 is not offered":
        return
    fault = _met(at_verb(Verb.XEXCH50), "XEXCH50")
    if fault is not None:
        talk.ordinary = f"{fault.line} (to XEXCH50)"


def _content(talk: Dialogue, at_verb: AtVerb) -> None:
    for verb in (Verb.DATA, Verb.BDAT) if talk.chunking else (Verb.DATA,):
        fault = _met(at_verb(verb), verb)
        if fault is not None:
            raise _Ended(_of_reply(fault, "the content" if talk.chunking else "DATA"))
    talk.end = at_verb(Verb.END)


def _met(fault: VerbFault | None, at: str) -> VerbFault | None:
    """The fault if it is a reply; anything else, and 421, ends the connection."""
    if fault is None:
        return None
    if fault.mishap is not Mishap.REPLY:
        raise _Ended(_lost(fault, at))
    if fault.code == 421:
        raise _Ended(SendOutcome(SendState.DEFERRED, f"{fault.line} (to {at})"))
    return fault


def _lost(fault: VerbFault, at: str) -> SendOutcome:
    how = "lost" if fault.mishap is Mishap.DISCONNECT else "silent"
    return unreachable(f"the connection failed: {how} at {at}")


def _of_reply(fault: VerbFault, step: str) -> SendOutcome:
    state = SendState.REFUSED if fault.code >= 500 else SendState.DEFERRED
    return SendOutcome(state, f"{fault.line} (to {step})")
