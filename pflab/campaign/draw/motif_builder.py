"""The builder that all motifs use, and the constants that they share."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Literal

from pflab.campaign.draw import timed
from pflab.campaign.draw.state import DrawState
from pflab.faults.fault import MailType
from traces.labtime import HOUR_US, MINUTE_US

BROADCAST_US = 30 * MINUTE_US
"""After this time a change has been broadcast and has arrived, if there is no fault and no slow link."""

Part = timed.Timed | timed.Span

CONTACT = "kim@contoso.test"
"""The contact of folders in campaigns."""

KEEPS: tuple[Literal["shown", "last", "all"], ...] = ("shown", "last", "all", "all")
ALTERATIONS: tuple[Literal["flip", "cut", "noise"], ...] = ("flip", "cut", "noise")

_QUICK_SETTINGS: dict[str, tuple[str, ...]] = {
    "Replication Send Status Timeout": ("2 h", "6 h"),
    "Replication Send Status Alignment": ("1 h", "3 h"),
    "Replication Short Backfill Request Timeout": ("10 min", "1 h"),
    "Replication Short Backfill Request Timeout Retry": ("30 min", "2 h"),
    "Replication Short Backfill Request Timeout Later Retry": ("1 h", "4 h"),
    "Replication Long Backfill Request Timeout": ("20 min", "2 h"),
    "Replication Long Backfill Request Timeout Retry": ("1 h", "3 h"),
    "Replication Long Backfill Request Timeout Later Retry": ("2 h", "6 h"),
    # Short time-outs cause many mails to a store that is down. It would take long to simulate their retries every ten minutes.
    "MTA Retry Interval Normal": ("1 h",),
}

ALL_TIMEOUTS = tuple(name for name in _QUICK_SETTINGS if "Backfill Request Timeout" in name)
FIRST_TIMEOUTS = tuple(name for name in ALL_TIMEOUTS if name.endswith("Timeout"))


def quick_settings(draw: random.Random) -> dict[str, Any]:
    """Return settings with time-outs so short that backfill can finish while the faults last."""
    return {name: draw.choice(values) for name, values in _QUICK_SETTINGS.items()}


@dataclass(frozen=True, slots=True)
class MotifBuilder:
    """Makes the steps and faults of one motif.

    draw: the random generator.
    state: the scenario so far.
    at_us: when the motif begins.
    a, b, c: stores; `c` is `b` if the organization has only two.
    """

    draw: random.Random
    state: DrawState
    at_us: int
    a: str
    b: str
    c: str

    def folder(
        self,
        *replicas: str,
        at_us: int | None = None,
        title: str | None = None,
        under: str | None = None,
        **properties: Any,
    ) -> timed.Timed:
        """Return a step that creates a folder, by default so early that all stores know it when the motif begins."""
        label = self.state.label("g")
        return timed.create_folder(
            at_us=max(0, self.at_us - 2 * HOUR_US) if at_us is None else at_us,
            on=self.a,
            label=label,
            title=title or f"M{label[1:]}",
            replicas=list(dict.fromkeys(replicas)),
            under=under,
            **properties,
        )

    def post(self, on: str, folder: str, after_us: int = 0, **more: Any) -> timed.Timed:
        return timed.post(at_us=self.at_us + after_us, on=on, folder=folder, label=self.state.label("m"), **more)

    def lose(self, type_: MailType, from_: str | None, to: str | None, count: int | None, lasts_us: int) -> timed.Span:
        return timed.fault("lose", at_us=self.at_us, lasts_us=lasts_us, from_=from_, to=to, type=type_, count=count)
