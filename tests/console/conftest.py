"""Labs, and pages of their console in Chromium. A test fails if its page complains or asks for another machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Unpack

import pytest
from playwright.sync_api import Browser, Playwright, expect, sync_playwright

from tests.support.chromium import chromium
from tests.support.console_page import OpenPage, Screen, WatchedPage, firefox, launch, launch_firefox, shell
from tests.support.running_lab import lab_up


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder: the browser is no part of `make test`."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.console)


LONGEST_MS = 60_000
"""How long a page may take on a busy machine. A page that is right is seldom slower than a second."""

expect.set_options(timeout=LONGEST_MS)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as found:
        yield found


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Chromium for tests of what a page shows. What a browser keeps and loads is tested in `each_browser`."""
    if shell() is None and chromium() is None:
        pytest.skip("Chromium is not installed; on Debian: apt-get install chromium")
    with closing(launch(playwright, shell())) as found:
        yield found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of Firefox, where it saves files."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module", params=["Chromium", "Firefox"])
def each_browser(request: pytest.FixtureRequest, playwright: Playwright, home: Path) -> Iterator[Browser]:
    """Chromium, and then Firefox, for the modules whose `browser` it is."""
    if (chromium if request.param == "Chromium" else firefox)() is None:
        pytest.skip(f"{request.param} is not installed; on Debian: apt-get install chromium firefox-esr")
    with closing(launch(playwright) if request.param == "Chromium" else launch_firefox(playwright, home)) as found:
        yield found


@pytest.fixture(scope="module")
def lab(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an embedded lab with five stores in three sites and a paused clock. All tests of a module share it."""
    organization = (project_root / "topology" / "examples" / "default.yaml").read_text("utf-8")
    with lab_up(tmp_path_factory.mktemp("lab"), topology=organization) as url:
        yield url


@pytest.fixture(scope="session")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that the verb replay writes of a simulated run."""
    place = tmp_path_factory.mktemp("replay")
    file = place / "run.html"
    for words in (
        ["simulate", "--seeds", "103", "--traces", str(place)],
        ["replay", str(place / "latest"), "-o", str(file)],
    ):
        subprocess.run([sys.executable, "-m", "pflab", *words], check=True, capture_output=True, timeout=120)
    return file


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Opens pages. At the end no page may have complained or asked for another machine. A test that provokes a complaint
    clears it."""
    with ExitStack() as stack:
        opened: list[WatchedPage] = []

        def open_(
            address: str,
            **screen: Unpack[Screen],
        ) -> WatchedPage:
            watched = WatchedPage(browser, **screen)
            stack.callback(watched.close)
            opened.append(watched)
            watched.page.goto(address)
            return watched

        yield open_
        assert [each for watched in opened for each in watched.complaints] == []
        assert [each for watched in opened for each in watched.strangers] == []
