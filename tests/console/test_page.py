"""The console opens on a lab that is up: without complaints, without a network, readable for everybody."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from pflab.client import Client
from tests.support.console_lessons import begin, end
from tests.support.console_page import AXE, OpenPage


def test_the_page_shows_the_lab(lab: str, open_page: OpenPage) -> None:
    """The page names the organization and shows each of its servers, without a complaint and without another machine."""
    page = open_page(lab).page
    with Client(lab) as client:
        told = client.lab()
    expect(page).to_have_title(f"{told['organization']} · pflab")
    for server in told["servers"]:
        expect(page.get_by_role("button", name=f"Server {server['name']},")).to_be_visible()


def test_the_page_follows_the_lab(lab: str, open_page: OpenPage) -> None:
    """The stream of events reaches the page: a server that stops, and one that starts again, is shown at once."""
    page = open_page(lab).page
    expect(page.get_by_role("button", name="Server D,")).to_have_accessible_name(re.compile("folders$"))
    with Client(lab) as client:
        client.stop("D")
        expect(page.get_by_role("button", name="Server D,")).to_have_accessible_name(re.compile("stopped$"))
        client.start("D")
    expect(page.get_by_role("button", name="Server D,")).to_have_accessible_name(re.compile("folders$"))


def test_names_are_never_markup(lab: str, open_page: OpenPage) -> None:
    """A folder and a message whose names look like markup are shown as text, and run nothing."""
    name = "<img src=x onerror=\"document.title='run'\">"
    with Client(lab) as client:
        client.create_folder("A", name, replicas=["A"])
    watched = open_page(lab)
    watched.page.get_by_role("tab", name="Replicas").click()
    expect(watched.page.get_by_text(name).first).to_be_visible()
    assert watched.page.locator("img").count() == 0


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed; make test-console installs it if there is npm")
@pytest.mark.parametrize("view", ["Map", "Replicas", "Folders"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_everybody_can_read_the_page(lab: str, open_page: OpenPage, view: str, dark: bool) -> None:
    """axe-core finds no serious violation in the views, dark and light."""
    watched = open_page(lab, dark=dark)
    watched.page.get_by_role("tab", name=view).click()
    assert watched.serious_violations() == []


def test_the_pointer_reads_an_arrow(lab: str, open_page: OpenPage) -> None:
    """The pointer on an arrow of the diagram tells the type of the mail, its way and its times."""
    with Client(lab) as client:
        client.post("A", "Projects", subject="Read me")
        client.advance("16 min")
    page = open_page(lab).page
    expect(page.get_by_text("receives from A: content about Projects").first).to_be_visible()
    canvas = page.get_by_label(re.compile("^Mails between"))
    box = canvas.bounding_box()
    assert box is not None
    tip = page.locator(".pointer-tip")
    for x in range(64, int(box["width"]), 4):
        canvas.hover(position={"x": x, "y": box["height"] * 0.2})
        if "content from A to" in tip.inner_text():
            break
    expect(tip).to_contain_text(re.compile(r"content from A to [BC]\nabout Projects\nsent .*\narrived "))


def test_escape_closes_the_menu_of_the_clock(lab: str, open_page: OpenPage) -> None:
    """Escape closes the menu `Until`, and the keyboard is where it was before."""
    page = open_page(lab).page
    button = page.get_by_role("button", name="Until …")
    button.click()
    expect(page.get_by_role("dialog", name="Move the clock until")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Move the clock until")).to_be_hidden()
    expect(button).to_be_focused()


def test_the_page_begins_again_after_a_reset(lab: str, open_page: OpenPage) -> None:
    """A page that was open during a reset of the lab shows the lab as it was saved, and not what happened after the save."""
    watched = open_page(lab)
    with Client(lab) as client:
        client.save("start", replace=True)
        client.stop("D")
        expect(watched.page.get_by_role("button", name="Server D,")).to_have_accessible_name(re.compile("stopped$"))
        client.reset("start")
    expect(watched.page.get_by_role("button", name="Server D,")).to_have_accessible_name(re.compile("folders$"))
    watched.complaints.clear()  # requests failed while the lab began again


def test_a_lab_is_saved_and_reset_in_the_page(lab: str, open_page: OpenPage) -> None:
    """The menu saves the lab under a name, and goes back to it; the page then shows the lab as it was saved."""
    watched = open_page(lab)
    page = watched.page
    page.get_by_role("button", name="Save …").click()
    page.get_by_label("Save it as").fill("class-1")
    page.get_by_role("button", name="Save the lab").click()
    page.get_by_role("button", name="Save …").click()
    back = page.get_by_role("button", name="Go back to class-1")
    expect(back).to_be_visible()
    with Client(lab) as client:
        client.stop("D")
    expect(page.get_by_role("button", name="Server D,")).to_have_accessible_name(re.compile("stopped$"))
    back.click()
    expect(page.get_by_role("button", name="Server D,")).to_have_accessible_name(re.compile("folders$"))
    watched.complaints.clear()  # requests failed while the lab began again


def test_suspended_content_is_seen(lab: str, open_page: OpenPage) -> None:
    """A server whose content replication is suspended is named in a banner, and its card says so, until it is resumed."""
    page = open_page(lab).page
    banner = page.get_by_role("status").and_(page.locator("p"))
    expect(page.get_by_role("button", name="Server B,")).to_be_visible()
    expect(banner).to_have_count(0)
    with Client(lab) as client:
        client.json("PATCH", "/nodes/B/settings", {"Content Replication Suspended": 1})
        expect(banner).to_contain_text("suspended on B.")
        expect(page.get_by_role("button", name="Server B,")).to_have_accessible_name(re.compile("content suspended"))
        client.json("PATCH", "/nodes/B/settings", {"Content Replication Suspended": 0})
        expect(banner).to_have_count(0)


@pytest.mark.parametrize(("width", "height"), [(390, 844), (683, 384)], ids=["phone", "200 percent"])
def test_a_narrow_screen_has_one_column(lab: str, open_page: OpenPage, width: int, height: int) -> None:
    """On a phone, and on a laptop enlarged to 200 %, every view can be reached, the map can be read, and only it is wider."""
    page = open_page(lab, width=width, height=height).page
    picture = page.get_by_role("group", name="Map of the organization").bounding_box()
    assert picture is not None
    assert picture["width"] > 500
    assert picture["height"] > 200
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("tab", name="Replicas").click()
    expect(page.get_by_role("row", name="the hierarchy")).to_be_visible()


def test_preferences_are_kept_over_pages(lab: str, open_page: OpenPage) -> None:
    """Colours and large type that a user has chosen are those of every further page, such as a lesson."""
    page = open_page(lab).page
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "light")
    page.keyboard.press("t")
    page.keyboard.press("p")
    page.goto(begin(lab, "lost-mail"))
    expect(page.get_by_role("region", name="Lesson")).to_be_visible()
    expect(root).to_have_attribute("data-theme", "dark")
    expect(root).to_have_attribute("data-projector", "")
    end(page)


def test_letters_as_shortcuts_can_be_switched_off(lab: str, open_page: OpenPage) -> None:
    """WCAG 2.1.4: without the shortcuts a letter does nothing, also on the next page, and the other keys still work."""
    page = open_page(lab).page
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys and display")
    keys.get_by_label("Letters, digits and Space are shortcuts").click()
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.reload()
    expect(page.get_by_text("moves the clock").first).to_be_visible()
    for key in "f2l?":
        page.keyboard.press(key)
    expect(page.get_by_role("tab", name="Map")).to_have_attribute("aria-selected", "true")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.keyboard.press("Home")
    expect(page.locator(".clock .how")).to_have_text("an earlier moment")


@pytest.mark.parametrize(("dark", "forced"), [(False, False), (True, False), (False, True)])
def test_a_colour_has_one_meaning(lab: str, open_page: OpenPage, dark: bool, forced: bool) -> None:
    """No two entries of the legend have the same colour, also with the system's colours, and each type of mail has a sign."""
    page = open_page(lab, dark=dark, forced=forced).page
    legend = page.get_by_role("list", name="Colours of mails and folders")
    expect(legend.get_by_role("listitem")).not_to_have_count(0)
    looks = legend.locator("i").evaluate_all("""all => all.map(each => {
      const { backgroundColor, borderTopStyle } = getComputedStyle(each);
      return backgroundColor + borderTopStyle;
    })""")
    assert len(looks) == len(set(looks))
    signs = legend.locator("i b").all_inner_texts()
    assert len(signs) == len(set(signs)) == 7


def test_the_chosen_tab_is_seen_without_colours(lab: str, open_page: OpenPage) -> None:
    """With the system's colours the line below the chosen tab has a colour that the others do not have."""
    tabs = open_page(lab, forced=True).page.get_by_role("tablist", name="Views").get_by_role("tab")
    expect(tabs).not_to_have_count(0)
    lines = tabs.evaluate_all("all => all.map(each => getComputedStyle(each).borderBottomColor)")
    assert lines[0] not in lines[1:]
    assert len(set(lines[1:])) == 1
