"""Room for traces: what goes when they take too much, and what stays."""

from __future__ import annotations

import os
from pathlib import Path

from pflab.containers.trace_retention import make_room

SIZE = 100


def lay_out(traces: Path, *names: str) -> None:
    """Segments of SIZE bytes, each a second younger than the one before."""
    for number, name in enumerate(names):
        path = traces / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * SIZE)
        os.utime(path, (number, number))


def left(traces: Path) -> list[str]:
    return sorted(str(path.relative_to(traces)) for path in traces.rglob("*.jsonl"))


def test_nothing_goes_while_there_is_room(tmp_path: Path) -> None:
    """Up to the limit all stays."""
    lay_out(tmp_path, "run-1/A-1-1.jsonl", "run-1/A-1-5.jsonl")
    assert make_room(tmp_path, "run-1", 2 * SIZE) == 0
    assert len(left(tmp_path)) == 2


def test_the_oldest_go_first_those_of_other_runs_before_all(tmp_path: Path) -> None:
    """What is left fits, and is the newest."""
    lay_out(tmp_path, "run-2/A-1-1.jsonl", "run-2/A-1-5.jsonl", "run-1/A-1-1.jsonl", "run-2/A-2-9.jsonl")
    assert make_room(tmp_path, "run-2", 2 * SIZE) == 2
    assert left(tmp_path) == ["run-2/A-1-5.jsonl", "run-2/A-2-9.jsonl"]


def test_the_last_segment_of_each_node_stays(tmp_path: Path) -> None:
    """By it an exporter knows where to go on; of a run that is over nobody does."""
    lay_out(tmp_path, "run-1/A-1-1.jsonl", "run-2/A-1-900.jsonl", "run-2/A-1-1000.jsonl", "run-2/lab-1-1.jsonl")
    assert make_room(tmp_path, "run-2", 0) == 2
    assert left(tmp_path) == ["run-2/A-1-1000.jsonl", "run-2/lab-1-1.jsonl"]


def test_many_small_segments_are_too_many_all_the_same(tmp_path: Path) -> None:
    """The number of files has a limit, too."""
    lay_out(tmp_path, *(f"run-1/A-1-{number}.jsonl" for number in range(1, 11)))
    assert make_room(tmp_path, "run-1", 1_000_000, most_segments=3) == 7
    assert left(tmp_path) == [f"run-1/A-1-{number}.jsonl" for number in (10, 8, 9)]
