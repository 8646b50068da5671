"""The pictures of a run: SVG text from plain values."""

from __future__ import annotations

from dataclasses import asdict
from xml.etree import ElementTree

import pytest

from analytics.drawing import lab_time, organization_map, spacetime, svg, timeline
from analytics.drawing.organization_map import Connector, Organization, Server
from analytics.drawing.spacetime import Diagram, Event, Fault, Mail
from analytics.report.runs import faults
from tests.support.report_contents import HOSTILE, START
from traces.labtime import DAY_US, HOUR_US, MINUTE_US, SECOND_US


def mail(**fields: object) -> Mail:
    known = {"mail": "1.x@A", "sender": "A", "recipient": "B", "message_type": 4, "sent_at": START, "end": "received"}
    return Mail(**{"end_at": START + SECOND_US, **known, **fields})  # type: ignore[arg-type]


def drawn(text: str) -> ElementTree.Element:
    """Return a picture as XML, which it must be."""
    return ElementTree.fromstring(text)


def of_class(picture: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [each for each in picture.iter() if name in (each.get("class") or "").split()]


def words(picture: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in picture.iter("{http://www.w3.org/2000/svg}text")]


def test_a_diagram_has_a_lane_for_each_server_in_natural_order() -> None:
    """A2 is above A10."""
    picture = drawn(spacetime.draw(Diagram(START, ("A10", "B", "A2"), ())))
    assert [each.text for each in of_class(picture, "server")] == ["A2", "A10", "B"]


def test_an_arrow_has_the_colour_of_its_mail_and_ends_as_the_mail_did() -> None:
    """A dot where a mail arrived, a cross where it was lost, an open circle while it is on its way."""
    mails = (
        mail(),
        mail(message_type=2, end="lost", recipient="C"),
        mail(message_type=16, end="on its way", end_at=None, sender="C", recipient="A"),
    )
    picture = drawn(spacetime.draw(Diagram(START, ("A", "B", "C"), mails)))
    assert {each.get("class") for each in of_class(picture, "mail")} == {
        "mail content received", "mail hierarchy lost", "mail status waiting",
    }  # fmt: skip
    assert len(of_class(picture, "cross")) == 1
    assert len(of_class(picture, "dot")) == 2


def test_mails_that_would_cover_each_other_are_one_arrow_with_their_number() -> None:
    """Three content mails of one second from A to B are one arrow; one to C is another."""
    mails = (*(mail(mail=f"{nth}@A") for nth in range(3)), mail(recipient="C"), mail(sent_at=START + HOUR_US))
    picture = drawn(spacetime.draw(Diagram(START, ("A", "B", "C"), mails)))
    assert len(of_class(picture, "mail")) == 3
    assert [each.text for each in of_class(picture, "count")] == ["3\u00d7"]


def test_a_diagram_marks_its_time_its_witness_and_its_faults() -> None:
    """The witness has a ring on the lane of its server; the time is above its line; a fault says what it does."""
    witness = Event("B", START + DAY_US + 15 * MINUTE_US, "change.made", "A-1 'Hello'")
    fault = Fault("F1", "lose A → B", START, None)
    picture = drawn(spacetime.draw(Diagram(START, ("A", "B"), (mail(),), (), (fault,), witness.at, witness)))
    assert len(of_class(picture, "ring")) == 1
    assert {"day 2 00:15", "F1 lose A → B", "change.made A-1 'Hello'"} <= set(words(picture))


def test_a_server_that_does_not_run_has_no_line() -> None:
    """While a fault keeps a server down, its lane is interrupted."""
    fault = Fault("F1", "kill A", START, START + HOUR_US, "A")
    picture = drawn(
        spacetime.draw(Diagram(START, ("A", "B"), (mail(sent_at=START + 2 * HOUR_US),), (), (fault,), START))
    )
    assert len(of_class(picture, "down")) == 1


def test_a_diagram_is_plain_data() -> None:
    """What a diagram shows becomes JSON by itself, so that a console can send and draw it."""
    diagram = Diagram(START, ("A", "B"), (mail(),))
    assert asdict(diagram)["mails"][0]["message_type"] == 4


def test_the_timeline_stacks_mails_by_kind_and_links_its_marks() -> None:
    """A bar for each kind in a slot; the mark of a violation leads to its description; faults that find no row are counted."""
    slots = (timeline.Slot(START, {"content": 3, "status": 1}, 1),)
    many = tuple(Fault(f"F{nth}", "lose everything", START, START + HOUR_US) for nth in range(9))
    mark = timeline.Mark(START + HOUR_US, "wrong", "found-1-1")
    picture = drawn(timeline.draw(timeline.Timeline(START, START + DAY_US, HOUR_US, slots, many, (mark,))))
    assert [each.get("class") for each in of_class(picture, "bar")] == ["bar content", "bar status"]
    assert [each.get("href") for each in picture.iter("{http://www.w3.org/2000/svg}a")] == ["#found-1-1"]
    assert len(of_class(picture, "fault-bar")) == timeline.ROWS
    assert "and 5 more faults" in words(picture)


@pytest.mark.parametrize("sites", [1, 2, 3, 4, 7, 40])
def test_the_map_shows_sites_servers_versions_and_costs(sites: int) -> None:
    """No two sites overlap; a site with many servers and an organization with many sites say what is left out."""
    inside = {
        f"S{nth}": [Server(f"V{nth}-{k}", "2003", "2 differences" * (k == 0)) for k in range(1 + 9 * (nth == 0))]
        for nth in range(sites)
    }
    lines = [Connector(f"L{nth}", (f"S{nth}", f"S{nth + 1}"), f"cost {nth}") for nth in range(sites - 1)]
    picture = drawn(organization_map.draw(Organization(inside, lines)))
    boxes = [
        tuple(float(each.get(name) or 0) for name in ("x", "y", "width", "height"))
        for each in of_class(picture, "site")
    ]
    assert len(boxes) == min(sites, organization_map.MAX_SITES)
    for nth, (x, y, width, height) in enumerate(boxes):
        for other_x, other_y, other_width, other_height in boxes[:nth]:
            beside = x >= other_x + other_width or other_x >= x + width
            assert beside or y >= other_y + other_height or other_y >= y + height
    assert {f"cost {nth}" for nth in range(min(sites, organization_map.MAX_SITES) - 1)} <= set(words(picture))
    assert "2003" in words(picture)
    assert ("and 24 more sites" in words(picture)) == (sites == 40)


def test_hostile_names_stay_text() -> None:
    """Markup, control characters and marks of direction in names neither end an element nor reach the page as they are."""
    event, fault = Event("B", START, HOSTILE, HOSTILE), Fault(HOSTILE, HOSTILE, START, None)
    picture = spacetime.draw(Diagram(START, (HOSTILE, "B"), (mail(sender=HOSTILE),), (event,), (fault,), START))
    drawn(picture)
    picture += organization_map.draw(Organization({HOSTILE: [Server(HOSTILE, HOSTILE)]}, []))
    assert "<script" not in picture
    assert not {"\u2028", "\u202e", "\x00", "\ud800"} & set(picture)


@pytest.mark.parametrize(
    ("at", "text"),
    [(0, "day 1 00:00"), (DAY_US + 15 * MINUTE_US, "day 2 00:15"), (DAY_US + 15 * MINUTE_US + 4_004, "day 2 00:15"),
     (9 * SECOND_US, "day 1 00:00:09"), (-HOUR_US, "day 0 23:00")],
)  # fmt: skip
def test_lab_time_counts_days_from_the_start(at: int, text: str) -> None:
    """Fractions of a second are left out, and seconds too if they are zero."""
    assert lab_time.day_time(START + at, START) == text


@pytest.mark.parametrize(
    ("took_us", "text"),
    [(0, "0 s"), (7, "7 µs"), (80_000, "80 ms"), (1_234_567, "1.23 s"), (724 * SECOND_US, "12 min 4 s"),
     (30 * HOUR_US + 3, "1 d 6 h"), (DAY_US - 1, "24 h"), (-15 * MINUTE_US, "-15 min")],
)  # fmt: skip
def test_durations_have_two_units(took_us: int, text: str) -> None:
    """A duration is rounded to what a reader can use."""
    assert lab_time.duration(took_us) == text


def test_natural_order() -> None:
    """Numbers inside names count as numbers."""
    assert sorted(["A10", "A2", "run-100", "run-9", "A"], key=svg.natural) == ["A", "A2", "A10", "run-9", "run-100"]


class Row(dict):  # type: ignore[type-arg]
    """A row as Spark hands it over: fields by name."""

    def __getattr__(self, name: str) -> object:
        return self.get(name)


def test_a_fault_that_is_not_healed_lasts() -> None:
    """A fault goes from its injection to its healing, or has no end; its words say what it does to whom."""
    rows = [
        Row(fault="F1", type="fault.injected", at=1, kind="lose", details={"from": "A", "to": "B", "count": "1"}),
        Row(fault="F2", type="fault.injected", at=2, kind="kill", details={"server": "A"}),
        Row(fault="F1", type="fault.healed", at=5),
    ]
    assert faults(rows) == [Fault("F1", "lose A → B", 1, 5), Fault("F2", "kill A", 2, None, "A")]
