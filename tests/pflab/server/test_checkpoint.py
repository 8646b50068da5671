"""The checkpoint of a lab that has forgotten its first events, over HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pflab.client import Client
from pflab.runs.checkpoint import Checkpoint
from tests.support.forgetful_lab import MOST_EVENTS, forgetful_lab
from tests.support.lab_with_beginning import DRIVERS, lab_with_beginning
from traces.reading import read_folder

pytestmark = pytest.mark.live


def checkpoint_of(lab: Client) -> dict[str, Any]:
    return dict(lab.json("GET", "/lab/checkpoint", None))


def first_of(lab: Client) -> str:
    return str(lab.messages("A", "Projects")[0]["id"])


def test_a_checkpoint_is_what_came_before_the_oldest_event(tmp_path: Path) -> None:
    """The state has the folders, posts and stops of forgotten events, and later events are told with the names that these have
    introduced."""
    with forgetful_lab(tmp_path) as lab:
        found = checkpoint_of(lab)
        events = [json.loads(line) for line in lab.content("GET", "/lab/events?words=true").splitlines()]
        lab.edit("A", "Projects", first_of(lab), subject="Early, and changed")
        newest = lab.content("GET", "/lab/events?words=true&last=5").decode()
    state = found["state"]
    assert found["after"] == state["count"] > MOST_EVENTS
    assert len(events) <= MOST_EVENTS
    assert {server["status"] for server in state["servers"].values()} == {"running", "stopped"}
    assert {folder["path"] for folder in state["folders"].values()} == {"the hierarchy", "Projects", "News"}
    assert "Early 0" in {change["subject"] for change in state["changes"].values()}
    assert "changes 'Early, and changed' in Projects as A-5" in newest
    assert not any("Setup-" in event["words"] for event in events if event["type"] == "mail.submitted")
    whole = {(event.node, event.seq) for event in read_folder(next(tmp_path.rglob("traces"))).events}
    assert {(event["node"], event["seq"]) for event in events} <= whole


@pytest.mark.parametrize("driver", DRIVERS[:1])
def test_a_lab_that_has_forgotten_nothing_has_no_checkpoint(tmp_path: Path, driver: str) -> None:
    """Then a console begins with the run."""
    with lab_with_beginning(tmp_path, driver, "servers: {A: }\n") as lab:
        assert checkpoint_of(lab) == {"history": lab.json("GET", "/lab", None)["history"], "after": 0, "state": None}


def test_a_checkpoint_keeps_only_the_newest_of_what_is_past(tmp_path: Path) -> None:
    """Mails that have arrived and changes that were replaced are forgotten, so that a lab of any age has a checkpoint of one
    size; what a store shows is not."""
    with forgetful_lab(tmp_path) as lab:
        for number in range(30):
            lab.edit("A", "Projects", first_of(lab), subject=f"Again {number}")
            lab.advance("15 min")
    events = sorted(read_folder(next(tmp_path.rglob("traces"))).events, key=lambda event: (event.lamport, event.at))
    checkpoint = Checkpoint(past_mails=3, past_changes=3)
    for begin in range(0, len(events), 50):
        checkpoint.take(events[begin : begin + 50])
    picture = checkpoint.picture
    waiting = {mail for server in picture.servers.values() for mail in server.queue}
    assert waiting, "mail to C waits for it"
    assert len(picture.mails) <= 3 + len(waiting)
    shown = {str(item) for table in picture.servers["A"].tables.values() for item in table.items.values()}
    assert {number for number in shown if number.split(":")[0] in picture.stores} <= picture.changes.keys()
    assert "Again 0" not in {change.subject for change in picture.changes.values()}
