"""A pupil's own lab in the pupil's browser: the server passes one file, and simulates nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from pflab.client import Client
from tests.support.class_up import class_up
from tests.support.console_page import OpenPage, up
from tests.support.lab_site import built_lab, can_be_built

LONGEST_MS = 120_000


@can_be_built
def test_the_lab_of_the_moment_runs_in_the_pupils_browser(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, open_page: OpenPage
) -> None:
    """With the files of make site, a pupil takes the lab of the moment into a tab of the browser: it is what the common lab is,
    and what the pupil does in it the class does not see. The server has no lab of a pupil. At the
    first text, the tab begins the lesson."""
    site = built_lab(tmp_path_factory).parent
    with class_up(tmp_path, "--lesson", "new-post", "--labs", "0", "--site", str(site)) as served:
        url = served.ready["url"]
        pupil = open_page(served.ready["pupils"]).page
        pupil.get_by_label("Your name").fill("Kim")
        pupil.get_by_role("button", name="Join").click()
        take = pupil.get_by_role("button", name="Take this lab")
        expect(take).to_be_visible(timeout=LONGEST_MS)
        with pupil.expect_popup() as popup:
            take.click()
        expect(popup.value.get_by_role("region", name="Lesson")).to_be_visible(timeout=LONGEST_MS)
        popup.value.close()
        with Client(url, token=served.ready["trainer"]) as trainer:
            seen = trainer.json("GET", "/room")
            for step in range(2):
                seen = trainer.json("POST", "/room/next", {"seen": step})
            events = trainer.content("GET", f"{seen['lab']}/lab/events").count(b"\n")
            expect(pupil.get_by_text(seen["text"])).to_be_visible(timeout=LONGEST_MS)
            with pupil.expect_popup() as popup:
                take.click()
            own = popup.value
            up(own)
            server = own.get_by_role("button", name="Server A,")
            expect(own.get_by_role("button", name="Server D,")).to_have_count(
                0
            )  # of the example that a tab begins with
            expect(own).to_have_url(re.compile(r"/tab/\?class"))
            server.click(timeout=LONGEST_MS)
            own.get_by_role("button", name="Stop", exact=True).click(timeout=LONGEST_MS)
            expect(server).to_have_accessible_name(re.compile("stopped"), timeout=LONGEST_MS)
            assert trainer.content("GET", f"{seen['lab']}/lab/events").count(b"\n") == events
            (listed,) = trainer.json("GET", "/room/pupils")
            assert listed["lab"] is None
        own.close()
