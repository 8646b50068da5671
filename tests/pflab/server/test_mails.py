"""Mails over HTTP: what is in a mail, where it waits, and faults that act on this mail alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from pflab.client import Client, ClientError, quoted
from pflab.faults.fault import INJECTABLE
from pflab.testing.lab import Lab
from tests.support.lab_with_beginning import BEGINNING, DRIVERS, lab_with_beginning

pytestmark = pytest.mark.live

TOPOLOGY = """
sites: [SEA, NYC]
connectors: [{name: SEA-NYC, between: [SEA, NYC], cost: 1, latency: 10 min}]
servers:
  A: {site: SEA}
  B: {site: NYC}
folders:
  Projects: {replicas: [A, B]}
"""


@pytest.fixture(scope="module", params=DRIVERS)
def started(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab in which a mail from A to B takes ten minutes, with a paused clock."""
    with lab_with_beginning(tmp_path_factory.mktemp("lab"), request.param, TOPOLOGY, keeps_mails=True) as lab:
        yield lab


@pytest.fixture
def lab(started: Lab) -> Lab:
    started.go_back(BEGINNING)
    return started


def post(lab: Client, subject: str) -> str:
    """Post a message on A, wait until its mail is in the queue, and return the mail's Message-ID."""
    lab.post("A", "Projects", subject=subject)
    lab.advance("15 min")
    (waiting,) = [each for each in lab.queue("A") if each["subject"] == "Folder Content"]
    return str(waiting["message_id"])


def mail(lab: Client, method: str, message_id: str, what: str = "") -> Any:
    return lab.json(method, f"/lab/mails/{quoted(message_id)}{what}", None if method == "GET" else {})


def text(lab: Client, message_id: str, what: str = "") -> str:
    return lab.content("GET", f"/lab/mails/{quoted(message_id)}{what}").decode()


def subjects_on_b(lab: Client) -> list[str]:
    return [each["subject"] for each in lab.messages("B", "Projects")]


def test_a_mail_can_be_read_while_it_waits_and_after_it_has_left(lab: Client) -> None:
    """The raw mail and each property of its items are the same in the queue and after delivery."""
    sent = post(lab, "Hello")
    (copy,) = mail(lab, "GET", sent, "/waiting")
    assert (copy["server"], copy["next_hop"], copy["connector"], copy["held"]) == ("A", "B", "SEA-NYC", False)
    waiting, described = text(lab, sent), text(lab, sent, "/decoded")
    assert f"Message-ID: <{sent}>" in waiting
    assert "PR_SUBJECT" in described and "Hello" in described
    lab.advance("10 min")
    assert mail(lab, "GET", sent, "/waiting") == []
    line, _, crossed = text(lab, sent).partition("\r\n")
    assert line.startswith("X-Pflab-Hop: server=A;")
    assert crossed == waiting
    assert subjects_on_b(lab) == ["Hello"]


def test_a_mail_that_is_not_kept_says_so(lab: Client) -> None:
    """An unknown Message-ID answers 404 and says which mails a lab keeps, also with slashes in it."""
    for unknown in ("nothing@nowhere", "a/b/decoded/c"):
        with pytest.raises(ClientError, match="newest mails") as refused:
            text(lab, unknown)
        assert refused.value.status == 404


def test_one_mail_is_lost_and_the_next_is_not(lab: Client) -> None:
    """A loss with a Message-ID acts on this mail alone, although the next one looks the same."""
    first = post(lab, "one")
    lab.json("POST", "/lab/faults", {"kind": "lose", "mail": first, "link": ["A", "B"], "count": 1})
    (fault, *_) = lab.json("GET", "/lab/faults/waiting").values()
    assert len(fault) == 1
    lab.advance("15 min")
    post(lab, "two")
    lab.advance("10 min")
    assert subjects_on_b(lab) == ["two"]
    assert lab.json("GET", "/lab/faults") == []


def test_a_held_mail_leaves_when_it_is_released(lab: Client) -> None:
    """A delay aimed at one mail holds it in the queue; a release makes it leave at once."""
    sent = post(lab, "late")
    lab.json("POST", "/lab/faults", {"kind": "delay", "by": "30 days", "mail": sent, "link": ["A", "B"], "count": 1})
    lab.advance("1 h")
    (copy,) = mail(lab, "GET", sent, "/waiting")
    assert copy["held"] is True
    assert copy["due_at"].startswith("2003-11-")
    assert subjects_on_b(lab) == []
    assert mail(lab, "POST", sent, "/release") == {"released": 1}
    lab.advance("1 s")
    assert subjects_on_b(lab) == ["late"]
    assert mail(lab, "GET", sent, "/waiting") == []


def test_each_kind_of_fault_is_described_for_a_form_and_for_programs(lab: Client) -> None:
    """The lab serves the schema of each kind; the body of the request has the same kinds, and its example is a fault."""
    kinds = lab.json("GET", "/lab/faults/kinds")
    assert list(kinds) == list(INJECTABLE)
    assert kinds["hold"]["required"] == ["kind", "lasts"]
    assert "STARTTLS" not in kinds["smtp"]["properties"]["verb"]["enum"], "this lab has no certificates"
    operation = lab.json("GET", "/openapi.json")["paths"]["/lab/faults"]["post"]
    body = operation["requestBody"]["content"]["application/json"]
    assert [kind["properties"]["kind"]["enum"] for kind in body["schema"]["anyOf"]] == [[name] for name in INJECTABLE]
    assert "#/" not in json.dumps(body)
    assert lab.json("POST", "/lab/faults", body["example"])["id"]
    lab.heal()
