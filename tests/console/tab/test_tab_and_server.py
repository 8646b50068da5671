"""A lab goes from servers with real SMTP to a browser tab and back, by the buttons of the console and by `pflab up --from`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from smtplib import SMTP

import pytest
from playwright.sync_api import Page, expect

from pflab.cli.app import run
from pflab.client import Client
from pflab.runs.lab_file import unpack
from pflab.runs.run_folder import RunFolder
from pflab.terms.event_words import tag_of
from pflab.terms.verdict import ExitCode
from tests.support.console_lessons import LONGEST_MS
from tests.support.console_page import OpenPage, up
from tests.support.lab_site import StaticServer, built_lab, can_be_built
from tests.support.running_lab import lab_up
from traces.labtime import SECOND_US
from traces.reading import read_folder

pytestmark = can_be_built

TOPOLOGY = """
organization: Contoso
domain: contoso.test
sites: [SEA, NYC]
servers: {A: {site: SEA}, B: {site: SEA}, C: {site: NYC}}
connectors: [{between: [SEA, NYC], latency: 2 min}]
folders: {Projects: {replicas: [A, B, C]}}
"""

WHILE = "40 h"
"""How long the lab goes on both in the tab and on the servers, to compare them. Meanwhile a store finds out what it lacks."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with StaticServer(built_lab(tmp_path_factory)) as server:
        yield server.url


def taken(page: Page, file: Path) -> Path:
    """Take the lab of a page as one file, by the menu."""
    page.get_by_role("button", name="Save …").click()
    with page.expect_download() as found:
        page.get_by_role("button", name="Take this lab as one file").click()
    found.value.save_as(file)
    page.keyboard.press("Escape")
    return file


def events(file: Path) -> Counter[tuple[str, str, int]]:
    """Return type, server and second of each event in the traces of a lab file."""
    folder = RunFolder.at(file.with_suffix(""))
    unpack(file.read_bytes(), folder)
    return Counter((tag_of(event), event.node, event.at // SECOND_US) for event in read_folder(folder.traces).events)


@pytest.mark.parametrize("more", [[], pytest.param(["--processes"], marks=pytest.mark.long)], ids=["here", "processes"])
def test_a_lab_goes_to_a_tab_and_back(
    more: list[str],
    site: str,
    open_page: OpenPage,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In the tab the same happens as on the servers from which the lab was taken. What is posted in the tab comes back to
    servers with real SMTP, and the judge finds that they converged, with every post that was ever acknowledged."""
    monkeypatch.chdir(tmp_path)
    with lab_up(tmp_path, *more, topology=TOPOLOGY) as url, Client(url) as live:
        live.post("A", "Projects", subject="arrives")
        live.advance("1 h")
        live.inject("lose", from_="A", to="B", type="content", count=1)
        live.post("A", "Projects", subject="lost on the way to B")
        host, _, port = next(each["smtp"] for each in live.lab()["servers"] if each["name"] == "C").partition(":")
        with SMTP(host, int(port)) as outside:
            outside.sendmail("kim@else.test", ["Projects@contoso.test"], b"Subject: by SMTP\r\n\r\nHello\r\n")
        live.advance("16 min")
        live.post("B", "Projects", subject="not sent yet")
        console = open_page(url).page
        first = taken(console, tmp_path / "first.zip")
        console.close()
        live.advance(WHILE)
        (tmp_path / "later.zip").write_bytes(live.take())
        before = events(first)
        on_servers = events(tmp_path / "later.zip") - before

    tab = open_page(f"{site}?topology=one-site").page
    up(tab)
    tab.get_by_role("button", name="Save …").click()
    tab.get_by_label("Open a topology (.yaml) or the file of a lab").set_input_files(first)
    expect(tab.get_by_role("group", name="Map of the organization")).to_contain_text("SEA-NYC", timeout=LONGEST_MS)
    tab.get_by_role("button", name="Until …").click()
    tab.get_by_label("To", exact=True).fill(WHILE)
    tab.get_by_role("button", name="Go", exact=True).click()
    tab.get_by_role("tab", name="Folders").click()
    tab.get_by_role("button", name="Post on A").click()
    tab.get_by_label("Subject").fill("in the tab")
    tab.get_by_role("dialog").get_by_role("button", name="Post", exact=True).click()
    expect(tab.get_by_role("button", name="in the tab").first).to_be_visible(timeout=LONGEST_MS)
    second = taken(tab, tmp_path / "second.zip")
    in_tab = events(second) - before
    posted = {each for each in in_tab - on_servers if each[1] == "A" and each[2] == max(at for *_, at in in_tab)}
    assert {server for kind, server, _ in on_servers if kind == "version.applied"} == {"A", "B", "C"}
    assert "entry.made" in {kind for kind, *_ in on_servers}
    assert on_servers - in_tab == Counter()
    assert in_tab - on_servers == Counter(dict.fromkeys(posted, 1))
    assert "change.made" in {kind for kind, *_ in posted}

    with lab_up(tmp_path, *more, "--from", str(second), topology=None) as url, Client(url) as back:
        back.post("C", "Projects", subject="back again")
        assert back.until_converged("Projects", "54 h")["held"]
        everything = {"arrives", "lost on the way to B", "by SMTP", "not sent yet", "in the tab", "back again"}
        for server in "ABC":
            assert {each["subject"] for each in back.messages(server, "Projects")} == everything
    capsys.readouterr()
    assert run(["check", "runs/latest", "--engine", "embedded", "--json"]) == ExitCode.GOOD
    assert json.loads(capsys.readouterr().out)["judgement"] == "converged"
