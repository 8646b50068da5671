"""The console with an organization of real size, 40 servers with names of 15 letters and 1,000 folders, on every screen."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from tests.support.console_page import AXE, OpenPage
from tests.support.running_lab import lab_up

SITES: Final = ("SEATTLE-CAMPUS", "NEW-YORK-CITY", "FRANKFURT-MAIN", "SINGAPORE-EAST")
SERVERS: Final = tuple(f"EXCHPF-{site[:3]}-{number:04d}" for site in SITES for number in range(1, 11))
FOLDERS: Final = 1_000

SCREENS: Final[dict[str, dict[str, Any]]] = {
    "phone": {"width": 390, "height": 844},
    "200 percent": {"width": 640, "height": 360},
    "laptop": {"width": 1280, "height": 720},
    "wall": {"width": 3840, "height": 2160},
    "dark": {"dark": True},
    "forced colours": {"forced": True},
    "no motion": {"calm": True},
}
screens = pytest.mark.parametrize("screen", SCREENS.values(), ids=SCREENS)

OVERLAPS: Final = """() => {
  const texts = [...document.querySelectorAll("#view .map text")].filter((each) => each.textContent);
  const boxes = texts.map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }));
  const found = [];
  for (const [index, one] of boxes.entries())
    for (const other of boxes.slice(index + 1)) {
      const wide = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const high = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      if (wide > 1 && high > 6) found.push(`${one.text} and ${other.text}`);
    }
  return found;
}"""
"""Returns the words of the map that lie on each other."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a lab of real size with a paused clock."""
    lines = ["organization: Contoso", f"sites: [{', '.join(SITES)}]", "connectors:"]
    lines += [
        f"  - {{name: {one}-{other[:3]}, between: [{one}, {other}], cost: 10, latency: 1 s, schedule: every 1 h}}"
        for one, other in itertools.pairwise(SITES)
    ]
    versions = ("5.5", "2000", "2003", "2007")
    lines.append("servers:")
    lines += [
        f'  {name}: {{site: {SITES[index // 10]}, version: "{versions[index % 4]}"}}'
        for index, name in enumerate(SERVERS)
    ]
    lines += ["folders:", "  Departments:"]
    lines += [
        f"  Departments/Human resources {number:04d}: {{replicas: [{SERVERS[number % 40]}, {SERVERS[(number + 13) % 40]}]}}"
        for number in range(FOLDERS - 1)
    ]
    with lab_up(tmp_path_factory.mktemp("lab"), topology="\n".join(lines)) as url:
        yield url


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed; make test-console installs it if there is npm")
@screens
def test_every_view_fits_every_screen(lab: str, open_page: OpenPage, screen: dict[str, Any]) -> None:
    """On every screen the page is not wider than the screen, and axe-core finds no serious violation in any view."""
    watched = open_page(lab, **screen)
    page = watched.page
    for view in ("Map", "Replicas", "Folders", "Mails"):
        page.get_by_role("tab", name=view, exact=True).click()
        expect(page.get_by_role("tab", name=view, exact=True)).to_have_attribute("aria-selected", "true")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
        assert watched.serious_violations() == [], view


@screens
def test_names_have_room(lab: str, open_page: OpenPage, screen: dict[str, Any]) -> None:
    """No words of the map lie on each other, names have 9 pixels, and each lane of the diagram has room for its name."""
    page = open_page(lab, **screen).page
    expect(page.get_by_role("button", name=f"Server {SERVERS[-1]},")).to_be_attached()
    assert page.evaluate(OVERLAPS) == []
    name = page.locator("#view .map text.name").first.bounding_box()
    assert name is not None
    assert name["height"] >= 9
    canvas = page.get_by_label(re.compile("^Mails between"))
    size = page.evaluate("parseFloat(getComputedStyle(document.querySelector('.diagram canvas')).fontSize)")
    box = canvas.bounding_box()
    assert box is not None
    assert box["height"] >= len(SERVERS) * size


@screens
def test_a_server_can_be_chosen_in_the_folders(lab: str, open_page: OpenPage, screen: dict[str, Any]) -> None:
    """The list of servers above the posts shows the whole name of a server, and the tree finds a folder among 1,000."""
    page = open_page(lab, **screen).page
    page.get_by_role("tab", name="Folders").click()
    tree = page.get_by_role("navigation", name="Folders")
    tree.get_by_role("searchbox").fill("0777")
    tree.get_by_role("button", name=re.compile("^Human resources 0777")).click()
    chooser = page.get_by_label("Server", exact=True)
    expect(chooser).to_have_value(SERVERS[777 % 40])
    letters, room = chooser.evaluate("""(select) => {
      const context = document.createElement("canvas").getContext("2d");
      context.font = getComputedStyle(select).font;
      return [context.measureText(select.value).width, select.clientWidth];
    }""")
    assert room > letters
