"""Lessons in the console: begin one, and end it."""

from __future__ import annotations

import json
from urllib.request import Request, urlopen

from playwright.sync_api import Page

LONGEST_MS = 60_000
"""The most time for the lab to play to the next text, on a busy machine."""


def begin(lab: str, name: str) -> str:
    """Begin a lesson and return the address of its page."""
    body = json.dumps({"name": name}).encode()
    request = Request(f"{lab}/lessons", body, {"Content-Type": "application/json"})
    with urlopen(request) as answer:
        return f"{lab}/?lab={json.load(answer)['path'].rstrip('/')}&lesson={name}"


def end(page: Page) -> None:
    page.get_by_role("button", name="End", exact=True).click()
    page.wait_for_url(lambda url: "?lab=" not in url)
