"""The simulated network: in which order mails go, and how long they dawdle, out of a seed.

It has no state of mails in flight: a mail that takes longer is a queue row with a later due time (every delay is a
row), so a restart and a jump treat it as any other. What the fault plan wants comes first; the seeded whims come on
top.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pflab.faults.fault import GO, Decision
from traces.labtime import LabTime

if TYPE_CHECKING:
    from pflab.faults.mail_capture import HopGate
    from transport.envelope import Transmission


@dataclass(frozen=True, slots=True)
class NetworkPolicy:
    """The whims of a simulated network; without any, mails go at once and in queue order."""

    shuffle: bool = False
    """Mails of one server that leave at one instant go in a seeded order, and servers take turns in a seeded order."""
    jitter_us: int = 0
    """Each transmission waits a seeded time below this before it leaves, so mails overtake each other."""

    def __post_init__(self) -> None:
        if self.jitter_us < 0:
            raise ValueError("jitter is a duration of zero or more")


class Network:
    """Decides for each transmission. One generator, drawn from in the order of the simulation, so a seed fixes
    everything."""

    def __init__(self, policy: NetworkPolicy, gate: HopGate, seed: bytes) -> None:
        self.policy = policy
        self._gate = gate
        self._random = random.Random(seed)
        self._dawdled: dict[tuple[str, int, str], None] = {}

    def order(self, transmissions: list[Transmission]) -> list[Transmission]:
        """The order in which the due transmissions of one server go."""
        if self.policy.shuffle and len(transmissions) > 1:
            transmissions = list(transmissions)
            self._random.shuffle(transmissions)
        return transmissions

    def turn(self, waiting: int) -> int:
        """Which of `waiting` servers that are due at one instant is next; 0 is the first in the topology's order."""
        return self._random.randrange(waiting) if self.policy.shuffle and waiting > 1 else 0

    def before_send(self, server: str, transmission: Transmission, now: LabTime) -> Decision:
        """What happens to a transmission about to leave."""
        decision = self._gate.before_send(server, transmission, now)
        if decision is not GO or not self.policy.jitter_us or transmission.is_call:
            return decision
        sending = (server, transmission.queue_id, transmission.message_id)
        if sending in self._dawdled:
            return GO
        self._dawdled[sending] = None
        wait_us = self._random.randrange(self.policy.jitter_us)
        return Decision(hold_until_at=now + wait_us) if wait_us else GO

    def after_send(self, server: str, transmission: Transmission, delivered: bool) -> None:
        """The hop is over."""
        self._gate.after_send(server, transmission, delivered)
        if delivered:
            self._dawdled.pop((server, transmission.queue_id, transmission.message_id), None)
