"""Message tracking: what became of the mail from kim to Projects on Tuesday."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pflab.cli.app import run
from pflab.client import Client
from pflab.terms.verdict import ExitCode
from tests.support.cli_runs import json_of, output_of, play
from tests.support.running_lab import lab_up

LAB = """\
title: Mail of people
topology:
  domain: contoso.test
  sites: [PARIS, LONDON]
  connectors: [{between: [PARIS, LONDON]}]
  servers: {A: {site: PARIS}, B: {site: LONDON}, C: {site: LONDON}}
  folders: {Projects: {replicas: [B, C], contacts: [kim@contoso.test]}}
steps:
"""
STEPS = """\
  - mail: {on: A, folder: Projects, from: lee@outside.test, subject: Grüße, id: posted@x}
  - mail: {on: A, to: kim@contoso.test, from: lee@outside.test, subject: Lunch, id: mailbox@x}
  - advance: 2003-10-22T00:30Z
  - lose: {connector: PARIS-LONDON, count: 1}
  - mail: {on: A, folder: Projects, from: pat@outside.test, subject: Report, id: lost@x}
  - advance: 1 min
  - cut: {connector: PARIS-LONDON, as: line}
  - mail: {on: A, folder: Projects, from: pat@outside.test, subject: Second report, id: waiting@x}
  - mail: {on: B, to: kim@contoso.test, from: pat@outside.test, subject: Both, id: other@x}
  - advance: 1 h
"""


def found(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, list[str]]:
    """Return the states of the mails that are found, by Message-ID."""
    return {mail["message_id"]: states(mail) for mail in json_of(capsys, "track", *options)}


def states(mail: dict[str, Any]) -> list[str]:
    return [place["state"] for place in mail["recipients"]]


def test_a_mail_is_found_by_what_people_know_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Sender, recipient, folder, subject, day, type, state and Message-ID find a mail of people, also one that is lost."""
    play(LAB + STEPS)
    ordinary = {
        "posted@x": ["delivered"],
        "mailbox@x": ["delivered"],
        "lost@x": ["lost"],
        "waiting@x": ["waiting"],
        "other@x": ["delivered"],
    }
    assert found(capsys, "--type", "ordinary mail") == ordinary
    for options, ids in (
        (["--from", "lee@", "--to", "Projects"], ["posted@x"]),
        (["--from", "PAT@outside"], ["lost@x", "waiting@x", "other@x"]),
        (["--from", "pat@", "--to", "kim@"], ["other@x"]),
        (["--to", "projects@contoso.test", "--state", "waiting"], ["waiting@x"]),
        (["--about", "report"], ["lost@x", "waiting@x"]),
        (["--about", "grüße"], ["posted@x"]),
        (["--from", "lee@", "--day", "2003-10-21"], ["posted@x", "mailbox@x"]),
        (["--type", "ordinary mail", "--day", "2003-10-22", "--state", "lost"], ["lost@x"]),
        (["<other@x>"], ["other@x"]),
    ):
        assert list(found(capsys, *options)) == ids, options


def test_what_an_administrator_does_with_a_mail_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A mail that was returned or deleted has this state, and so has one that expired in its queue."""
    queue = "  - queue: {on: A, order: return, next_hop: B}\n  - advance: 1 min\n"
    deleted = "  - mail: {on: A, folder: Projects, subject: No more, id: deleted@x}\n"
    deleted += "  - queue: {on: A, order: delete, next_hop: B}\n"
    late = "  - mail: {on: A, folder: Projects, subject: Late, id: late@x}\n  - advance: 4 d\n"
    play(LAB + STEPS + queue + deleted + late)
    assert found(capsys, "--state", "returned") == {"waiting@x": ["returned"], "late@x": ["returned"]}
    assert found(capsys, "--state", "deleted") == {"deleted@x": ["deleted"]}


def test_replication_mail_is_found_by_servers_and_folders(capsys: pytest.CaptureFixture[str]) -> None:
    """Of replication mail, sender and recipients are servers, and a folder is one that the mail is about."""
    play(LAB + "  - post: {on: B, folder: Projects, subject: Hello}\n  - advance: 1 h\n")
    (mail,) = json_of(capsys, "track", "--from", "b", "--to", "C", "--about", "proj", "--type", "content")
    assert (mail["sender"], mail["folders"], states(mail)) == ("B", ["Projects"], ["delivered"])
    assert mail["recipients"][0]["recipient"] == "C"
    assert run(["track", "--from", "C", "--type", "content"]) == ExitCode.GOOD
    assert "No mail of this run fits." in capsys.readouterr().out


def test_people_read_where_each_copy_is(capsys: pytest.CaptureFixture[str]) -> None:
    """The list says what became of each copy. If one mail is found, its way follows; a wrong option is one line."""
    play(LAB + STEPS)
    text = " ".join(output_of(capsys, "track", "--state", "lost"))
    assert "lost on B: fault" in text
    assert "It is lost on arrival at B" in text
    text = " ".join(" ".join(output_of(capsys, "track", "waiting@x")).split())
    assert "A cannot hand it to B" in text
    many = output_of(capsys, "track", "--from", "pat@", "--limit", "2")
    assert many[0] == "(1 earlier mails left out; see --limit)"
    assert many[-1] == "3 mails. pflab explain MESSAGE-ID tells the way of one."
    for option, mistake in (
        (["--state", "lots"], '--state "lots": there is no such state; did you mean "lost"?'),
        (["--type", "contents"], 'did you mean "content"?'),
        (["--day", "Tuesday"], '--day "Tuesday" is not a day; write for example 2003-10-21'),
    ):
        assert run(["track", *option]) == ExitCode.UNKNOWN
        assert mistake in capsys.readouterr().err


@pytest.mark.parametrize("more", [["--simulated"], pytest.param([], marks=pytest.mark.live)], ids=["simulated", "live"])
def test_a_running_lab_says_what_waits(more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a running lab a mail that waits where it was written is found too: frozen, or with its next attempt. Each copy has a
    state of its own."""
    topology = """
domain: contoso.test
sites: [PARIS, LONDON]
connectors: [{between: [PARIS, LONDON]}]
servers: {A: {site: PARIS}, B: {site: LONDON}}
folders: {Projects: {replicas: [B]}, News: {replicas: [A], alias: news}}
"""
    with lab_up(tmp_path, *more, topology=topology) as url, Client(url) as client:
        client.inject("cut", connector="PARIS-LONDON")
        for subject in ("Frozen", "Waiting"):
            client.send_mail("A", "News", to=["projects@contoso.test", "kim@contoso.test"], subject=subject)
        client.advance("1 min")
        rows = {copy["subject"]: copy["id"] for copy in client.queue("A")}
        client.change_queue("A", "freeze", mails=[rows["Frozen"]])
        mails = json_of(capsys, "track", "--type", "ordinary mail", "--to", "projects@", "--lab", url)
        assert {mail["subject"]: sorted(states(mail)) for mail in mails} == {
            "Frozen": ["delivered", "waiting"],
            "Waiting": ["delivered", "waiting"],
        }
        for subject, words in (("Frozen", "waiting on A: frozen"), ("Waiting", "next attempt at")):
            text = " ".join(output_of(capsys, "track", "--about", subject, "--lab", url))
            assert words in text
