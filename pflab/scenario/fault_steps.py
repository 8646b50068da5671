"""The model of the faults in a scenario: faults of the link between two servers, and faults of mails."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from pflab.scenario.values import DurationUs, MailType, Names, Part, shown, wrong
from transport.protocol.fault_points import Verb

_VERBS = tuple(verb.value for verb in Verb)


def _verb(value: Any) -> str:
    for verb in _VERBS:
        if isinstance(value, str) and value.lower() == verb.lower():
            return verb
    raise wrong(f"{shown(value)} is not a step of an SMTP dialogue; the steps are {', '.join(_VERBS)}")


def _reply(value: Any) -> str:
    text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    if not (text[:3].isdecimal() and text.isascii() and "400" <= text[:3] <= "599" and text[3:4] in {"", " "}):
        raise wrong(
            f'{shown(value)} is not a refusal; write an SMTP reply such as "451" or "504 Need to authenticate first"'
        )
    return text


VerbText = Annotated[str, BeforeValidator(_verb), WithJsonSchema({"enum": list(_VERBS)})]
ReplyText = Annotated[str, BeforeValidator(_reply), WithJsonSchema({"type": ["integer", "string"]})]


class Separation(Part):
    """A fault that separates two servers or sites (`between`, or one way `from` and `to`), or the ends of a connector."""

    exactly_one: ClassVar = ("between", "from_", "connector")

    between: Names | None = None
    from_: str | None = Field(None, alias="from")
    to: str | None = None
    connector: str | None = None
    name: str | None = Field(None, alias="as")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.between is not None and len(self.between) != 2:
            raise wrong('"between" must list two servers or sites, such as {between: [A, B]}')
        if (self.from_ is None) != (self.to is None):
            raise wrong('give both "from" and "to"; {from: A, to: B} is only one direction')
        _check_ends(*(self.between or (self.from_, self.to)))
        return self


class Cut(Separation):
    """Connections are refused between two servers or sites (`between`, or one way `from` and `to`), or over a connector."""


class Blackhole(Separation):
    """Packets are dropped between two servers or sites, or over a connector. Connections are neither accepted nor refused."""


def _check_ends(one: str | None, other: str | None) -> None:
    if one is not None and one == other:
        raise wrong(f"no mail travels from {one} to itself; name two different ends")


class _Directed(Part):
    """A fault of mails or a link that can be limited to one direction."""

    from_: str | None = Field(None, alias="from")
    to: str | None = None

    @model_validator(mode="after")
    def _two_ends(self) -> Self:
        _check_ends(self.from_, self.to)
        return self


class LinkFault(_Directed):
    """A fault on the link from one server to another (default: any servers), or on a connector in both directions."""

    connector: str | None = None


class Smtp(LinkFault):
    """A step of the SMTP dialogue fails, `count` times (default: always), `for` a duration (default: until healed).

    reply: the server refuses with this reply, temporarily (4xx) or permanently (5xx).
    does: the server disconnects, stays silent, or delays the mail by `by` (tarpit).
    """

    exactly_one: ClassVar = ("reply", "does")

    at: VerbText
    reply: ReplyText | None = None
    does: Literal["disconnect", "silence", "tarpit"] | None = None
    by: DurationUs | None = None
    count: int | None = Field(None, ge=1)
    lasts: DurationUs | None = Field(None, alias="for")
    name: str | None = Field(None, alias="as")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.does == "tarpit") != (self.by is not None):
            raise wrong('give both "tarpit" and "by", such as {at: MAIL, does: tarpit, by: 20 min}')
        return self


class Hold(LinkFault):
    """Mail for this hop waits in the queue `for` a duration."""

    lasts: DurationUs = Field(alias="for")
    name: str | None = Field(None, alias="as")


class Unstamp(Part):
    """The entry of the server in the directory loses its addresses, and gets none until the fault is healed (ML-1)."""

    server: str
    name: str | None = Field(None, alias="as")


class MailFault(_Directed):
    """A fault that acts on the next `count` mails (default: all) of a type from one store to another."""

    type: MailType | None = None
    connector: str | None = Field(None, description="on this connector only, whoever is behind it")
    count: int | None = Field(None, ge=1)
    name: str | None = Field(None, alias="as")


class Lose(MailFault):
    """The receiver answers 250 and discards the mail."""


class Alter(MailFault):
    """The mail arrives altered, and only its signature shows this. The fault lasts `for` a duration (default: until healed)."""

    lasts: DurationUs | None = Field(None, alias="for")


class Delay(MailFault):
    """The mail waits at its sender for `by`."""

    by: DurationUs


class Duplicate(MailFault):
    """The mail is sent twice."""


class Reorder(MailFault):
    """The next mail waits for `by` (default 20 min), so that later ones overtake it."""

    by: DurationUs | None = None
