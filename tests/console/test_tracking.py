"""Message tracking in a browser: the tab Mails finds the mail of people and says what became of it."""

from __future__ import annotations

import re
import smtplib
from collections.abc import Iterator
from email.message import EmailMessage

import pytest
from playwright.sync_api import expect

from pflab.client import Client
from tests.support.console_page import OpenPage


@pytest.fixture
def written(lab: str) -> Iterator[Client]:
    """A lab with mail of people: posted on A, in a mailbox of A, and waiting for the connector to LON."""
    with Client(lab) as client:
        servers = {server["name"]: server["smtp"].rsplit(":", 1) for server in client.lab()["servers"]}
        client.inject("cut", connector="NYC-LON")
        for server, sender, recipient, subject in (
            ("A", "kim@contoso.test", "Projects@contoso.test", "Weekly report"),
            ("A", "lee@outside.test", "kim@contoso.test", "Lunch"),
            ("E", "kim@contoso.test", "Archive@contoso.test", "Waits"),
        ):
            mail = EmailMessage()
            mail["From"], mail["To"], mail["Subject"], mail["Message-ID"] = (
                sender,
                recipient,
                subject,
                f"<{subject[:3]}@x>",
            )
            host, port = servers[server]
            with smtplib.SMTP(host, int(port)) as smtp:
                smtp.send_message(mail, sender, [recipient])
        client.advance("20 min")
        yield client


def test_what_happened_to_a_mail(lab: str, written: Client, open_page: OpenPage) -> None:
    """Who asks what happened to the mail from kim to Projects on 21 October fills in a form, and reads where the mail is. The
    command for the terminal says the same. What was delivered does not wait any more."""
    watched = open_page(lab)
    page = watched.page
    page.get_by_role("tab", name="Mails").click()
    page.get_by_text("Track a mail").click()
    form = page.get_by_role("form", name="Track a mail")
    rows = page.get_by_role("region", name="Mails").locator("tbody tr")
    form.get_by_label("From").fill("kim@contoso.test")
    form.get_by_label("To", exact=True).fill("Projects")
    form.get_by_label("Day").fill("2003-10-21")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text(
        re.compile(r"kim@contoso\.test\s*Projects@contoso\.test\s*Weekly report\s*arrived$")
    )
    expect(page.get_by_text("pflab track --from kim@contoso.test --to Projects --day 2003-10-21")).to_be_visible()
    assert watched.serious_violations() == []
    rows.first.get_by_role("button").click()
    details = page.get_by_label("Details")
    expect(details).to_contain_text("Weekly report")
    expect(details).to_contain_text(re.compile("Delivered on\\s*A"))
    form.get_by_label("To", exact=True).fill("")
    form.get_by_label("State").select_option("waiting")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("Waits")
    expect(page.get_by_role("searchbox", name="Search")).to_have_value(
        "from:kim@contoso.test day:2003-10-21 is:waiting"
    )
    (copy,) = (copy for copy in written.queue("E") if copy["subject"] == "Waits")
    written.change_queue("E", "return", mails=[copy["id"]])
    expect(rows).to_have_count(0)
    form.get_by_label("State").select_option("returned")
    expect(rows.first).to_contain_text(re.compile("Waits\\s*returned"))
