"""The recorder stamps the events of a stimulus and hands them over or discards them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traces.errors import TraceError
from traces.events import EntrySatisfied, MailFolder, MailSubmitted, SourceUp, StatusMissed, VersionFailed
from traces.recorder import Recorder


def new_recorder(**more: int) -> Recorder:
    return Recorder(run="r1", node="A", checked=True, **more)


def lines_of(taken: bytes) -> list[dict[str, object]]:
    return [json.loads(line) for line in taken.splitlines()]


def test_events_are_numbered_without_gaps_across_stimuli() -> None:
    """Sequence numbers are gapless per node, and continue after the last one in the database."""
    recorder = new_recorder(seq=41, lamport=100, incarnation=3)
    recorder.begin(1_000)
    recorder.record(SourceUp, store="B")
    recorder.record(SourceUp, store="C")
    first = lines_of(recorder.take())
    recorder.begin(2_000)
    recorder.record(SourceUp, store="D")
    second = lines_of(recorder.take())
    assert [(line["seq"], line["lamport"], line["at"]) for line in first + second] == [
        (42, 101, 1_000),
        (43, 102, 1_000),
        (44, 103, 2_000),
    ]
    assert {(line["run"], line["node"], line["incarnation"]) for line in first + second} == {("r1", "A", 3)}


def test_a_stimulus_without_events_gives_no_lines() -> None:
    """Nothing recorded, nothing to store."""
    recorder = new_recorder()
    recorder.begin(5)
    assert recorder.take() == b""
    assert recorder.events == []


def test_a_line_begins_with_its_header_and_ends_with_a_newline() -> None:
    """People read the lines: type and header come first; an event without fields is still an object."""
    recorder = new_recorder()
    recorder.record(StatusMissed)
    recorder.record(SourceUp, store="B", mail="<1@contoso.test>")
    one, other, rest = recorder.take().split(b"\n")
    assert one == b'{"type":"status.missed","run":"r1","node":"A","incarnation":1,"at":0,"seq":1,"lamport":1}'
    assert other.endswith(b'"lamport":2,"store":"B","mail":"<1@contoso.test>"}')
    assert rest == b""


def test_the_events_are_the_values_that_the_lines_hold() -> None:
    """`events` are typed values, also nested ones, and remain after `take`."""
    recorder = new_recorder()
    recorder.record(EntrySatisfied, folder="1-1", entry=4)
    folder = MailFolder(folder="1-1", cnset="", cnset_fai="", row="", row_fai="", updates=0)
    recorder.record(MailSubmitted, message_type=2, folders=(folder,), recipients=("B",), size=9, number=1, mail="<1>")
    recorder.take()
    entry, mail = recorder.events
    assert isinstance(entry, EntrySatisfied)
    assert (entry.entry, entry.seq, entry.real) == (4, 1, None)
    assert isinstance(mail, MailSubmitted)
    assert mail.folders == (folder,)
    assert (mail.mail, mail.marks) == ("<1>", ())


def test_what_was_taken_is_not_taken_again() -> None:
    """Two calls of `take` in one stimulus give each event once."""
    recorder = new_recorder()
    recorder.record(SourceUp, store="B")
    assert len(lines_of(recorder.take())) == 1
    assert recorder.take() == b""
    recorder.record(SourceUp, store="C")
    assert [line["store"] for line in lines_of(recorder.take())] == ["C"]
    assert len(recorder.events) == 2


@pytest.mark.parametrize("already_taken", [False, True])
def test_a_discarded_stimulus_leaves_no_trace(already_taken: bool) -> None:
    """OUT-9: the numbers of a rolled back stimulus are used again, also if the commit failed."""
    recorder = new_recorder()
    recorder.begin(1)
    recorder.record(SourceUp, store="B")
    recorder.take()
    recorder.begin(2)
    recorder.lamport_seen(50)
    recorder.record(SourceUp, store="C")
    if already_taken:
        recorder.take()
    recorder.discard()
    assert recorder.events == []
    recorder.begin(3)
    recorder.record(SourceUp, store="D")
    assert [(line["seq"], line["lamport"], line["store"]) for line in lines_of(recorder.take())] == [(2, 2, "D")]


def test_events_come_after_the_message_that_led_to_them() -> None:
    """A Lamport number received moves the own one up, never down."""
    recorder = new_recorder(lamport=10)
    recorder.lamport_seen(30)
    recorder.lamport_seen(20)
    recorder.record(SourceUp, store="B")
    assert recorder.events[0].lamport == 31


def test_real_time_is_read_once_a_stimulus_and_only_if_there_is_one() -> None:
    """All events of a stimulus have one real time; in simulation they have none."""
    clock = iter([1.5, 2.5, 3.5])
    recorder = Recorder(run="r1", node="A", real_time=lambda: next(clock))
    recorder.begin(1)
    recorder.record(SourceUp, store="B")
    recorder.record(SourceUp, store="C")
    assert [line["real"] for line in lines_of(recorder.take())] == [2.5, 2.5]
    assert recorder.events[0].real == 2.5


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({}, "store"),
        ({"store": 5}, "store"),
        ({"store": "B", "stroe": "B"}, "stroe"),
        ({"store": "B", "seq": "x"}, "seq"),
    ],
)
def test_fields_that_do_not_fit_are_found(fields: dict[str, object], complaint: str) -> None:
    """A missing, wrong or unknown field is an error that names it: at once if checked, else with `events`."""
    with pytest.raises(TraceError, match=complaint):
        new_recorder().record(SourceUp, **fields)
    unchecked = Recorder(run="r1", node="A")
    unchecked.record(SourceUp, **fields)
    with pytest.raises(TraceError, match=complaint):
        _ = unchecked.events


def test_an_event_that_does_not_fit_takes_no_number() -> None:
    """A refused event leaves the sequence as it was."""
    recorder = new_recorder()
    with pytest.raises(TraceError):
        recorder.record(SourceUp)
    recorder.record(SourceUp, store="B")
    assert recorder.events[0].seq == 1


@given(st.text(), st.text())
def test_any_text_stays_on_its_line(run: str, reason: str) -> None:
    """An event is one line, whatever a subject or a reason contains."""
    recorder = Recorder(run=run, node="A", checked=True)
    try:
        recorder.record(VersionFailed, number=None, reason=reason)
        taken = recorder.take()
    except UnicodeEncodeError:
        return  # a lone surrogate is no text that could be stored or sent
    assert taken.count(b"\n") == 1
    assert json.loads(taken)["reason"] == reason
