"""Segment files are written once and complete; a reader reports everything that is wrong with them."""

import json
import zlib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traces.errors import SegmentError
from traces.events import SourceUp
from traces.reading import Aside, Duplicate, Gap, read_folder
from traces.recorder import Recorder
from traces.segments import SegmentName, exported_through, list_segments, write_segment


def event_lines(count: int, *, node: str = "A", first: int = 1, run: str = "r1") -> list[bytes]:
    recorder = Recorder(run=run, node=node, seq=first - 1)
    lines = []
    for number in range(count):
        recorder.begin(number)
        recorder.record(SourceUp, store=f"S{first + number}")
        lines.append(recorder.take())
    return lines


def write(folder: Path, count: int, *, node: str = "A", first: int = 1, incarnation: int = 1) -> Path:
    name = SegmentName(node, incarnation, first)
    return write_segment(folder, name, event_lines(count, node=node, first=first))


def test_a_segment_is_plain_lines_under_the_agreed_name(tmp_path: Path) -> None:
    """The name is `<node>-<incarnation>-<first seq>.jsonl`, and each line is one JSON object. The last line counts the others
    and has the sum of their CRC-32."""
    path = write(tmp_path, 3, node="SEA-01", incarnation=2, first=8)
    assert path.name == "SEA-01-2-8.jsonl"
    *lines, end = path.read_bytes().splitlines(keepends=True)
    assert lines == event_lines(3, node="SEA-01", first=8)
    crc32_sum = sum(zlib.crc32(line.removesuffix(b"\n")) for line in lines)
    assert json.loads(end) == {"type": "segment.end", "events": 3, "last_seq": 10, "crc32_sum": crc32_sum}
    assert list(tmp_path.iterdir()) == [path]


def test_segments_come_back_in_order_of_node_and_number(tmp_path: Path) -> None:
    """Segments are read in the order of their numbers, not of their file names."""
    for first in (9, 1, 11):
        write(tmp_path, 2 if first != 1 else 8, first=first, incarnation=1 if first < 11 else 2)
    write(tmp_path, 2, node="B")
    trace = read_folder(tmp_path)
    assert [(event.node, event.seq) for event in trace.events] == [
        *(("A", seq) for seq in range(1, 13)),
        ("B", 1),
        ("B", 2),
    ]
    assert trace.report() == []


def test_a_closed_segment_is_never_changed(tmp_path: Path) -> None:
    """Writing to an existing segment is refused, and it stays as it was."""
    path = write(tmp_path, 3)
    before = path.read_bytes()
    with pytest.raises(SegmentError, match="closed"):
        write(tmp_path, 5)
    assert path.read_bytes() == before


def test_a_segment_without_events_is_refused(tmp_path: Path) -> None:
    """The attempt leaves no file."""
    with pytest.raises(SegmentError, match="empty"):
        write_segment(tmp_path, SegmentName("A", 1, 1), [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [SegmentName("a/b", 1, 1), SegmentName("", 1, 1), SegmentName("A", 0, 1)])
def test_a_name_that_would_not_read_back_is_refused(tmp_path: Path, name: SegmentName) -> None:
    """A node's name never leaves the folder, and every file name can be parsed again."""
    with pytest.raises(SegmentError, match="cannot name a segment"):
        write_segment(tmp_path, name, event_lines(1))


def test_a_failing_export_leaves_no_segment(tmp_path: Path) -> None:
    """A segment is written completely or not at all."""

    def broken() -> object:
        yield event_lines(1)[0]
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_segment(tmp_path, SegmentName("A", 1, 1), broken())  # type: ignore[arg-type]
    assert list_segments(tmp_path) == []
    assert read_folder(tmp_path).events == []
    write(tmp_path, 1)
    assert read_folder(tmp_path).report() == []


def test_an_exporter_goes_on_after_the_last_event_written(tmp_path: Path) -> None:
    """After a crash between writing and pruning, the exporter continues after the last event in the files."""
    assert exported_through(tmp_path, "A") == 0
    write(tmp_path, 9)
    write(tmp_path, 2, first=10)
    write(tmp_path, 30, node="B")
    assert exported_through(tmp_path, "A") == 11
    (tmp_path / "A-1-12.jsonl").write_bytes(b"garbage\n")
    with pytest.raises(SegmentError, match="A-1-12"):
        exported_through(tmp_path, "A")


def test_a_missing_segment_is_a_gap_of_its_numbers(tmp_path: Path) -> None:
    """A gap names its node and the first and last number that is missing, also at the very start."""
    write(tmp_path, 2, first=3)
    write(tmp_path, 2, first=8)
    trace = read_folder(tmp_path)
    assert trace.gaps == [Gap("r1", "A", 1, 2), Gap("r1", "A", 5, 7)]
    assert trace.report()
    assert trace.report()[1] == "run r1: events 5 to 7 of A are missing"


def test_a_copied_segment_is_harmless_and_reported(tmp_path: Path) -> None:
    """A repeated event counts once, is reported, and leaves the trace complete."""
    write(tmp_path, 3)
    write_segment(tmp_path, SegmentName("A", 1, 2), event_lines(3)[1:])
    trace = read_folder(tmp_path)
    assert [event.seq for event in trace.events] == [1, 2, 3]
    assert trace.duplicates == [Duplicate("r1", "A", 2, same=True), Duplicate("r1", "A", 3, same=True)]


def test_two_events_of_one_number_are_a_contradiction(tmp_path: Path) -> None:
    """Two different events with one number make the trace incomplete, because one of them is false."""
    write(tmp_path, 1)
    other = event_lines(1)[0].replace(b"S1", b"S9")
    write_segment(tmp_path, SegmentName("A", 2, 1), [other])
    trace = read_folder(tmp_path)
    assert trace.duplicates == [Duplicate("r1", "A", 1, same=False)]
    assert trace.report()
    assert "other content" in trace.report()[0]


def test_malformed_lines_are_set_aside_and_counted(tmp_path: Path) -> None:
    """A malformed line is reported with file and line, and its number is missing."""
    good = event_lines(4)
    lines = [good[0], b"{not json\n", good[1], good[2].replace(b'"store"', b'"shop"'), b"\xff\xfe\n", good[3]]
    write_segment(tmp_path, SegmentName("A", 1, 1), lines)
    trace = read_folder(tmp_path)
    assert [event.seq for event in trace.events] == [1, 2, 4]
    assert [(aside.file, aside.line) for aside in trace.malformed] == [("A-1-1.jsonl", n) for n in (2, 4, 5)]
    assert trace.gaps == [Gap("r1", "A", 3, 3)]
    assert trace.report()
    assert "3 lines malformed" in trace.report()[1]


@pytest.mark.parametrize("opens", [b"[", b'{"type":"run.started","x":', b'{"type":[', b'{"seq":'])
def test_deeply_nested_json_is_a_malformed_line(tmp_path: Path, opens: bytes) -> None:
    """A line that is nested too deeply to be read is set aside as any other, and does not end a segment."""
    (tmp_path / "A-1-1.jsonl").write_bytes(opens * 100_000 + b"\n")
    trace = read_folder(tmp_path)
    assert [(aside.file, aside.line) for aside in trace.malformed] == [("A-1-1.jsonl", 1)]
    with pytest.raises(SegmentError, match="is cut"):
        exported_through(tmp_path, "A")


@pytest.mark.parametrize("cut", [1, 10, 100])
def test_a_cut_segment_gives_its_complete_lines_and_is_reported(tmp_path: Path, cut: int) -> None:
    """Whether the cut is in the end of the segment or in an event, the reader says that the file is cut."""
    path = write(tmp_path, 3)
    path.write_bytes(path.read_bytes()[:-cut])
    trace = read_folder(tmp_path)
    assert [event.seq for event in trace.events] == [1, 2, 3][: 3 if cut < 100 else 2]
    assert trace.damaged == ([] if cut == 1 else ["segment A-1-1.jsonl is cut: its last line is missing"])


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [lines[0].replace(b"S1", b"S2"), *lines[1:]],
        lambda lines: [lines[0], *lines[2:]],
        lambda lines: [lines[0], *lines],
    ],
    ids=["changed", "removed", "repeated"],
)
def test_a_changed_segment_is_reported(tmp_path: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    """A changed, removed or repeated line is noticed, apart from what the events say."""
    path = write(tmp_path, 3)
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    trace = read_folder(tmp_path)
    assert trace.damaged == ["segment A-1-1.jsonl was changed after it was written"]
    assert trace.report()[0] == trace.damaged[0]


def test_unknown_event_types_are_set_aside_and_are_no_gap(tmp_path: Path) -> None:
    """Event types of a later minor version are counted, and their numbers are not missing."""
    good = event_lines(3)
    later = good[1].replace(b"source.up", b"moon.phase")
    write_segment(tmp_path, SegmentName("A", 1, 1), [good[0], later, good[2]])
    trace = read_folder(tmp_path)
    assert [event.seq for event in trace.events] == [1, 3]
    assert [aside.text for aside in trace.unknown] == [later.decode().strip()]
    assert trace.gaps == []
    assert (trace.gaps, trace.malformed, trace.other_version) == ([], [], [])
    assert "unknown type" in trace.report()[0]


@pytest.mark.parametrize("tag", [b"source.up", b"moon.phase"])
def test_another_major_version_is_not_read(tmp_path: Path, tag: bytes) -> None:
    """Lines of another major version are set aside, whatever their type, and the trace proves nothing."""
    line = event_lines(1)[0].replace(b"source.up", tag).replace(b'"run"', b'"v":2,"run"')
    write_segment(tmp_path, SegmentName("A", 1, 1), [line])
    trace = read_folder(tmp_path)
    assert trace.events == []
    assert [aside.line for aside in trace.other_version] == [1]
    assert trace.report()


def test_other_files_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    """Only files with a segment's name are read, and none that is still being written."""
    write(tmp_path, 1)
    (tmp_path / "A-1-2.jsonl.part").write_bytes(b"{")
    (tmp_path / "notes.jsonl").write_bytes(b"hello\n")
    (tmp_path / "A-1-x.jsonl").write_bytes(b"hello\n")
    assert [name for name, _ in list_segments(tmp_path)] == [SegmentName("A", 1, 1)]
    assert read_folder(tmp_path).report() == []


def test_an_endless_line_does_not_fill_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line over the limit is one malformed line, stored shortened, and the next line is read as usual."""
    monkeypatch.setattr("traces.segments.MAX_LINE_BYTES", 1000)
    good = event_lines(2)
    write_segment(tmp_path, SegmentName("A", 1, 1), [good[0], b'"' + b"x" * 5000 + b'"\n', good[1]])
    trace = read_folder(tmp_path)
    assert [event.seq for event in trace.events] == [1, 2]
    assert [(type(aside), aside.line, len(aside.text)) for aside in trace.malformed] == [(Aside, 2, 1000)]


@given(
    st.permutations(range(1, 13)),
    st.sets(st.integers(1, 11), max_size=4),
    st.sets(st.integers(1, 12), max_size=5),
)
def test_gaps_are_exactly_the_numbers_that_are_missing(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], cuts: set[int], lost: set[int]
) -> None:
    """However events are spread over segments, gaps and events together are all numbers up to the last, once each."""
    folder = tmp_path_factory.mktemp("traces")
    lines = event_lines(12)
    bounds = [0, *sorted(cuts), 12]
    for incarnation, (start, end) in enumerate(pairwise(bounds), start=1):
        kept = [number for number in order[start:end] if number not in lost]
        if kept:
            write_segment(folder, SegmentName("A", incarnation, kept[0]), [lines[number - 1] for number in kept])
    trace = read_folder(folder)
    missing = [seq for gap in trace.gaps for seq in range(gap.first, gap.last + 1)]
    present = [event.seq for event in trace.events]
    assert present == sorted(set(range(1, 13)) - lost)
    assert sorted(present + missing) == list(range(1, max(present, default=0) + 1))
