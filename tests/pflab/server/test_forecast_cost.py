"""What an order costs, asked before it: mails and bytes of each line, and when all replicas agree."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pflab.cli.app import run
from pflab.client import Client
from pflab.runs.traffic_sums import signed_size
from pflab.terms.verdict import ExitCode
from tests.support.cli_runs import json_of
from tests.support.running_lab import lab_up
from traces.labtime import HOUR_US, parse_instant

LINE = """
sites: [PARIS, LONDON]
connectors: [{between: [PARIS, LONDON], bandwidth: 8 kbit/s}]
servers: {A: {site: PARIS}, B: {site: PARIS}, C: {site: LONDON}}
folders: {Projects: {replicas: [A]}, News: {replicas: [A, B, C]}}
"""
MOVE = {"replicas": {"on": "A", "folder": "1-1", "replace": "A", "by": "C"}}
POSTS = 5
LETTERS = 40_000


@pytest.fixture(params=[["--simulated"], pytest.param([], marks=pytest.mark.live)], ids=["simulated", "live"])
def up(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a lab with two sites, a slow line between them, and 200 KB in a folder with one replica."""
    with lab_up(tmp_path, *request.param, topology=LINE) as url:
        with Client(url) as client:
            for number in range(POSTS):
                client.post("A", "Projects", subject=f"Post {number}", body="x" * LETTERS)
            client.advance("1 h")
        yield url


def carried(rows: list[dict[str, Any]]) -> Counter[str]:
    """Return the bytes of each type."""
    return Counter({row["type"]: row["bytes"] for row in rows if row["connector"] == "PARIS-LONDON"})


def test_a_move_costs_what_it_says(up: str) -> None:
    """The forecast of a move of all replicas says what the line will carry, of each type of mail, and when all folders agree.
    Then the lab does exactly this. It does not notice the forecast."""
    with Client(up) as client:
        before = list(client.events())
        cost = client.forecast("30 d", steps=[MOVE], converged="all", cost=True)
        assert list(client.events()) == before
        assert "events" not in cost
        assert (cost["held"], cost["complete"]) == (True, True)
        client.change_replicas("A", "1-1", replace="A", by="C")
        client.advance(cost["to_at"])
        hops = [event for event in client.events() if event["type"] == "hop.sent"][
            len([event for event in before if event["type"] == "hop.sent"]) :
        ]
        submitted = [event["type"] for event in client.events()].count("mail.submitted")
        assert cost["mails"] == submitted - [event["type"] for event in before].count("mail.submitted")
        crossed = [hop["size"] for hop in hops if hop["connector"] == "PARIS-LONDON"]
        assert sum(carried(cost["traffic"]).values()) == sum(crossed)
        assert carried(cost["traffic"])["content response"] > POSTS * LETTERS
        assert "content response" not in carried(cost["without"]["traffic"])
        assert client.until_converged("all", "1 min")["held"]
        took_us = parse_instant(cost["to_at"]) - parse_instant(cost["from_at"])
        assert took_us > HOUR_US, "the backfill begins hours after the change of the hierarchy"


def test_a_restore_costs_what_it_says(up: str) -> None:
    """A restore is asked as a move is, by the id of the backup."""
    with Client(up) as client:
        backup = client.backup("C")
        for number in range(POSTS):
            client.post("A", "News", subject=f"Later {number}", body="x" * LETTERS)
        client.advance("1 h")
        steps = [{"restore": {"on": "C", "backup": backup}}]
        cost = client.forecast("30 d", steps=steps, converged="all", cost=True)
        assert cost["held"]
        assert carried(cost["traffic"])["content response"] > POSTS * LETTERS
        client.restore("C", backup)
        assert client.until_converged("all", "30 d")["now_at"] == cost["to_at"]


def test_the_verb_says_what_an_order_costs(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`pflab what-if --cost` prints what the order adds on each line, and when all folders agree. A mistake is one line."""
    step = "replicas: {on: A, folder: 1-1, replace: A, by: C}"
    cost = json_of(capsys, "what-if", step, "--cost", "--lab", up)
    assert run(["what-if", step, "--cost", "--lab", up]) == ExitCode.GOOD
    output = capsys.readouterr()
    more = carried(cost["traffic"])["content response"]
    assert re.search(rf"PARIS-LONDON │ content response +│ +\+\d+ │ +{re.escape(signed_size(more))} │", output.out)
    assert f"Servers send {cost['mails']} mails in this time" in output.out
    assert f"all folders converge at {cost['to_at']}" in output.err
    assert run(["what-if", "stop: B", "--cost", "--within", "1 h", "--lab", up]) == ExitCode.VIOLATION
    output = capsys.readouterr()
    assert "The changes add nothing on any connector." in output.out
    assert "all folders converge not until" in output.err
    assert "B does not run" in output.err
    for words, mistake in (
        (["--cost"], "name the changes whose cost is asked"),
        (["restore: {on: B, backup: backup-7}", "--cost"], 'there is no backup "backup-7" in this lab; there is none'),
        (["replicas: {on: A, folder: Plans, replace: A, by: C}", "--cost"], "Plans"),
    ):
        assert run(["what-if", *words, "--lab", up]) == ExitCode.UNKNOWN
        assert mistake in capsys.readouterr().err


def test_all_folders_have_to_agree(up: str) -> None:
    """`all` waits for every folder and the hierarchy, and says which server lacks what of which folder."""
    with Client(up) as client:
        client.inject("lose", from_="A", to="C", type="content", count=1)
        client.post("A", "News", subject="Lost")
        answer = client.until_converged("all", "1 h")
        assert (answer["held"], answer["lacking"]) == (False, {"C": f"A-1..{POSTS + 1} of News"})
        client.stop("B")
        forecast = client.forecast("2 d", converged="all")
        assert (forecast["held"], forecast["not_asked"]) == (False, ["B"])
