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

POSTED: Final = """async ([letters, most]) => {
  const { TabDoor } = await import("/below/lab/console/source/tab_door.js");
  const script = "/below/lab/console/tab/lab_worker.js";
  const door = new TabDoor(new SharedWorker(script, { type: "module", name: "default 0" }).port);
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ folder: "Projects", subject: "Large", body: "x".repeat(letters) });
  for (let posted = 0; posted < most; posted++) {
    try {
      if (!(await door.ask("/nodes/A/messages", { method: "POST", headers, body })).ok) return posted;
    } catch {
      return posted;
    }
  }
  return most;
}"""
"""Post texts of a length in Projects on A, until the lab refuses one. Return how many it took."""

KEPT: Final = """async ([name, content]) => {
  const request = indexedDB.open("pflab /below/lab/", 1);
  request.onupgradeneeded = () => request.result.createObjectStore("labs");
  await new Promise((resolve) => { request.onsuccess = resolve; });
  const transaction = request.result.transaction("labs", "readwrite");
  const labTime = "2003-10-21T00:00:00Z";
  const lab = { content: new TextEncoder().encode(content), keptAt: 0, organization: "Fabrikam", labTime };
  transaction.objectStore("labs").put(lab, name);
  await new Promise((resolve) => { transaction.oncomplete = resolve; });
  request.result.close();
}"""
"""Let the browser keep a lab under a name."""


def post(page: Page, subject: str) -> None:
    """Post in Projects on A."""
    page.get_by_role("tab", name="Folders").click()
    page.get_by_role("button", name="Post on A").click()
    page.get_by_label("Subject").fill(subject)
    page.get_by_role("dialog").get_by_role("button", name="Post", exact=True).click()
    expect(page.get_by_role("button", name=subject).first).to_be_visible()
