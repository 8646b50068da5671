"""The console as README and docs/how-to/console.md show it. `make pictures` writes the pictures, with PFLAB_PICTURES set."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from pflab.client import Client
from tests.support.console_lessons import LONGEST_MS, begin, end
from tests.support.console_page import OpenPage
from tests.support.picture_sources import record

FRAMES_A_BEAT = 7
BEATS = 7
STILL_BEAT = 2
"""The beat of README's picture: a question, the map, and the state table of B."""
FRAME_MS = 420
READ_MS = 2600
"""How long the animated picture shows a text that does not move."""

SMALL = (960, 600)


def shot(page: Page) -> Image.Image:
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


@pytest.fixture(scope="module")
def place(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the pictures. At the end, the digests of what they show are written beside them."""
    folder = Path(os.environ.get("PFLAB_PICTURES") or tmp_path_factory.mktemp("pictures"))
    yield folder
    record("console", project_root, folder)


def test_the_lesson_makes_pictures(lab: str, open_page: OpenPage, place: Path) -> None:
    """The screen shows the lesson, the map and the diagram at each text of the lost-mail lesson, and the last picture differs
    from the first one."""
    page = open_page(begin(lab, "lost-mail"), width=1440, height=900, dark=True).page
    card = page.get_by_role("region", name="Lesson")
    expect(card).to_be_visible(timeout=LONGEST_MS)
    frames, times = [shot(page)], [READ_MS]
    still = frames[0]
    for beat in range(BEATS):
        answers = card.get_by_role("group", name="Answers").locator("button:enabled")
        (answers.first if answers.count() else card.locator("button.primary")).click()
        for _ in range(FRAMES_A_BEAT):
            frames.append(shot(page))
            times.append(FRAME_MS)
        expect(card.get_by_role("button", name="Skip")).to_have_count(0, timeout=LONGEST_MS)
        frames.append(shot(page))
        times.append(READ_MS)
        if beat == STILL_BEAT:
            still = frames[-1]
    end(page)
    assert frames[0].tobytes() != frames[-1].tobytes()
    still.save(place / "console.png", optimize=True)
    small = [each.resize(SMALL, Image.Resampling.LANCZOS) for each in frames]
    small[0].save(
        place / "lost-mail.webp", save_all=True, append_images=small[1:], duration=times, loop=0, quality=45, method=4
    )


def test_the_views_make_pictures(lab: str, open_page: OpenPage, place: Path) -> None:
    """The screen shows a mail that waits with its content, a conflict with both versions, and the faults in words."""
    with Client(lab) as client:
        post = client.post("A", "Projects", subject="Plan", body="We meet on Monday.", sender="kim@contoso.test")["id"]
        client.advance("2 h")
        client.edit("A", "Projects", post, body="We meet on Tuesday.")
        client.advance("1 min")
        client.edit("B", "Projects", post, body="We meet on Friday.")
        client.advance("2 h")
        client.inject("lose", from_="A", to="B", type="content", count=1)
        client.inject("hold", connector="SEA-NYC", lasts="10 days")
        client.post("A", "Projects", subject="Minutes", body="It was a long meeting.", sender="kim@contoso.test")
        client.advance("20 min")
        client.inject("lose", from_="B", to="A", type="status", count=2)
    page = open_page(lab, width=1280, height=800).page
    page.get_by_role("button", name="Server A,").click()
    details = page.get_by_label("Details")
    details.get_by_role("tab", name="Mail queue").click()
    details.get_by_role("button", name="content").first.click()
    expect(details.get_by_role("tabpanel")).to_contain_text("PR_SUBJECT")
    shot(page).save(place / "console-mail.png", optimize=True)
    page.get_by_role("tab", name="Folders").click()
    page.get_by_role("navigation", name="Folders").get_by_role("button", name=re.compile("^Projects")).first.click()
    page.locator("#view").get_by_role("button", name="conflict").first.click()
    expect(page.get_by_role("region", name="Conflict")).to_contain_text("modified last")
    shot(page).save(place / "console-folders.png", optimize=True)
    page.get_by_role("tab", name="Map").click()
    page.keyboard.press("f")
    faults = page.get_by_role("dialog", name="Faults")
    expect(faults.get_by_role("row", name=re.compile("SEA-NYC"))).to_be_visible()
    expect(faults.get_by_role("button", name=re.compile("Inject"))).to_be_visible()
    shot(page).save(place / "console-faults.png", optimize=True)
