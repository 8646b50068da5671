"""Logging in with a browser: the form, the cookie, and the stream of events, which no script can give a header field."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import expect

from pflab.runs.run_folder import RunFolder
from tests.support.console_page import AXE, OpenPage
from tests.support.coordinator_process import running_coordinator
from tests.support.lab_factory import TOKEN
from tests.support.process_supervisor import ProcessSupervisor
from tests.support.topologies import TWO_STORES
from topology.file.load import topology_from_text


@pytest.fixture(scope="module")
def guarded_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a coordinated lab, which requires its token."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "lab.yaml").write_text(TWO_STORES, "utf-8")
    organization = topology_from_text(TWO_STORES)
    with (
        ProcessSupervisor(organization, RunFolder.at(folder / "run"), token=TOKEN) as supervisor,
        running_coordinator(supervisor, folder) as url,
    ):
        yield url


def test_a_user_logs_in_and_out(guarded_lab: str, open_page: OpenPage) -> None:
    """The console asks for the token, says that a wrong one is wrong, shows and changes the lab with the right one, and asks
    again after the user has logged out."""
    watched = open_page(guarded_lab)
    page = watched.page
    expect(page).to_have_url(f"{guarded_lab}/login")
    token = page.get_by_label("Token")
    token.fill("wrong")
    token.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("This is not a token of this lab.")
    assert ["403" in each for each in watched.complaints] == [True]
    watched.complaints.clear()
    token.fill(TOKEN)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("button", name="Server A,")).to_be_visible()
    assert page.evaluate("document.cookie") == ""
    moved = page.evaluate(
        "fetch('/lab/clock/advance', {method: 'POST', body: JSON.stringify({to: '1 min'}),"
        " headers: {'Content-Type': 'application/json'}}).then(answer => answer.status)"
    )
    assert moved == 200
    page.goto(f"{guarded_lab}/logout")
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_url(f"{guarded_lab}/login")
    page.goto(guarded_lab)
    expect(page).to_have_url(f"{guarded_lab}/login")


@pytest.fixture
def other_site(guarded_lab: str) -> Iterator[str]:
    """The URL of a page of another program on this machine, whose button sends a form to the lab."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            form = f"<form method=post action={guarded_lab}/lab/servers/A/kill><button>Win</button></form>"
            page = f"<!doctype html><link rel=icon href=data:,>{form}".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_another_site_changes_nothing(guarded_lab: str, other_site: str, open_page: OpenPage) -> None:
    """The browser sends the cookie with a form of another port of the same machine, but the lab refuses the request."""
    watched = open_page(guarded_lab)
    page = watched.page
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("button", name="Server A,")).to_be_visible()
    page.goto(other_site)
    with page.expect_response(f"{guarded_lab}/lab/servers/A/kill") as found:
        page.get_by_role("button", name="Win").click()
    assert "pflab-" in found.value.request.all_headers()["cookie"]
    assert found.value.status == 403
    expect(page.get_by_text("another origin")).to_be_visible()
    watched.complaints.clear()


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed; make test-console installs it if there is npm")
def test_everybody_can_log_in(guarded_lab: str, open_page: OpenPage) -> None:
    """axe-core finds no serious violation on the log-in page."""
    assert open_page(guarded_lab).serious_violations() == []
