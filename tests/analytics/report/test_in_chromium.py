"""The report in a browser: what a reader sees first, in which widths, without complaints. It also makes the docs' pictures.

The pictures in docs/pictures are written with `make pictures`, which sets PFLAB_PICTURES to that folder.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pflab.campaign.seed import run_seed
from tests.support.chromium import Browser, chromium
from tests.support.judged_traces import Judged
from tests.support.picture_sources import PICTURES, record
from tests.support.report_contents import hostile, many
from tests.support.trace_faults import read_trace, renumber, write_trace

if TYPE_CHECKING:
    pass

from analytics.embedded.engine import judged as judged_here
from analytics.ingest.places import contents_of
from analytics.report.page import page, write_report
from analytics.verdicts.conclusion import conclude

pytestmark = pytest.mark.skipif(
    chromium() is None, reason="Chromium is not installed; on Debian: apt-get install chromium"
)

SEED = 103
"""A simulated run with four servers in three sites, nine faults and every type of mail."""

WRITTEN = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
IN_VIEW = """(of => of.width > 0 && of.top >= 0 && of.bottom <= innerHeight && of.right <= innerWidth)(
    document.querySelector('{}').getBoundingClientRect())"""
TOO_WIDE = """[...document.querySelectorAll('main *, header *')].filter(each => !each.closest('.scroll, svg, .skip, .top bdi')
    && each.getBoundingClientRect().right > innerWidth + 1).map(each => each.tagName + '.' + each.className)"""
LOST_ANCHORS = """[...document.querySelectorAll('a')].map(each => each.getAttribute('href'))
    .filter(href => !href.startsWith('#') || !document.getElementById(href.slice(1)))"""
CONTRAST = """(() => {
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const parts = colour => {
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const linear = part => (part /= 255) <= .03928 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4;
    const light = colour => parts(colour).map(linear).reduce((sum, part, nth) => sum + part * [.2126, .7152, .0722][nth], 0);
    const behind = each => {
        for (; each; each = each.parentElement) {
            const colour = getComputedStyle(each).backgroundColor;
            if (colour !== 'rgba(0, 0, 0, 0)') return colour;
        }
        return 'white';
    };
    const poor = new Set();
    for (const each of document.querySelectorAll('main *, header *, nav *')) {
        if (![...each.childNodes].some(node => node.nodeType === 3 && node.data.trim()) || !each.checkVisibility()) continue;
        const svg = each.closest('svg'), style = getComputedStyle(each);
        const both = [light(svg ? style.fill : style.color), light(behind(svg ? svg.parentElement : each))];
        const ratio = (Math.max(...both) + .05) / (Math.min(...both) + .05);
        const name = each.tagName + '.' + (each.className.baseVal ?? each.className);
        if (ratio < 4.5 && each.tagName !== 'title') poor.add(ratio.toFixed(1) + ' ' + name);
    }
    return [...poor];
})()"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = chromium()
    assert program is not None
    with Browser(program, tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def reports(judged: Judged, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return pages: of one run in which a store has silently lost a deletion, of all runs of these tests, of thousands of
    runs, and of a run with hostile texts."""
    place = tmp_path_factory.mktemp("reports")
    run_seed(SEED, folder=place)
    trace = read_trace(place / f"seed-{SEED}" / "00001" / "traces")
    applied = [each for each in trace["B"] if each["type"] == "version.applied" and each["folder"] != "1-1"]
    trace["B"].remove(applied[-1])
    renumber(trace["B"])
    write_trace(place / "lost-deletion" / "00001" / "traces", trace)
    files = {name: place / f"{name}.html" for name in ("one", "all", "thousands", "hostile")}
    with judged_here(contents_of([str(place / "lost-deletion")])) as found:
        write_report(found.answers, found.findings, conclude(found.findings), "DuckDB", files["one"])
    files["all"].write_text(judged.report, encoding="utf-8")
    files["thousands"].write_text(page(many(4000), WRITTEN), encoding="utf-8")
    files["hostile"].write_text(page(hostile(), WRITTEN), encoding="utf-8")
    return files


@pytest.mark.parametrize(
    ("name", "width", "dark"),
    [("one", 1440, False), ("all", 1000, True), ("thousands", 1440, True), ("hostile", 1000, False)],
)
def test_a_page_fits_and_nothing_complains(
    browser: Browser, reports: dict[str, Path], name: str, width: int, dark: bool
) -> None:
    """The page is not wider than the window, each link leads somewhere, text has a contrast of 4.5, and the browser reports no
    error, no refused style and no request."""
    browser.complaints.clear()
    browser.open(reports[name], width, 900, dark=dark)
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.value(TOO_WIDE) == []
    assert browser.value(LOST_ANCHORS) == []
    assert browser.value(CONTRAST) == []
    assert browser.value(IN_VIEW.format("h1"))
    assert browser.complaints == []


def test_the_first_screen_has_the_verdict_the_map_and_the_timeline(browser: Browser, reports: dict[str, Path]) -> None:
    """A reader sees them without scrolling; the timeline marks the finding, and the map the server that differs."""
    browser.open(reports["one"], 1440, 900)
    for element in ("h1", ".map svg", ".time svg", ".time .mark-flag", ".first a"):
        assert browser.value(IN_VIEW.format(element)), element
    assert browser.value("document.querySelector('h1').innerText").endswith("Not converged")
    assert browser.value("document.querySelector('.map .troubled title').textContent").startswith("server B")
    kinds = browser.value(
        "[...new Set([...document.querySelectorAll('.time .bar')].map(each => each.classList[1]))].sort()"
    )
    assert kinds == ["content", "hierarchy", "request", "response", "status"]


def test_each_finding_has_a_picture_with_its_witness(browser: Browser, reports: dict[str, Path]) -> None:
    """Lanes for the servers, arrows for the mails, a line at the time of the finding, and a ring around the event."""
    browser.open(reports["one"], 1440, 900)
    assert browser.value("document.querySelectorAll('article').length") >= 2
    for part in ("svg[aria-label]", ".lane", ".mail", ".mark", ".ring", "details li"):
        assert browser.value(
            f"[...document.querySelectorAll('article')].every(each => each.querySelector('{part}'))"
        ), part


def test_checks_without_events_are_shown_on_demand(browser: Browser, reports: dict[str, Path]) -> None:
    """They are hidden; a box that the keyboard reaches shows them."""
    browser.open(reports["one"], 1440, 900)
    shown = "[...document.querySelectorAll('.idle')].some(each => getComputedStyle(each).display !== 'none')"
    assert not browser.value(shown)
    browser.value("document.getElementById('show-idle').focus(); document.activeElement.click()")
    assert browser.value(shown)


def test_a_page_can_be_printed(browser: Browser, reports: dict[str, Path]) -> None:
    """A PDF of a few pages."""
    browser.open(reports["one"], 1440, 900, dark=True)
    assert browser.printed().startswith(b"%PDF")


def test_pictures_for_the_docs(browser: Browser, reports: dict[str, Path], project_root: Path, tmp_path: Path) -> None:
    """The pictures in docs/pictures come from these pages, in the same sizes."""
    into = Path(os.environ.get("PFLAB_PICTURES") or tmp_path)
    kept = project_root / PICTURES
    shots = (
        ("report", "one", 900, False, "#verdict"), ("report-dark", "one", 900, True, "#findings"),
        ("report-runs", "all", 900, False, "#verdict"),
    )  # fmt: skip
    for name, of, height, dark, at in shots:
        browser.open(reports[of], 1440, height, dark=dark)
        browser.value(f"document.querySelector('{at}').scrollIntoView()")
        (into / f"{name}.png").write_bytes(browser.picture())
        assert size_of(into / f"{name}.png") == size_of(kept / f"{name}.png") == (1440, height)
    record("report", project_root, into)


def size_of(png: Path) -> tuple[int, int]:
    """Return width and height of a PNG."""
    width, height = struct.unpack(">II", png.read_bytes()[16:24])
    return width, height
