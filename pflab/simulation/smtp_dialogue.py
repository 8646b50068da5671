"""One SMTP hop without a socket: the dialogue of the two ends, verb by verb, and its outcome.

The simulator sends each mail this way. It asks for faults at the same verbs as a listener, in the order in which a sender
reaches them. So a fault has the same effect on the stores under all drivers (spec: ML-3, ML-4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from transport.envelope import CommandRefused, RecipientRefusal, SendOutcome, SendState
from transport.mime.message import as_seven_bit
from transport.protocol import xexch50
from transport.protocol.fault_points import Mishap, Verb, VerbFault
from transport.protocol.xexch50 import NEED_AUTHENTICATION

if TYPE_CHECKING:
    from transport.envelope import IncomingHop, Offers, Transmission

_TO_XEXCH50 = " (to XEXCH50)"

AtVerb = Callable[[Verb], VerbFault | None]
"""Returns the fault at a verb, or None."""


def unreachable(reason: str) -> SendOutcome:
    """Return the outcome of an attempt that nobody answered; the sender may repeat it."""
    return SendOutcome(SendState.DEFERRED, reason, unreachable=True)


class _Ended(Exception):
    """Raised to end the attempt with an outcome."""

    def __init__(self, outcome: SendOutcome) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome


@dataclass(slots=True)
class Dialogue:
    """What the sender knows while it waits for the answer to the content.

    `failed`: the outcome if the attempt ended before.
    """

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
        """Return the content as it crosses the hop."""
        return self.transmission.content if self.chunking else as_seven_bit(self.transmission.content)

    def hop(self, server: str) -> IncomingHop:
        """Return what the receiving end learns about the hop on which `server` sends."""
        carried = self.authenticated and not self.ordinary
        return replace(self.transmission.hop_from(server, authenticated=carried), refused=self.refused)

    @property
    def links(self) -> tuple[str, ...]:
        """Return the reports about links that the receiving end gets before any mail."""
        # spec: RT-2
        return self.transmission.links if self.greeted and self.authenticated else ()

    @property
    def stores(self) -> bool:
        """Whether the receiving end stores the mail, even if its answer is lost."""
        return (
            not self.transmission.is_call
            and self.failed is None
            and (self.end is None or self.end.mishap is not Mishap.REPLY)
        )

    @property
    def outcome(self) -> SendOutcome:
        """Return the sender's outcome if the receiving end stored the mail, or did not have to store one."""
        if self.failed is not None:
            return self.failed
        if self.end is not None:
            return _of_reply(self.end, "the content") if self.end.mishap is Mishap.REPLY else _lost(self.end, "it")
        ordinary = self.ordinary if self.transmission.system else ""
        return SendOutcome(SendState.DELIVERED, "250", self.refusals, ordinary, self.refused)


def dialogue(server: str, transmission: Transmission, offers: Offers, at_verb: AtVerb | None) -> Dialogue:
    """Play the dialogue in which `server` sends one mail to a server with these `offers`. `at_verb` None: no faults."""
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
    if transmission.x400:
        talk.ordinary = ""
    if talk.ordinary.endswith(_TO_XEXCH50):
        talk.refused = CommandRefused(_command(talk, server), talk.ordinary.removesuffix(_TO_XEXCH50))
    return talk


def _command(talk: Dialogue, server: str) -> str:
    """Return the XEXCH50 command of the sender; it counts all recipients, accepted or not."""
    transmission = talk.transmission
    blob = xexch50.encode(transmission.hop_from(server, authenticated=talk.authenticated), transmission.recipients)
    return xexch50.command(blob, len(transmission.recipients)).decode("ascii")


def _session(talk: Dialogue, offers: Offers, at_verb: AtVerb) -> None:
    fault = _met(at_verb(Verb.EHLO), "EHLO")
    if fault is not None:
        if fault.code < 500:
            raise _Ended(unreachable(f"no connection: {fault.line}"))
        # The sender falls back to HELO, which has no extensions: neither BDAT nor XEXCH50.
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
    accepted, refusals = [], []
    for address in talk.recipients:
        fault = _met(at_verb(Verb.RCPT), "RCPT")
        if fault is None:
            accepted.append(address)
        else:
            refusals.append(RecipientRefusal(address, f"{fault.line} (to RCPT)", fault.code >= 500))
    talk.recipients, talk.refusals = tuple(accepted), tuple(refusals)
    if not accepted:
        for_good = all(refusal.permanent for refusal in refusals)
        reason = "; ".join(dict.fromkeys(refusal.reason for refusal in refusals))
        raise _Ended(SendOutcome(SendState.REFUSED if for_good else SendState.DEFERRED, reason, tuple(refusals)))
    if talk.ordinary == "XEXCH50 is not offered" or talk.transmission.x400:
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
    """Return the fault if it is a reply. Any other fault, and 421, ends the attempt."""
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
