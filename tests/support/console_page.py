"""A page of the console in Chromium or Firefox, steered by Playwright, with everything that went wrong in it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Final, Protocol, TypedDict, Unpack
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Playwright,
    Request,
    WebError,
    expect,
)

from tests.support.chromium import FLAGS, chromium

AXE: Final = Path(__file__).resolve().parents[2] / "node_modules" / "axe-core" / "axe.min.js"
"""The checker of accessibility, which `make test-console` installs from npm."""

SERIOUS: Final = ("serious", "critical")

PATIENCE_MS: Final = 120_000
"""How long a page may take to load on a busy machine."""

LOADED_FROM: Final = ("about", "blob", "data", "file")
"""The schemes of addresses that need no network."""

OWN_FLAGS: Final = frozenset({"--headless", "--remote-debugging-pipe"})
"""What Playwright gives to Chromium itself."""


def launch(playwright: Playwright, program: str | None = None) -> Browser:
    """Start Debian's Chromium without a window. It finds no host but this machine.

    program: its path, if it is not Chromium itself.
    """
    return playwright.chromium.launch(executable_path=program or chromium(), args=_flags())


def shell() -> str | None:
    """Return the path of Chromium's headless shell, or None. It has the engine of Chromium without the window around the page,
    and takes two thirds of its processor time; its caches answer a reload otherwise."""
    return shutil.which("chromium-headless-shell")


def launch_forgetful(playwright: Playwright, profile: Path) -> BrowserContext:
    """Start Debian's Chromium with the setting that no site may keep anything: cookies, storage, shared workers.

    profile: an empty folder.
    """
    preferences = profile / "Default" / "Preferences"
    preferences.parent.mkdir()
    preferences.write_text('{"profile": {"default_content_setting_values": {"cookies": 2}}}', "utf-8")
    return playwright.chromium.launch_persistent_context(profile, executable_path=chromium(), args=_flags())


def _flags() -> list[str]:
    flags = [flag for flag in FLAGS if flag not in OWN_FLAGS]
    return [*flags, "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"]


def firefox() -> str | None:
    """Return the path of Firefox, or None."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


def launch_firefox(playwright: Playwright, folder: Path) -> Browser:
    """Start Debian's Firefox without a window, steered by WebDriver BiDi.

    folder: its home, because root's Firefox wants one that belongs to root; files that it saves go there too.
    """
    environment: dict[str, str | float | bool] = {**os.environ, "HOME": str(folder)}
    return playwright.firefox.launch(
        executable_path=firefox(), channel="moz-firefox", env=environment, downloads_path=folder
    )


ABORTED: Final = "“AbortError: The operation was aborted. ”"
"""What Firefox writes, now and then, if a page gives up an answer whose body is a stream. No promise of the page is rejected:
the page gets no event `unhandledrejection`."""

MAY_BE_GONE: Final = re.compile(r"/nodes/\w+/versions\?|/lab/mails/")
"""What a lab that runs on can drop between the event that a page shows and the page's request. The page tells the user so, but
Chromium also writes a line."""


def up(page: Page) -> None:
    """Wait until a page shows its lab."""
    expect(page.get_by_role("tab", name="Map")).to_be_visible(timeout=PATIENCE_MS)


def open_server(page: Page, name: str, part: str) -> None:
    page.get_by_role("button", name=f"Server {name},").click()
    page.get_by_label("Details").get_by_role("tab", name=part).click()


def properties(page: Page, folder: str) -> Locator:
    """Open the properties of a top folder."""
    page.get_by_role("tab", name="Folders", exact=True).first.click()
    page.get_by_role("navigation", name="Folders").get_by_role("button", name=re.compile(rf"^{folder} ")).click()
    page.get_by_role("button", name="Properties …").click()
    return page.get_by_role("dialog", name=f"Properties of {folder}")


class Screen(TypedDict, total=False):
    """What a page is shown on: 1280 x 720, light, unless something else is said.

    forced: the system's colours replace those of the page.
    calm: the user wants no motion.
    """

    width: int
    height: int
    dark: bool
    forced: bool
    calm: bool


class WatchedPage:
    """A page in a browser context of its own.

    complaints: errors and warnings of the console, uncaught exceptions, and answers that are no success. strangers: addresses
    outside of this machine that the page asked for.
    """

    def __init__(
        self,
        browser: Browser,
        **screen: Unpack[Screen],
    ) -> None:
        self._context = browser.new_context(
            viewport={"width": screen.get("width", 1280), "height": screen.get("height", 720)},
            color_scheme="dark" if screen.get("dark") else "light",
            forced_colors="active" if screen.get("forced") else "none",
            reduced_motion="reduce" if screen.get("calm") else "no-preference",
        )
        self.complaints: list[str] = []
        self.strangers: list[str] = []
        self._context.on("request", self._asked)
        self._context.on("console", self._told)
        self._context.on("weberror", self._failed)
        self._context.set_default_timeout(PATIENCE_MS)
        self.page: Page = self._context.new_page()

    def another_tab(self, address: str) -> Page:
        """Open an address in another tab of the same browser, which shares with the first what tabs share."""
        page = self._context.new_page()
        page.goto(address)
        return page

    def close(self) -> None:
        self._context.close()

    def serious_violations(self) -> list[str]:
        """Return what axe-core finds on the page as it is now, if it is serious or critical."""
        self.page.evaluate(AXE.read_text("utf-8"))
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{each['id']}: {each['help']}: {node['html']} {node['failureSummary']}"
            for each in found["violations"]
            if each["impact"] in SERIOUS
            for node in each["nodes"]
        ]

    def _asked(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in LOADED_FROM and address.hostname not in {"127.0.0.1", "localhost"}:
            self.strangers.append(request.url)

    def _failed(self, found: WebError) -> None:
        if ABORTED not in str(found.error):
            self.complaints.append(f"exception: {found.error}")

    def _told(self, message: ConsoleMessage) -> None:
        address = message.location.get("url", "")
        gone = "404 (Not Found)" in message.text and MAY_BE_GONE.search(address) is not None
        if message.type in {"error", "warning"} and not gone:
            self.complaints.append(f"{message.type}: {message.text} ({address})")


class OpenPage(Protocol):
    """The fixture `open_page`."""

    def __call__(
        self,
        address: str,
        **screen: Unpack[Screen],
    ) -> WatchedPage:
        """Open a page in a browser context of its own."""
