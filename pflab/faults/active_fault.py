"""An active fault: what was asked for (`pflab.faults.fault`), and what it has done so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from msgspec.structs import fields

from pflab.faults.fault import AnyFault, Crash, Fault, Separation, Smtp
from traces.labtime import LabTime, format_duration, format_instant
from transport.protocol.fault_points import Decision, QueueRow

_NOT_SHOWN: Final = frozenset({"lasts", "one_way", "after"})
"""Fields that the details have in another form: `until`, an arrow between the ends, `count`."""


@dataclass(slots=True)
class ActiveFault:
    """One active fault.

    id: F1, F2, ...
    asked: what was asked for.
    count: how many more times it acts; None: until it is healed.
    until_at: when it ends by itself; None: never.
    acted: how often it has acted: on mails, connections that failed, or steps of the SMTP dialogue.
    holds_next: for a reorder, True if it holds the next mail, False if the next mail overtakes the held one.
    decided: what it has decided for each mail, so that it acts on a mail only once.
    """

    id: str
    asked: AnyFault
    count: int | None = None
    until_at: LabTime | None = None
    acted: int = 0
    holds_next: bool = True
    decided: dict[QueueRow, Decision] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return self.asked.kind

    def details(self) -> dict[str, str]:
        """Return the details that the fault's event and the HTTP API show."""
        fault = self.asked
        details: dict[str, Any] = {
            member.encode_name: _shown(fault, member.name)
            for member in fields(type(fault))
            if member.name not in _NOT_SHOWN
        }
        details["count"] = self.count
        details["until"] = None if self.until_at is None else format_instant(self.until_at)
        return {name: str(value) for name, value in details.items() if value is not None}


def _shown(fault: Fault, name: str) -> Any:
    value = getattr(fault, name)
    if name in {"between", "link"} and value is not None:
        return (" - " if isinstance(fault, Separation) and not fault.one_way else " -> ").join(value)
    if name == "by" and value is not None:
        return format_duration(fault.by_us)
    if name == "verb" and isinstance(fault, Smtp):
        return fault.at.value
    return value


def count_of(fault: Fault) -> int | None:
    """Return how many times a fault acts; None: until it is healed."""
    count: int | None = fault.after + 1 if isinstance(fault, Crash) else getattr(fault, "count", None)
    return count
