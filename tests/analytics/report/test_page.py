"""The report as a page, and the file for ShiViz."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from html import unescape
from html.parser import HTMLParser

import pytest

from analytics.report.page import page, timed
from analytics.report.runs_by_rule import CHECKS, LINES
from analytics.report.shiviz import clocked
from tests.support.judged_traces import Judged
from tests.support.report_contents import HOSTILE, START, hostile, many

WRITTEN = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
MOST_BYTES = 1_500_000


class Row(dict):  # type: ignore[type-arg]
    """A row as Spark hands it over: fields by name."""

    def __getattr__(self, name: str) -> object:
        return self.get(name)


class Elements(HTMLParser):
    """The elements of a page, and its visible text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_report_opens_offline(judged: Judged) -> None:
    """The report of many runs is one file with a verdict, a matrix of runs by rule, the worst runs and tables. It loads nothing
    and stays small."""
    elements = Elements(judged.report)
    assert not [
        attrs for _, attrs in elements.tags if attrs.get("src") or not (attrs.get("href") or "#").startswith("#")
    ]
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in elements.tags}
    assert len(judged.report) < MOST_BYTES
    for heading in (
        "Runs by rule",
        "Folders",
        "Rule checks",
        "Who had what when",
        "Times and mails",
        "About this report",
    ):
        assert heading in elements.text
    assert elements.text.count("Copies of mails over lab time") == 3
    assert re.search(r"and \d+ more like this", elements.text)


def test_every_rule_check_is_under_a_subject(judged: Judged) -> None:
    """The report has each check of the verdict once, below the subject that it belongs to."""
    table = judged.report[judged.report.index('id="rules"') : judged.report.index('id="who"')]
    named = [unescape(each) for each in re.findall(r"<td><b>(.*?)</b>", table)]
    assert sorted(named) == sorted(each["check"] for each in judged.document["rules"])


def test_a_page_about_thousands_of_runs_stays_small() -> None:
    """Lines and columns are limited, and counts stand for the rest."""
    text = page(many(4000), WRITTEN)
    elements = Elements(text)
    assert len(text) < MOST_BYTES
    assert text.count('<td class="cell') <= LINES * CHECKS
    assert "4,000 runs: " in elements.text
    assert "3,000 runs with nothing to say" in elements.text
    assert re.search(r"\d+ runs more have something to say", elements.text)
    assert re.search(r"and 940 folders more|and [\d,]+ folders more", elements.text)


def test_texts_of_a_trace_cannot_break_the_page() -> None:
    """Subjects, names and reasons with markup, line separators and marks of direction are shown as text, and cut."""
    text = page(hostile(), WRITTEN)
    tags = [tag for tag, _ in Elements(text).tags]
    assert not {"script", "img"} & set(tags)
    assert tags.count("title") == text.count("<title>")
    assert not {"\u2028", "\u202e", "\x00", "\ud800"} & set(text)
    assert "x" * 700 not in text
    assert "\\u202egnol" in text
    assert not re.search(r'="[^"]*onerror=alert\(1\)>"', text.replace("&gt;", ""))
    assert "default-src 'none'" in text


def test_a_report_says_what_it_was_made_with() -> None:
    """The date, the versions of pflab, the engine and the trace format, and the seed."""
    words = Elements(page(hostile(), WRITTEN)).text
    about = words[words.index("About this report", words.index("Times and mails") + 200) :]
    assert "2 January 2026, 03:04 UTC" in about
    assert re.search(r"pflab\s*\d+\.\d+", about)
    assert re.search(r"judged by\s*</title>", about)
    assert re.search(r"read as 1\.\d+", about)
    assert "seed " in about


@pytest.mark.parametrize(
    ("start_at", "shown"),
    [(START, "day 2 00:15"), (None, "2003-10-22 00:15")],
)
def test_times_in_witnesses_are_rounded(start_at: int | None, shown: str) -> None:
    """A witness says lab time; the exact instant is in the tooltip. The rest of the text is escaped."""
    text = timed("<1@A> was lost at 2003-10-22T00:15:00.000004Z (fault F1)", start_at)
    assert f">{shown}</time> (fault F1)" in text
    assert 'title="2003-10-22T00:15:00.000004Z"' in text
    assert text.startswith("&lt;1@A&gt; was lost at <time")
    assert "<script" not in timed(HOSTILE, start_at)


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
