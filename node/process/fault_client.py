"""A node's part in faults that somebody else keeps: before a mail leaves, and before one is stored, the coordinator is
asked what is to happen to it. While no fault is in force it says so beforehand, and nobody asks.

A coordinator that does not answer has no faults: mail goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from node.api.control import Peers
from node.api.http_client import Address, HttpLine, Unanswered
from traces.labtime import LabTime
from transport.envelope import Transmission
from transport.mime.headers import subject_and_id
from transport.protocol.fault_points import Verb, VerbFault

ASK_S: Final = 2.0
"""Real time to wait for the coordinator."""

log = logging.getLogger("pflab.faults")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to happen to a transmission: see host.SendPlan."""

    refuse: str | None = None
    hold_until_at: LabTime | None = None
    copies: int = 1
    fresh: bool = False
    alter: bool = False


GO: Final = Plan()


class BeforeSend(msgspec.Struct):
    """The question before a mail leaves."""

    server: str
    now: int
    transmission: Transmission


class AfterSend(msgspec.Struct):
    """What came of it. The content comes along where mails are kept."""

    server: str
    transmission: Transmission
    delivered: bool


class Arrival(msgspec.Struct):
    """The question before a mail is stored."""

    node: str
    sender: str
    recipients: tuple[str, ...]
    subject: str
    now: int


class AtVerb(msgspec.Struct):
    """The question at a verb of a peer."""

    peer: str
    node: str
    verb: Verb
    now: int


class Lost(msgspec.Struct):
    """The fault that loses it, if one does."""

    fault: str | None = None


class FaultClient:
    """The gate and the arrival faults of one node (host.Gate, life.ArrivalFaults), and where its peers are."""

    def __init__(self, name: str, token: str | None = None) -> None:
        self._name = name
        self._token = token
        self._addresses: dict[str, Address] = {}
        self._line: HttpLine | None = None
        self._asks = False
        self._keeps = False
        self._verbs = False
        self._lost: str | None = None
        self.lost: Callable[[Collection[str]], None] = lambda _: None
        """Told of servers that are there no more."""

    def meet(self, told: Peers) -> None:
        """The peers and the coordinator as they are now."""
        gone = self._addresses.keys() - told.addresses.keys()
        self._addresses = {name: (host, port) for name, (host, port) in told.addresses.items()}
        if gone:
            self.lost(gone)
        self._asks, self._keeps, self._verbs = told.asks, told.keeps, told.verbs
        if told.coordinator is None:
            self._line = None
        else:
            host, _, port = told.coordinator.rpartition(":")
            if self._line is None or self._line.address != (host, int(port)):
                self._line = HttpLine((host, int(port)), self._token)

    def address_of(self, server: str) -> Address | None:
        """Where a server listens for mail; None if it does not run."""
        return self._addresses.get(server)

    def close(self) -> None:
        if self._line is not None:
            self._line.close()

    # --- host.Gate

    def before_send(self, server: str, transmission: Transmission, now: LabTime) -> Plan | Awaitable[Plan]:
        if not self._asks:
            return GO
        return self._plan(BeforeSend(server, now, replace(transmission, content=b"")))

    def after_send(self, server: str, transmission: Transmission, delivered: bool) -> Awaitable[None] | None:
        if not self._asks:
            return None
        sent = transmission if self._keeps else replace(transmission, content=b"")
        return self._tell(AfterSend(server, sent, delivered))

    def at_verb(self, from_: str, to: str, verb: Verb, now: LabTime) -> Awaitable[VerbFault | None] | None:
        return self._foreseen(AtVerb(from_, to, verb, now)) if self._verbs else None

    async def _foreseen(self, question: AtVerb) -> VerbFault | None:
        answer = await self._ask("at-verb", question)
        return None if answer is None else msgspec.json.decode(answer, type=VerbFault | None)

    async def _plan(self, question: BeforeSend) -> Plan:
        answer = await self._ask("before-send", question)
        return GO if answer is None else msgspec.json.decode(answer, type=Plan)

    async def _tell(self, what: AfterSend) -> None:
        await self._ask("after-send", what)

    # --- arrivals

    async def arriving(self, sender: str, recipients: Sequence[str], content: bytes) -> None:
        """Ask about a mail; the answer holds for the `on_arrival` that follows at once."""
        self._lost = None
        if not self._asks:
            return
        subject, _ = subject_and_id(content)
        answer = await self._ask("arrival", Arrival(self._name, sender, tuple(recipients), subject, 0))
        self._lost = None if answer is None else msgspec.json.decode(answer, type=Lost).fault

    def on_arrival(
        self, *, node: str, sender: str, recipients: Sequence[str], subject: str, now: LabTime
    ) -> str | None:
        lost, self._lost = self._lost, None
        return lost

    async def _ask(self, what: str, question: msgspec.Struct) -> bytes | None:
        if self._line is None:
            return None
        try:
            status, answer = await self._line.ask(
                "POST", f"/lab/asks/{what}", msgspec.json.encode(question), timeout_s=ASK_S
            )
        except Unanswered as error:
            log.warning("%s: %s", self._name, error)
            return None
        return answer if status == 200 else None
