"""Room for traces: which segments are deleted when they take too much, and which stay."""

from __future__ import annotations

import os
from pathlib import Path

from pflab.containers.trace_retention import make_room

SIZE = 100


def write_segments(traces: Path, *names: str) -> None:
    """Write segments of SIZE bytes, each a second younger than the one before."""
    for number, name in enumerate(names):
        path = traces / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * SIZE)
        os.utime(path, (number, number))


def remaining(traces: Path) -> list[str]:
    return sorted(str(path.relative_to(traces)) for path in traces.rglob("*.jsonl"))


def test_nothing_is_deleted_while_there_is_room(tmp_path: Path) -> None:
    """Below the limit every segment stays."""
    write_segments(tmp_path, "run-1/A-1-1.jsonl", "run-1/A-1-5.jsonl")
    assert make_room(tmp_path, "run-1", 2 * SIZE) == 0
    assert len(remaining(tmp_path)) == 2


def test_the_oldest_go_first_those_of_other_runs_before_all(tmp_path: Path) -> None:
    """The newest segments that fit stay."""
    write_segments(tmp_path, "run-2/A-1-1.jsonl", "run-2/A-1-5.jsonl", "run-1/A-1-1.jsonl", "run-2/A-2-9.jsonl")
    assert make_room(tmp_path, "run-2", 2 * SIZE) == 2
    assert remaining(tmp_path) == ["run-2/A-1-5.jsonl", "run-2/A-2-9.jsonl"]


def test_the_last_segment_of_each_node_stays(tmp_path: Path) -> None:
    """An exporter continues after its last segment, so that one stays; segments of finished runs need not."""
    write_segments(tmp_path, "run-1/A-1-1.jsonl", "run-2/A-1-900.jsonl", "run-2/A-1-1000.jsonl", "run-2/lab-1-1.jsonl")
    assert make_room(tmp_path, "run-2", 0) == 2
    assert remaining(tmp_path) == ["run-2/A-1-1000.jsonl", "run-2/lab-1-1.jsonl"]


def test_the_number_of_segments_is_limited(tmp_path: Path) -> None:
    """The number of files has a limit, too."""
    write_segments(tmp_path, *(f"run-1/A-1-{number}.jsonl" for number in range(1, 11)))
    assert make_room(tmp_path, "run-1", 1_000_000, most_segments=3) == 7
    assert remaining(tmp_path) == [f"run-1/A-1-{number}.jsonl" for number in (10, 8, 9)]
