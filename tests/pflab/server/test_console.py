"""The console's files come from the lab's own server, with headers that keep a page from loading anything else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlsplit

import pytest

from pflab.replay.console_files import CONSOLE
from pflab.server.console import TYPES
from tests.support.running_lab import lab_up
from topology.enums import ALL_VERSIONS
from topology.settings.catalogue import find_spec

pytestmark = pytest.mark.live


@pytest.fixture(scope="module", params=["embedded", "processes"])
def lab(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a lab that is up."""
    more = ["--processes"] if request.param == "processes" else []
    with lab_up(tmp_path_factory.mktemp("lab"), *more) as url:
        yield url


def get(lab: str, path: str, **headers: str) -> tuple[HTTPResponse, bytes]:
    """Return the answer and its body; the path is sent as it is, even if it is not a normal one."""
    connection = HTTPConnection(urlsplit(lab).netloc, timeout=30)
    try:
        connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()


def test_every_file_of_the_console_is_served(lab: str) -> None:
    """A file of the folder has its content type, and the strict headers of the page."""
    files = [path for path in CONSOLE.rglob("*") if path.suffix in TYPES]
    assert files
    for path in files:
        answer, content = get(lab, f"/console/{path.relative_to(CONSOLE).as_posix()}")
        assert (answer.status, content) == (200, path.read_bytes()), path
        assert answer.headers["Content-Type"] == TYPES[path.suffix]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"


def test_the_page_may_load_only_from_its_server(lab: str) -> None:
    """The page's policy allows scripts, styles and requests of this server alone: nothing inline, no frame around it."""
    answer, content = get(lab, "/")
    assert content == (CONSOLE / "index.html").read_bytes()
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    rules = dict(rule.split(" ", 1) for rule in answer.headers["Content-Security-Policy"].split("; "))
    assert rules.pop("img-src") == "'self' data:"
    for kind in ("default-src", "base-uri", "frame-ancestors"):
        assert rules.pop(kind) == "'none'"
    assert rules == dict.fromkeys(("script-src", "style-src", "font-src", "connect-src", "form-action"), "'self'")


def test_without_scripts_the_page_leads_to_the_others(lab: str) -> None:
    """The page has no script or style of its own text, and links for browsers without scripts, which all exist."""
    page = get(lab, "/")[1].decode()
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)
    noscript = page.partition("<noscript>")[2].partition("</noscript>")[0]
    links = re.findall(r'href="([^"]*)"', noscript)
    assert set(links) >= {"/docs", "/lab", "/readyz"}
    assert [get(lab, link)[0].status for link in links] == [200] * len(links)


def test_a_browser_asks_again_and_gets_only_what_has_changed(lab: str) -> None:
    """A browser asks about a file each time; if it has the file already, the answer has no content."""
    first, content = get(lab, "/console/main.js")
    assert first.headers["Cache-Control"] == "no-cache"
    again, nothing = get(lab, "/console/main.js", If_None_Match=f'"other", {first.headers["ETag"]}')
    assert (again.status, nothing) == (304, b"")
    other, changed = get(lab, "/console/main.js", If_None_Match='"other"')
    assert (other.status, changed) == (200, content)


@pytest.mark.parametrize(
    "path",
    [
        *("", "nothing.js", "vendor", "vendor/", "vendor/make.mjs", "main.js/", "/main.js", "main.js%00", "a" * 5000),
        *("../pyproject.toml", "vendor/../../node/errors.py", "..%2fnode%2ferrors.py", "%2e%2e/README.md"),
        *("%2fetc%2fpasswd", "//etc/passwd", "..\\README.md", ".hidden.js", "vendor/.hidden.json"),
        *("vendor/" * 9 + "vendor.json", "/".join(["vendor", "..", "main.js"])),
    ],
)
def test_no_path_leaves_the_folder(lab: str, path: str) -> None:
    """A path that is not a file of the console answers 404, however it is written."""
    answer, content = get(lab, f"/console/{path}")
    assert answer.status == 404
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert b"root:" not in content


def test_the_console_knows_the_versions_that_cannot_suspend_content() -> None:
    """RP-5: the versions in the console are those for which the catalogue has no such setting."""
    script = (CONSOLE / "views" / "panel" / "administration.js").read_text("utf-8")
    (name,) = re.findall(r'^const SUSPENDED = "(.+)";$', script, re.MULTILINE)
    (versions,) = re.findall(r"^export const NEVER_SUSPENDED = (\[.+\]);$", script, re.MULTILINE)
    assert json.loads(versions) == [
        version.value for version in ALL_VERSIONS if version not in find_spec(name).versions
    ]
