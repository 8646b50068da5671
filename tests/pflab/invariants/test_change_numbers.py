"""Each invariant of numbers and clocks reports a planted violation with its store and value, and passes correct events."""

from __future__ import annotations

from pflab.invariants.mail.contents import OwnRowIsTrue
from pflab.invariants.versions import (
    EventsWithoutGaps,
    LaterThanWhatItReplaces,
    MailNumbersGrow,
    NumbersNeverReissued,
    TimeGoesForward,
)
from tests.support.clock import START_AT
from tests.support.invariant_builders import GUIDS, MESSAGE, Trace, number
from traces.events import NodeStopped
from traces.labtime import HOUR_US


def test_a_number_issued_twice() -> None:
    """A store must not issue a change number twice (CN-1)."""
    trace = Trace(NumbersNeverReissued)
    trace.change("A", 5)
    assert trace.witnesses() == []
    trace.change("A", 5, object=number("A", 300))
    assert trace.witnesses() == ["A gave a change the number A-5, which it had given before"]


def test_a_counter_that_does_not_take_the_next_number() -> None:
    """Each change takes the number after the one before, also within one stimulus (CN-1, CN-2)."""
    trace = Trace(NumbersNeverReissued)
    trace.change("A", 5)
    trace.change("A", 6)
    assert trace.witnesses() == []
    trace.change("A", 8)
    trace.change("A", 7)
    assert trace.witnesses() == [
        "A gave a change the number A-8 directly after 6", "A gave a change the number A-7 directly after 8"
    ]  # fmt: skip


def test_a_number_of_another_guid() -> None:
    """A change under another GUID than the store's present one is a violation (CN-1)."""
    trace = Trace(NumbersNeverReissued)
    trace.change("A", 5, number=number("B", 5))
    assert trace.witnesses() == ["A gave a change the number B-5, which does not have its own GUID"]


def test_an_object_id_issued_twice() -> None:
    """A store must not issue an object id twice (CN-1)."""
    trace = Trace(NumbersNeverReissued)
    trace.change("A", 5, object=MESSAGE)
    trace.change("A", 6, object=MESSAGE)
    (witness,) = trace.witnesses()
    assert f"A created object {MESSAGE} by A-6" in witness


def test_a_version_that_is_not_later() -> None:
    """A version must be later in time than each version that it replaces (CN-8)."""
    trace = Trace(LaterThanWhatItReplaces)
    made = trace.change("A", 5)
    trace.change("B", 1, object=made.object, supersedes=(made.number,), modified_at=made.modified_at + 1)
    assert trace.witnesses() == []
    trace.change("B", 2, object=made.object, supersedes=(made.number,), modified_at=made.modified_at)
    (witness,) = trace.witnesses()
    assert "but replaces A-5" in witness


def test_a_gap_in_the_events() -> None:
    """A missing or repeated sequence number is a violation."""
    trace = Trace(EventsWithoutGaps)
    trace.change("A", 1)
    assert trace.witnesses() == []
    trace.change("A", 2, seq=9)
    assert trace.witnesses() == ["event 9 of A (change.made) directly follows event 2"]


def test_a_clock_that_goes_back() -> None:
    """Time and Lamport number of a node's events must not go back; each node has its own (TM-1)."""
    trace = Trace(TimeGoesForward)
    trace.change("A", 1, at=START_AT + HOUR_US)
    trace.change("B", 1, at=START_AT)
    assert trace.witnesses() == []
    trace.change("A", 2, at=START_AT)
    trace.change("A", 3, at=START_AT, lamport=1)
    first, second = trace.witnesses()
    assert "event 3 of A is of 2003-10-21T00:00:00Z, but the event before is of 2003-10-21T01:00:00Z" in first
    assert "event 4 of A has Lamport number 1" in second


def test_mail_numbers() -> None:
    """Mail numbers must grow and mail ids be unique (RST-4); a restored store may start again."""
    trace = Trace(MailNumbersGrow)
    trace.mail("A", 1)
    trace.mail("A", 2)
    trace.mail("B", 1)
    assert trace.witnesses() == []
    trace.mail("A", 2)
    assert trace.witnesses() == ["A sent mail number 2 after mail number 2", "A sent a second mail with the id 2@A"]


def test_other_events_are_no_violation() -> None:
    """An invariant ignores events of other types."""
    trace = Trace(NumbersNeverReissued, OwnRowIsTrue)
    trace.add(NodeStopped, "A", how="stop")
    assert trace.witnesses() == []
    assert GUIDS["A"] in trace.facts.store_of
