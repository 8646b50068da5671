"""Links of the console: what a page shows, and whether another page shows the same."""

from __future__ import annotations

import re
from typing import Final

from playwright.sync_api import Error, Page

from tests.support.console_lessons import LONGEST_MS

POINTS: Final = ((200, 40), (500, 60), (900, 90))
"""Where the pointer asks the diagram what is there, in pixels."""

STILL_FRAMES: Final = 15
"""A page that shows the same in so many frames stands still: it paints ten times a second while it changes."""

SEEN: Final = """points => {
  const text = selector => [...document.querySelectorAll(selector)].map(each => each.innerText);
  const canvas = document.querySelector(".lanes canvas");
  if (!canvas) return null;  // the page is still loading
  const tip = document.querySelector(".pointer-tip");
  const asked = points.map(([offsetX, offsetY]) => {
    const { left, top } = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new MouseEvent("mousemove", { clientX: left + offsetX, clientY: top + offsetY }));
    return tip.textContent;
  });
  canvas.dispatchEvent(new MouseEvent("mouseleave"));
  const view = document.querySelector("#view").cloneNode(true);
  view.querySelectorAll(".envelope").forEach(each => each.remove());
  const envelopes = [...document.querySelectorAll(".envelope")].map(each => each.title + each.style.transform);
  return {
    asked,
    tabs: text("[role=tab][aria-selected=true]"),
    order: text("button[aria-pressed=true]"),
    moment: document.querySelector(".travel input[type=range]")?.value,
    event: text(".travel .event"),
    clock: text(".clock"),
    view: view.textContent,
    envelopes: envelopes.sort(),
    search: document.querySelector(".mails input")?.value,
    panel: text(".panel"),
    notice: text(".notice:not([hidden])"),
  };
}"""
"""What a user sees on a page, and what the diagram says at some points."""

STILL: Final = f"""async points => {{
  const see = () => JSON.stringify(({SEEN})(points));
  let still = see();
  for (let frames = 0; frames < {STILL_FRAMES}; frames++) {{
    await new Promise(requestAnimationFrame);
    const now = see();
    if (now !== still) frames = 0;
    still = now;
  }}
  return still;
}}"""
"""What a user sees once the page and its diagram stand still: some views paint a moment later than others."""


def opened(page: Page) -> None:
    """Wait until a page has all events of its lab, so that its address follows what it shows."""
    page.wait_for_function("() => performance.getEntriesByName('caught up').length > 0")


def copied(page: Page) -> str:
    """Return the link that the page copies."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('nothing')")
    page.locator("button", has_text=re.compile("Copy link|Copied")).click()
    page.wait_for_function("async () => await navigator.clipboard.readText() !== 'nothing'")
    return str(page.evaluate("navigator.clipboard.readText()"))


def seen(page: Page) -> str:
    """Return what a user sees on a page, once the page stands still."""
    page.wait_for_function(
        """address => location.href === address
          && !document.querySelector(".envelope:is(.arrived, .lost)")""",
        arg=copied(page),
    )
    return str(page.evaluate(STILL, POINTS))


def shows(page: Page, expected: str) -> None:
    """Wait until a page shows what another one has shown."""
    try:
        page.wait_for_function(
            f"([points, expected]) => JSON.stringify(({SEEN})(points)) === expected",
            arg=[POINTS, expected],
            timeout=LONGEST_MS,
        )
    except Error:
        assert str(page.evaluate(f"points => JSON.stringify(({SEEN})(points))", POINTS)) == expected
