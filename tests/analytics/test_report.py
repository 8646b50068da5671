"""The output for people: the report's pictures and tables, and the file for ShiViz."""

from __future__ import annotations

import json
import re

from analytics.report.shiviz import clocked
from analytics.report.spacetime import Moment, draw, windows
from tests.support.judged_traces import Judged


class Row(dict):  # type: ignore[type-arg]
    """A row as Spark hands it over: fields by name."""

    def __getattr__(self, name: str) -> object:
        return self.get(name)


def test_the_report_opens_offline(judged: Judged) -> None:
    """The report is one file with witnesses, pictures and tables, and loads nothing else."""
    assert "was lost at 2003-10-21T00:15:00Z" in judged.report
    assert "Mails around the first problems" in judged.report
    assert "Who had what when" in judged.report
    assert not re.search(r'(src|href)="(?!#|data:)', judged.report), "a report opens without a network"


def mail(**fields: object) -> Row:
    return Row({"mail": "1.x@A", "sender": "A", "store": "B", "message_type": 4, "submitted_at": 1_000_000, **fields})


def test_a_picture_has_a_line_for_each_store_and_an_arrow_for_each_mail() -> None:
    """Delivered mails are blue, lost ones red and labelled; an active fault is shaded; names are escaped."""
    faults = [Row(fault="F1", type="fault.injected", at=500_000)]
    mails = [mail(received_at=2_000_000), mail(store="C", dropped_at=2_000_000, mail="<b>")]
    svg = draw(Moment("t", 2_000_000, "said"), mails, faults)
    assert svg.count("<g>") == 2
    assert [store in svg for store in (">A<", ">B<", ">C<")] == [True] * 3
    assert svg.count("#c44e52") == 2
    assert "fault F1" in svg
    assert "&lt;b&gt;" in svg


def test_a_fault_that_is_not_healed_lasts() -> None:
    """The window of a fault goes from its injection to its healing, or to the end of the picture."""
    rows = [Row(fault="F1", type="fault.injected", at=1), Row(fault="F2", type="fault.injected", at=2)]
    assert windows([*rows, Row(fault="F1", type="fault.healed", at=5)], 9) == [("F1", 1, 5), ("F2", 2, 9)]


def test_vector_clocks_follow_mails() -> None:
    """The clock of a mail's receipt includes the clock of its sending."""
    rows = [
        Row(node="A", type="change.made", at=0, number="g:1", seq=1),
        Row(node="A", type="mail.submitted", at=0, mail="m", seq=2),
        Row(node="B", type="node.started", at=0, seq=1),
        Row(node="B", type="mail.received", at=1, mail="m", seq=2),
    ]
    lines = list(clocked(rows))
    assert [json.loads(line.partition(" ")[2]) for line in lines[::2]] == [
        {"A": 1}, {"A": 2}, {"B": 1}, {"A": 2, "B": 2},
    ]  # fmt: skip


def test_the_file_for_shiviz_has_two_lines_an_event(judged: Judged) -> None:
    """Host and clock, then the description; each host's own count grows by one."""
    lines = judged.shiviz.splitlines()
    assert len(lines) > 20
    assert len(lines) % 2 == 0
    counts: dict[str, int] = {}
    for line in lines[::2]:
        host, _, clock = line.partition(" ")
        counts[host] = counts.get(host, 0) + 1
        assert json.loads(clock)[host] == counts[host]
