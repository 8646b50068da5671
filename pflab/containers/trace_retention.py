"""Removal of old segments, so that the traces of a lab that stays up for weeks never fill the disk.

The newest segment of each node always stays, because the node's exporter continues after the last event in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from traces.segments import SegmentName

MOST_SEGMENTS: Final = 20_000
"""The largest number of segments that all runs together keep, so that listing them is fast. `pflab follow` makes one for each
node and round."""


def make_room(traces: Path, present: str, most_bytes: int, most_segments: int = MOST_SEGMENTS) -> int:
    """Remove the oldest segments below `traces` until the rest is within the limits. Return how many were removed.

    `traces` has a folder for each run. Segments of runs other than the `present` one are removed first.
    """
    segments = _segments(traces)
    size, number, removed = sum(segment.size_bytes for segment in segments), len(segments), 0
    stay = _newest(segment.path for segment in segments if segment.path.parent.name == present)
    for segment in sorted(
        segments, key=lambda segment: (segment.path.parent.name == present, segment.written_s, segment.path)
    ):
        if size <= most_bytes and number <= most_segments:
            break
        if segment.path in stay:
            continue
        segment.path.unlink(missing_ok=True)
        size, number, removed = size - segment.size_bytes, number - 1, removed + 1
    return removed


@dataclass(frozen=True, slots=True)
class _Segment:
    path: Path
    written_s: float
    size_bytes: int


def _segments(traces: Path) -> list[_Segment]:
    segments = []
    for path in traces.glob("*/*.jsonl"):
        with suppress(FileNotFoundError):
            stat = path.stat()
            segments.append(_Segment(path, stat.st_mtime, stat.st_size))
    return segments


def _newest(paths: Iterable[Path]) -> set[Path]:
    """Return the last segment of each node of one run."""
    last: dict[str, tuple[SegmentName, Path]] = {}
    for path in paths:
        name = SegmentName.parse(path.name)
        if name is not None:
            last[name.node] = max(last.get(name.node, (name, path)), (name, path))
    return {path for _, path in last.values()}
