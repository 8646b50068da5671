"""The lines of segments: which are events, and why the others are set aside.

This is plain Python, so that both engines read the same. Spark runs it in its tasks. An event is decoded with its definition
in `traces`, and written again: so what follows sees each field once, with the type of its definition.

A trace is one run in one place. Its name is `place#run`: the folder of its segments (for a folder `traces`, the folder above
it) and the run's id. Runs of one seed have the same id, so the place is part of the name. A `#` in the id is written `%23`, and
a `%` is written `%25`, so the last `#` of a name always stands before the run.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import msgspec

from analytics.ingest.routes import routes
from traces.events import (
    EVENT_TYPES,
    ChangeEvent,
    MailEvent,
    OrganizationChanged,
    ReplicationEvent,
    RunEvent,
    RunStarted,
)
from traces.segments import END_TYPE, MAX_LINE_BYTES, SUFFIX, SegmentEnd, is_url
from traces.trace_version import is_readable

ASIDE: Final = "aside"
"""The family of lines that are not events of a known type."""

MALFORMED: Final = "malformed"
OTHER_VERSION: Final = "other version"
UNKNOWN_TYPE: Final = "unknown type"
SEGMENT_END: Final = "segment end"
"""The reasons why a line is kept aside. The end of a segment is no event, but nothing is wrong with it."""

UNNAMED: Final = "?"
"""Takes the place of a run's id in the name of a trace whose lines do not contain the id."""

REASONS: Final = (MALFORMED, OTHER_VERSION, UNKNOWN_TYPE)
"""The reasons that mean that something is wrong."""

FAMILIES: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(str(event.__struct_config__.tag) for event in get_args(union))
    for name, union in (
        ("run", RunEvent),
        ("mail", MailEvent),
        ("change", ChangeEvent),
        ("replication", ReplicationEvent),
    )
}
"""Maps each family to its event types. Tables are partitioned by family."""

_MARK: Final = b"\xef\xbb\xbf"
"""A byte order mark, with which some editors begin a file. Spark's reader passes over it."""

KEPT_OF_LINE: Final = 2000
"""How many characters of a line kept aside are stored."""

_LARGEST: Final = 2**62

_Number = Annotated[int, msgspec.Meta(ge=-_LARGEST, le=_LARGEST)]
"""No number of an event is larger, so that a sum of two has 64 bits. A sequence number has the same limit."""


class _Head(msgspec.Struct):
    """What is read of an event of an unknown type or another version."""

    type: str
    run: str
    node: str
    incarnation: _Number
    seq: _Number
    lamport: _Number
    at: _Number
    v: _Number = 1


class _Run(msgspec.Struct):
    run: str


class _Type(msgspec.Struct):
    type: str


def _lenient(annotation: Any) -> Any:
    """Return a field's type with text in place of a choice of texts: checks find a value that is none of them. Its numbers are
    bounded."""
    origin, args = get_origin(annotation), get_args(annotation)
    if annotation is int:
        return _Number
    if origin is Literal:
        return str
    if origin in {Union, UnionType}:
        return Union[tuple(map(_lenient, args))]  # noqa: UP007 - the members are known only here
    if origin in {tuple, dict}:
        return origin[tuple(map(_lenient, args))]
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return _bounded(annotation)
    return annotation


def _bounded(struct: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """Return the type of a part of an event, with bounded numbers. JSON has its defaults."""
    fields: list[Any] = []
    for member in msgspec.structs.fields(struct):
        if member.default_factory is not msgspec.NODEFAULT:
            raise TypeError(f"{struct.__name__}.{member.name} has a default factory")
        of = _lenient(member.type)
        fields.append((member.name, of) if member.required else (member.name, of, member.default))
    return msgspec.defstruct(struct.__name__, fields, kw_only=True, gc=False)


def _with_any_texts(event: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """Return a type whose JSON has the fields that the line has: one that is missing stays missing, as for Spark."""
    fields: list[Any] = []
    for member in msgspec.structs.fields(event):
        of = _lenient(member.type)
        fields.append((member.name, of) if member.required else (member.name, of | msgspec.UnsetType, msgspec.UNSET))
    tag = event.__struct_config__.tag
    return msgspec.defstruct(event.__name__, fields, tag_field="type", tag=tag, kw_only=True, gc=False)


_FAMILY_OF: Final = {
    _with_any_texts(EVENT_TYPES[tag]): family for family, tags in FAMILIES.items() for tag in sorted(tags)
}
"""Maps the type of each event, as lines are decoded, to its family."""

_WITH_TOPOLOGY: Final = frozenset(
    event for event in _FAMILY_OF if event.__name__ in (RunStarted.__name__, OrganizationChanged.__name__)
)
_EVENT: Final = msgspec.json.Decoder(Union[tuple(_FAMILY_OF)])  # noqa: UP007 - as above
_HEAD: Final = msgspec.json.Decoder(_Head)
_END: Final = msgspec.json.Decoder(SegmentEnd)
_RUN: Final = msgspec.json.Decoder(_Run)
_TYPE: Final = msgspec.json.Decoder(_Type)
_ENCODE: Final = msgspec.json.Encoder().encode
_ERRORS: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


@dataclass(slots=True)
class Lines:
    """The lines of a segment as columns.

    file: the segment's path or URL.
    trace: where they are from.
    aside: the reason, None for an event.
    text: of a line that is set aside; of the end of a segment what it says (`_end`).
    hash: the CRC-32 of the line.
    event: the event as JSON, None for a line that has none.
    family: of the event.
    """

    file: str
    trace: list[str] = field(default_factory=list)
    aside: list[str | None] = field(default_factory=list)
    text: list[str | None] = field(default_factory=list)
    hash: list[int] = field(default_factory=list)
    event: list[bytes | None] = field(default_factory=list)
    family: list[str] = field(default_factory=list)

    @property
    def place(self) -> str:
        return place_of(self.file)

    def take(self, lines: Iterable[bytes]) -> Lines:
        """Read lines of the segment, without the sign that ends each, and return all that were read."""
        place = self.place
        for ended in lines:
            line = ended.rstrip(b"\r")
            run, aside, event, family = _line(line)
            self.trace.append(trace_of(place, run))
            self.aside.append(aside)
            self.text.append(None if aside is None else _text(line, aside))
            self.hash.append(zlib.crc32(line))
            self.event.append(event)
            self.family.append(family)
        return self


@lru_cache
def trace_of(place: str, run: str) -> str:
    """Return the name of the trace of a run in a place."""
    return f"{place}#{run.replace('%', '%25').replace('#', '%23')}"


def place_in(trace: str) -> str:
    """Return the place in the name of a trace."""
    return trace.rpartition("#")[0]


@lru_cache
def place_of(file: str) -> str:
    """Return the folder of a segment; for a folder `traces` the folder above it."""
    folder = file.rpartition("/")[0]
    return folder.removesuffix("/traces")


def is_segment(file: str) -> bool:
    """Return whether a file is a segment. One below the link to the latest run is not, because it would be read twice. If a
    user names the link, the caller resolves it first. At a URL nobody can tell a link from a folder, so the name decides."""
    if not file.endswith(SUFFIX):
        return False
    latest = re.match(r"(.*/latest)/(traces/)?[^/]*$", file)
    return latest is None or not (is_url(file) or Path(latest[1]).is_symlink())


def read_lines(file: str, content: bytes, *, begins: bool = True) -> Lines:
    """Return the lines of a segment.

    file: its path or URL.
    begins: whether the content is from the beginning of the file.
    """
    every = (content.removeprefix(_MARK) if begins else content).split(b"\n")
    if every[-1] == b"":
        every.pop()
    return Lines(file).take(every)


def _line(line: bytes) -> tuple[str, str | None, bytes | None, str]:
    """Return what a line is: its run, why it is set aside, its event as JSON, and the family of the event."""
    if len(line) > MAX_LINE_BYTES:
        return UNNAMED, MALFORMED, None, ASIDE
    try:
        event = _EVENT.decode(line)
    except _ERRORS:
        return _other(line)
    if event.v is not msgspec.UNSET and not is_readable(event.v):
        return event.run, OTHER_VERSION, _ENCODE(event), ASIDE
    of = type(event)
    if of in _WITH_TOPOLOGY:
        event.topology = _rewritten(event.topology)
    return event.run, None, _ENCODE(event), _FAMILY_OF[of]


def _other(line: bytes) -> tuple[str, str, bytes | None, str]:
    """Return the same for a line that is not an event of this version."""
    try:
        if _TYPE.decode(line).type == END_TYPE:
            return UNNAMED, SEGMENT_END, None, ASIDE
        head = _HEAD.decode(line)
    except _ERRORS:
        return _run_of(line), MALFORMED, None, ASIDE
    if head.seq < 1:
        return head.run, MALFORMED, None, ASIDE
    if not is_readable(head.v):
        return head.run, OTHER_VERSION, _ENCODE(head), ASIDE
    if head.type not in EVENT_TYPES:
        return head.run, UNKNOWN_TYPE, _ENCODE(head), ASIDE
    return head.run, MALFORMED, None, ASIDE


def _run_of(line: bytes) -> str:
    try:
        return _RUN.decode(line).run
    except _ERRORS:
        return UNNAMED


def _text(line: bytes, aside: str) -> str:
    """Return what is kept of the text of a line that is set aside."""
    if aside == SEGMENT_END:
        return _end(line)
    return line[: 4 * KEPT_OF_LINE].decode("utf-8", "replace")[:KEPT_OF_LINE]


def _end(line: bytes) -> str:
    """Return what the end of a segment says, with each number once and as an integer, in which readers of JSON agree; `{}` if
    it is not what pflab writes."""
    try:
        end = _END.decode(line)
    except _ERRORS:
        return "{}"
    totals = {"events": end.events, "crc32_sum": end.crc32_sum}
    return _ENCODE(totals).decode() if all(abs(number) <= _LARGEST for number in totals.values()) else "{}"


def _rewritten(topology: str) -> str:
    """Return the text of a topology with each key once, and with its routes (`analytics.ingest.routes`); nothing for a text
    that is not JSON. Readers of JSON differ in what they make of these: of `{} {}` one reads the beginning, and another
    nothing."""
    try:
        document = msgspec.json.decode(topology)
    except _ERRORS:
        return ""
    if isinstance(document, dict):
        document["routes"] = routes(document)
    return _ENCODE(document).decode()
