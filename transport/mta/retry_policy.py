"""How long the MTA tries: retry interval and expiry per priority, number of retries, and the hop limit.

Durations are lab time in microseconds. The defaults are those of the settings `MTA ...` of topology/.
"""

from dataclasses import dataclass, field
from typing import Final

from topology.settings.values import Settings
from traces.labtime import DAY_US, MINUTE_US
from transport.envelope import Offers, Priority
from transport.protocol.link_state import LinkRule

RETRY_US: Final = 10 * MINUTE_US
"""Wait before a mail is tried again: the X.400 MTA's open interval, 600 s, and what Exchange 2003's Delivery tab
is remembered with. (The Windows SMTP service documents 15, 30, 60, then 240 minutes, technet.microsoft.com
cc757058; with those, every bound on convergence would be a bound on retries.)"""

EXPIRY_US: Final = 2 * DAY_US
"""Expiration time-out of the SMTP virtual server, whatever the priority (technet.microsoft.com bb123745). The
X.400 MTA of 5.5 and 2000 has 2, 7 and 10 days for urgent, normal and not urgent mail (KB Q178539)."""

HOP_LIMIT: Final = 30
"""Received lines that a mail may bring along: msExchSmtpMaxHopCount of Exchange 2003 (technet.microsoft.com
aa996739; 15 in 2000)."""

LINK_RETRIES: Final = 3
"""Failures in a row after which a link is down: the SMTP service's glitch retries."""


@dataclass(frozen=True, slots=True)
class PriorityPolicy:
    """Patience for mails of one priority."""

    retry_us: int = RETRY_US
    expiry_us: int = EXPIRY_US

    def __post_init__(self) -> None:
        if self.retry_us <= 0 or self.expiry_us <= 0:
            raise ValueError("a retry interval and an expiry are durations above zero")


@dataclass(frozen=True, slots=True)
class MtaPolicy:
    """The settings of one server's MTA. `max_retries` None: a mail is tried until it expires."""

    # spec: RT-2, ML-7
    not_urgent: PriorityPolicy = field(default_factory=PriorityPolicy)
    normal: PriorityPolicy = field(default_factory=PriorityPolicy)
    urgent: PriorityPolicy = field(default_factory=PriorityPolicy)
    max_retries: int | None = None
    hop_limit: int = HOP_LIMIT
    offers: Offers = field(default_factory=Offers)
    link_retries: int = LINK_RETRIES
    link_rule: LinkRule = LinkRule.IGNORED
    smart_host: str | None = None
    """`host:port` of the server for mail that leaves the organization; None: none leaves (ML-5)."""

    @classmethod
    def of_settings(
        cls, settings: Settings, link_rule: LinkRule = LinkRule.IGNORED, *, takes_chunks: bool = True
    ) -> "MtaPolicy":
        """What the settings of a server say. `link_rule` and `takes_chunks` (it knows CHUNKING) are its version's."""
        not_urgent, normal, urgent = (
            PriorityPolicy(settings.mta_retry_us(priority), settings.mta_expiry_us(priority)) for priority in Priority
        )
        offers = Offers(settings.smtp_authentication, settings.smtp_chunking and takes_chunks)
        return cls(
            not_urgent,
            normal,
            urgent,
            settings.mta_maximum_retries,
            settings.mta_hop_limit,
            offers,
            settings.mta_link_retries,
            link_rule,
            settings.smart_host,
        )

    def of(self, priority: Priority) -> PriorityPolicy:
        """The patience that holds for `priority`."""
        if priority is Priority.URGENT:
            return self.urgent
        return self.normal if priority is Priority.NORMAL else self.not_urgent
