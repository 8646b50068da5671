"""The kinds of values in a topology file. Each has a validator, which says what is wrong, and a JSON Schema.

The validators are strict with one exception: a version or a name needs no quotes, although YAML may then read a number.
"""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any, Final, TypeVar

from pydantic import BeforeValidator, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from topology.enums import ConnectorKind, FolderPriority, Joins, ResolveMethod, ServerVersion
from topology.problems import ValueTextError, one_of, quoted
from topology.quantities import parse_bandwidth, parse_size, parse_storage_limit
from topology.recipient_policy import (
    MAX_DOMAIN,
    MAX_POLICY_NAME,
    parse_mail_domain,
    parse_policy_name,
    parse_recipient_update,
)
from topology.schedule import Schedule, parse_schedule
from topology.settings.catalogue import SPECS
from topology.settings.spec import Kind, SettingSpec
from topology.settings.values import parse_host
from traces.errors import TimeTextError
from traces.labtime import DAY_US, END_AT, SECOND_US, LabTime, parse_duration, parse_instant

MAX_FOLDER_DEPTH: Final = 16
MAX_COST: Final = 1_000_000
# A NetBIOS name has 15 characters; the name is also a mail address, a host name and a file name.
MAX_SERVER_NAME: Final = 15
MAX_NAME: Final = 64
MAX_FOLDER_NAME: Final = 128
MAX_ADDRESS: Final = 254
MAX_LATENCY_US: Final = 30 * DAY_US

_RESERVED: Final = ("lab", "setup", "authority")
"""Names in traces and files that belong to the lab itself: its events, the folders of the topology, and its certificate."""
_NOT_RESERVED: Final = "".join(
    f"(?!{''.join(f'[{letter.upper()}{letter}]' for letter in word)}$)" for word in _RESERVED
)
_SERVER: Final = re.compile(rf"{_NOT_RESERVED}[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?", re.ASCII)
_NAME: Final = re.compile(r"[^\W_](?:[\w .&'-]*[\w.])?")
_LOCAL_PART: Final = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}", re.ASCII)
_ALIAS: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?", re.ASCII)
_NAME_RULE: Final = "use letters, digits, spaces and . & ' - _, beginning with a letter or digit"

T = TypeVar("T")
Word = TypeVar("Word", bound=StrEnum)


def wrong(what: str, would_be_right: str) -> PydanticCustomError:
    """Return the error that a validator raises. `load` converts it to a Problem."""
    return PydanticCustomError("wrong", "{what}; {would_be_right}", {"what": what, "would_be_right": would_be_right})


def text_of(value: object) -> str:
    """Return a value as text. YAML may have read an unquoted text as a number."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise wrong(f"{quoted(value)} is not a text", "write a text, in quotes if it is true, false or null")


def is_server_name(text: str) -> bool:
    """Return whether a server can have this name."""
    return len(text) <= MAX_SERVER_NAME and _SERVER.fullmatch(text) is not None


def _named(what: str, pattern: re.Pattern[str], most: int, rule: str) -> Callable[[object], str]:
    def check(value: object) -> str:
        text = text_of(value)
        if len(text) > most or pattern.fullmatch(text) is None:
            raise wrong(f"{quoted(text)} is not a name for {what}", f"{rule}; at most {most} characters")
        return text

    return check


def _parsed(parse: Callable[[Any], T], what: str, example: str) -> Callable[[object], T]:
    """Return a validator that calls `parse` and converts its errors."""

    def check(value: object) -> T:
        if not isinstance(value, str):
            raise wrong(f"{quoted(value)} is not {what}", f"write a text such as {example}")
        try:
            return parse(value)
        except ValueTextError as error:
            raise wrong(error.what, error.would_be_right) from None
        except TimeTextError as error:
            text, _, remedy = str(error).partition("; ")
            raise wrong(text, remedy) from None

    return check


def _schedule(value: object) -> Schedule:
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        value = "; ".join(value)
    return _parsed(parse_schedule, "a schedule", "always, or a list of such texts")(value)


def _latency(text: str) -> int:
    latency_us = parse_duration(text)
    if not 0 <= latency_us <= MAX_LATENCY_US:
        raise ValueTextError(f"{quoted(text)} is out of range", "a latency is from 0 ms to 30 d")
    return latency_us


MAX_AGE_US = 36_500 * DAY_US
"""The highest age limit of messages: a century."""


def _age(text: str) -> int:
    age_us = parse_duration(text)
    if not SECOND_US <= age_us <= MAX_AGE_US:
        raise ValueTextError(f"{quoted(text)} is out of range", "an age is from 1 s to 36500 d")
    return age_us


def _word(kind: type[Word], what: str) -> Callable[[object], Word]:
    def check(value: object) -> Word:
        text = text_of(value)
        if text not in set(kind):
            raise wrong(f"{quoted(text)} is not {what}", one_of(kind))
        return kind(text)

    return check


def _text(parse: Callable[[str], str]) -> Callable[[object], str]:
    """Return a validator of a text, which needs no quotes."""

    def check(value: object) -> str:
        try:
            return parse(text_of(value))
        except ValueTextError as error:
            raise wrong(error.what, error.would_be_right) from None

    return check


_domain: Final = _text(parse_mail_domain)


def _address(value: object) -> str:
    text = text_of(value)
    local, at, domain = text.rpartition("@")
    if not at or len(text) > MAX_ADDRESS or _LOCAL_PART.fullmatch(local) is None:
        raise wrong(f"{quoted(text)} is not a mail address", "write an address such as kim@contoso.test")
    _domain(domain)
    return text


def _alias(value: object) -> str:
    """Return the alias; '' for the text "none"."""
    text = text_of(value)
    if text == "none":
        return ""
    if _ALIAS.fullmatch(text) is None:
        raise wrong(
            f"{quoted(text)} is not an alias",
            f"write the word none, or the part before the @: letters and digits, with . - _ between them, "
            f"at most {MAX_NAME} characters",
        )
    return text


def _folder_path(value: object) -> str:
    text = text_of(value)
    parts = text.split("/")
    if len(parts) > MAX_FOLDER_DEPTH:
        raise wrong(f"{quoted(text)} is {len(parts)} folders deep", f"at most {MAX_FOLDER_DEPTH} are allowed")
    for part in parts:
        is_plain = part.isprintable() and part == part.strip() and "\\" not in part
        if not is_plain or not 1 <= len(part) <= MAX_FOLDER_NAME:
            raise wrong(
                f"{quoted(text)} is not a folder path",
                f"write names with / between them. A name has 1 to {MAX_FOLDER_NAME} printable characters, no backslash, "
                "and no space at its start or end",
            )
    return text


def _affinity(value: object) -> int:
    """Return the affinity; 0 for the text "none"."""
    if value == "none":
        return 0
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_COST:
        return value
    raise wrong(f"{quoted(value)} is not an affinity", f"write the word none, or a cost from 1 to {MAX_COST}")


def _raw_setting(value: object) -> object:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return value
    raise wrong(f"{quoted(value)} is not a value of a setting", "write a number, a text, or a list of texts")


def none_as_empty(value: object) -> object:
    """Return an empty mapping for a key without a value, such as `A:`. Such an entry has only defaults."""
    return {} if value is None else value


def _strings(*examples: str, **more: Any) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "examples": list(examples), **more})


def _words(kind: type[StrEnum]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "enum": [str(word) for word in kind]})


def _setting_schema(spec: SettingSpec) -> dict[str, Any]:
    kinds: dict[Kind, list[str]] = {
        Kind.DURATION: ["integer", "string"],
        Kind.SIZE: ["integer", "string"],
        Kind.COUNT: ["integer"],
        Kind.SWITCH: ["integer", "boolean"],
        Kind.SERVER: ["string"],
        Kind.HOST: ["string"],
        Kind.LEVEL: ["string", "integer"],
        Kind.SCHEDULE: ["string", "array"],
    }
    unit = f" (a number is in {spec.unit})" if spec.unit else ""
    return {"type": [*kinds[spec.kind], "null"], "description": spec.does + unit}


ServerName = Annotated[
    str,
    BeforeValidator(
        _named(
            "a server",
            _SERVER,
            MAX_SERVER_NAME,
            "begin with a letter, and use letters, digits and inner hyphens, but not lab, setup or authority",
        )
    ),
    _strings("SEA-01", pattern=f"^{_SERVER.pattern}$", maxLength=MAX_SERVER_NAME),
]
SiteName = Annotated[
    str,
    BeforeValidator(_named("a site", _NAME, MAX_NAME, _NAME_RULE)),
    _strings("SEA", maxLength=MAX_NAME),
]
ConnectorName = Annotated[
    str,
    BeforeValidator(_named("a connector", _NAME, 2 * MAX_NAME + 1, _NAME_RULE)),
    _strings("SEA-NYC", maxLength=2 * MAX_NAME + 1),
]
OrganizationName = Annotated[
    str,
    BeforeValidator(_named("an organization", _NAME, MAX_NAME, _NAME_RULE)),
    _strings("Contoso", maxLength=MAX_NAME),
]
Domain = Annotated[str, BeforeValidator(_domain), _strings("contoso.test", maxLength=MAX_DOMAIN)]
PolicyName = Annotated[str, BeforeValidator(_text(parse_policy_name)), _strings("London", maxLength=MAX_POLICY_NAME)]
Address = Annotated[str, BeforeValidator(_address), _strings("kim@contoso.test", maxLength=MAX_ADDRESS)]
Alias = Annotated[str, BeforeValidator(_alias), _strings("projects", "none", maxLength=MAX_NAME)]
FolderPath = Annotated[str, BeforeValidator(_folder_path), _strings("Projects/Archive")]


def _start(text: str) -> LabTime:
    start_at = parse_instant(text)
    if not 0 <= start_at < END_AT:
        raise ValueTextError(f"{quoted(text)} is out of range", "lab time begins in one of the years 1970 to 8999")
    return start_at


Instant = Annotated[
    int,
    PlainValidator(_parsed(_start, "an instant", "2003-10-21T00:00Z")),
    _strings("2003-10-21T00:00Z"),
]
Latency = Annotated[int, PlainValidator(_parsed(_latency, "a latency", "80 ms")), _strings("80 ms")]
Age = Annotated[int, PlainValidator(_parsed(_age, "an age", "30 d")), _strings("30 d")]
Size = Annotated[int, PlainValidator(_parsed(parse_size, "a size", "10 MB")), _strings("300 KB", "10 MB")]
Host = Annotated[
    str, PlainValidator(_parsed(parse_host, "a host with a port", "127.0.0.1:25")), _strings("127.0.0.1:25")
]
StorageLimit = Annotated[
    int, PlainValidator(_parsed(parse_storage_limit, "a storage limit", "10 MB")), _strings("300 KB", "10 MB")
]
Bandwidth = Annotated[
    int, PlainValidator(_parsed(parse_bandwidth, "a bandwidth", "512 kbit/s")), _strings("512 kbit/s")
]
ScheduleField = Annotated[
    Schedule,
    PlainValidator(_schedule),
    WithJsonSchema(
        {
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}],
            "examples": ["always", "never", "every 1 h", ["Mon-Fri 20:00-06:00", "Sat,Sun"]],
        }
    ),
]
Affinity = Annotated[
    int,
    PlainValidator(_affinity),
    WithJsonSchema({"anyOf": [{"const": "none"}, {"type": "integer", "minimum": 1, "maximum": MAX_COST}]}),
]
UpdateInterval = Annotated[
    int | None,
    PlainValidator(_parsed(parse_recipient_update, "an update interval", "always, never or 1 h")),
    _strings("always", "never", "1 h"),
]
Version = Annotated[
    ServerVersion,
    PlainValidator(_word(ServerVersion, "a version")),
    # Without quotes, YAML reads a version as a number. pflab accepts this number, so an editor must accept it too.
    WithJsonSchema({"enum": [*map(str, ServerVersion), 5.5, 2000, 2003, 2007]}),
]
KindWord = Annotated[
    ConnectorKind,
    PlainValidator(_word(ConnectorKind, "a kind of connector")),
    _words(ConnectorKind),
]
JoinsWord = Annotated[Joins, PlainValidator(_word(Joins, "a time to join")), _words(Joins)]
PriorityWord = Annotated[
    FolderPriority,
    PlainValidator(_word(FolderPriority, "a priority")),
    _words(FolderPriority),
]
ResolveWord = Annotated[
    ResolveMethod,
    PlainValidator(_word(ResolveMethod, "a way to resolve conflicts")),
    _words(ResolveMethod),
]
RawSettings = Annotated[
    dict[str, Annotated[Any, PlainValidator(_raw_setting)]],
    BeforeValidator(none_as_empty),
    WithJsonSchema({"type": "object", "properties": {spec.name: _setting_schema(spec) for spec in SPECS}}),
]
