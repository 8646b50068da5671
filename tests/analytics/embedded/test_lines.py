"""Lines of segments: what is an event, and why a line is set aside."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.embedded.engine import judged
from analytics.ingest import places
from analytics.ingest.lines import (
    ASIDE,
    KEPT_OF_LINE,
    MALFORMED,
    OTHER_VERSION,
    SEGMENT_END,
    UNKNOWN_TYPE,
    is_segment,
    place_in,
    place_of,
    read_lines,
    trace_of,
)
from tests.support.samples import sampled
from traces.segments import MAX_LINE_BYTES

HEAD = {"run": "r", "node": "A", "incarnation": 1, "seq": 1, "lamport": 1, "at": 10**15}
STOP = {"type": "node.stopped", **HEAD, "how": "stop"}
FILE = "/runs/one/traces/A-1-1.jsonl"


def line(**changes: object) -> bytes:
    """Return an event as a line, with these fields changed; None removes a field."""
    return json.dumps({name: value for name, value in {**STOP, **changes}.items() if value is not None}).encode()


@pytest.mark.parametrize(
    ("content", "aside", "trace"),
    [
        (line(), None, "/runs/one#r"),
        (line(extra=1), None, "/runs/one#r"),
        (line(how="in another way"), None, "/runs/one#r"),
        (line(v=1), None, "/runs/one#r"),
        (line(v=2), OTHER_VERSION, "/runs/one#r"),
        (line(v=2, how=7), OTHER_VERSION, "/runs/one#r"),
        (line(type="node.slept"), UNKNOWN_TYPE, "/runs/one#r"),
        (line(how=None), MALFORMED, "/runs/one#r"),
        (line(how=7), MALFORMED, "/runs/one#r"),
        (line(seq=0), MALFORMED, "/runs/one#r"),
        (line(seq="1"), MALFORMED, "/runs/one#r"),
        (line(lamport=2**63), MALFORMED, "/runs/one#r"),
        (line(lamport=10**400), MALFORMED, "/runs/one#r"),
        (line(type="node.slept", at=2**70), MALFORMED, "/runs/one#r"),
        (line(node=None), MALFORMED, "/runs/one#r"),
        (line(run=None), MALFORMED, "/runs/one#?"),
        (line()[:-1], MALFORMED, "/runs/one#?"),
        (line() + b" {}", MALFORMED, "/runs/one#?"),
        (b'{"type":"segment.end","events":1,"last_seq":1,"crc32_sum":1}', SEGMENT_END, "/runs/one#?"),
        (line(run="a#b%23"), None, "/runs/one#a%23b%2523"),
        (line(how="x" * MAX_LINE_BYTES), MALFORMED, "/runs/one#?"),
        (b"", MALFORMED, "/runs/one#?"),
        (b"[1, 2]", MALFORMED, "/runs/one#?"),
        (b"null", MALFORMED, "/runs/one#?"),
        (b"\xff\xfe", MALFORMED, "/runs/one#?"),
        (b"\0" * 10, MALFORMED, "/runs/one#?"),
        (b"[" * 100_000, MALFORMED, "/runs/one#?"),
    ],
)
def test_a_line_is_an_event_or_set_aside_with_the_reason(content: bytes, aside: str | None, trace: str) -> None:
    """A line is an event if it has each field that its type must have, with a value of its type that fits into 64 bits."""
    lines = read_lines(FILE, content + b"\n")
    assert (lines.aside, lines.trace, lines.hash) == ([aside], [trace], [zlib.crc32(content)])
    assert (lines.family[0] == ASIDE) == (aside is not None)
    assert (lines.text[0] is None) == (aside is None)


def test_what_follows_sees_each_field_once() -> None:
    """Of a field that a line has twice the last counts, and a field that no definition has is left out."""
    (event,) = read_lines(FILE, line(extra=1)[:-1] + b', "seq": 5}').event
    assert event is not None
    assert json.loads(event) == {**STOP, "seq": 5}


def test_a_field_that_may_be_missing_is_as_in_the_line() -> None:
    """A field with its default value is not the same as a missing one: both engines must see the difference."""
    mail = {
        "type": "mail.submitted",
        **HEAD,
        "mail": "m",
        "message_type": 4,
        "folders": [],
        "recipients": [],
        "size": 1,
    }
    for content in ({**mail, "number": 1, "marks": []}, {**mail, "number": 1}):
        (event,) = read_lines(FILE, json.dumps(content).encode()).event
        assert event is not None
        assert json.loads(event) == content


@pytest.mark.parametrize(
    ("topology", "read"),
    [
        ('{"servers": {"A": {}}}', '{"servers":{"A":{}},"routes":[]}'),
        ('{"a": {"b": 1, "b": 2}, "a": {"b": 3, "b": 4}}', '{"a":{"b":4},"routes":[]}'),
        (
            '{"routes": 7, "servers": {"A": {"site": "x"}}}',
            '{"routes":[{"home":"x","there":"x","cost":0,"affinity":0}],"servers":{"A":{"site":"x"}}}',
        ),
        ("[1, 2]", "[1,2]"),
        ('{"n": 100000000000000000000000}', '{"n":100000000000000000000000,"routes":[]}'),
        ("{} {}", ""),
        ("{}}", ""),
        ('{"n": NaN}', ""),
        ("{'a': 1}", ""),
        ("[1,]", ""),
        ("", ""),
        ("servers: [A]", ""),
        ("[" * 10_000, ""),
    ],
)
def test_a_topology_means_the_same_to_every_reader_of_json(topology: str, read: str) -> None:
    """A topology is written again with each key once, and with its routes. A text that some readers refuse, and others read in
    part, is none."""
    started = {"type": "run.started", **HEAD, "topology": topology, "seed": "1", "settings": {}, "version": "1"}
    (event,) = read_lines(FILE, json.dumps(started).encode()).event
    assert event is not None
    assert json.loads(event) == {**started, "topology": read}
    changed = {
        "type": "organization.changed", **HEAD, "revision": 1, "subject": "x", "change": "added", "topology": topology
    }  # fmt: skip
    (event,) = read_lines(FILE, json.dumps(changed).encode()).event
    assert event is not None
    assert json.loads(event) == {**changed, "topology": read}


def test_a_long_line_is_kept_in_part() -> None:
    """Of a line that is set aside, at most 2,000 characters are kept."""
    (text,) = read_lines(FILE, "é".encode() * 10_000).text
    assert text == "é" * KEPT_OF_LINE


@pytest.mark.parametrize(
    ("end", "text"),
    [
        ('"events":30,"last_seq":30,"crc32_sum":5', '{"events":30,"crc32_sum":5}'),
        ('"events":30.0,"last_seq":30,"crc32_sum":5', "{}"),
        ('"events":3,"last_seq":30,"crc32_sum":5,"events":30', '{"events":30,"crc32_sum":5}'),
        ('"events":"30","last_seq":30,"crc32_sum":5', "{}"),
        ('"events":30.5,"last_seq":30,"crc32_sum":5', "{}"),
        ('"events":30,"last_seq":30,"crc32_sum":99999999999999999999', "{}"),
        ('"last_seq":30', "{}"),
    ],
)
def test_the_end_of_a_segment_means_the_same_to_every_reader_of_json(end: str, text: str) -> None:
    """The numbers at the end of a segment are written again, each once. If one is missing or no integer, nothing is."""
    lines = read_lines(FILE, f'{{"type":"segment.end",{end}}}\n'.encode())
    assert (lines.aside, lines.text) == ([SEGMENT_END], [text])


def test_a_byte_order_mark_is_not_part_of_the_first_line() -> None:
    """An editor may begin a file with the mark of UTF-8. Anywhere else it is no part of an event."""
    mark = "\ufeff".encode()
    assert read_lines(FILE, mark + line() + b"\n" + mark + line()).aside == [None, MALFORMED]
    assert read_lines(FILE, mark).hash == []


def test_line_ends_are_not_part_of_a_line() -> None:
    """A line ends with LF or CR LF. A last line without an end is a line; an empty file has none."""
    assert read_lines(FILE, line() + b"\r\n" + line()).hash == [zlib.crc32(line())] * 2
    assert read_lines(FILE, b"").hash == []


@pytest.mark.parametrize("block_bytes", sampled([150, 1, 1_000_000], 3))
def test_a_segment_is_read_in_blocks_of_whole_lines(
    block_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However large a block is, a segment has the same lines. The mark of UTF-8 is left out where the file begins, not where a
    block does."""
    monkeypatch.setattr(places, "BLOCK_BYTES", block_bytes)
    mark, segment = "\ufeff".encode(), tmp_path / "A-1-1.jsonl"
    content = mark + b"\n".join([line(), mark + line(seq=2), line(seq=3), b"", line(seq=4)])
    segment.write_bytes(content)
    blocks = [block for _, block in places.contents([str(segment)])]
    assert b"".join(blocks) == content
    assert (len(blocks) > 1) == (block_bytes < len(content))
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    with judged(places.contents([str(segment)])) as outcome:
        rows = outcome.findings["lines"]
    assert (sum(row.lines for row in rows), sum(row.events for row in rows)) == (5, 3)


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("/a/b/traces/x.jsonl", "/a/b"),
        ("/a/b/x.jsonl", "/a/b"),
        ("/a/mytraces/x.jsonl", "/a/mytraces"),
        ("x.jsonl", ""),
    ],
)
def test_the_place_is_the_folder_of_the_run(file: str, place: str) -> None:
    """The folder `traces` is part of a run's folder."""
    assert place_of(file) == place


@given(st.text(), st.text(), st.text(), st.text())
def test_the_name_of_a_trace_says_its_place(place: str, run: str, other_place: str, other_run: str) -> None:
    """Two runs never have the same name, whatever their places and ids are, and the place can be read from it."""
    trace = trace_of(place, run)
    assert place_in(trace) == place
    assert (trace == trace_of(other_place, other_run)) == ((place, run) == (other_place, other_run))


@pytest.mark.parametrize(
    ("file", "yes"),
    [
        ("latest/traces/A-1-1.jsonl", False),
        ("latest/A-1-1.jsonl", False),
        ("real/latest/A-1-1.jsonl", True),
        ("one/latest.jsonl", True),
        ("A.json", False),
    ],
)
def test_the_latest_run_is_reached_by_its_own_name(tmp_path: Path, file: str, yes: bool) -> None:
    """A segment below the link `latest` is below its run's own name too. A real folder of this name is a run."""
    (tmp_path / "one").mkdir()
    (tmp_path / "latest").symlink_to("one")
    (tmp_path / "real" / "latest").mkdir(parents=True)
    assert is_segment(str(tmp_path / file)) is yes
