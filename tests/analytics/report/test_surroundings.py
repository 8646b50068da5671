"""What a picture of a finding marks."""

from __future__ import annotations

from analytics.drawing.spacetime import Event
from analytics.report.runs import Found, Run
from analytics.report.surroundings import FEW, diagram
from tests.support.report_contents import START
from traces.labtime import HOUR_US, SECOND_US

GUID = "a" * 32


class Row(dict):  # type: ignore[type-arg]
    """A row as Spark hands it over: fields by name."""

    def __getattr__(self, name: str) -> object:
        return self.get(name)


def marked(text: str, *events: Row) -> Event | None:
    run = Run("t", START, START + HOUR_US, "1", "1", {}, {"servers": {"A": {}, "B": {}}}, (), {}, ())
    return diagram(run, Found("t", "wrong", 1, text, START), [], events, {GUID: "A.2"}).witness


def event(node: str, kind: str, counter: int = 0, seq: int = 1) -> Row:
    number = f"{GUID}:{counter}" if counter else None
    return Row(node=node, type=kind, at=START, seq=seq, number=number, subject="Hello" if counter else None)


def test_the_witness_is_the_event_whose_number_the_text_names() -> None:
    """Of five changes that were made at one time, the picture marks the one that differs."""
    changes = [event("A", "change.made", nth, nth) for nth in (1, 2, 14, 4, 40)]
    assert marked(f"B differs in {GUID}:4", *changes) == Event("A", START, "change.made", "A.2-4 'Hello'")


def test_an_event_that_is_not_certain_is_not_named() -> None:
    """If the text names no id of an event, the picture marks only the place: the first server that the text names."""
    events = [event("A", "mail.received"), event("B", "mail.received")]
    assert marked("B lacks a change which A claimed", *events) == Event("B", START, "")
    mail = Row(node="A", type="mail.received", at=START, seq=1, number="4")
    assert marked(f"B lacks {GUID}:4", mail) == Event("B", START, "")
    assert marked("nobody knows", *events) is None


def test_a_picture_ends_before_a_long_pause() -> None:
    """Mails of the next day would leave no room for those of the minute in question."""
    near = [Row(mail=f"{nth}", sender="A", store="B", message_type=4, submitted_at=START + nth) for nth in range(FEW)]
    later = Row(mail="later", sender="A", store="B", message_type=4, submitted_at=START + 30 * HOUR_US + SECOND_US)
    run = Run("t", START, START + HOUR_US, "1", "1", {}, {"servers": {"A": {}, "B": {}}}, (), {}, ())
    shown = diagram(run, Found("t", "wrong", 1, "", START), [*near, later], [], {}).mails
    assert [each.mail for each in shown] == [each.mail for each in near]
