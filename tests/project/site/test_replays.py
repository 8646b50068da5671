"""The pages show replays of lessons in frames, and lead to the lab in a browser tab if the site has it."""

from __future__ import annotations

import base64
import gzip
import json
import re
from html import escape
from types import ModuleType
from urllib.parse import parse_qs

import pytest

from tests.support.docs_programs import DOCS, docs_program

PAGES = sorted(DOCS.rglob("*.md"))
PLACE = "Before.\n\n<!-- replay: lost -->\nWithout a frame.\n<!-- end -->\n\n<!-- lab: lost-mail -->\n\nAfter.\n"


@pytest.fixture(scope="module")
def replays() -> ModuleType:
    return docs_program("replays", DOCS / "site")


def test_a_frame_has_a_title_loads_late_and_says_something_without_javascript(replays: ModuleType) -> None:
    """The frame of a page in a folder leads to the file of the replay, at its moment."""
    page = replays.with_frames(PLACE, "how-to/some.md", lab=False)
    (frame,) = re.findall(r"<iframe ([^>]*)>", page)
    assert f'src="../replays/lost-mail.html#{escape(replays.REPLAYS["lost"].opens)}"' in frame
    assert re.search(r'title="[^"]+" loading="lazy"', frame)
    assert "Without a frame." in page.partition("<noscript")[2].partition("</noscript>")[0]


def test_only_a_site_with_the_lab_leads_to_it(replays: ModuleType) -> None:
    """Without the lab no link would lead anywhere. With it, a page leads to the lesson and a home page to the lab itself."""
    assert "lab/" not in replays.with_frames(PLACE, "how-to/some.md", lab=False)
    page = replays.with_frames(PLACE, "how-to/some.md", lab=True)
    assert page.count('href="../lab/?lesson=lost-mail"') == 2
    assert 'href="./lab/"' in replays.with_frames("<!-- lab -->\n", "index.md", lab=True)


@pytest.mark.parametrize("mark", ["<!-- replay: nothing -->\n<!-- end -->", "<!-- lab: nothing -->\n"])
def test_an_unknown_name_stops_the_build(replays: ModuleType, mark: str) -> None:
    """A page cannot name a replay or a lesson that there is not."""
    with pytest.raises(KeyError, match="nothing"):
        replays.with_frames(mark, "some.md", lab=True)


def test_every_mark_is_read_and_every_replay_is_shown(replays: ModuleType) -> None:
    """No mark in a page is left as it is, because of a slip in it; and no replay is made for nothing."""
    shown: set[str] = set()
    for path in PAGES:
        page = path.read_text("utf-8")
        shown.update(re.findall(r"<!-- replay: (\S+) -->", page))
        made = replays.with_frames(page, path.relative_to(DOCS).as_posix(), lab=True)
        assert re.findall(r"<!-- (?:replay|lab)\b.*", made) == [], path
    assert shown == replays.REPLAYS.keys()


def test_each_replay_opens_at_a_step_of_its_lesson(replays: ModuleType) -> None:
    """The file has the lesson, and the lesson has the step at which it opens."""
    files = dict(replays.files_of_replays())
    for shown in replays.REPLAYS.values():
        packed = files[f"{replays.FOLDER}/{shown.lesson}.html"].partition('id="run">')[2].partition("<")[0]
        lesson = json.loads(gzip.decompress(base64.b64decode(packed)))["lesson"]
        step = int(parse_qs(shown.opens)["step"][0])
        assert lesson["name"] == shown.lesson
        assert 1 <= step < len(lesson["beats"]), "Next has something to play"


def test_the_files_are_the_same_in_each_build(replays: ModuleType) -> None:
    """A site that is built again has the same replays, byte for byte."""
    first = dict(replays.files_of_replays())
    replays.file_of.cache_clear()
    assert dict(replays.files_of_replays()) == first
