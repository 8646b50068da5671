"""Segments that are still being written, and those that a killed program left behind."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from traces.errors import SegmentError
from traces.events import RunEnded
from traces.open_segment import OpenSegment, adopt, is_being_written, list_open, whole_lines
from traces.reading import read_folder
from traces.recorder import Recorder
from traces.segments import SegmentName, list_segments

NAME = SegmentName("lab", 1, 1)

WRITER = """
import sys
from pathlib import Path
from tests.traces.test_open_segment import NAME, lines
from traces.open_segment import OpenSegment

segment = OpenSegment(Path(sys.argv[1]), NAME)
for line in lines(3):
    segment.append(line)
print("written", flush=True)
sys.stdin.read()
"""


def lines(count: int) -> list[bytes]:
    recorder = Recorder(run="r", node="lab")
    made = []
    for _ in range(count):
        recorder.begin(0)
        recorder.record(RunEnded, verdict="")
        made.append(recorder.take())
    return made


def test_a_closed_segment_is_like_any_other(tmp_path: Path) -> None:
    """Nobody takes an open segment for a segment; once it is closed it is whole, with its checksum."""
    segment = OpenSegment(tmp_path, NAME)
    for line in lines(3):
        segment.append(line)
    assert list_segments(tmp_path) == []
    assert [name for name, _ in list_open(tmp_path)] == [NAME]
    assert segment.lines() == lines(3)
    segment.close()
    assert list_open(tmp_path) == []
    trace = read_folder(tmp_path)
    assert trace.report() == []
    assert [event.seq for event in trace.events] == [1, 2, 3]


def test_each_event_survives_a_power_failure_without_fdatasync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system has no fdatasync, as macOS, a synced segment uses fsync."""
    synced: list[int] = []
    monkeypatch.delattr(os, "fdatasync")
    monkeypatch.setattr(os, "fsync", synced.append)
    segment = OpenSegment(tmp_path, NAME, durable=False, synced=True)
    for line in lines(2):
        segment.append(line)
    assert synced == [segment.handle] * 2
    segment.close()


def test_one_program_writes_a_segment(tmp_path: Path) -> None:
    """An open segment belongs to the program that began it, until it is closed."""
    segment = OpenSegment(tmp_path, NAME)
    segment.append(lines(1)[0])
    ((_, path),) = list_open(tmp_path)
    assert is_being_written(path)
    with pytest.raises(SegmentError, match="is open already"):
        OpenSegment(tmp_path, NAME)
    with pytest.raises(SegmentError, match="is being written"):
        adopt(NAME, path)
    segment.close()
    assert not is_being_written(path)


def test_what_a_killed_program_wrote_is_whole(tmp_path: Path, project_root: Path) -> None:
    """Every event that was appended before a kill is in the segment that is made of the file left behind."""
    order = [sys.executable, "-c", WRITER, str(tmp_path)]
    with subprocess.Popen(order, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=project_root) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"written\n"
        ((name, path),) = list_open(tmp_path)
        assert is_being_written(path)
        writer.send_signal(signal.SIGKILL)
    assert not is_being_written(path)
    adopt(name, path)
    trace = read_folder(tmp_path)
    assert trace.report() == []
    assert [event.seq for event in trace.events] == [1, 2, 3]


@pytest.mark.parametrize("rest", [b"", b'{"type":"run.en', b"\0" * 50, b"\0" * 50 + b"\n", b"{}\n"])
def test_a_power_failure_may_cut_the_last_events(rest: bytes, tmp_path: Path) -> None:
    """The events up to the first that is not whole are kept, and none that comes after it."""
    path = tmp_path / f"{NAME}.open"
    path.write_bytes(b"".join(lines(2)) + rest + (lines(3)[2] if rest.endswith(b"\n") else b""))
    assert whole_lines(path) == lines(2)
    adopt(NAME, path)
    assert [event.seq for event in read_folder(tmp_path).events] == [1, 2]


def test_an_adoption_that_was_killed_is_repeated(tmp_path: Path) -> None:
    """If only the deletion of the open file is missing, only this is done; an empty file leaves no segment."""
    path, empty = tmp_path / f"{NAME}.open", tmp_path / "lab-2-4.jsonl.open"
    path.write_bytes(b"".join(lines(2)))
    kept = path.read_bytes()
    adopt(NAME, path)
    path.write_bytes(kept)
    empty.touch()
    for name, left in list_open(tmp_path):
        adopt(name, left)
    assert list_open(tmp_path) == []
    assert [name for name, _ in list_segments(tmp_path)] == [NAME]


def test_events_wait_while_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk loses no event and adds none twice: what does not fit waits, even if a part of a line was written."""
    write, room = os.write, [700, 0]

    def limited(file: int, content: bytes) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        taken = write(file, content[: room[0]])
        room[0] -= taken
        return taken

    segment = OpenSegment(tmp_path, NAME)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", limited)
        for line in lines(20):
            segment.append(line)
        assert segment.lines() == lines(20)
        with pytest.raises(OSError, match="No space"):
            segment.close()
    segment.close()
    trace = read_folder(tmp_path)
    assert trace.report() == []
    assert [event.seq for event in trace.events] == [*range(1, 21)]
