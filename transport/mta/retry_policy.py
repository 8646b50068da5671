"""The settings of the MTA: retry interval and expiry for each priority, number of retries, and hop limit.

`transport.mta.mta` applies them. Durations are lab time in microseconds. The defaults are those of the settings `MTA ...` of
topology/.
"""

from dataclasses import dataclass, field
from typing import Final

from topology.settings.values import Settings
from traces.labtime import DAY_US, MINUTE_US
from transport.envelope import Offers, Priority
from transport.protocol.link_state import LinkRule

RETRY_US: Final = 10 * MINUTE_US
"""Retry interval: 600 s, the open interval of the X.400 MTA and, as far as we remember, the default on Exchange 2003's
Delivery tab. (The documentation of the Windows SMTP service has 15, 30, 60, then 240 minutes, technet.microsoft.com cc757058.
With these values every bound on convergence would depend on retries.)"""

EXPIRY_US: Final = 2 * DAY_US
"""Expiration time-out of the SMTP virtual server, for every priority (technet.microsoft.com bb123745). The X.400 MTA of 5.5 and
2000 has 2, 7 and 10 days for urgent, normal and not urgent mail (KB Q178539)."""

HOP_LIMIT: Final = 30
"""Largest number of Received lines of a mail: msExchSmtpMaxHopCount of Exchange 2003 (technet.microsoft.com
aa996739; 15 in 2000)."""


@dataclass(frozen=True, slots=True)
class PriorityPolicy:
    """Retry interval and expiry for mails of one priority."""

    retry_us: int = RETRY_US
    expiry_us: int = EXPIRY_US

    def __post_init__(self) -> None:
        if self.retry_us <= 0 or self.expiry_us <= 0:
            raise ValueError("a retry interval and an expiry must be greater than zero")


@dataclass(frozen=True, slots=True)
class MtaPolicy:
    """The settings of one server's MTA. If `max_retries` is None, a mail is tried until it expires."""

    # spec: RT-2, ML-7
    not_urgent: PriorityPolicy = field(default_factory=PriorityPolicy)
    normal: PriorityPolicy = field(default_factory=PriorityPolicy)
    urgent: PriorityPolicy = field(default_factory=PriorityPolicy)
    max_retries: int | None = None
    hop_limit: int = HOP_LIMIT
    offers: Offers = field(default_factory=Offers)
    link_retries: int = 3
    """The number of failures in a row after which a link is down: the SMTP service's glitch retries."""
    link_rule: LinkRule = LinkRule.IGNORED
    message_size: int | None = None
    """The largest mail of a user that the server sends or accepts, in bytes; None for no limit (OUT-7)."""
    smart_host: str | None = None
    """`host:port` of the server for mail to other organizations; None if no mail leaves the organization (ML-5)."""

    @classmethod
    def of_settings(
        cls, settings: Settings, link_rule: LinkRule = LinkRule.IGNORED, *, takes_chunks: bool = True
    ) -> "MtaPolicy":
        """Return the policy that a server's settings define. `link_rule` and `takes_chunks` (CHUNKING) depend on its
        version."""
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
            settings.user_message_size_bytes,
            settings.smart_host,
        )

    def of(self, priority: Priority) -> PriorityPolicy:
        """Return the policy for `priority`."""
        if priority is Priority.URGENT:
            return self.urgent
        return self.normal if priority is Priority.NORMAL else self.not_urgent
