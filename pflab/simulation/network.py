"""The simulated network: a seed decides the order in which mails leave, and how long each mail waits.

The network has no state of mails in flight. A delayed mail is a queue row with a later due time, so a restart and a jump of the
clock treat it as any other. The fault plan decides first; the network decides only about mails on which no fault acts.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from transport.protocol.fault_points import GO, AfterSend, BeforeSend, Decision, FaultPoint, QueueRow

if TYPE_CHECKING:
    from pflab.faults.mail_capture import DecideNow
    from transport.envelope import Transmission


COMPANY: Final = 8
"""One transaction of requests or mails out of this many is shared with a stimulus that fails."""

PARTING: Final = 4
"""One mail out of this many leaves after those before it, and shares no transaction with them."""


@dataclass(frozen=True, slots=True)
class NetworkPolicy:
    """How a simulated network reorders and delays mails. By default mails leave at once and in queue order."""

    shuffle: bool = False
    """Whether the seed decides the order of mails that leave a server at one instant, the order in which servers act, and which
    requests and mails share a transaction."""
    jitter_us: int = 0
    """Each transmission waits a random time, at most this long, before it leaves. So mails overtake each other."""

    def __post_init__(self) -> None:
        if self.jitter_us < 0:
            raise ValueError("jitter is a duration of zero or more")


class Network:
    """Decides when each transmission leaves. All random numbers come from the seed, and the simulator asks for them in the
    order of its steps. So the seed determines everything."""

    def __init__(self, policy: NetworkPolicy, decide: DecideNow, seed: bytes) -> None:
        self.policy = policy
        self._decide = decide
        self._random = random.Random(seed)
        self._companions = random.Random(seed)  # so that company changes no other choice of a seed
        self._partings = random.Random(seed + b" partings")
        self._delayed: set[QueueRow] = set()

    def order(self, transmissions: list[Transmission]) -> list[Transmission]:
        """Return the due transmissions of one server in the order in which they leave."""
        if self.policy.shuffle and len(transmissions) > 1:
            transmissions = list(transmissions)
            self._random.shuffle(transmissions)
        return transmissions

    def turn(self, waiting: int) -> int:
        """Of `waiting` servers that are due at one instant, return the index of the next one. Index 0 is the first server in
        the topology's order."""
        return self._random.randrange(waiting) if self.policy.shuffle and waiting > 1 else 0

    def company(self, count: int) -> int | None:
        """Return at which place among `count` stimuli of a transaction another one fails; None if they have no such company."""
        if not self.policy.shuffle or self._companions.randrange(COMPANY):
            return None
        return self._companions.randrange(count + 1)

    def divided(self, transmissions: list[Transmission]) -> list[list[Transmission]]:
        """Divide the transmissions of one server into those that leave together."""
        if not self.policy.shuffle:
            return [[transmission] for transmission in transmissions]
        groups: list[list[Transmission]] = []
        for transmission in transmissions:
            if groups and self._partings.randrange(PARTING):
                groups[-1].append(transmission)
            else:
                groups.append([transmission])
        return groups

    def decide(self, point: FaultPoint) -> Decision:
        """Return the decision of the fault plan. If no fault acts, the jitter may delay a mail that is about to leave."""
        decision = self._decide(point)
        if isinstance(point, AfterSend) and point.delivered:
            self._delayed.discard(point.row)
        if (
            not isinstance(point, BeforeSend)
            or decision is not GO
            or not self.policy.jitter_us
            or point.transmission.is_call
            or point.row in self._delayed
        ):
            return decision
        self._delayed.add(point.row)
        wait_us = self._random.randrange(self.policy.jitter_us)
        return Decision(hold_until_at=point.now + wait_us) if wait_us else GO
