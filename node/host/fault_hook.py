"""What a host asks of whoever keeps the faults of its lab: before a mail leaves, at each SMTP verb, when a mail has come."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from traces.labtime import LabTime
from transport.envelope import Transmission
from transport.protocol.fault_points import Verb, VerbFault


class SendPlan(Protocol):
    """What is to happen to a transmission that is about to leave; a lab's faults speak here."""

    @property
    def refuse(self) -> str | None:
        """Do not connect, for this reason."""

    @property
    def hold_until_at(self) -> LabTime | None:
        """Keep it in the queue until then."""

    @property
    def copies(self) -> int:
        """Send it so often."""

    @property
    def fresh(self) -> bool:
        """Send it over a new connection."""

    @property
    def alter(self) -> bool:
        """Send it altered (transport.mime.tamper)."""


class Gate(Protocol):
    """Asked before each transmission and at each SMTP verb that comes in, told after a transmission. One that asks another
    process answers later."""

    def before_send(self, server: str, transmission: Transmission, now: LabTime) -> SendPlan | Awaitable[SendPlan]: ...

    def after_send(self, server: str, transmission: Transmission, delivered: bool) -> Awaitable[None] | None: ...

    def at_verb(
        self, from_: str, to: str, verb: Verb, now: LabTime
    ) -> VerbFault | Awaitable[VerbFault | None] | None: ...


Arriving = Callable[[str, Sequence[str], bytes], Awaitable[None]]
"""Waited for when a mail (sender, recipients, content) has come in whole, before it is stored."""
