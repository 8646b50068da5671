"""The values of a scenario file: durations, moments, counts, sizes, names, mail types; and the base class of its parts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Self

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    TypeAdapter,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from pflab.faults.fault import MAIL_TYPES
from topology.problems import ValueTextError
from topology.quantities import MEGABYTE, format_size, parse_size
from traces.errors import TimeTextError
from traces.labtime import (
    DAY_US,
    HOUR_US,
    MINUTE_US,
    LabTime,
    format_duration,
    format_instant,
    parse_duration,
    parse_instant,
)

MAX_WAIT_US: Final = 400 * DAY_US
"""The longest wait in a scenario: well over the 180 days of a tombstone."""
MAX_ATTACHMENT: Final = 64 * MEGABYTE
"""The size of the largest attachment, in bytes. A lab keeps each attachment once per store."""
MAX_POSTS: Final = 100_000
MAX_LETTERS: Final = 10_000_000
"""The largest number of letters in a body that a step repeats."""

BOUND: Final = "bound"
"""The word for the time within which the lab must converge by its settings (pflab.oracle.convergence_bound)."""
# spec: CV-3

MAX_SHOWN: Final = 60
"""How many characters of a wrong value an error text shows."""

_CLOCK: Final = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_COUNT: Final = re.compile(r"(?:(at least|at most|exactly)\s+)?([0-9]{1,9})")


def wrong(text: str) -> PydanticCustomError:
    """Return an error whose text the loader prints unchanged: what is wrong, and what would be right."""
    return PydanticCustomError("scenario", "{text}", {"text": text})


def shown(value: Any) -> str:
    """Return a value of a file on one line, as YAML."""
    if isinstance(value, str):
        return repr(value)
    text = yaml.safe_dump(value, default_flow_style=True, width=math.inf).removesuffix("\n...\n").strip()
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def same_minute(left: LabTime, right: LabTime) -> bool:
    return left // MINUTE_US == right // MINUTE_US


@dataclass(frozen=True, slots=True)
class Moment:
    """A time: `after_us` from now, the instant `at`, or the next time of day `clock_us` after midnight. Exactly one is set."""

    after_us: int | None = None
    at: LabTime | None = None
    clock_us: int | None = None

    def resolve(self, now: LabTime) -> LabTime:
        """Return the instant as seen from `now`. A clock time is the next one after `now`."""
        if self.at is not None:
            return self.at
        if self.clock_us is not None:
            today = now - now % DAY_US + self.clock_us
            return today if today > now else today + DAY_US
        return now + (self.after_us or 0)

    def __str__(self) -> str:
        if self.at is not None:
            return format_instant(self.at)
        if self.clock_us is not None:
            return f"{self.clock_us // HOUR_US:02}:{self.clock_us % HOUR_US // MINUTE_US:02}"
        return format_duration(self.after_us or 0)


@dataclass(frozen=True, slots=True)
class Count:
    """A range of numbers from `low` to `high`; without an upper limit if `high` is None."""

    low: int
    high: int | None

    def __contains__(self, number: int) -> bool:
        return number >= self.low and (self.high is None or number <= self.high)

    def __str__(self) -> str:
        if self.high == self.low:
            return str(self.low) if self.low else "none"
        return f"at least {self.low}" if self.high is None else f"at most {self.high}"


def _duration(value: Any) -> int:
    if isinstance(value, str):
        try:
            span = parse_duration(value)
        except TimeTextError as error:
            raise wrong(str(error)) from None
        if not 0 < span <= MAX_WAIT_US:
            raise wrong(
                f"{shown(value)} is out of range; a duration is above zero and at most {format_duration(MAX_WAIT_US)}"
            )
        return span
    raise wrong(f"{shown(value)} is not a duration; write a number and a unit, such as 15 min or 36 h")


def _within(value: Any) -> int | str:
    return BOUND if value == BOUND else _duration(value)


def _moment(value: Any) -> Moment:
    if not isinstance(value, str):
        raise wrong(
            f"{shown(value)} is not a time; write a duration (15 min), an instant (2003-10-22T00:15Z) or"
            " a clock time (12:15)"
        )
    clock = _CLOCK.fullmatch(value.strip())
    if clock:
        return Moment(clock_us=int(clock[1]) * HOUR_US + int(clock[2]) * MINUTE_US)
    if re.match(r"\d{4}-", value.strip()):
        try:
            return Moment(at=parse_instant(value))
        except TimeTextError as error:
            raise wrong(str(error)) from None
    return Moment(after_us=_duration(value))


def _point(value: Any) -> Moment:
    moment = _moment(value)
    if moment.after_us is not None:
        raise wrong(f"{shown(value)} is a duration; write an instant (2003-10-22T00:15Z) or a clock time (00:15)")
    return moment


def _count(value: Any) -> Count:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise wrong(f"{shown(value)} is not a count; write 2, none, at least 1 or at most 3")
    if isinstance(value, int):
        if value < 0:
            raise wrong(f"{value} is not a count; a count is zero or more")
        return Count(value, value)
    if value == "none":
        return Count(0, 0)
    match = _COUNT.fullmatch(value.strip())
    if match is None:
        raise wrong(f"{shown(value)} is not a count; write 2, none, at least 1 or at most 3")
    number = int(match[2])
    bounds = {"at least": (number, None), "at most": (0, number)}
    return Count(*bounds.get(match[1] or "exactly", (number, number)))


def _size(value: Any) -> int:
    if not isinstance(value, str):
        raise wrong(f"{shown(value)} is not a size; write a number and a unit, such as 500 KB or 1 MB")
    try:
        size = parse_size(value)
    except ValueTextError as error:
        raise wrong(str(error)) from None
    if not 0 < size <= MAX_ATTACHMENT:
        raise wrong(f"{shown(value)} is out of range; an attachment has from 1 B to {format_size(MAX_ATTACHMENT)}")
    return size


def _names_or_none(value: Any) -> tuple[str, ...]:
    return () if value == [] else _names(value)


def _names(value: Any) -> tuple[str, ...]:
    listed = list(value) if isinstance(value, list | tuple) else [value]
    if not listed or not all(isinstance(item, str) and item for item in listed):
        raise wrong(f"{shown(value)} is not a name or a list of names")
    return tuple(listed)


def _mail_type(value: Any) -> str:
    if not isinstance(value, str) or value not in MAIL_TYPES:
        raise wrong(f"{shown(value)} is not a mail type; the types are {', '.join(MAIL_TYPES)}")
    return value


def _schema(kind: str, **more: Any) -> WithJsonSchema:
    return WithJsonSchema({"type": kind, **more})


def _texts(render: Callable[[Any], str]) -> PlainSerializer:
    return PlainSerializer(render, return_type=str)


_NAMES_SCHEMA = WithJsonSchema(
    {"anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
)

DurationUs = Annotated[
    int, BeforeValidator(_duration), _texts(format_duration), _schema("string", examples=["15 min", "6 h", "36 h"])
]
WithinText = Annotated[
    int | str,
    BeforeValidator(_within),
    _texts(lambda value: value if value == BOUND else format_duration(value)),
    _schema("string", examples=["15 min", "36 h", BOUND]),
]
MomentText = Annotated[
    Moment,
    BeforeValidator(_moment),
    _texts(str),
    _schema("string", examples=["15 min", "2003-10-22T00:15Z", "12:15"]),
]
PointText = Annotated[
    Moment, BeforeValidator(_point), _texts(str), _schema("string", examples=["2003-10-22T00:15Z", "00:15"])
]
CountText = Annotated[
    Count,
    BeforeValidator(_count),
    _texts(str),
    WithJsonSchema(
        {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}], "examples": [2, "none", "at least 1"]}
    ),
]
SizeBytes = Annotated[int, BeforeValidator(_size), _schema("string", examples=["500 KB", "1 MB"])]
Names = Annotated[tuple[str, ...], BeforeValidator(_names), _NAMES_SCHEMA]
NamesOrNone = Annotated[tuple[str, ...], BeforeValidator(_names_or_none), _NAMES_SCHEMA]
MailType = Annotated[str, BeforeValidator(_mail_type), _schema("string", enum=list(MAIL_TYPES))]


def _from_start(value: Any) -> int:
    return 0 if value in (0, "0 s") else _duration(value)


_FROM_START: Final[TypeAdapter[int]] = TypeAdapter(Annotated[int, BeforeValidator(_from_start)])


def duration_from_start(value: Any) -> int:
    """Return the microseconds of the time of a step. Raises ValidationError."""
    return _FROM_START.validate_python(value)


class Part(BaseModel):
    """A part of a scenario. Exactly one key of `exactly_one`, and at least one key of `at_least_one`, must be given."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    exactly_one: ClassVar[tuple[str, ...]] = ()
    at_least_one: ClassVar[tuple[str, ...]] = ()

    @model_validator(mode="after")
    def _given(self) -> Self:
        for keys, exact in ((self.exactly_one, True), (self.at_least_one, False)):
            names = [key_of(type(self), key) for key in keys]
            set_names = [name for key, name in zip(keys, names, strict=True) if key in self.model_fields_set]
            if keys and not set_names:
                raise wrong(f"a key is missing; give one of {', '.join(names)}")
            if exact and len(set_names) > 1:
                both = " and ".join(f'"{name}"' for name in set_names)
                raise wrong(f"{both} cannot be used together; give one of {', '.join(names)}")
        return self


def key_of(model: type[BaseModel], field: str) -> str:
    return model.model_fields[field].alias or field
