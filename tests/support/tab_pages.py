"""What tests do in the page of a lab in a browser tab."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def post(page: Page, subject: str) -> None:
    """Post in Projects on A."""
    page.get_by_role("tab", name="Folders").click()
    page.get_by_role("button", name="Post on A").click()
    page.get_by_label("Subject").fill(subject)
    page.get_by_role("dialog").get_by_role("button", name="Post", exact=True).click()
    expect(page.get_by_role("button", name=subject).first).to_be_visible()
