"""The files of a lab in a browser tab: kept for use without a network, of one version, and bound by a policy.

Each test plays in Chromium and in Firefox.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from docs.lab_site import site
from tests.support.console_lessons import LONGEST_MS, go_on
from tests.support.console_page import OpenPage
from tests.support.lab_site import StaticServer, built_lab, can_be_built

pytestmark = can_be_built


@pytest.fixture(scope="module")
def browser(each_browser: Browser) -> Browser:
    """Each test plays in both browsers."""
    return each_browser


@pytest.fixture
def files(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the lab, which a test may change."""
    return shutil.copytree(built_lab(tmp_path_factory), tmp_path / "lab")


@pytest.fixture
def served(files: Path) -> Iterator[StaticServer]:
    with StaticServer(files) as server:
        yield server


def up(page: Page) -> None:
    """Wait until the lab of a page is up."""
    expect(page.get_by_role("tab", name="Map")).to_be_visible(timeout=LONGEST_MS)


def is_kept(page: Page) -> bool:
    """Return whether a page has its files from the service worker."""
    return page.evaluate("navigator.serviceWorker?.controller != null") is True


def publish(files: Path, changes: dict[str, tuple[str, str]]) -> None:
    """Publish another version, in which some files have one text in place of another."""
    for name, (old, new) in changes.items():
        text = (files / name).read_text("utf-8")
        assert old in text
        (files / name).write_text(text.replace(old, new), "utf-8")
    lists = {site.CONTENT, site.SERVICE_WORKER}
    content = {path.relative_to(files).as_posix(): path.read_bytes() for path in files.rglob("*") if path.is_file()}
    for name, data in site.lists_of({name: content[name] for name in sorted(content.keys() - lists)}).items():
        (files / name).write_bytes(data)


def test_the_second_visit_needs_no_network(served: StaticServer, open_page: OpenPage) -> None:
    """After the first visit, lessons and topologies that were not opened before are played without a network."""
    watched = open_page(served.url)
    up(watched.page)
    assert is_kept(watched.page)
    watched.page.close()
    served.cut()
    page = watched.another_tab(f"{served.url}?lesson=lost-mail&topology=two-sites")
    card = page.get_by_role("region", name="Lesson")
    expect(card).to_be_visible(timeout=LONGEST_MS)
    go_on(card, card.locator("button.primary"))
    card.get_by_role("button", name="End", exact=True).click()
    expect(page.get_by_role("button", name="Server A,")).to_be_visible()
    expect(page.get_by_role("button", name="Server E,")).to_have_count(0)


VERSION = {
    "index.html": ("<body>", '<body data-version="2">'),
    "console/tab/opening.js": ("Begin again", "Begin again 2"),
    "preview/topology/one-site.json": ("Contoso", "Contoso 2"),
}

HAS = """async ([name, text]) => (await (await fetch(`./${name}`)).text()).includes(text)"""

UPDATED = """async () => {
  const lab = await navigator.serviceWorker.getRegistration("./");
  await lab.update();
  while (!lab.waiting) await new Promise((resolve) => { setTimeout(resolve); });
}"""

LEFT = """async () => {
  while ((await navigator.serviceWorker.getRegistration("/below/lab/")).waiting) await new Promise(requestAnimationFrame);
}"""


def test_a_new_version_replaces_the_old_one_whole(served: StaticServer, files: Path, open_page: OpenPage) -> None:
    """While a page of the old version is open, it and each new tab have the old files, even those that nobody has loaded yet.
    After the last one all files are new, and the browser keeps no other."""
    watched = open_page(served.url)
    up(watched.page)
    publish(files, VERSION)
    watched.page.evaluate(UPDATED)
    beside = watched.another_tab(served.url)
    for page in (watched.page, beside):
        up(page)
        assert page.locator("body[data-version]").count() == 0
        assert not any(page.evaluate(HAS, [name, new]) for name, (_, new) in VERSION.items())
    outside = watched.another_tab(served.outside)
    watched.page.close()
    beside.close()
    outside.evaluate(LEFT)
    page = watched.another_tab(served.url)
    assert page.locator("body[data-version]").count() == 1
    assert all(page.evaluate(HAS, [name, new]) for name, (_, new) in VERSION.items())
    assert len(page.evaluate("caches.keys()")) == 1


def test_a_file_that_was_changed_is_not_kept(served: StaticServer, files: Path, open_page: OpenPage) -> None:
    """If one file is not that of the list, the browser keeps none, and the lab plays with the network. Once the files are
    right, the next visit keeps them."""
    example = files / "topology" / "one-site.yaml"
    right = example.read_bytes()
    example.write_bytes(right + b"\n")
    watched = open_page(served.url)
    up(watched.page)
    assert not is_kept(watched.page)
    assert watched.page.evaluate("caches.keys()") == []
    example.write_bytes(right)
    page = watched.another_tab(served.url)
    up(page)
    assert is_kept(page)


@pytest.mark.parametrize("content", [None, "export const renamed = true;\n"], ids=["missing", "of another version"])
def test_a_page_without_its_programs_says_so(
    served: StaticServer, files: Path, open_page: OpenPage, content: str | None
) -> None:
    """If the network ends while the page loads its programs, or the site is replaced meanwhile, the page says so, and the next
    attempt succeeds."""
    program = files / "console" / "tab" / "opening.js"
    right = program.read_text("utf-8")
    if content is None:
        served.missing.add(program.name)
    else:
        program.write_text(content, "utf-8")
    watched = open_page(served.url)
    expect(watched.page.get_by_text("A program of this page could not be loaded.")).to_be_visible()
    watched.complaints.clear()
    served.missing.clear()
    program.write_text(right, "utf-8")
    watched.page.reload()
    up(watched.page)


def test_a_kept_file_that_is_removed_comes_again(served: StaticServer, open_page: OpenPage) -> None:
    """If a file is no longer in the browser's cache, it comes from the network, and is kept again."""
    watched = open_page(served.url)
    up(watched.page)
    watched.page.evaluate("caches.keys().then((names) => Promise.all(names.map((name) => caches.delete(name))))")
    watched.page.reload()
    watched.page.get_by_role("button", name="Start over").or_(
        watched.page.get_by_role("tab", name="Map")
    ).first.wait_for()
    assert watched.page.evaluate("caches.match('./index.html').then(Boolean)")


def test_a_browser_without_service_workers_plays_the_lab(served: StaticServer, open_page: OpenPage) -> None:
    """In a private window, or on another host without HTTPS, the lab is played as long as there is a network."""
    watched = open_page("about:blank")
    watched.page.add_init_script("delete Navigator.prototype.serviceWorker")
    watched.page.goto(served.url)
    up(watched.page)
    assert not is_kept(watched.page)


def test_the_console_of_a_server_has_no_service_worker(lab: str, open_page: OpenPage) -> None:
    """The page of a server comes from the server each time."""
    page = open_page(lab).page
    expect(page.get_by_role("tab", name="Map")).to_be_visible()
    assert page.evaluate("navigator.serviceWorker.getRegistrations().then((found) => found.length)") == 0
