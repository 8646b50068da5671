"""One fault of a lab, and what a fault plan decides: plain values. Where and how they act is in `pflab.faults.fault_plan`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from traces.labtime import MINUTE_US, LabTime, format_duration, format_instant
from transport.protocol.fault_points import Verb, VerbFault

MAIL_TYPES: Mapping[str, str] = {
    "hierarchy": "Folder Hierarchy",
    "content": "Folder Content",
    "backfill request": "Folder Backfill Request",
    "status": "Folder Status",
    "status request": "Folder Status Request",
    "hierarchy response": "Folder Hierarchy Backfill Response",
    "content response": "Folder Content Backfill Response",
}
"""Short names of the message types, as scenarios write them, to the subjects of such mails."""  # spec: OUT-6

REORDER_BY_US = 20 * MINUTE_US
"""How long `delay` and `reorder` hold a mail unless told: longer than the "always" interval, so that the next cycle
overtakes it."""

CRASH_POINTS = ("before commit", "after commit")


class FaultKind(StrEnum):
    LOSE = "lose"
    DELAY = "delay"
    DUPLICATE = "duplicate"
    REORDER = "reorder"
    CUT = "cut"
    CRASH = "crash"
    KILL = "kill"
    SMTP = "smtp"
    HOLD = "hold"
    ALTER = "alter"


@dataclass(frozen=True, slots=True)
class Decision:
    """What happens to a transmission that is about to leave."""

    refuse: str | None = None
    """The connection is refused, with this reason: the driver reports hop_failed."""
    hold_until_at: LabTime | None = None
    """The queue row waits until then: the driver reports hop_held."""
    copies: int = 1
    """How often the sender sends it."""
    fresh: bool = False
    """It goes over a new connection, whose first verbs are waited for."""
    alter: bool = False
    """It arrives altered (transport.mime.tamper)."""


GO = Decision()

Sending = tuple[str, int, str]
"""A transmission as the plan remembers it: server, queue id, message id."""

Arrival = tuple[str, str, tuple[str, ...], str]
"""A mail as its receiving end sees it: node, sender, recipients, subject."""


@dataclass(frozen=True, slots=True)
class Mails:
    """Which mails a fault meets, all of this at once; what is None may be any."""

    from_: str | None = None
    """The store that sent the mail, never a relay."""
    to: str | None = None
    """The store that it is for."""
    type: str | None = None
    """One of MAIL_TYPES."""
    link: tuple[str, str] | None = None
    """On the hop from the first of these servers to the second, whoever lies behind it."""
    connector: str | None = None
    """On the hops over this connector, whoever lies behind it."""


ALL = Mails()


@dataclass(slots=True)
class Fault:
    """One fault in force."""

    id: str
    kind: FaultKind
    from_: str | None = None
    to: str | None = None
    type: str | None = None
    link: tuple[str, str] | None = None
    connector: str | None = None
    between: tuple[str, str] | None = None
    one_way: bool = False
    server: str | None = None
    point: str | None = None
    by_us: int = 0
    count: int | None = None
    """How often it still acts; None: until healed."""
    holds_next: bool = True
    """Of a reorder: whether the next mail is one to hold or one that overtakes."""
    decided: dict[Sending, Decision] = field(default_factory=dict)
    verb: Verb | None = None
    does: str = ""
    answer: VerbFault | None = None
    """What the receiving end does at the verb; None for a tarpit."""
    until_at: LabTime | None = None
    """When it ends by itself."""

    def details(self) -> dict[str, str]:
        """What the event and a person see of it."""
        shown = {
            "from": self.from_,
            "to": self.to,
            "type": self.type,
            "link": " -> ".join(self.link) if self.link else None,
            "connector": self.connector,
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
