"""Segment files: they contain the events that a node has exported from its database.

A segment is `<node>-<incarnation>-<first seq>.jsonl`: JSON lines, one event each, in the order of seq. It is complete when it
appears, because it is written under another name and renamed after fsync. It never changes. So a reader can use every segment
that it sees, and an exporter can delete from the database what a segment contains.

The last line of a segment is no event: `SegmentEnd` has the number of events and a checksum. So a reader knows at once that a
file was cut or changed, apart from what its events say. The checksum is the sum of the CRC-32 of the lines. Readers can add it
up in any order, so Spark does it in parallel. It finds damage, not forgery: whoever changes a line can also change the sum.
"""

import os
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from traces.errors import SegmentError

SUFFIX: Final = ".jsonl"
_UNFINISHED: Final = ".part"
_NAME: Final = re.compile(r"(?P<node>[^/\\]+)-(?P<incarnation>[1-9]\d*)-(?P<first>[1-9]\d*)\.jsonl", re.ASCII)

# A line is one event; the largest is run.started with its topology (at most 1 MiB) as a JSON string.
MAX_LINE_BYTES: Final = 16 * 1024 * 1024


def is_url(place: str) -> bool:
    """Return whether a place of segments is a URL, and no path of this machine."""
    return "://" in place


@dataclass(frozen=True, slots=True, order=True)
class SegmentName:
    """The parts of a segment's file name."""

    node: str
    incarnation: int
    first_seq: int

    def __str__(self) -> str:
        return f"{self.node}-{self.incarnation}-{self.first_seq}{SUFFIX}"

    @classmethod
    def parse(cls, text: str) -> "SegmentName | None":
        """Return the parts of a file name; None if it is not the name of a segment."""
        match = _NAME.fullmatch(text)
        if match is None:
            return None
        return cls(match["node"], int(match["incarnation"]), int(match["first"]))


END_TYPE: Final = "segment.end"

IS_CUT: Final = "is cut: its last line is missing"
WAS_CHANGED: Final = "was changed after it was written"
"""What a reader says about a damaged segment, after its name."""


class SegmentEnd(msgspec.Struct, frozen=True, tag_field="type", tag=END_TYPE):
    """The last line of a segment.

    events     the number of lines before this one
    last_seq   the number of the last event
    crc32_sum  the sum of the CRC-32 of these lines, without their newlines
    """

    events: int
    last_seq: int
    crc32_sum: int


_END: Final = msgspec.json.Decoder(SegmentEnd)
_END_BEGINS: Final = f'{{"type":"{END_TYPE}"'.encode()


class _Numbered(msgspec.Struct):
    seq: int


_SEQ: Final = msgspec.json.Decoder(_Numbered)


@dataclass(slots=True)
class Checksum:
    """The count and the sum of the lines that were added, and the last of them."""

    events: int = 0
    crc32_sum: int = 0
    last: bytes = b""

    def add(self, line: bytes) -> None:
        self.events += 1
        self.crc32_sum += zlib.crc32(line)
        self.last = line

    def end_line(self) -> bytes:
        """Return the last line of a segment with the lines that were added, with its newline."""
        return msgspec.json.encode(SegmentEnd(self.events, _SEQ.decode(self.last).seq, self.crc32_sum)) + b"\n"

    def fits(self, end: SegmentEnd) -> bool:
        """Return whether a segment with this end has exactly the lines that were added."""
        return (self.events, self.crc32_sum) == (end.events, end.crc32_sum)


def write_segment(folder: Path, name: SegmentName, batches: Iterable[bytes], *, durable: bool = True) -> Path:
    """Write the batches (each the lines of `Recorder.take`) as one closed segment and return its path.

    On return the file and its name survive a power failure, if `durable`. Raises SegmentError if there is nothing to write, or
    if the segment exists.
    """
    if SegmentName.parse(str(name)) != name:
        raise SegmentError(f"{str(name)!r} cannot name a segment; write <node>-<incarnation>-<first seq>{SUFFIX}")
    final = folder / str(name)
    if final.exists():
        raise SegmentError(f"segment {final.name} exists and is closed; start the next one after its last seq")
    unfinished = folder / (str(name) + _UNFINISHED)
    try:
        checksum = Checksum()
        with unfinished.open("wb") as file:
            for batch in batches:
                file.write(batch)
                for line in batch.splitlines():
                    checksum.add(line)
            if checksum.events:
                file.write(checksum.end_line())
            file.flush()
            if durable:
                os.fsync(file.fileno())
    except OSError:
        unfinished.unlink(missing_ok=True)  # it takes room on a full disk
        raise
    if not checksum.events:
        unfinished.unlink()
        raise SegmentError(f"segment {final.name} would be empty; write one only when there are events")
    unfinished.rename(final)
    if durable:
        sync_folder(folder)
    return final


def close_segment(path: Path) -> None:
    """Append the end to a file whose lines are events. For programs that write their events themselves."""
    checksum = Checksum()
    for line in read_lines(path):
        checksum.add(line)
    with path.open("ab") as file:
        file.write(checksum.end_line())


def read_end(line: bytes) -> SegmentEnd | None:
    """Return the end of a segment that a line contains; None if the line is something else."""
    try:
        return _END.decode(line) if line.startswith(_END_BEGINS) else None
    except msgspec.MsgspecError:
        return None


def sync_folder(folder: Path) -> None:
    """Make the rename itself durable, if the system can open folders."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def list_segments(folder: Path) -> list[tuple[SegmentName, Path]]:
    """Return the closed segments in `folder` in the order of node, incarnation and first seq."""
    names = ((SegmentName.parse(path.name), path) for path in folder.iterdir())
    return sorted((name, path) for name, path in names if name is not None)


def exported_through(folder: Path, node: str) -> int:
    """Return the last seq of `node` in closed segments, 0 if there is none. An exporter that was killed after it had written a
    segment continues after this seq.

    Raises SegmentError if the last segment is cut.
    """
    segments = [(name.first_seq, path) for name, path in list_segments(folder) if name.node == node]
    if not segments:
        return 0
    path = max(segments)[1]
    last = b""
    for line in read_lines(path):
        last = line
    end = read_end(last)
    if end is None:
        raise SegmentError(f"segment {path.name} {IS_CUT}; move it away to export again")
    return end.last_seq


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a segment without their newlines. A line over MAX_LINE_BYTES is cut off, so it is malformed."""
    with path.open("rb") as file:
        while line := file.readline(MAX_LINE_BYTES):
            is_whole = line.endswith(b"\n")
            yield line.rstrip(b"\r\n")
            while not is_whole and (chunk := file.readline(MAX_LINE_BYTES)):
                is_whole = chunk.endswith(b"\n")
