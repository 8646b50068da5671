"""Reads a folder of segments: returns the events in the order of (run, node, seq), and all that is wrong with the files.

Nothing is ignored silently. Malformed lines, unknown event types and lines of another version are set aside and counted. A
missing seq is a Gap, because a trace with a gap proves nothing. The end of each segment is compared with its lines.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from traces.events import EVENT_TYPES, AnyEvent
from traces.events.header import Event
from traces.segments import IS_CUT, WAS_CHANGED, Checksum, list_segments, read_end, read_lines
from traces.trace_version import is_readable

_EVENT: Final = msgspec.json.Decoder(AnyEvent)
# Enough of a malformed line to recognize it by.
_KEPT_OF_LINE: Final = 2000


class _Header(msgspec.Struct):
    """The fields that are read even from an event of an unknown type or version, so that its seq does not count as missing."""

    type: str
    run: str
    node: str
    seq: int
    v: int = 1


_HEADER: Final = msgspec.json.Decoder(_Header)


@dataclass(frozen=True, slots=True)
class Aside:
    """A line that was set aside: its file and number (from 1), the reason in words, and the beginning of its text."""

    file: str
    line: int
    why: str
    text: str


@dataclass(frozen=True, slots=True, order=True)
class Gap:
    """Events of a node that no segment contains: the sequence numbers from `first` to `last` inclusive."""

    run: str
    node: str
    first: int
    last: int

    def __str__(self) -> str:
        numbers = f"{self.first}" if self.first == self.last else f"{self.first} to {self.last}"
        return f"run {self.run}: events {numbers} of {self.node} are missing"


@dataclass(frozen=True, slots=True, order=True)
class Duplicate:
    """A sequence number that occurs twice.

    same: both events are equal, for example because a segment was copied; otherwise one of them is wrong. The reader uses the
        first event.
    """

    run: str
    node: str
    seq: int
    same: bool


@dataclass(slots=True)
class Trace:
    """The content of a folder of segments.

    events        in the order of run, node, seq
    gaps          in the order of run, node, number
    duplicates    in the same order
    malformed     lines that are not events
    unknown       well-formed events of a type that this version does not know
    other_version lines of another major version
    damaged       segments that were cut or changed after they were written, in words
    """

    events: list[Event] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    duplicates: list[Duplicate] = field(default_factory=list)
    malformed: list[Aside] = field(default_factory=list)
    unknown: list[Aside] = field(default_factory=list)
    other_version: list[Aside] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    def report(self) -> list[str]:
        """Return what is wrong with the trace, as lines; [] if it is complete and every event is known."""
        lines = [*self.damaged, *(str(gap) for gap in self.gaps)]
        lines += [
            f"run {duplicate.run}: event {duplicate.seq} of {duplicate.node} came again"
            + (", the same" if duplicate.same else " with other content")
            for duplicate in self.duplicates
        ]
        for name, asides in (
            ("malformed", self.malformed),
            ("of an unknown type", self.unknown),
            ("of another trace version", self.other_version),
        ):
            if asides:
                first = asides[0]
                count = "1 line" if len(asides) == 1 else f"{len(asides)} lines"
                lines.append(f"{count} {name}; the first: {first.file}:{first.line}: {first.why}")
        return lines


def read_folder(folder: Path) -> Trace:
    """Read all segments of `folder`."""
    return read_files(path for _, path in list_segments(folder))


def read_files(paths: Iterable[Path]) -> Trace:
    """Read segment files, whatever their names are."""
    reader = _Reader()
    for path in paths:
        reader.take_file(path)
    return reader.trace()


_Key = tuple[str, str, int]


class _Reader:
    def __init__(self) -> None:
        self._read = Trace()
        self._events: dict[_Key, Event] = {}
        # The sequence numbers of lines that were set aside do not count as missing.
        self._not_understood: dict[_Key, bytes] = {}

    def take_file(self, path: Path) -> None:
        checksum, end = Checksum(), None
        for number, line in enumerate(read_lines(path), start=1):
            end = read_end(line)
            if end is None:
                checksum.add(line)
                self._take(path.name, number, line)
        if end is None:
            self._read.damaged.append(f"segment {path.name} {IS_CUT}")
        elif not checksum.fits(end):
            self._read.damaged.append(f"segment {path.name} {WAS_CHANGED}")

    def _take(self, file: str, number: int, line: bytes) -> None:
        try:
            event: Event = _EVENT.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            self._aside(file, number, line, str(error))
            return
        if not is_readable(event.v):
            self._aside(file, number, line, f"major version {event.v}")
            return
        key = (event.run, event.node, event.seq)
        before = self._events.get(key)
        if before is not None or key in self._not_understood:
            self._read.duplicates.append(Duplicate(*key, same=before == event))
        else:
            self._events[key] = event

    def _aside(self, file: str, number: int, line: bytes, why: str) -> None:
        aside = Aside(file, number, why, line[:_KEPT_OF_LINE].decode("utf-8", "replace"))
        try:
            header = _HEADER.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            self._read.malformed.append(aside)
            return
        key = (header.run, header.node, header.seq)
        if is_readable(header.v) and header.type in EVENT_TYPES:
            self._read.malformed.append(aside)
            return
        if key in self._events or key in self._not_understood:
            same = self._not_understood.get(key) == line
            self._read.duplicates.append(Duplicate(*key, same=same))
            return
        self._not_understood[key] = line
        (self._read.unknown if is_readable(header.v) else self._read.other_version).append(aside)

    def trace(self) -> Trace:
        trace = self._read
        trace.events = [event for _, event in sorted(self._events.items(), key=lambda item: item[0])]
        trace.duplicates.sort()
        last: dict[tuple[str, str], int] = {}
        for run, node, seq in sorted([*self._events, *self._not_understood]):
            expected = last.get((run, node), 0) + 1
            if seq > expected:
                trace.gaps.append(Gap(run, node, expected, seq - 1))
            last[run, node] = seq
        return trace
