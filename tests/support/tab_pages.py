"""What tests do in the page of a lab in a browser tab."""

from __future__ import annotations

from typing import Final

from playwright.sync_api import Page, expect

KEPT_AFTER: Final = """async (before) => {
  const done = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
  for (;;) {
    const database = await done(indexedDB.open("pflab /below/lab/", 1));
    const lab = await done(database.transaction("labs").objectStore("labs").get("default"));
    database.close();
    if (lab?.keptAt > before) return lab.keptAt;
    await new Promise(requestAnimationFrame);
  }
}"""
"""Wait until the browser has kept the lab after an instant, and return when, in milliseconds since 1970. The worker of a lab
that is up has made the database."""


def post(page: Page, subject: str) -> None:
    """Post in Projects on A."""
    page.get_by_role("tab", name="Folders").click()
    page.get_by_role("button", name="Post on A").click()
    page.get_by_label("Subject").fill(subject)
    page.get_by_role("dialog").get_by_role("button", name="Post", exact=True).click()
    expect(page.get_by_role("button", name=subject).first).to_be_visible()
