"""The kinds of fault: one class for each, with the fields that people give.

A fault is the same value everywhere: in requests (`POST /lab/faults`), in scenarios and campaigns, on the command line, and in
the console, which makes its form from the JSON Schema of these classes. The word for a kind is its tag; traces have it too.
Texts and limits are declared only here: a docstring says what a kind does, and `Meta` what a field means. Durations are texts,
as people write them.

An impossible fault cannot be created: a wrong combination raises ValueError, whose text begins with the name of a field.
`pflab.faults.fault_plan` decides what the faults of a lab do, and to which mails.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, get_args

import msgspec
from msgspec import Meta, field

from topology.arguments import Line
from traces.errors import TimeTextError
from traces.labtime import DAY_US, SECOND_US, format_duration, parse_duration
from transport.connecting import CONNECT_S
from transport.protocol.fault_points import Mishap, Verb, VerbFault
from transport.protocol.xexch50 import NEED_AUTHENTICATION

MAIL_TYPES: Final[Mapping[str, str]] = {
    "hierarchy": "Folder Hierarchy",
    "content": "Folder Content",
    "backfill request": "Folder Backfill Request",
    "status": "Folder Status",
    "status request": "Folder Status Request",
    "hierarchy response": "Folder Hierarchy Backfill Response",
    "content response": "Folder Content Backfill Response",
}
"""Maps the short names of the message types, as people write them, to the subjects of such mails."""  # spec: OUT-6

MailType = Literal[
    "hierarchy",
    "content",
    "backfill request",
    "status",
    "status request",
    "hierarchy response",
    "content response",
]

HeaderField = Literal["From", "To", "Subject", "Date", "MIME-Version", "Content-Type", "Content-Transfer-Encoding"]

VERBS: Final = tuple(verb.value for verb in Verb)

CONNECT_US: Final = round(CONNECT_S * SECOND_US)
"""Lab time after which a sender gives up a connection that a black hole has swallowed: the limit of a live sender."""

MAX_DELAY_US: Final = 400 * DAY_US
"""The longest delay of one mail: far longer than a mail stays in a queue."""

TARPIT: Final = "tarpit"
"""One effect of an SMTP fault: the answer comes late. The others are a reply, disconnect and silence."""

_LAST_NUMBER: Final = 2**53 - 1
_TARPIT_BY: Final = "20 min"
_REPLY: Final = re.compile(r"([45][0-9]{2})(?: ([\x20-\x7e]{1,200}))?")


def _format(name: str) -> dict[str, Any]:
    """Return what tells a form which values it can offer."""
    return {"format": name}


# --- the types of fields

Server = Annotated[Line, Meta(extra_json_schema=_format("server"))]
End = Annotated[Line, Meta(extra_json_schema=_format("server or site"))]
Connector = Annotated[
    Line, Meta(title="on connector", description="Only on this connector.", extra_json_schema=_format("connector"))
]
Duration = Annotated[Line, Meta(examples=["20 min"], extra_json_schema=_format("span"))]
OnlyType = Annotated[
    MailType,
    Meta(
        title="type of mail",
        description="Only mails of this type.",
        examples=["content"],
        extra_json_schema={"enum": list(MAIL_TYPES)},
    ),
]
Count = Annotated[
    int,
    Meta(ge=1, le=_LAST_NUMBER, title="how many", description="How many times it acts; default: until it is healed."),
]
Lasts = Annotated[
    Duration, Meta(title="for", description="How long it lasts; default: until it is healed.", examples=["2 h"])
]
By = Annotated[Duration, Meta(description="How long the mail waits.")]
MessageId = Annotated[
    Line, Meta(title="Message-ID", description="Only the mail with this Message-ID, without brackets.")
]
Hop = Annotated[
    list[Server],
    Meta(min_length=2, max_length=2, description="Only the hop from the first of these servers to the second."),
]


class Fault(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", omit_defaults=True, forbid_unknown_fields=True
):
    """Something that goes wrong in a lab on purpose."""

    only_simulated: ClassVar[str] = ""
    """Why only the simulator can have a fault of this kind, and what to do elsewhere; empty if all labs can."""

    def __post_init__(self) -> None:
        """Raise ValueError if the fields do not fit together."""

    @property
    def kind(self) -> str:
        return kind_of(type(self))

    @property
    def lasts_us(self) -> int | None:
        """How long the fault lasts; None if it does not end by itself."""
        lasts = getattr(self, "lasts", None)
        return None if lasts is None else parse_duration(lasts)

    @property
    def by_us(self) -> int:
        """How long it delays a mail; 0 if it does not."""
        by = getattr(self, "by", None)
        return 0 if by is None else parse_duration(by)


def kind_of(fault: type[Fault]) -> str:
    """Return the word for a kind of fault."""
    return str(fault.__struct_config__.tag)


# --- mails


class MailFault(Fault, frozen=True, kw_only=True):
    """A fault that acts on mails in transit. All fields that limit the mails apply together.

    Without a hop or a connector, it acts on the last hop, which enters the server of a recipient.
    """

    from_: (
        Annotated[Server, Meta(title="from", description="Only mails that this store wrote.", examples=["A"])] | None
    ) = field(name="from", default=None)
    to: Annotated[Server, Meta(description="Only the copy for this store.", examples=["B"])] | None = None
    type: OnlyType | None = None
    link: Hop | None = None
    connector: Connector | None = None
    mail: MessageId | None = None
    count: Count | None = None

    def __post_init__(self) -> None:
        _check_ends("to", self.from_, self.to)
        if self.link is not None:
            _check_ends("link", *self.link)
        _check_durations(self)


class Lose(MailFault, frozen=True, kw_only=True, tag="lose"):
    """The receiving server accepts the mail and drops it."""

    count: Annotated[Count, Meta(examples=[1])] | None = None


class Alter(MailFault, frozen=True, kw_only=True, tag="alter"):
    """The mail arrives altered. Only its signature reveals this."""  # spec: ML-6

    lasts: Lasts | None = None
    how: (
        Annotated[
            Literal["flip", "cut", "noise", "item"],
            Meta(
                description="Only in the simulator: flip bits, cut the end off, write noise over a part, or break one item and"
                " sign the mail again.",
                extra_json_schema={"enum": ["flip", "cut", "noise", "item"]},
            ),
        ]
        | None
    ) = None


class Rewrite(MailFault, frozen=True, kw_only=True, tag="rewrite"):
    """One header field of the mail arrives with a different first letter, as if a gateway had rewritten it."""

    header: Annotated[
        HeaderField,
        Meta(
            description="The header field. Message-ID is not possible, because traces identify mails by it.",
            examples=["Content-Type"],
            extra_json_schema={"enum": list(get_args(HeaderField))},
        ),
    ]


class Delay(MailFault, frozen=True, kw_only=True, tag="delay"):
    """The mail waits in the queue of the sending server."""

    by: By = "20 min"


class Duplicate(MailFault, frozen=True, kw_only=True, tag="duplicate"):
    """The sending server sends the mail twice."""


class Reorder(MailFault, frozen=True, kw_only=True, tag="reorder"):
    """The first of two mails waits, so that the second overtakes it."""

    count: (
        Annotated[int, Meta(ge=1, le=_LAST_NUMBER, title="how many", description="How many pairs of mails.")] | None
    ) = 1
    by: By = "20 min"


# --- links


class Separation(Fault, frozen=True, kw_only=True):
    """A fault that separates two servers or sites, or the ends of a connector."""

    between: (
        Annotated[
            list[End], Meta(min_length=2, max_length=2, description="The two servers or sites.", examples=[["A", "B"]])
        ]
        | None
    ) = None
    one_way: Annotated[
        bool, Meta(title="one way", description="Only connections from the first end to the second.")
    ] = False
    connector: Annotated[Connector, Meta(description="The connector, in place of two ends.")] | None = None

    def __post_init__(self) -> None:
        if self.between is not None and self.connector is not None:
            raise ValueError("connector: cannot be given together with between; leave out one of them")
        if self.between is None and self.connector is None:
            raise ValueError(f"between: missing; a {self.kind} needs two ends, such as A and B, or a connector")
        if self.between is not None:
            _check_ends("between", *self.between)
        elif self.one_way:
            raise ValueError(f"one_way: a {self.kind} in one direction needs two ends; give between, not connector")


class Cut(Separation, frozen=True, kw_only=True, tag="cut"):
    """Connections are refused between two servers or sites, or over a connector."""


class Blackhole(Separation, frozen=True, kw_only=True, tag="blackhole"):
    """Packets are dropped, so connections are neither accepted nor refused, and each attempt takes 10 s."""


class LinkFault(Fault, frozen=True, kw_only=True):
    """A fault on the hops from one server to another, whatever mail travels there."""

    from_: Annotated[Server, Meta(title="from", description="Only hops from this server.")] | None = field(
        name="from", default=None
    )
    to: Annotated[Server, Meta(description="Only hops to this server.")] | None = None
    connector: Connector | None = None

    def __post_init__(self) -> None:
        _check_ends("to", self.from_, self.to)
        _check_durations(self)


class Smtp(LinkFault, frozen=True, kw_only=True, tag="smtp"):
    """A verb of the SMTP dialogue goes wrong on the receiving server."""

    verb: Annotated[
        Line,
        Meta(
            examples=["RCPT"],
            description="The verb, or connect, or end of data.",
            extra_json_schema={"enum": list(VERBS)},
        ),
    ]
    does: Annotated[
        Line,
        Meta(
            examples=["451", "504", "550", "disconnect", "silence", "tarpit"],
            description="A reply from 400 to 599, with or without a text; or disconnect, silence or tarpit.",
        ),
    ]
    by: (
        Annotated[
            Line,
            Meta(description="With tarpit: how late each mail is; default: 20 min.", extra_json_schema=_format("span")),
        ]
        | None
    ) = None
    count: Count | None = None
    lasts: Lasts | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.verb.lower() not in _VERB_NAMED:
            raise ValueError(f"verb: {self.verb!r} is not a verb of an SMTP dialogue; write {', '.join(VERBS)}")
        if self.does not in _EFFECTS and _REPLY.fullmatch(self.does) is None:
            raise ValueError(
                f"does: {self.does!r} cannot happen at an SMTP verb; write disconnect, silence, tarpit, or a reply from 400 to"
                " 599 with an optional text, such as 451 or 504 Need to authenticate first"
            )
        if self.by is not None and self.does != TARPIT:
            raise ValueError("by: allowed only with tarpit; write for example does: tarpit, by: 20 min")

    @property
    def by_us(self) -> int:
        return parse_duration(self.by or _TARPIT_BY) if self.does == TARPIT else 0

    @property
    def at(self) -> Verb:
        return _VERB_NAMED[self.verb.lower()]

    @property
    def answer(self) -> VerbFault | None:
        """What the receiving server does at the verb; None for a tarpit."""
        if self.does in _EFFECTS:
            return None if self.does == TARPIT else VerbFault(Mishap(self.does))
        code, _, text = self.does.partition(" ")
        if not text:
            needs_authentication = code == "504" and self.at is Verb.XEXCH50
            text = (
                NEED_AUTHENTICATION.partition(" ")[2] if needs_authentication else f"{code[0]}.3.0 refused by the lab"
            )
        return VerbFault(Mishap.REPLY, int(code), text)


_VERB_NAMED: Final = {verb.value.lower(): verb for verb in Verb}
_EFFECTS: Final = (Mishap.DISCONNECT.value, Mishap.SILENCE.value, TARPIT)


class Hold(LinkFault, frozen=True, kw_only=True, tag="hold"):
    """All mail from one server to another waits in the queue for a given time."""

    lasts: Annotated[Lasts, Meta(description="How long the mails wait, even if the fault is healed before.")]


# --- servers


class ServerFault(Fault, frozen=True, kw_only=True):
    """A fault of one server."""

    server: Annotated[Server, Meta(description="The server.", examples=["B"])]

    def __post_init__(self) -> None:
        _check_durations(self)


class Unstamp(ServerFault, frozen=True, kw_only=True, tag="unstamp"):
    """The directory entry of a server loses its mail addresses, and gets no new ones."""  # spec: ML-1


class Unlink(ServerFault, frozen=True, kw_only=True, tag="unlink"):
    """The directory object of a server's store names no public folder tree."""  # spec: ML-8


class Double(ServerFault, frozen=True, kw_only=True, tag="double"):
    """The directory has a second object of a server's store."""  # spec: ML-8


class Crash(ServerFault, frozen=True, kw_only=True, tag="crash"):
    """A server dies in the middle of a stimulus, and starts again by itself."""

    only_simulated = "only the simulator crashes a server during a stimulus; kill and start the server instead"
    point: Literal["before commit", "after commit"] = "before commit"
    after: Annotated[int, Meta(ge=0, le=_LAST_NUMBER, description="How many complete stimuli come first.")] = 0


class Stall(ServerFault, frozen=True, kw_only=True, tag="stall"):
    """A server does nothing and answers nobody, as if its disk were slow."""

    only_simulated = "only the simulator stalls a server; hold the mail to it, or stop it"
    lasts: Lasts
    commits: Annotated[bool, Meta(description="It stores what it receives, but answers too late.")] = False


class Skew(ServerFault, frozen=True, kw_only=True, tag="skew"):
    """The clock of a server is fast, or slow if the duration has a minus sign. Lab time does not change."""  # spec: TM-1

    by: Annotated[
        Duration, Meta(title="fast by", description="How far the clock is ahead, such as 10 min; -5 min makes it slow.")
    ]

    def __post_init__(self) -> None:
        _check_duration("by", self.by, both_ways=True)


class Kill(ServerFault, frozen=True, kw_only=True, tag="kill"):
    """A server was killed; its start heals the fault."""


InjectableFault = (
    Lose
    | Alter
    | Rewrite
    | Delay
    | Duplicate
    | Reorder
    | Cut
    | Blackhole
    | Smtp
    | Hold
    | Unstamp
    | Unlink
    | Double
    | Skew
)
"""The faults that a user of a running lab can inject."""

AnyFault = InjectableFault | Crash | Stall | Kill

KINDS: Final[Mapping[str, type[Fault]]] = {kind_of(kind): kind for kind in get_args(AnyFault)}

INJECTABLE: Final[Mapping[str, type[Fault]]] = {kind_of(kind): kind for kind in get_args(InjectableFault)}


# --- checks of fields


def _check_ends(name: str, one: str | None, other: str | None) -> None:
    if one is not None and one == other:
        raise ValueError(f"{name}: no mail travels from {one} to itself; give two different ends")


def _check_durations(fault: Fault) -> None:
    for name in ("by", "lasts"):
        text = getattr(fault, name, None)
        if text is not None:
            _check_duration(name, text)


def _check_duration(name: str, text: str, *, both_ways: bool = False) -> None:
    try:
        span_us = parse_duration(text)
    except TimeTextError as error:
        raise ValueError(f"{name}: {error}") from None
    if span_us == 0 or (span_us < 0 and not both_ways):
        raise ValueError(f"{name}: must be longer than zero, not {text}; write for example 20 min")
    if abs(span_us) > MAX_DELAY_US:
        raise ValueError(f"{name}: {text} is too long; at most {format_duration(MAX_DELAY_US)}")
