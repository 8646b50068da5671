"""The faults that a scenario can let fall on mails, as a model."""

from __future__ import annotations

from pydantic import Field

from pflab.scenario_part import Part
from pflab.scenario_values import (
    DurationUs,
    MailType,
)


class MailFault(Part):
    """Mails on which a fault falls: those of a type from one store to another, the next `count` of them (default:
    all)."""

    from_: str | None = Field(None, alias="from")
    to: str | None = None
    type: MailType | None = None
    connector: str | None = Field(None, description="on this connector only, whoever is behind it")
    count: int | None = Field(None, ge=1)
    name: str | None = Field(None, alias="as")


class Lose(MailFault):
    """The receiving end answers 250 and throws the mail away."""


class Alter(MailFault):
    """The mail arrives altered, so that only its signature tells; `for` so long (default: until healed)."""

    lasts: DurationUs | None = Field(None, alias="for")


class Delay(MailFault):
    """The mail waits at its sender for `by`."""

    by: DurationUs


class Duplicate(MailFault):
    """The mail is sent twice."""


class Reorder(MailFault):
    """The next mail waits for `by` (default 20 min), so that later ones overtake it."""

    by: DurationUs | None = None
