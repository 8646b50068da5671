"""One fault of a lab, as a value. `pflab.faults.fault_plan` decides what the fault does, and to which mails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, get_args

from traces.labtime import MINUTE_US, SECOND_US, LabTime, format_duration, format_instant
from transport.connecting import CONNECT_S
from transport.protocol.fault_points import Decision, QueueRow, Verb, VerbFault

MAIL_TYPES: Mapping[str, str] = {
    "hierarchy": "Folder Hierarchy",
    "content": "Folder Content",
    "backfill request": "Folder Backfill Request",
    "status": "Folder Status",
    "status request": "Folder Status Request",
    "hierarchy response": "Folder Hierarchy Backfill Response",
    "content response": "Folder Content Backfill Response",
}
"""Maps the short names of the message types, as scenarios write them, to the subjects of such mails."""  # spec: OUT-6

REORDER_BY_US = 20 * MINUTE_US
"""How long `delay` and `reorder` hold a mail by default: longer than the "always" interval, so that the mail of the next
cycle overtakes the held mail."""

CRASH_POINTS = ("before commit", "after commit")


class FaultKind(StrEnum):
    """The kinds of fault. The first five act on mails."""

    LOSE = "lose"
    """The receiving server answers 250 and drops the mail, with the event hop.dropped."""
    ALTER = "alter"
    """The mail arrives altered. Only its signature reveals this."""  # spec: ML-6
    DELAY = "delay"
    """The mail waits in the queue of the sending server."""
    DUPLICATE = "duplicate"
    """The sender sends the mail twice."""
    REORDER = "reorder"
    """The first of two mails waits, so that the second overtakes it."""
    CUT = "cut"
    """Connections are refused."""
    BLACKHOLE = "blackhole"
    """Packets are dropped, so connections are neither accepted nor refused, and an attempt takes CONNECT_US."""
    CRASH = "crash"
    """A server dies in the middle of a stimulus."""
    KILL = "kill"
    """A server was killed; its start heals the fault."""
    SMTP = "smtp"
    """A verb of the SMTP dialogue goes wrong."""
    HOLD = "hold"
    """All mail from one server to another waits in the queue of the first."""
    UNSTAMP = "unstamp"
    """The directory entry of a server has no addresses, and the recipient update service fails for it."""  # spec: ML-1


Injectable = Literal["lose", "alter", "delay", "duplicate", "reorder", "cut", "blackhole", "smtp", "hold", "unstamp"]
"""The kinds that a user of a running lab can inject."""

INJECTABLE: tuple[str, ...] = get_args(Injectable)

CONNECT_US = round(CONNECT_S * SECOND_US)
"""Lab time after which a sender gives up a connection that a black hole has swallowed: the limit of a live sender."""

SEPARATIONS = (FaultKind.CUT, FaultKind.BLACKHOLE)
"""The kinds that separate servers, sites, or the ends of a connector."""

MAIL_FAULTS = (FaultKind.LOSE, FaultKind.ALTER, FaultKind.DELAY, FaultKind.DUPLICATE, FaultKind.REORDER)


@dataclass(frozen=True, slots=True)
class Mails:
    """Selects the mails that a fault acts on. All fields apply together; None matches everything."""

    from_: str | None = None
    """The store that wrote the mail, not a server that only forwards it."""
    to: str | None = None
    """A store that is a recipient of the mail."""
    type: str | None = None
    """One of MAIL_TYPES."""
    link: tuple[str, str] | None = None
    """The hop from the first of these servers to the second, whatever server is the destination."""
    connector: str | None = None
    """The hops over this connector, whatever server is the destination."""
    mail: str | None = None
    """The Message-ID of one mail, without angle brackets."""


ALL = Mails()


@dataclass(slots=True)
class Fault:
    """One active fault."""

    id: str
    kind: FaultKind
    from_: str | None = None
    to: str | None = None
    type: str | None = None
    link: tuple[str, str] | None = None
    connector: str | None = None
    mail: str | None = None
    between: tuple[str, str] | None = None
    one_way: bool = False
    server: str | None = None
    point: str | None = None
    by_us: int = 0
    count: int | None = None
    """How many more times the fault acts; None: until it is healed."""
    acted: int = 0
    """How often the fault has acted: on mails, connections that failed, or steps of the SMTP dialogue."""
    holds_next: bool = True
    """For a reorder: True if the next mail will be held, False if the next mail will overtake the held one."""
    decided: dict[QueueRow, Decision] = field(default_factory=dict)
    """What this fault has decided for each mail, so that it acts on a mail only once."""
    verb: Verb | None = None
    does: str = ""
    answer: VerbFault | None = None
    """What the receiving server does at the verb; None for a tarpit."""
    until_at: LabTime | None = None
    """When the fault ends by itself."""

    def details(self) -> dict[str, str]:
        """Return the details that the fault's event and the HTTP API show."""
        shown = {
            "from": self.from_,
            "to": self.to,
            "type": self.type,
            "link": " -> ".join(self.link) if self.link else None,
            "connector": self.connector,
            "mail": self.mail,
            "between": (" -> " if self.one_way else " - ").join(self.between) if self.between else None,
            "server": self.server,
            "point": self.point,
            "by": format_duration(self.by_us) if self.by_us else None,
            "count": str(self.count) if self.count is not None else None,
            "verb": self.verb.value if self.verb is not None else None,
            "does": self.does or None,
            "until": format_instant(self.until_at) if self.until_at is not None else None,
        }
        return {name: value for name, value in shown.items() if value is not None}
