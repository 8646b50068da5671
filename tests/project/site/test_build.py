"""The documentation site: it is built without a warning, and no page loads anything from another host."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from tests.support.chromium import Browser, chromium

pytest.importorskip("mkdocs", reason="make docs installs MkDocs")
# `make docs` builds the site too, so a warning is known before these tests run.
pytestmark = [pytest.mark.long, pytest.mark.xdist_group("site")]

LOADS = re.compile(
    r"""<(?:script|img|iframe|source|video|object|embed|link)\b[^>]*?\b(?:src|href|data)=["']?((?:https?:)?//[^"'\s>]+)"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site, strictly: a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    root = Path(__file__).parents[3]
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=root,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PFLAB_SITE_HAS_LAB": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    """No page names a script, a style, a font or a picture of another host, and no style sheet imports one."""
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 20
    foreign = {(page.name, url) for page in pages for url in LOADS.findall(page.read_text("utf-8"))}
    foreign |= {
        (sheet.name, url)
        for sheet in site.rglob("*.css")
        for url in re.findall(r"(?:url\(|@import\s*)[\"']?((?:https?:)?//[^\"')]+)", sheet.read_text("utf-8"))
    }
    assert foreign == set()


def test_the_site_has_its_pages_and_nothing_else_of_docs(site: Path) -> None:
    """The site has the pages at the top of the tree too, and neither the generators nor their data."""
    for page in (
        "index",
        "explanation/architecture",
        "explanation/contributing",
        "reference/changelog",
        "reference/rules/index",
    ):
        assert (site / f"{page}.html").is_file()
    assert [path.name for path in site.rglob("*") if path.suffix in {".py", ".yaml", ".md"}] == []


def test_a_lesson_is_a_link_to_the_lab(site: Path) -> None:
    """In a site that has the lab, the name of a lesson begins the lesson there. Of other scenarios there is only the name."""
    page = (site / "reference" / "sources" / "s0.html").read_text("utf-8")
    assert '<a href="../../lab/?lesson=six-groups">six-groups</a>' in page
    assert "<code>six-groups-in-order</code>" in page


def test_each_frame_and_each_link_in_html_leads_to_a_file(site: Path) -> None:
    """MkDocs does not check what stands in a page as HTML. The lab comes into its folder later."""
    frames = 0
    for page in site.rglob("*.html"):
        if page.parent.name == "replays" or page.name == "404.html":  # which has absolute links
            continue
        text = page.read_text("utf-8")
        frames += text.count("<iframe ")
        leads = re.findall(r'<iframe [^>]*src="([^"#]+)', text) + re.findall(r'<a [^>]*href="([^"#?:]+\.html)', text)
        assert [path for path in leads if not (page.parent / path).is_file()] == [], page
    assert frames > 4


@pytest.mark.skipif(chromium() is None, reason="Chromium is not installed; on Debian: apt-get install chromium")
def test_the_replay_of_the_home_page_plays_from_a_disk(site: Path, tmp_path: Path) -> None:
    """The home page works from a disk: its replay plays on from the step of its address, without a complaint."""
    with Browser(str(chromium()), tmp_path / "profile") as browser:
        browser.open_url((site / "index.html").as_uri(), 1280, 800)
        (source,) = re.findall(r'<iframe [^>]*src="([^"]+)"', (site / "index.html").read_text("utf-8"))
        browser.open_url(f"{site.as_uri()}/{unescape(source)}", 700, 540)
        assert "step 3 of" in browser.value(STEP)
        assert browser.complaints == []


def test_every_block_of_code_is_a_block(site: Path) -> None:
    """No page shows the marks of a block, because MkDocs did not understand its first line."""
    shown = [page.name for page in site.rglob("*.html") if re.search(r"<p>```|\\\|", page.read_text("utf-8"))]
    assert shown == []


STEP = """new Promise(done => {
    const look = left => {
        const step = document.querySelector('.lesson small')?.textContent ?? '';
        step.startsWith('step 3') || !left ? done(step) : setTimeout(look, 50, left - 1);
    };
    look(400);
})"""

FOUND = """new Promise(done => {
    const look = left => {
        const titles = [...document.querySelectorAll('.md-search-result__item h1')].map(each => each.textContent);
        titles.length || !left ? done(titles) : setTimeout(look, 50, left - 1);
    };
    look(400);
})"""


@pytest.mark.skipif(chromium() is None, reason="Chromium is not installed; on Debian: apt-get install chromium")
def test_the_search_works_without_a_server(site: Path, tmp_path: Path) -> None:
    """A page that is opened as a file finds pages by their words, and asks no network for anything."""
    with Browser(str(chromium()), tmp_path / "profile") as browser:
        browser.open_url(f"{(site / 'index.html').as_uri()}?q=backfill%20array", 1280, 800)
        assert "Rules" in browser.value(FOUND)
        assert browser.complaints == []
