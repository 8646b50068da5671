"""The lost-mail lesson as README shows it. `make pictures` writes the pictures, with PFLAB_PICTURES set."""

from __future__ import annotations

import io
import os
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect

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


def test_the_lesson_makes_pictures(lab: str, open_page: OpenPage, project_root: Path, tmp_path: Path) -> None:
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
    place = Path(os.environ.get("PFLAB_PICTURES") or tmp_path)
    still.save(place / "console.png", optimize=True)
    small = [each.resize(SMALL, Image.Resampling.LANCZOS) for each in frames]
    small[0].save(
        place / "lost-mail.webp", save_all=True, append_images=small[1:], duration=times, loop=0, quality=45, method=4
    )
    record("console", project_root, place)
