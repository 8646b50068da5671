"""How long the MTA tries: retry intervals and expiry per priority, and the hop limit.

Durations are lab time in microseconds.

# spec: RT-2, ML-7
"""

from dataclasses import dataclass, field
from typing import Final

from traces.labtime import DAY_US, MINUTE_US
from transport.mta_values import Priority

RETRY_US: Final = (10 * MINUTE_US, 10 * MINUTE_US, 10 * MINUTE_US, 15 * MINUTE_US)
"""Waits after the first, second, third and every later failure.

Decision: the short waits that Exchange 2003's Delivery tab is remembered with. The documentation of the
Windows SMTP service (technet.microsoft.com cc757058) prints 15, 30, 60 and 240 minutes; those would make
every bound on convergence a bound on retries.
"""

EXPIRY_US: Final = 2 * DAY_US
"""Expiration time-out of the SMTP virtual server, 2000 and later, whatever the priority
(technet.microsoft.com bb123745).
"""

MTA_EXPIRY_URGENT_US: Final = 2 * DAY_US
MTA_EXPIRY_NORMAL_US: Final = 7 * DAY_US
MTA_EXPIRY_NOT_URGENT_US: Final = 10 * DAY_US
"""Message time-outs of the X.400 MTA, Exchange 5.5 and 2000 (KB Q178539)."""

HOP_LIMIT: Final = 30
"""Received lines that a mail may bring along: msExchSmtpMaxHopCount of Exchange 2003 (technet.microsoft.com
aa996739; 2000: 15).
"""


@dataclass(frozen=True, slots=True)
class PriorityPolicy:
    """Patience for one priority: `retry_us[n]` is the wait after failure n + 1, the last one repeats."""

    retry_us: tuple[int, ...] = RETRY_US
    expiry_us: int = EXPIRY_US

    def __post_init__(self) -> None:
        if not self.retry_us or min(self.retry_us) <= 0 or self.expiry_us <= 0:
            raise ValueError(
                "retry intervals and expiry are durations above zero, and there is at least one interval"
            )

    def retry_after_us(self, attempts: int) -> int:
        """The wait after `attempts` failures (1 or more)."""
        return self.retry_us[min(attempts, len(self.retry_us)) - 1]


@dataclass(frozen=True, slots=True)
class MtaPolicy:
    """The settings of one server's MTA."""

    not_urgent: PriorityPolicy = field(default_factory=PriorityPolicy)
    normal: PriorityPolicy = field(default_factory=PriorityPolicy)
    urgent: PriorityPolicy = field(default_factory=PriorityPolicy)
    hop_limit: int = HOP_LIMIT

    def of(self, priority: Priority) -> PriorityPolicy:
        """The patience that holds for `priority`."""
        if priority is Priority.URGENT:
            return self.urgent
        return self.normal if priority is Priority.NORMAL else self.not_urgent


X400_POLICY: Final = MtaPolicy(
    not_urgent=PriorityPolicy(expiry_us=MTA_EXPIRY_NOT_URGENT_US),
    normal=PriorityPolicy(expiry_us=MTA_EXPIRY_NORMAL_US),
    urgent=PriorityPolicy(expiry_us=MTA_EXPIRY_URGENT_US),
)
"""The patience of the 5.5 MTA, where it differs by priority."""
