"""Folders and posts in a browser, and the replicas by origin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from pflab.client import Client
from tests.support.console_page import AXE, OpenPage
from tests.support.running_lab import lab_up

HOSTILE = "<img src=x onerror=\"document.title='run'\"> \u202egnp.exe"


@pytest.fixture(scope="module")
def posts(lab: str) -> Iterator[str]:
    """A lab in which A and B have a conflict of one post, and C has a post that no other store has yet."""
    with Client(lab) as client:
        post = client.post("A", "Projects", subject="Plan", body="We meet on Monday.", sender="kim@contoso.test")["id"]
        client.post("B", "Projects", subject=HOSTILE, body="<script>document.title='run'</script>")
        client.advance("2 h")
        client.edit("A", "Projects", post, body="We meet on Tuesday.")
        client.advance("1 min")
        client.edit("B", "Projects", post, body="We meet on Friday.")
        client.advance("2 h")
        client.post("C", "Projects", subject="News")
    yield lab


def folders(page: Page) -> None:
    page.get_by_role("tab", name="Folders").click()
    page.get_by_role("navigation", name="Folders").get_by_role("button", name=re.compile("^Projects")).first.click()


def test_a_post_that_has_not_arrived_is_a_gap(posts: str, open_page: OpenPage) -> None:
    """C has its own post. Beside it A's column says that the post is not there yet, that A does not know of it, and when it is
    expected."""
    page = open_page(posts).page
    folders(page)
    page.get_by_role("combobox", name="Server", exact=True).select_option("C")
    page.get_by_role("combobox", name="The other server").select_option("A")
    row = page.get_by_role("row", name="News")
    gap = re.compile(r"^C-1 is not here yet: A does not know of it\s+expected here at \S+ \S+ \d\d:\d\d\s*$")
    expect(row.get_by_role("cell").nth(1)).to_have_text(gap)
    row.get_by_role("button").click()
    panel = page.get_by_role("complementary", name="Details")
    expect(panel.get_by_role("row", name="C has it")).to_contain_text("made here")
    expect(panel.get_by_role("row", name="A lacks it")).to_be_visible()


def test_subjects_are_never_markup(posts: str, open_page: OpenPage) -> None:
    """A subject that looks like markup is text. A character that turns the direction of text is made visible."""
    page = open_page(posts).page
    folders(page)
    page.get_by_role("button", name="<img src=x").first.click()
    expect(page.get_by_role("heading", name="\\u202egnp.exe")).to_be_visible()
    expect(page.get_by_text("<script>").first).to_be_visible()
    assert page.locator("img").count() == 0


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed; make test-console installs it if there is npm")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_everybody_can_read_a_conflict(posts: str, open_page: OpenPage, dark: bool) -> None:
    """axe-core finds no serious violation while a conflict, the form of a post, or the changes by origin are shown."""
    watched = open_page(posts, dark=dark)
    page = watched.page
    folders(page)
    page.locator("#view").get_by_role("button", name="conflict").first.click()
    expect(page.get_by_role("region", name="Conflict")).to_contain_text("modified last")
    assert watched.serious_violations() == []
    page.get_by_role("button", name="Post on A").click()
    assert watched.serious_violations() == []
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Replicas").click()
    assert watched.serious_violations() == []
    page.get_by_role("row", name="Projects").get_by_role("button", name="Projects", exact=True).click()
    assert watched.serious_violations() == []


def test_a_conflict_is_resolved_by_a_button(posts: str, open_page: OpenPage) -> None:
    """CF-3: the versions are shown beside each other, and the one that the user keeps is the only one left."""
    page = open_page(posts).page
    folders(page)
    page.locator("#view").get_by_role("button", name="conflict").first.click()
    other = page.get_by_role("region", name="A-2", exact=True)
    expect(other.locator("mark")).to_have_text("Tuesday.")
    other.get_by_role("button", name="Keep this version").click()
    panel = page.get_by_role("complementary", name="Details")
    expect(page.get_by_role("region", name="Conflict")).to_have_count(0)
    expect(panel.locator("pre.body")).to_have_text("We meet on Tuesday.")
    with Client(posts) as client:
        (kept,) = client.versions("A", "A-1")
    assert kept["body"] == "We meet on Tuesday."


def test_posting_editing_and_deleting(posts: str, open_page: OpenPage, tmp_path: Path) -> None:
    """A post with a file is made in a form, its file is saved as it was, and the post is changed and deleted."""
    (tmp_path / "plan.txt").write_bytes(b"first\r\nsecond")
    page = open_page(posts).page
    folders(page)
    page.get_by_role("button", name="Post on A").click()
    page.get_by_label("Subject").fill("From a browser")
    page.get_by_label("Attachments").set_input_files(tmp_path / "plan.txt")
    page.get_by_role("dialog").get_by_role("button", name="Post", exact=True).click()
    page.get_by_role("button", name="From a browser").first.click()
    with page.expect_download() as found:
        page.get_by_role("button", name="plan.txt").click()
    assert found.value.suggested_filename == "plan.txt"
    assert found.value.path().read_bytes() == b"first\r\nsecond"
    page.get_by_role("button", name="Edit …").click()
    page.get_by_label("Subject").fill("Changed")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", name="Changed")).to_be_visible()
    expect(page.locator("pre.properties")).to_contain_text('PR_SUBJECT 0x0037001F: "Changed"')
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Really delete").click()
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("deleted")


def test_what_is_saved_stays_beside_what_was_saved_meanwhile(posts: str, open_page: OpenPage) -> None:
    """The editor names the version that it opened. If somebody saves the post meanwhile, it says so, and the two saves are in
    conflict on the server (CF-6)."""
    with Client(posts) as client:
        draft = client.post("A", "Projects", subject="Two saves", body="draft")["id"]
    page = open_page(posts).page
    folders(page)
    page.get_by_role("button", name="Two saves").first.click()
    expect(page.locator("pre.body")).to_have_text("draft")
    page.get_by_role("button", name="Edit …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("status")).to_have_count(0)
    with Client(posts) as client:
        meanwhile = client.edit("A", "Projects", draft, body="of somebody else")["number"]
    expect(dialog.get_by_role("status")).to_contain_text(f"A has got {meanwhile} since you opened the post")
    dialog.get_by_label("Text").fill("of the console")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("complementary", name="Details").get_by_text("conflict", exact=True).first).to_be_visible()
    with Client(posts) as client:
        versions = client.versions("A", draft)
        assert {version["body"] for version in versions} == {"of somebody else", "of the console"}
        client.delete("A", "Projects", draft)


def test_a_new_folder_and_its_replicas(posts: str, open_page: OpenPage) -> None:
    """A folder is made where the user says. Its replica list is changed, and the tree shows the new one."""
    page = open_page(posts).page
    folders(page)
    page.get_by_role("button", name="New folder …").click()
    dialog = page.get_by_role("dialog", name="New folder")
    place = dialog.get_by_role("status")
    expect(place).to_contain_text("It will be a subfolder of Projects.")
    page.get_by_label("Name").fill("2003")
    expect(place).to_contain_text("Projects/2003")
    dialog.get_by_role("button", name="Put it at the top").click()
    expect(place).to_have_text(re.compile(r"^\s*It will be at the top: 2003\.\s*$"))
    dialog.locator("select[name=parent]").select_option("Projects")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Projects/2003")).to_be_visible()
    page.get_by_role("button", name="Properties …").click()
    page.get_by_role("checkbox", name="D").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("button", name="2003 A B C D E")).to_be_visible()
    with Client(posts) as client:
        (made,) = [each for each in client.folders("A") if each["path"] == "Projects/2003"]
    assert made["replicas"] == ["A", "B", "C", "D", "E"]


def test_the_past_of_a_folder(posts: str, open_page: OpenPage) -> None:
    """At an earlier moment the list is that of this moment, and nothing can be changed."""
    page = open_page(posts).page
    folders(page)
    expect(page.get_by_role("button", name="Plan").first).to_be_visible()
    page.keyboard.press("Home")
    expect(page.get_by_role("button", name="Plan")).to_have_count(0)
    expect(page.get_by_role("button", name="Post on A")).to_have_count(0)


def test_replicas_by_origin(posts: str, open_page: OpenPage) -> None:
    """A folder opens a table that says which changes of each store each server has, and what is missing."""
    page = open_page(posts).page
    page.get_by_role("tab", name="Replicas").click()
    page.get_by_role("row", name="Projects").get_by_role("button", name="Projects", exact=True).click()
    expect(page.get_by_role("row", name=re.compile("^E "))).to_contain_text("lacks C-1")
    page.get_by_role("button", name="All folders").click()
    expect(page.get_by_role("row", name="the hierarchy")).to_be_visible()


MOST_TABS = 150


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(MOST_TABS):
        if wanted.count() == 1 and wanted.evaluate("each => each === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{wanted} cannot be reached by the keyboard")


def test_a_post_is_followed_with_the_keyboard_alone(lab: str, open_page: OpenPage) -> None:
    """Without a mouse one can post, find the mail that brings the post in the list of mails, and read it."""
    page = open_page(lab).page
    expect(page.get_by_text("moves the clock").first).to_be_visible()
    page.keyboard.press("3")
    tree = page.get_by_role("navigation", name="Folders")
    tab_to(page, tree.get_by_role("button", name=re.compile("^Company")))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("button", name="Post on A", exact=True))
    page.keyboard.press("Enter")
    dialog = page.locator("dialog[open]")
    tab_to(page, dialog.get_by_label("Subject"))
    page.keyboard.type("By keys")
    tab_to(page, dialog.get_by_role("button", name="Post", exact=True))
    page.keyboard.press("Enter")
    expect(page.locator("#view").get_by_text("By keys").first).to_be_visible()
    with Client(lab) as client:
        client.advance("20 min")
    page.keyboard.press("4")
    search = page.get_by_role("region", name="Mails").get_by_role("searchbox")
    tab_to(page, search)
    page.keyboard.type("type:content folder:Company")
    tab_to(page, page.get_by_role("region", name="Mails").get_by_role("button").first)
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Selected").get_by_role("heading").first).to_contain_text("content")


def test_the_properties_of_a_folder(posts: str, open_page: OpenPage) -> None:
    """Schedule, limits and contacts are changed as in System Manager; only what was changed is sent. The subfolders get them
    by a button, and the content is sent again, or statuses of it are asked for."""
    watched = open_page(posts)
    page = watched.page
    folders(page)
    page.get_by_role("button", name="Properties …").click()
    dialog = page.get_by_role("dialog", name="Properties of Projects")
    schedule = dialog.get_by_label("Replication schedule")
    expect(schedule).to_have_value("always")
    assert watched.serious_violations() == []
    schedule.fill("sometimes")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("is not a day; write always, never")
    watched.complaints.clear()  # the refusal
    schedule.fill("every 4 h")
    dialog.get_by_label("Age limit").fill("30 d")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog).to_have_count(0)
    with Client(posts) as client:
        views = {view["path"]: view for view in client.folders("A")}
        assert (views["Projects"]["schedule"], views["Projects"]["age_limit"]) == ("every 4 h", "30 d")
        assert views["Projects"]["warning_limit"] is None
        page.get_by_role("button", name="Properties …").click()
        dialog.get_by_role("button", name="Synchronize its content").click()
        expect(dialog.get_by_role("status")).to_contain_text("A asks for the status of its content: B")
        dialog.get_by_label("of the last").fill("0")
        assert dialog.locator("input[name=days]").evaluate("box => box.checkValidity()") is False
        dialog.get_by_label("of the last").fill("2")
        dialog.get_by_role("button", name="Send its content").click()
        expect(dialog.get_by_role("status")).to_contain_text("A sends A-")
        dialog.get_by_role("button", name="Give them to all subfolders").click()
        expect(dialog).to_have_count(0)
        assert {view["schedule"] for view in client.folders("A") if view["path"].startswith("Projects")} == {
            "every 4 h"
        }


def test_a_schedule_is_chosen_in_a_grid(posts: str, open_page: OpenPage) -> None:
    """OUT-1: the choices have the words of the server's version and a tooltip with the words of the API. In the grid, the
    pointer and the keyboard select hours or quarters of an hour, and the field has the text that the API takes."""
    watched = open_page(posts)
    page = watched.page
    folders(page)
    page.get_by_role("button", name="Properties …").click()
    dialog = page.get_by_role("dialog", name="Properties of Projects")
    schedule = dialog.get_by_label("Replication schedule")
    schedule.fill("always")
    dialog.get_by_text("Choose the times of the folder …").click()
    choices = dialog.get_by_role("radiogroup", name="Times of the folder")
    expect(choices.get_by_label("Always run")).to_be_checked()
    expect(choices.get_by_title("every 4 h")).to_contain_text("Run every 4 hours")
    choices.get_by_label("Run every 4 hours").check()
    expect(schedule).to_have_value("every 4 h")
    choices.get_by_label("Use default schedule").check()
    expect(schedule).to_have_value("default")
    choices.get_by_label("Use custom schedule").check()
    expect(schedule).to_have_value("Mon-Fri 20:00-06:00")
    grid = dialog.get_by_role("grid", name="Times in UTC")
    expect(grid.get_by_role("gridcell", name="Tue 03:00-04:00")).to_have_attribute("aria-selected", "true")
    assert watched.serious_violations() == []

    choices.get_by_label("Never run").check()
    grid.get_by_role("gridcell", name="Mon 08:00-09:00").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    expect(schedule).to_have_value("Mon 08:00-10:00; Tue 09:00-10:00")
    expect(grid.get_by_role("gridcell", name="Tue 09:00-10:00")).to_be_focused()
    page.keyboard.press("Enter")
    expect(schedule).to_have_value("Mon 08:00-10:00")
    grid.get_by_role("button", name="all of Sun").click()
    grid.get_by_role("button", name="hour 8 on every day").click()
    expect(schedule).to_have_value("Sun; Tue-Sat 08:00-09:00; Mon 08:00-10:00")
    dialog.get_by_label("15 minutes").check()
    expect(grid.get_by_role("gridcell")).to_have_count(672)
    dialog.get_by_label("1 hour").check()

    schedule.fill("sometimes")
    expect(dialog).to_contain_text("This is no schedule: sometimes")
    schedule.fill("Sat 12:00")
    expect(grid.get_by_role("gridcell", name="Sat 12:00-13:00, partly")).to_be_visible()
    first = grid.get_by_role("gridcell", name="Wed 10:00-11:00").bounding_box()
    last = grid.get_by_role("gridcell", name="Wed 12:00-13:00").bounding_box()
    assert first is not None
    assert last is not None
    page.mouse.move(first["x"] + 3, first["y"] + 3)
    page.mouse.down()
    page.mouse.move(last["x"] + 3, last["y"] + 3, steps=12)
    page.mouse.up()
    expect(schedule).to_have_value("Wed 10:00-13:00; Sat 12:00")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog).to_have_count(0)
    with Client(posts) as client:
        (view,) = [view for view in client.folders("A") if view["path"] == "Projects"]
        assert view["schedule"] == "Wed 10:00-13:00; Sat 12:00"


@pytest.mark.parametrize(
    ("version", "age_limit", "default"),
    [
        ("5.5", "Age limit for all replicas", "Use information store schedule"),
        ("2007", "AgeLimit", "Use public folder database replication schedule"),
    ],
)
def test_properties_have_the_words_of_the_version(
    version: str, age_limit: str, default: str, tmp_path: Path, open_page: OpenPage
) -> None:
    """AD-2: a server of 5.5 or 2007 is administered in the words of its own tool; tooltips have the options of the verbs."""
    topology = f'servers: {{A: {{version: "{version}"}}}}\nfolders: {{Projects: }}\n'
    with lab_up(tmp_path, "--simulated", topology=topology) as url:
        page = open_page(url).page
        page.get_by_role("tab", name="Folders").first.click()
        page.get_by_role("button", name="Projects").first.click()
        page.get_by_role("button", name="Properties …").click()
        dialog = page.get_by_role("dialog", name="Properties of Projects")
        expect(dialog.get_by_label(age_limit)).to_have_value("none")
        expect(dialog.get_by_title("--age-limit of pflab folder change")).to_contain_text(age_limit)
        dialog.get_by_text("Choose the times of the folder …").click()
        expect(dialog.get_by_label(default)).to_be_checked()
