"""The same calls of the client give the same lab, whether its driver simulates the network or uses sockets."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pflab.client import Client, ClientError
from pflab.testing.lab import Lab
from tests.support.lab_actions import everything
from tests.support.running_lab import lab_up

pytestmark = pytest.mark.live

TOPOLOGY = """
sites: [SEA, NYC]
connectors: [{between: [SEA, NYC], latency: 2 min}]
servers: {A: {site: SEA}, B: {site: SEA}, C: {site: NYC}, D: {site: NYC, joins: later}}
folders:
  Projects: {replicas: [A, B, C], contacts: [kim@contoso.test]}
  News: {replicas: [B]}
"""


def work(lab: Client) -> list[tuple[dict[str, Any], Counter[tuple[str, str, str]]]]:
    """Do what users, administrators and faults do. Return what they see after each part, and the events by node, type and lab
    time."""
    seen = []

    def look() -> None:
        lab.advance("0 s")  # a live lab does at once, but not before it answers, what a change makes due
        events = [each for each in lab.events() if each["type"] not in {"clock.changed", "run.started", "node.started"}]
        seen.append((everything(lab), Counter((each["node"], each["type"], each["at"]) for each in events)))

    first = lab.post("A", "Projects", subject="one")["id"]
    look()
    lab.advance("20 min")
    lab.inject("lose", from_="A", to="C", type="content", count=1)
    lab.edit("A", "Projects", first, subject="one, by A")
    lab.edit("C", "Projects", first, subject="one, by C")
    look()
    lab.synchronize("B", "Projects")
    look()
    lab.content("POST", "/lab/servers/B/mail?from=kim@outside.test&to=news@contoso.test", b"Subject: mail\r\n\r\nx\r\n")
    lab.create_folder("A", "Projects/Fresh", replicas=["A", "C"])
    look()
    lab.start("D")
    assert lab.until_converged("1-1", "54 h")["held"]
    look()
    lab.kill("C")
    lab.advance("2 h")
    look()
    lab.start("C")
    look()
    backup = lab.backup("B")
    lab.post("B", "Projects", subject="lost by the restore")
    lab.restore("B", backup)
    for _ in range(20):
        lab.step("1 h")
    look()
    assert lab.until_converged("Projects", "54 h")["held"]
    look()
    return seen


@pytest.mark.long
def test_simulated_and_embedded_labs_do_the_same(tmp_path: Path) -> None:
    """Each part ends at the same lab time, with the same messages and digests, after the same events; also after a reset.
    Starts are not compared: a reset starts the stores of a lab with sockets again, and the simulator goes on with them."""
    seen = {}
    for driver, more in (("embedded", []), ("simulated", ["--simulated"])):
        folder = tmp_path / driver
        folder.mkdir()
        with lab_up(folder, *more, topology=TOPOLOGY) as url, Lab(url) as lab:
            lab.save("start")
            seen[driver] = work(lab)
            lab.go_back("start")
            seen[driver] += work(lab)
    for embedded, simulated in zip(seen["embedded"], seen["simulated"], strict=True):
        assert simulated[0] == embedded[0]
        assert simulated[1] - embedded[1] == embedded[1] - simulated[1] == Counter()


BODIES = (
    b"",
    b"x",
    b"Subject: x\n\nx",
    b"Subject: x\r\rx\r",
    b"Subject: x\r\n\r\n.\n..\r\n",
    b"Subject: x\r\n\r\nx\r\n",
)
"""Mails with and without line ends."""


def deliver(lab: Lab) -> list[object]:
    """Deliver good and bad mails. Return the answers, and what the store has of them."""
    seen: list[object] = []
    for sender, recipients in (
        ("kim@x.test", ["projects@contoso.test", "nobody@contoso.test"]),
        ("kim@x.test", ["nobody@contoso.test", "none@contoso.test"]),
        ("é@x.test", ["projects@contoso.test"]),
        ("kim", ["projects@contoso.test"]),
        ("kim@x.test", ["projects@contoso.test", "kim"]),
        ("", ["projects@contoso.test"]),
    ):
        try:
            seen.append(lab.deliver("A", sender, recipients, b"Subject: x\r\n\r\nx\r\n"))
        except ClientError as error:
            seen.append((error.status, str(error)))
    for body in BODIES:
        lab.deliver("A", "kim@x.test", ["projects@contoso.test"], body)
    messages = lab.messages("A", "Projects")
    return [*seen, sorted(each["size"] for each in messages), lab.digests("A")]


@pytest.mark.long
def test_simulated_and_embedded_labs_take_the_same_mail_from_outside(tmp_path: Path) -> None:
    """A mail goes to the recipients that the server knows, and the answer names the others. Its lines end with CRLF."""
    seen = {}
    for driver, more in (("embedded", []), ("simulated", ["--simulated"])):
        folder = tmp_path / driver
        folder.mkdir()
        with lab_up(folder, *more, topology=TOPOLOGY) as url, Lab(url) as lab:
            seen[driver] = deliver(lab)
    unknown = "5.1.1 no such address in this organization"
    assert seen["embedded"][:5] == [
        {"nobody@contoso.test": f"550 {unknown}: nobody@contoso.test"},
        (422, f"550 {unknown}: nobody@contoso.test; {unknown}: none@contoso.test"),
        (422, '"é@x.test" is not a mail address; write an address such as kim@outside.test'),
        (422, '"kim" is not a mail address; write an address such as kim@outside.test'),
        (422, '"kim" is not a mail address; write an address such as kim@outside.test'),
    ]
    assert seen["simulated"] == seen["embedded"]
