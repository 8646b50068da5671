"""Lessons in the console: begin one, and end it."""

from __future__ import annotations

import json
from urllib.request import Request, urlopen

from playwright.sync_api import Locator, Page, expect

LONGEST_MS = 60_000
"""The most time for the lab to play to the next text, on a busy machine."""


def begin(lab: str, name: str) -> str:
    """Begin a lesson and return the address of its page."""
    body = json.dumps({"name": name}).encode()
    request = Request(f"{lab}/lessons", body, {"Content-Type": "application/json"})
    with urlopen(request) as answer:
        return f"{lab}/?lab={json.load(answer)['path'].rstrip('/')}&lesson={name}"


def go_on(card: Locator, button: Locator | None = None) -> None:
    """Press a button of a lesson's card, by default its Next, and wait until the card shows another step and can go on.

    The button alone says nothing just after the click: the page disables it only when it is drawn again.
    """
    step = card.locator("header small")
    before = step.inner_text()
    (button or card.locator("footer button.primary")).click()
    expect(step).not_to_have_text(before, timeout=LONGEST_MS)
    expect(card.locator("footer button.primary[disabled]")).to_have_count(0, timeout=LONGEST_MS)


def end(page: Page) -> None:
    page.get_by_role("button", name="End", exact=True).click()
    page.wait_for_url(lambda url: "?lab=" not in url)
