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
"""The most segments that all runs together keep, so that listing them is fast. `pflab follow` makes one for each node and
round."""


def make_room(traces: Path, present: str, most_bytes: int, most_segments: int = MOST_SEGMENTS) -> int:
    """Remove the oldest segments below `traces` until the rest is within the limits. Return how many were removed.

    `traces` has a folder for each run. Segments of runs other than the `present` one are removed first.
    """
    found = _segments(traces)
    size, number, removed = sum(each.size_bytes for each in found), len(found), 0
    stay = _newest(each.path for each in found if each.path.parent.name == present)
    for each in sorted(found, key=lambda each: (each.path.parent.name == present, each.written_s, each.path)):
        if size <= most_bytes and number <= most_segments:
            break
        if each.path in stay:
            continue
        each.path.unlink(missing_ok=True)
        size, number, removed = size - each.size_bytes, number - 1, removed + 1
    return removed


@dataclass(frozen=True, slots=True)
class _Segment:
    path: Path
    written_s: float
    size_bytes: int


def _segments(traces: Path) -> list[_Segment]:
    found = []
    for path in traces.glob("*/*.jsonl"):
        with suppress(FileNotFoundError):
            stat = path.stat()
            found.append(_Segment(path, stat.st_mtime, stat.st_size))
    return found


def _newest(paths: Iterable[Path]) -> set[Path]:
    """Return the last segment of each node of one run."""
    last: dict[str, tuple[SegmentName, Path]] = {}
    for path in paths:
        name = SegmentName.parse(path.name)
        if name is not None:
            last[name.node] = max(last.get(name.node, (name, path)), (name, path))
    return {path for _, path in last.values()}
