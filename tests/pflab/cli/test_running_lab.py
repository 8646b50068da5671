"""The command line and a running lab: `pflab up`, and the verbs that use it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from smtplib import SMTP, SMTPSenderRefused
from threading import Thread
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import msgspec
import pytest

from bench.ports import free_port
from pflab.cli.app import run
from pflab.cli.running_lab import client_of
from pflab.client import Client, ClientError
from pflab.drivers.launch import node_environment
from pflab.runs.events import RunEvents
from pflab.terms.event_words import tag_of
from pflab.terms.verdict import ExitCode
from pflab.testing.lab import Lab
from tests.support.lab_factory import TOKEN
from tests.support.lab_with_beginning import BEGINNING, COORDINATED, DRIVERS, lab_with_beginning
from tests.support.named_commands import examples_of
from tests.support.running_lab import ONE_SITE, lab_up
from tests.support.samples import sampled
from topology.file.load import load_topology, topology_from_text
from traces.events import AnyEvent

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def labs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], tuple[Path, Lab]]]:
    """One lab for each driver, and its folder."""
    with ExitStack() as ends:

        def start(driver: str) -> tuple[Path, Lab]:
            folder = tmp_path_factory.mktemp(driver)
            return folder, ends.enter_context(lab_with_beginning(folder, driver, ONE_SITE))

        yield cache(start)


@pytest.fixture(params=sampled(DRIVERS, 2))
def up(
    request: pytest.FixtureRequest,
    labs: Callable[[str], tuple[Path, Lab]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[str]:
    """The URL of a lab in its first state, with a paused clock, that the verbs find without --lab."""
    if request.param == "processes":  # it cannot go back
        monkeypatch.chdir(tmp_path)
        with lab_up(tmp_path, "--processes") as url:
            yield url
        return
    folder, lab = labs(request.param)
    monkeypatch.chdir(folder)
    if request.param == COORDINATED:
        monkeypatch.setenv("PFLAB_TOKEN", TOKEN)
        monkeypatch.setenv("PFLAB_LAB", lab.url)
    lab.go_back(BEGINNING)
    yield lab.url


def test_verbs_act_on_the_lab_that_is_up(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each verb works on the lab, for posts, the clock, faults, folders, state and events, and prints JSON for programs."""
    del up

    def asked(*args: str) -> Any:
        assert run([*args, "--json"]) == ExitCode.GOOD
        return json.loads(capsys.readouterr().out)

    posted = asked("post", "Projects", "--node", "A", "--subject", "Hello {n}", "--count", "2")
    assert [each["number"] for each in posted] == ["A-1", "A-2"]
    fault = asked("fault", "lose", "--from", "A", "--to", "B", "--type", "content", "--count", "1")
    brief = asked("fault", "alter", "--from", "B", "--type", "status request", "--lasts", "10 min")
    assert [each["kind"] for each in asked("fault")] == ["lose", "alter"]
    assert [each["id"] for each in asked("fault")] == [fault, brief]
    assert asked("clock", "advance", "15 min")["now_at"] == "2003-10-21T00:15:00Z"
    assert run(["clock", "advance", "15 minuets"]) == ExitCode.UNKNOWN
    assert capsys.readouterr().err == (
        "pflab: '15 minuets' is not an instant; write it in UTC, such as 2003-10-21T00:15:00Z, or a duration such as 15 min\n"
    )
    assert asked("fault") == []
    assert asked("clock", "until", "mail", "status", "--on", "A", "--within", "54 h")["held"]
    assert asked("clock", "until", "converged", "Projects", "--within", "54 h")["held"]
    (state,) = asked("state", "Projects", "--server", "B")
    assert {row["store"] for row in state["rows"]} == {"A", "B"}
    statuses = asked("status", "Projects")
    assert [(each["store"], each["sync"]) for each in statuses] == [("A", "locally modified"), ("B", "in sync")]
    asked("settings", "change", "Replication Always Interval", "5 min", "--server", "A")
    asked("settings", "change", "Preferred Backfill Source", "B", "--server", "A")
    analysis = asked("analyze")
    assert [(each["server"], each["value"]) for each in analysis["findings"]] == [("A", "5 min")]
    assert {"server": "A", "text": "Preferred Backfill Source is B from the next start on"} in analysis["warnings"]
    instances = asked("instances", "Projects")
    assert [(each["store"], each["items"], each["pending"]) for each in instances] == [("A", 2, False), ("B", 2, False)]
    assert asked("backfill") == []
    asked("folder", "create", "Fresh", "--node", "A", "--replicas", "A,B")
    assert "Fresh" in [each["path"] for each in asked("folder", "list", "--node", "A")]
    properties = ("--resolve", "last writer wins", "--age-limit", "30 d", "--description", "for drafts")
    asked("folder", "change", "Fresh", "--node", "A", *properties)
    (fresh,) = asked("folder", "list", "Fresh", "--node", "A")
    assert (fresh["resolve"], fresh["age_limit"], fresh["post_limit"]) == ("last writer wins", "30 d", None)
    assert run(["folder", "list", "Fresh", "--node", "A"]) == ExitCode.GOOD
    listed = capsys.readouterr().out
    assert listed == "Fresh  A, B  schedule of each store, age limit 30 d, last writer wins, 'for drafts'\n"
    asked("fault", "kill", "B")
    asked("fault", "start", "B")
    assert run(["events", "--type", "hop.dropped"]) == ExitCode.GOOD
    assert fault in capsys.readouterr().out
    assert run(["post", "Nowhere", "--node", "A", "--subject", "x"]) == ExitCode.UNKNOWN
    assert "no folder 'Nowhere' here" in capsys.readouterr().err


def test_post_and_folder_print_change_numbers(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """post and folder print a change number such as A-1, which explain takes, and no internal ids."""
    del up

    def output_of(*args: str) -> str:
        assert run(list(args)) == ExitCode.GOOD
        return capsys.readouterr().out.strip()

    assert output_of("post", "Projects", "--node", "A", "--subject", "One") == "A-1"
    assert (
        output_of("post", "Projects", "--node", "A", "--subject", "{n}", "--count", "3")
        == "3 messages posted, A-2 to A-4"
    )
    assert output_of("folder", "create", "Fresh", "--node", "A") == "A-5"
    assert output_of("folder", "rename", "Fresh", "Stale", "--node", "A") == "A-6"
    assert output_of("explain", "A-6").startswith("Change A-6: folder 'Stale', changed on A")


def test_messages_of_one_instant_are_listed_in_the_order_of_their_numbers(
    up: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """While the clock is paused, the verb, the API page by page and the exported mbox have A-9 before A-10."""
    for server, count in (("B", 2), ("A", 12)):
        run(["post", "Projects", "--node", server, "--subject", server + "-{n}", "--count", str(count)])
    run(["clock", "advance", "1 h"])
    capsys.readouterr()
    numbers = [*(f"A-{number}" for number in range(1, 13)), "B-1", "B-2"]
    assert run(["messages", "--server", "B", "--json"]) == ExitCode.GOOD
    assert [each["number"] for each in json.loads(capsys.readouterr().out)] == numbers
    assert run(["export", "Projects", "--node", "B"]) == ExitCode.GOOD
    assert re.findall(r"(?m)^Subject: (.*?)\r?$", capsys.readouterr().out) == numbers
    pages: list[str] = []
    with client_of(up) as client:
        while more := client.json("GET", f"/nodes/B/messages?folder=Projects&limit=5&after={last(pages)}"):
            pages += [each["id"] for each in more]
        assert pages == [each["id"] for each in client.messages("B", "Projects")]
    assert [int(each.rpartition(":")[2]) for each in pages] == [*range(1, 13), 1, 2]


def last(ids: list[str]) -> str:
    """Return the last id; nothing if there is none."""
    return ids[-1] if ids else ""


def test_until_converged_names_holders_that_do_not_run(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder has not converged while a holder is stopped, and the output names this holder."""
    del up
    assert run(["post", "Projects", "--node", "A", "--subject", "One"]) == ExitCode.GOOD
    assert run(["fault", "kill", "B"]) == ExitCode.GOOD
    for folder in ("Projects", "1-1"):
        assert run(["clock", "until", "converged", folder, "--within", "1 h"]) == ExitCode.VIOLATION
        assert f"{folder} did not converge within 1 h; B does not run;" in capsys.readouterr().err
    assert run(["fault", "start", "B"]) == ExitCode.GOOD
    assert run(["clock", "until", "converged", "Projects", "--within", "54 h"]) == ExitCode.GOOD


def test_what_if_says_what_will_happen_and_changes_nothing(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a step the verb prints what will happen, with steps what differs; then it happens, at the second that it said.
    The lab does not notice."""
    with client_of(up) as client:
        before = list(client.events())
        lost = "lose: {from: A, to: B, type: content, count: 1}"
        posted = "post: {on: A, folder: Projects, subject: Hello}"
        assert run(["what-if", lost, posted, "--converged", "Projects", "--within", "54 h"]) == ExitCode.GOOD
        output = capsys.readouterr()
        assert re.search(
            r"^\+ 2003-10-22T06:15:00Z  B +applies A-1, 'Hello' in Projects \(backfill\)$", output.out, re.MULTILINE
        )
        assert "Projects converges at 2003-10-22T06:15:00Z" in output.err
        assert list(client.events()) == before
        client.inject("lose", from_="A", to="B", type="content", count=1)
        client.post("A", "Projects", subject="Hello")
        assert run(["what-if", "--event", "backfill", "--within", "54 h"]) == ExitCode.UNKNOWN
        assert "is not a type of event" in capsys.readouterr().err
        assert run(["what-if", "--converged", "Projects", "--within", "1 h"]) == ExitCode.VIOLATION
        assert "Projects converges not until 2003-10-21T01:00:00Z; B lacks A-1" in capsys.readouterr().err
        assert run(["what-if", "--converged", "Projects", "--within", "54 h", "--json"]) == ExitCode.GOOD
        forecast = json.loads(capsys.readouterr().out)
        assert client.until_converged("Projects", "54 h")["now_at"] == forecast["to_at"] == "2003-10-22T06:15:00Z"


def test_a_comparison_has_both_futures_of_one_present(up: str) -> None:
    """With `compare`, the answer has the future without the steps too, to the same end, and what happens only in one."""
    with client_of(up) as client:
        client.inject("lose", from_="A", to="B", type="content", count=1)
        client.post("A", "Projects", subject="Hello")
        client.advance("25 h")
        compared = client.forecast("36 h", steps=[{"stop": "A"}], compare=True)
        assert compared["without"]["events"] == client.forecast("36 h")["events"]
        assert compared["without"]["to_at"] == compared["to_at"]
        found = [(row["only"], row["node"], row["type"]) for row in compared["differences"]]
        assert ("with", "A", "node.stopped") in found
        assert ("without", "B", "version.applied") in found
        rows = [(row["at"], row["node"], row["words"]) for row in compared["differences"] if row["only"] == "without"]
        assert set(rows) <= {(event["at"], event["node"], event["words"]) for event in compared["without"]["events"]}
        assert client.forecast("36 h", compare=True)["differences"] == []


def test_explain_until_says_how_it_goes_on(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With --until the explanation goes on with what the lab will do, and then it does that. A finished run has no future."""
    with client_of(up) as client:
        client.inject("lose", from_="A", to="B", type="content", count=1)
        client.post("A", "Projects", subject="Hello")
        client.advance("25 h")
        assert run(["explain", "A-1", "--until", "6 h"]) == ExitCode.GOOD
        shown = capsys.readouterr().out
        present, _, future = shown.partition("What the lab will do with it, if nobody changes anything")
        assert "B does not have it yet" in present
        assert "B asks" not in present
        assert "At 2003-10-22T06:15:00Z B asks A for it." in future
        assert "B has it since 2003-10-22T06:15:00Z" in future
        assert "B does not have it yet" not in future
        assert run(["explain", "A-1", "--until", "1 h", "--json"]) == ExitCode.GOOD
        document = json.loads(capsys.readouterr().out)
        assert document["future"]["told"] == ["Nothing more happens to it within this time."]
        assert document["future"]["events"] == []
        client.advance("6 h")
        assert run(["explain", "A-1"]) == ExitCode.GOOD
        now = capsys.readouterr().out.splitlines()
        assert [line for line in future.splitlines() if line not in now] == []
        folder = Path(client.lab()["folder"])
    assert run(["explain", "A-1", "--run", str(folder), "--until", "6 h"]) == ExitCode.UNKNOWN
    assert "only a running lab has a future" in capsys.readouterr().err


def test_explain_until_tells_of_the_faults_to_come(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A change's future has what happens to a fault that acted on it: the fault's end is an event of the lab itself."""
    with client_of(up) as client:
        fault = client.inject("lose", from_="A", to="B", count=2)
        client.post("A", "Projects", subject="Hello")
        client.advance("20 min")
        assert run(["explain", "A-1", "--until", "30 h", "--json", "--lab", up]) == ExitCode.GOOD
        future = json.loads(capsys.readouterr().out)["future"]["events"]
        assert [event["words"] for event in future if event["type"] == "fault.healed"] == [f"fault {fault} is over"]


def test_explain_until_speaks_of_the_lab_that_was_copied(up: str) -> None:
    """A lab that goes on while its future is asked for is explained as it was when it was copied: nothing happens twice, and no
    event takes the place of another one that has the same number in the forecast."""
    with client_of(up) as client:
        client.post("A", "Projects", subject="Hello")
        forecast = [msgspec.convert(event, AnyEvent) for event in client.forecast("1 h")["events"]]
        client.post("A", "Projects", subject="Meanwhile")
        client.advance("20 min")
        now = RunEvents.of(
            Path(client.lab()["folder"]), [msgspec.convert(event, AnyEvent) for event in client.events()]
        )
    future = now.before(forecast).followed_by(forecast)
    keys = [(event.node, event.seq) for event in future.events]
    assert len(keys) == len(set(keys))
    happens = [(event.node, event.at, tag_of(event)) for event in future.events]
    assert {(event.node, event.at, tag_of(event)) for event in forecast} <= set(happens)
    assert sum(tag == "change.made" for _, _, tag in happens) == 1


@pytest.mark.parametrize(
    ("step", "mistake"),
    {
        "stop": "\"stop\" is not a step; write for example 'stop: B'",
        "stop: Q": "step 1, stop: there is no server 'Q' in this lab; it has",
        "expect: {converged: all}": "step 1: a forecast does not take expect; it takes post, posts",
        "posts: {on: A, folder: Projects, count: 2000}": "a forecast takes at most 1,000 posts, and 16 MB together",
        "post: {on: A, folder: Projects, subject: x, attachment: 17 MB}": "a forecast takes at most 1,000 posts",
        "heal: F7": 'step 1, heal: there is no fault "F7" in force; one of "all"',
        "advance: 2005-03-04T00:00Z": "step 1, advance: 2005-03-04T00:00:00Z is too far; a forecast looks at most 400 days",
        "lose: {form: A}": 'steps[0].lose.form: there is no such field; did you mean "from"',
    }.items(),
)
def test_a_wrong_step_gets_one_clear_line(up: str, step: str, mistake: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A step that a forecast cannot play is refused with one line, and the lab does not change."""
    assert run(["what-if", step, "--lab", up]) == ExitCode.UNKNOWN
    assert mistake in capsys.readouterr().err


def test_a_forecast_heals_what_its_own_step_has_broken(up: str) -> None:
    """A fault that a step on trial injects has an id as in the lab, and a later step can heal it by this id."""
    with client_of(up) as client:
        cut = {"cut": {"between": ["A", "B"]}}
        [injected] = [
            event for event in client.forecast("1 h", steps=[cut])["events"] if event["type"] == "fault.injected"
        ]
        heals = [cut, {"advance": "10 min"}, {"heal": injected["fault"]}]
        [healed] = [event for event in client.forecast("1 h", steps=heals)["events"] if event["type"] == "fault.healed"]
        assert healed["fault"] == injected["fault"]


def test_a_forecast_says_which_holder_does_not_run(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder cannot converge while one of its holders does not run. A forecast names this holder, as `clock until` does."""
    assert run(["what-if", "stop: B", "--converged", "Projects", "--within", "1 h", "--lab", up]) == ExitCode.VIOLATION
    assert "; B does not run" in capsys.readouterr().err


def test_a_forecast_looks_ahead(up: str) -> None:
    """A time before the present is refused: there is nothing to forecast."""
    with client_of(up) as client, pytest.raises(ClientError, match="within is -3 h; a forecast looks ahead"):
        client.forecast("-3 h")


def test_a_wrong_field_beside_steps_is_named(up: str) -> None:
    """The fields of a step may have values of any kind; another field that is wrong gets its words."""
    with client_of(up) as client, pytest.raises(ClientError, match='mail: "5" is not a text'):
        client.forecast("1 h", steps=[{"stop": [1, None, {}]}], mail=5)


def test_the_example_of_each_help_works(up: str) -> None:
    """The example in the help of each verb for running labs works."""
    del up
    for verb in (
        "post",
        "folder",
        "clock",
        "fault",
        "events",
        "resend",
        "synchronize",
        "replicas",
        "content",
        "what-if",
    ):
        for example in examples_of(verb):
            assert run(["post", "Projects", "--node", "A", "--subject", "what clock until waits for"]) == ExitCode.GOOD
            assert run(example) == ExitCode.GOOD, example
    assert run(["fault", "stop", "B"]) == ExitCode.GOOD
    for example in [words for words in examples_of("directory") if words[1] != "policy"]:  # these need two sites
        assert run(example) == ExitCode.GOOD, example


def test_sites_and_servers_are_added_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """RT-6: the example of each action of pflab site and pflab server works. A new server joins when it is started,
    unless it was removed before, and what is wrong is one line."""
    monkeypatch.chdir(tmp_path)
    with lab_up(tmp_path, "--simulated", topology="servers: {A: {site: SEA}}\n"):
        for words, line in (
            ("site add SEA", 'there is a site "SEA" already; choose another name'),
            ("site add a/b", '"a/b" is not a name for a site; use letters, digits, spaces and'),
            ("site remove OSL", 'there is no site "OSL"; one of "SEA"'),
            ("site remove SEA", "the site SEA has A; only a site without a server can be removed"),
            ("server add A", 'there is a server "A" already; choose another name'),
            ("server remove OSL", "there is no server 'OSL' in this lab; it has A"),
            ("server remove A", "server A is running; stop it, and delete its store, before you remove it"),
            ("server add F --site OSL", 'site: "OSL" is not a site'),
            ("server add F --version 2010", "version: "),
            ("server add F --set age", "--set age has no value; write NAME=VALUE"),
            ("server add F --set Nothing=1", "settings.Nothing: "),
        ):
            assert run(words.split()) == ExitCode.UNKNOWN, words
            assert line in capsys.readouterr().err, words
        added, removed = (run(["site", act, "LON"]) for act in ("add", "remove"))
        assert (added, removed) == (ExitCode.GOOD, ExitCode.GOOD)
        assert run(["site", "add", "LON"]) == ExitCode.GOOD
        assert [run(example) for example in examples_of("server")] == [ExitCode.GOOD] * 3
        assert run(["server", "add", "F", "--site", "LON", "--version", "2007"]) == ExitCode.GOOD
        assert run(["fault", "start", "F"]) == ExitCode.GOOD
        assert run(["clock", "advance", "1 d"]) == ExitCode.GOOD
        capsys.readouterr()
        assert run(["server", "show", "--json"]) == ExitCode.GOOD
        servers = json.loads(capsys.readouterr().out)
        assert run(["site", "show", "--json"]) == ExitCode.GOOD
        assert json.loads(capsys.readouterr().out) == {"SEA": ["A"], "LON": ["F"]}
    assert [(server["name"], server["version"], server["status"]) for server in servers] == [
        ("A", "2003", "running"),
        ("F", "2007", "running"),
    ]


def test_a_server_without_a_store_is_shown_as_such_until_it_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """RP-6, RP-9: the verbs say that the store of a server was deleted, in place of "not running", and forget a removed one."""
    monkeypatch.chdir(tmp_path)
    with lab_up(tmp_path, "--simulated", topology="servers: {A: , B: }\nfolders: {Projects: }\n"):
        for words in ("fault stop B", "directory delete B --on A --force"):
            assert run(words.split()) == ExitCode.GOOD, words
        capsys.readouterr()
        assert run(["server"]) == ExitCode.GOOD
        assert "its store was deleted" in capsys.readouterr().out
        assert run(["state"]) == ExitCode.GOOD
        assert "left out because the store was deleted: B\n" in capsys.readouterr().err
        assert run(["state", "--server", "B"]) == ExitCode.UNKNOWN
        assert (
            "the store of server B was deleted; create a new one: pflab directory create B" in capsys.readouterr().err
        )
        for words in ("server add F", "server add G", "fault start F", "topology -o now.yaml"):
            assert run(words.split()) == ExitCode.GOOD, words
        now = load_topology("now.yaml")
        assert {name: str(server.joins) for name, server in now.servers.items()} == {
            "A": "start",
            "B": "later",
            "F": "start",
            "G": "later",
        }
        assert now.folders["Projects"].replicas == ("A",)
        for words in (
            "server remove B",
            "server remove G",
            "fault stop F",
            "directory delete F --on A",
            "server remove F",
        ):
            assert run(words.split()) == ExitCode.GOOD, words
        capsys.readouterr()
        assert run(["state"]) == ExitCode.GOOD
        assert capsys.readouterr().err == ""
        assert run(["server", "show", "--json"]) == ExitCode.GOOD
        assert [(server["name"], server["status"]) for server in json.loads(capsys.readouterr().out)] == [
            ("A", "running")
        ]


def test_connectors_are_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """RT-6: the example of each action of pflab connector works. What is wrong is one line, and pflab topology prints a file
    with the changes, from which a lab can begin."""
    monkeypatch.chdir(tmp_path)
    sites = "sites: [SEA, NYC, LON]\nservers: {A: {site: SEA}, B: {site: NYC}, C: {site: LON}}\n"
    lines = "connectors: [{between: [SEA, NYC]}, {between: [NYC, LON]}]\n"
    with lab_up(tmp_path, "--simulated", topology=sites + lines):
        for example in examples_of("connector"):
            assert run(example) == ExitCode.GOOD, example
        assert run(["connector", "add", "x", "--between", "SEA,NYC", "--bandwidth", "64 kbit/s", "--senders", ""]) == 0
        assert run(["connector", "change", "x", "--bridgeheads", "A,B", "--bandwidth", "none", "--affinity", "9"]) == 0
        capsys.readouterr()
        for words, line in (
            ("change x", "say what changes, such as --cost 5; pflab connector change --help lists the options"),
            ("change x --cost much", "--cost much is not a whole number; write digits, such as 5"),
            ("change x --affinity much", 'affinity: "much" is not an affinity'),
            ("change x --cost 0", 'cost: "0" is too small; write at least 1'),
            (
                "change x --bridgeheads A",
                "--bridgeheads names 1 server; write one for each site, as in --bridgeheads A,C",
            ),
            ("change y --cost 2", 'there is no connector "y"; one of "NYC-LON", "SEA-LON", "x"'),
            ("add x --between SEA,NYC", 'there is a connector "x" already; change it, or choose another name'),
            ("add y --between SEA,OSL", 'between[1]: "OSL" is not a site; one of "SEA", "NYC", "LON"'),
            ("add a/b --between SEA,NYC", 'name: "a/b" is not a name for a connector; use letters, digits, spaces and'),
            ("remove y", 'there is no connector "y"; one of "NYC-LON", "SEA-LON", "x"'),
        ):
            assert run(["connector", *words.split()]) == ExitCode.UNKNOWN
            assert capsys.readouterr().err.removeprefix("pflab: ").startswith(line)
        for example in examples_of("topology"):
            assert run(example) == ExitCode.GOOD
        printed = capsys.readouterr().out
        assert run(["topology", "-o", "now.yaml"]) == ExitCode.GOOD
        assert Path("now.yaml").read_text("utf-8") == printed
    topology = topology_from_text(printed)
    assert (topology.revision, [connector.name for connector in topology.connectors]) == (
        0,
        ["NYC-LON", "SEA-LON", "x"],
    )


def test_the_examples_of_queue_work(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The example of each action of pflab queue works, with the number of a mail that waits."""
    del up
    for example in examples_of("queue"):
        for order in (
            ["queue", "freeze", "--to", "B", "--server", "A"],
            ["post", "Projects", "--node", "A", "--subject", "Hello"],
            ["clock", "advance", "16 min"],
        ):
            assert run(order) == ExitCode.GOOD
        capsys.readouterr()
        assert run(["queue", "--server", "A", "--json"]) == ExitCode.GOOD
        number = str(json.loads(capsys.readouterr().out)[0]["id"])
        assert run([number if word == "17" else word for word in example]) == ExitCode.GOOD, example


def test_a_fault_for_all_mail_says_so(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A fault without limits is listed as one for all mail."""
    del up
    for more in ([], ["--count", "3"], ["--to", "B"]):
        assert run(["fault", "lose", *more]) == ExitCode.GOOD
    capsys.readouterr()
    assert run(["fault"]) == ExitCode.GOOD
    assert capsys.readouterr().out.splitlines() == [
        "F1  loses all mails  (has not acted)",
        "F2  loses all mails, 3 times  (has not acted)",
        "F3  loses mails to B  (has not acted)",
    ]


def test_a_fault_says_which_mails_it_will_meet(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A new fault and the list of faults name the mails in queues that match; other mails and faults are not named."""
    del up

    def said(*args: str) -> tuple[str, str]:
        assert run(["fault", *args]) == ExitCode.GOOD
        captured = capsys.readouterr()
        return captured.out, captured.err

    assert said("lose", "--type", "content") == ("F1\n", "  No mail that waits now will meet it.\n")
    said("heal", "all")
    assert run(["fault", "stop", "B"]) == ExitCode.GOOD
    assert run(["post", "Projects", "--node", "A", "--subject", "Hello"]) == ExitCode.GOOD
    assert run(["clock", "advance", "15 min"]) == ExitCode.GOOD
    capsys.readouterr()
    out, err = said("lose", "--from", "A", "--type", "content")
    assert out == "F2\n"
    assert re.fullmatch(r"  will meet: Folder Content from A to B at 2003-10-21T00:\d\d:00Z\n", err)
    for act in ("cut", "blackhole"):
        assert said(act, "--from", "A", "--to", "B")[1] == err
    for other in (["--type", "status"], ["--to", "A"], ["--from", "B"]):
        assert said("lose", *other)[1] == "  No mail that waits now will meet it.\n"
    listed, _ = said("list")
    assert [line for line in listed.splitlines() if line.startswith("  ")] == err.splitlines() * 3


def test_servers_that_do_not_run_are_named(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables of stores name the servers that do not run, in text and JSON."""
    del up
    assert run(["fault", "kill", "B"]) == ExitCode.GOOD
    capsys.readouterr()
    for verb in ("backfill", "state"):
        assert run([verb]) == ExitCode.GOOD
        assert "left out because not running: B\n" in capsys.readouterr().err
    assert run(["backfill", "--json"]) == ExitCode.GOOD
    assert json.loads(capsys.readouterr().out) == [{"store": "B", "not_asked": "it does not run"}]
    assert run(["backfill", "--server", "B"]) == ExitCode.UNKNOWN
    assert "server B is not running; start it: pflab fault start B" in capsys.readouterr().err
    assert run(["fault", "stop", "A"]) == ExitCode.GOOD
    assert run(["backfill"]) == ExitCode.UNKNOWN
    assert "no server of this lab is running; start one" in capsys.readouterr().err


def test_a_lab_without_analysis_says_how_to_get_a_verdict(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Without an analysis there is no verdict, and one line says how to get one."""
    del up
    assert run(["verdict"]) == ExitCode.UNKNOWN
    (line,) = capsys.readouterr().err.splitlines()
    assert "has no verdict yet" in line
    assert "pflab follow" in line
    assert "--profile analytics" in line


def test_a_body_that_is_no_json_is_refused(up: str) -> None:
    """The refusal says where the body stops being JSON, and why."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('PFLAB_TOKEN')}"}
    request = Request(f"{up}/lab/faults", b'{"kind": "lose" "to": "B"}', headers)
    with pytest.raises(HTTPError) as refused:
        urlopen(request)
    with refused.value as answer:
        assert answer.code == 422
        detail = json.loads(answer.read())["detail"]
    assert detail == "body: invalid JSON at character 16: expecting ',' delimiter"


def test_content_is_suspended_and_resumed(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """RP-5: one verb suspends content on all servers that run, shows it and resumes it. It names the servers that do not run,
    and then does not exit with 0."""

    def content(*args: str) -> Any:
        assert run(["content", *args, "--json"]) == ExitCode.GOOD
        return {each["server"]: each["content"] for each in json.loads(capsys.readouterr().out)}

    assert content() == {"A": "replicates", "B": "replicates"}
    assert content("suspend") == {"A": "suspended", "B": "suspended"}
    with client_of(up) as client:
        client.post("A", "Projects", subject="waits")
        client.advance("1 h")
        assert client.messages("B", "Projects") == []
        assert content("show") == {"A": "suspended", "B": "suspended"}
        assert run(["fault", "stop", "B"]) == ExitCode.GOOD
        capsys.readouterr()
        assert run(["content", "resume"]) == ExitCode.UNKNOWN
        caught = capsys.readouterr()
        assert caught.out == "A  replicates\n"
        assert "do not run, so nothing changed there: B; start them and repeat pflab content resume" in caught.err
        assert run(["fault", "start", "B"]) == ExitCode.GOOD
        capsys.readouterr()
        assert content("resume") == {"A": "replicates", "B": "replicates"}
        client.advance("3 h")
        assert [each["subject"] for each in client.messages("B", "Projects")] == ["waits"]
    assert run(["content", "resum"]) == ExitCode.UNKNOWN
    assert 'did you mean "resume"?' in capsys.readouterr().err


def test_administrators_give_orders(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """resend, synchronize, replicas and folder propagate say what the servers do, and why one refuses (AD-1)."""
    del up

    def output_of(*args: str, status: ExitCode = ExitCode.GOOD) -> str:
        assert run([*args]) == status
        return "".join(capsys.readouterr())

    output_of("post", "Projects", "--node", "A", "--subject", "Hello")
    output_of("folder", "create", "Projects/Fresh", "--node", "A", "--replicas", "A")
    resend = ("resend", "Projects", "--days", "1", "--from", "A")
    assert output_of(*resend) == "A has no changes of Projects of the last 1 day, so it sends nothing\n"
    output_of("clock", "advance", "15 min")
    assert output_of(*resend, "--to", "B") == "A sends A-1 of Projects to B\n"
    assert "the other holders are B" in output_of(*resend, "--to", "C", status=ExitCode.UNKNOWN)
    assert output_of("synchronize", "1-1", "--server", "B") == "B asks A about 1-1\n"
    refused = output_of("synchronize", "hierarchy", "--server", "B", status=ExitCode.UNKNOWN)
    assert refused.endswith("; the hierarchy is 1-1\n")
    assert output_of("replicas", "add", "Projects", "--replica", "B", "--on", "A") == "A-3  Projects/Fresh\n"
    output_of("folder", "change", "Projects", "--node", "A", "--schedule", "every 1 h")
    propagate = ("folder", "propagate", "Projects", "--node", "A", "--properties", "schedule")
    assert output_of(*propagate) == "A-5  Projects/Fresh\n"
    assert output_of(*propagate) == "nothing to change\n"
    assert output_of("replicas", "remove", "1-1", "--replica", "A", "--replica", "B", "--on", "A").splitlines()[
        -2:
    ] == [
        "Projects keeps its replicas: none would be left",
        "Projects/Fresh keeps its replicas: none would be left",
    ]
    wrong = output_of("replicas", "replace", "1-1", "--replica", "A", "--on", "B", status=ExitCode.UNKNOWN)
    assert "Missing option '--by'; see pflab replicas replace --help" in wrong


def test_administrators_give_orders_about_queues(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """queue freeze, unfreeze, delete and return say what the server does with which mails (RT-5)."""
    del up

    def output_of(*args: str, status: ExitCode = ExitCode.GOOD) -> str:
        assert run([*args]) == status
        return "".join(capsys.readouterr())

    def waiting() -> list[dict[str, Any]]:
        mails: list[dict[str, Any]] = json.loads(output_of("queue", "--server", "A", "--json"))
        return mails

    to_b = ("--to", "B", "--server", "A")
    assert output_of("queue", "freeze", *to_b) == "A freezes its queue for B, which has 0 mails\n"
    for subject in ("One", "Two"):
        output_of("post", "Projects", "--node", "A", "--subject", subject)
        output_of("clock", "advance", "16 min")
    first, second = waiting()
    assert (first["frozen"], second["frozen"]) == (True, True)
    shown = output_of("queue", "--server", "A")
    assert "frozen" in shown and "the queue for B is frozen" in shown
    assert output_of("queue", "delete", str(first["id"]), "--server", "A") == "A deletes 1 mail\n"
    gone = output_of("queue", "delete", str(first["id"]), "--server", "A", status=ExitCode.UNKNOWN)
    assert f"no mail {first['id']} in the queue" in gone
    assert output_of("queue", "return", *to_b) == "A returns 1 mail from its queue for B to the sender\n"
    assert output_of("queue", "unfreeze", *to_b) == "A unfreezes its queue for B, which has 0 mails\n"
    assert waiting() == []
    assert "its queues are for B" in output_of("queue", "freeze", "--to", "Z", "--server", "A", status=ExitCode.UNKNOWN)
    assert "give either" in output_of("queue", "freeze", "--server", "A", status=ExitCode.UNKNOWN)


def test_a_store_is_deleted_from_the_directory(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """RP-6: a store can be deleted only while it is stopped, and with replicas only by force; then it is off all lists."""

    def refused(*args: str) -> str:
        assert run(["directory", *args]) == ExitCode.UNKNOWN
        return capsys.readouterr().err

    assert "server B is running; stop it before you delete it" in refused("delete", "B", "--on", "A")
    assert run(["fault", "stop", "B"]) == ExitCode.GOOD
    assert "cannot be deleted: it holds replicas of" in refused("delete", "B", "--on", "A")
    assert 'did you mean "delete"?' in refused("delet", "B", "--on", "A")
    assert "there is no server 'Z'" in refused("delete", "Z", "--on", "A")
    capsys.readouterr()
    assert run(["directory", "delete", "B", "--on", "A", "--force", "--json"]) == ExitCode.GOOD
    assert json.loads(capsys.readouterr().out) == {"deleted": "B", "on": "A"}
    with client_of(up) as client:
        assert {tuple(each["replicas"]) for each in client.folders("A") if each["path"] == "Projects"} == {("A",)}


def test_the_directory_shows_addresses_and_the_policy_changes_them(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """ML-1: the directory object of a store has its addresses; the policy changes their domain, a fault removes them."""
    del up

    def said(*args: str) -> str:
        assert run(list(args)) == ExitCode.GOOD
        return capsys.readouterr().out

    shown_object = said("directory", "show", "B").splitlines()
    assert {"  mail: B-IS@contoso.test", "  objectClass: msExchPublicMDB"} <= set(shown_object)
    assert any(line.startswith("  msExchOwningPFTree: CN=Public Folders,") for line in shown_object)
    said("directory", "policy", "change", "Default Policy", "--domain", "fabrikam.test")
    (shown,) = json.loads(said("directory", "show", "B", "--json"))
    assert shown["proxy_addresses"][:2] == ["SMTP:B-IS@fabrikam.test", "smtp:B-IS@contoso.test"]
    said("directory", "schedule", "never")
    said("fault", "unstamp", "B")
    said("fault", "unlink", "B")
    said("fault", "double", "B")
    damaged = said("directory", "show", "B").splitlines()
    assert {"  msExchOwningPFTree: none", "  There is a second object of this store."} <= set(damaged)
    assert "  mail: none: nothing can be sent to this store" in said("directory", "show", "B").splitlines()
    said("fault", "heal", "all")
    assert "  mail: none: nothing can be sent to this store" in said("directory", "show", "B").splitlines()
    said("directory", "update")
    assert "  mail: B-IS@fabrikam.test" in said("directory", "show", "B", "--on", "B").splitlines()
    for wrong, why in (
        (["policy", "change", "Default Policy", "--domain", "no domain"], "is not a mail domain"),
        (["schedule", "daily"], "write always, never"),
    ):
        assert run(["directory", *wrong]) == ExitCode.UNKNOWN
        assert why in capsys.readouterr().err
    assert run(["directory", "show", "Z"]) == ExitCode.UNKNOWN
    assert 'no store "Z" in the directory' in capsys.readouterr().err


def test_the_list_of_recipient_policies_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """ML-1: the example of each action of pflab directory policy works, the list shows all policies in their order, and what is
    wrong is one line."""
    monkeypatch.chdir(tmp_path)
    sites = "sites: [SEA, LON]\nconnectors: [{between: [SEA, LON]}]\n"
    with lab_up(tmp_path, "--simulated", topology=sites + "servers: {A: {site: SEA}, B: {site: LON}}\n"):
        assert (
            run(
                [
                    "directory",
                    "policy",
                    "add",
                    "First",
                    "--domain",
                    "adatum.test",
                    "--servers",
                    "B,A",
                    "--priority",
                    "1",
                ]
            )
            == ExitCode.GOOD
        )
        for example in [words for words in examples_of("directory") if words[1] == "policy"]:
            assert run(example) == ExitCode.GOOD, example
        assert (
            run(
                [
                    "directory",
                    "policy",
                    "add",
                    "London",
                    "--domain",
                    "x.test",
                    "--sites",
                    "LON",
                    "--versions",
                    "2003,5.5",
                ]
            )
            == ExitCode.GOOD
        )
        capsys.readouterr()
        assert run(["directory", "policy"]) == ExitCode.GOOD
        shown = capsys.readouterr().out
        rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.splitlines() if line.startswith("│")]
        assert rows == [
            ["1", "First", "adatum.test", "servers B, A"],
            ["2", "London", "x.test", "sites LON; versions 2003, 5.5"],
            ["lowest", "Default Policy", "fabrikam.test", "every store"],
        ]
        assert "The recipient update service runs: always" in shown
        assert run(["directory", "policy", "list", "--json"]) == ExitCode.GOOD
        assert [entry["priority"] for entry in json.loads(capsys.readouterr().out)["policies"]] == [1, 2, "lowest"]
        for words, line in (
            (
                "change London",
                "say what changes, such as --priority 1; pflab directory policy change --help lists the options",
            ),
            ("change London --priority high", "--priority high is not a priority; write a number such as 1"),
            ("change London --priority 3", '"3" is not a priority; write a number from 1, the highest, to 2'),
            ("change London --sites LN", '"LN" is not a site; did you mean "LON"?'),
            ("add X --domain x.test", "the recipient policy has no domain or no filter; a new policy needs both"),
            ("remove Londn", 'there is no recipient policy "Londn"; did you mean "London"?'),
        ):
            assert run(["directory", "policy", *words.split()]) == ExitCode.UNKNOWN, words
            assert line in capsys.readouterr().err, words


def test_without_a_lab_verbs_say_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a running lab a verb says in one line how to start one."""
    monkeypatch.chdir(tmp_path)
    assert run(["clock"]) == ExitCode.UNKNOWN
    assert capsys.readouterr().err.splitlines() == [
        "no lab was started in this folder; start one: pflab up TOPOLOGY, or give its URL: --lab http://127.0.0.1:8025"
    ]


def test_the_client_needs_only_the_standard_library(tmp_path: Path) -> None:
    """pflab.client can be imported with nothing but the standard library."""
    code = (
        "import sys, pflab.client; "
        "print(sorted({'traces', 'topology', 'transport', 'node', 'msgspec', 'pydantic', 'uvicorn'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, env=node_environment(), check=True, cwd=tmp_path
    )
    assert result.stdout.strip() == b"[]"


@pytest.mark.parametrize("up", ["embedded", "processes"], indirect=True)
def test_mail_can_be_sent_to_a_server_of_the_lab(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """ML-1: the lab shows the SMTP address of each server; a mail sent there to a folder's address is posted."""
    with client_of(up) as client:
        smtp = {each["name"]: each["smtp"] for each in client.lab()["servers"]}
        host, _, port = smtp["B"].partition(":")
        with SMTP(host, int(port)) as mail:
            mail.sendmail("kim@x.test", ["News@contoso.test"], b"Subject: from outside\r\n\r\nmail\r\n")
        assert [each["subject"] for each in client.messages("B", "News")] == ["from outside"]
        assert run(["fault", "stop", "A"]) == ExitCode.GOOD
        assert {each["name"]: each["smtp"] for each in client.lab()["servers"]} == {"A": None, "B": smtp["B"]}
    capsys.readouterr()


@pytest.mark.parametrize("more", sampled([["--processes"], []], 2))
def test_a_server_takes_mail_at_the_port_of_the_topology(tmp_path: Path, more: list[str]) -> None:
    """`smtp_port` in the topology is where the server takes mail, also after it was killed and started again."""
    port = free_port()
    topology = f"servers: {{A: {{smtp_port: {port}}}, B: }}\nfolders: {{Projects: }}\n"
    with lab_up(tmp_path, *more, topology=topology) as url, Client(url) as client:
        for _ in range(2):
            assert client.lab()["servers"][0]["smtp"] == f"127.0.0.1:{port}"
            with SMTP("127.0.0.1", port) as mail:
                mail.sendmail("kim@x.test", ["Projects@contoso.test"], b"Subject: from outside\r\n\r\nmail\r\n")
            client.kill("A")
            client.start("A")
        assert len(client.messages("A", "Projects")) == 2
        kept = client.json("GET", "/lab/topology")["servers"]
        assert (kept["A"]["smtp_port"], "smtp_port" in kept["B"]) == (port, False)
    assert list((tmp_path / "runs" / "latest" / "traces").glob("B-*.jsonl"))


def test_a_lab_that_cannot_start_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """pflab up with a port in use, or where a lab is up, says so in one line, and does not change the latest
    run or that lab."""
    monkeypatch.chdir(tmp_path)
    with lab_up(tmp_path) as url:
        latest = Path("runs", "latest").resolve()
        assert run(["up", "lab.yaml", "--port", "0"]) == ExitCode.UNKNOWN
        assert capsys.readouterr().err.startswith(f"a lab of this folder is already up: {url}; ")
        note = Path("runs", "lab.json")
        note.rename("elsewhere.json")
        port = url.rpartition(":")[2]
        assert run(["up", "lab.yaml", "--port", port]) == ExitCode.UNKNOWN
        assert (
            capsys.readouterr().err
            == f"port {port}: address already in use; choose another with --port, or a free one with --port 0\n"
        )
        Path("elsewhere.json").rename(note)
        assert Path("runs", "latest").resolve() == latest


def test_the_lab_of_a_lesson_is_a_lab(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """--lab with the address of a lesson, as the browser shows it, is the lesson's lab and no other."""
    token = os.environ.get("PFLAB_TOKEN")
    with Client(up, token=token) as client:
        before = client.now()
        path = client.json("POST", "/lessons", {"name": "new-post"})["path"]
        for lab in (f"{up}{path}", f"{up}{path}".rstrip("/")):
            assert run(["clock", "advance", "1 h", "--lab", lab]) == ExitCode.GOOD
            assert run(["trace", "--lab", lab]) == ExitCode.GOOD
            capsys.readouterr()
        with Client(f"{up}{path}", token=token) as lesson:
            assert lesson.now() > before
            assert lesson.lab()["run"] != client.lab()["run"]
        assert client.now() == before


def test_a_token_goes_only_to_the_lab_that_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder from somebody else cannot take the token: runs/lab.json of a folder may name any address."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PFLAB_TOKEN", "a secret of 27 characters ..")
    asked: list[str | None] = []

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.headers["Authorization"])
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        Path("runs").mkdir()
        Path("runs", "lab.json").write_text(json.dumps({"url": url, "pid": os.getpid()}), "utf-8")
        for verb in (["clock"], ["status"], ["up"], ["doctor"]):
            run(verb)
        assert asked
        assert set(asked) == {None}
        asked.clear()
        run(["clock", "--lab", url])
        assert asked == ["Bearer a secret of 27 characters .."]
        server.shutdown()
    capsys.readouterr()


def test_a_lab_that_is_up_is_explained(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """pflab explain and trace work on a running lab as on a finished run."""
    assert run(["post", "Projects", "--node", "A", "--subject", "Hello"]) == ExitCode.GOOD
    assert run(["clock", "advance", "15 min"]) == ExitCode.GOOD
    for more in ([], ["--lab", up]):
        capsys.readouterr()
        assert run(["explain", "A-1", *more]) == ExitCode.GOOD
        assert "B       applies A-1, 'Hello' in Projects (broadcast)" in capsys.readouterr().out
        assert run(["trace", "--node", "B", "--type", "version", "--json", *more]) == ExitCode.GOOD
        assert [each["words"] for each in json.loads(capsys.readouterr().out)] == [
            "applies A-1, 'Hello' in Projects (broadcast)"
        ]
    assert run(["explain", "A-2"]) == ExitCode.UNKNOWN
    assert capsys.readouterr().err == "pflab: 'A-2' is neither a change nor a mail of this run; did you mean \"A-1\"?\n"


def test_impossible_requests_are_refused(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A cut without its ends, a wait that cannot end, and an export from a store without the folder say what would be right."""
    del up

    def refusal_of(*args: str, code: int = ExitCode.UNKNOWN) -> str:
        assert run(args) == code
        return capsys.readouterr().err

    no_ends = "the ends: missing; a cut needs two ends, such as A and B, or a connector\n"
    assert refusal_of("fault", "cut") == f"pflab fault cut: {no_ends}"
    assert refusal_of("fault", "cut", "A").startswith("pflab fault cut: the ends: too few entries; at least 2")
    assert refusal_of("fault", "blackhole").startswith("pflab fault blackhole: the ends: missing")
    assert run(["post", "Projects", "--node", "A", "--subject", "x"]) == ExitCode.GOOD
    in_vain = refusal_of("clock", "until", "converged", "Projects", "--within", "1 min", code=ExitCode.VIOLATION)
    assert (
        in_vain
        == "Projects did not converge within 1 min; B lacks A-1; pflab backfill shows what stores know of this\n"
    )
    never = refusal_of("clock", "until", "event", "mail.bad", "--within", "1 min", code=ExitCode.VIOLATION)
    wrong = refusal_of("clock", "until", "mail", "statsu")
    assert wrong == 'pflab: "statsu" is not a type of mail; did you mean "status"?\n'
    assert never == "no mail.bad within 1 min\n"
    unknown = refusal_of("clock", "until", "event", "version.aplied")
    assert unknown == 'pflab: "version.aplied" is not a type of event; did you mean "version.applied"?\n'
    nobody = refusal_of("clock", "until", "event", "version.applied", "--on", "Q")
    assert nobody == 'pflab: there is no server "Q" in this lab; one of "A", "B"\n'
    itself = "no mail travels from A to itself; give two different ends\n"
    for act in (["lose"], ["delay"], ["hold", "--lasts", "1 h"], ["smtp", "--verb", "MAIL", "--does", "451"]):
        assert refusal_of("fault", *act, "--from", "A", "--to", "A") == f"pflab fault {act[0]}: --to: {itself}"
    for ends in (["A", "A"], ["--from", "A", "--to", "A"]):  # the options are the spelling of pflab 0.1
        assert refusal_of("fault", "cut", *ends) == f"pflab fault cut: the ends: {itself}"
    assert refusal_of("fault", "hold", "--lasts", "-1 h").startswith(
        "pflab fault hold: --lasts: must be longer than zero, not -1 h"
    )
    for verb, option in (
        ("trace", "--node"),
        ("trace", "--server"),
        ("top", "--node"),
        ("state", "--node"),
        ("events", "--node"),
    ):
        assert refusal_of(verb, option, "Q").startswith('no server "Q" in this ')
    for backup in ("backup-\u00b2", "backup-" + "9" * 500, "backup-1", "\u0661"):
        assert "is not a backup of A; its backups are: none" in refusal_of("fault", "restore", "A", "--backup", backup)
    assert refusal_of("post", "\udcff", "--node", "\udcff", "--subject", "\udcff").startswith("pflab: ")
    assert refusal_of("load", "--node", "Q").startswith('no server "Q" in this lab')
    assert refusal_of("events", "--type", "nosuch").startswith("--type nosuch: no such type of event")
    assert refusal_of("export", "News", "--server", "A") == (
        "server A holds no replica of News; name a holder, or leave out the server\n"
    )


def test_heal_says_what_it_healed(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """heal prints each fault that it ended, and what ends the others."""
    del up

    def said(*args: str) -> list[str]:
        capsys.readouterr()
        assert run(["fault", *args]) == ExitCode.GOOD
        return capsys.readouterr().out.splitlines()

    assert said("heal", "all") == ["nothing to heal: no fault is active"]
    said("lose", "--from", "A", "--to", "B")
    said("cut", "--from", "A", "--to", "B")
    said("blackhole", "--from", "A", "--to", "B", "--one-way")
    said("kill", "B")
    assert said("heal", "F1") == [
        "healed: F1  loses mails from A to B  (has not acted)",
        "server B was killed; its start heals that: pflab fault start B",
    ]
    assert said("heal", "all") == [
        "healed: F2  refuses connections between A and B  (has not acted)",
        "healed: F3  drops all packets from A to B  (has not acted)",
        "server B was killed; its start heals that: pflab fault start B",
    ]
    said("start", "B")


def test_a_line_separator_in_a_subject_breaks_no_verb(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Subjects and Message-IDs may contain U+0085, U+2028 and U+2029, which end a line for some programs."""
    odd = "Subject: a\u2028b\u0085c\u2029d\r\nMessage-ID: <one\u2028two@outside.test>\r\n\r\nx\r\n"
    with client_of(up) as client:
        path = "/lab/servers/A/mail?from=kim@outside.test&to=projects@contoso.test"
        client.content("POST", path, odd.encode())
        client.post("A", "Projects", subject="one\u2028two")
        client.advance("20 min")
        events = [json.dumps(each, ensure_ascii=False) for each in client.events()]
        assert sum("one\u2028two" in each for each in events) >= 1
        assert sum("one\u2028two" in json.dumps(each, ensure_ascii=False) for each in client.events("A")) >= 1
    for args in (
        ["trace"],
        ["events"],
        ["explain", "A-1"],
        ["explain", "A-2"],
        ["top", "--once"],
        ["events", "--json"],
    ):
        capsys.readouterr()
        assert run(args) == ExitCode.GOOD
        out = capsys.readouterr().out
        assert out.splitlines() == out.removesuffix("\n").split("\n")


@pytest.mark.parametrize("up", ["embedded", "processes", "simulated"], indirect=True)  # a coordinator can renew its lab
def test_each_scenario_that_cannot_be_played_is_named(
    up: str, project_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each scenario that the lab cannot play is named with the reason; the exit code is that of an unknown result."""
    scenarios = [str(project_root / "scenarios" / name) for name in ("lost-mail.yaml", "killed.yaml")]
    assert run(["run", *scenarios, "--lab", up, "--renew", "--json"]) == ExitCode.UNKNOWN
    results = json.loads(capsys.readouterr().out)
    assert [each["scenario"] for each in results] == scenarios
    assert all("begin" in each["not_played"] for each in results)


def test_a_lab_with_tls_takes_mail_only_in_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """up --tls: servers replicate in TLS, refuse mail in clear with 530, and take it after STARTTLS."""
    monkeypatch.chdir(tmp_path)
    with lab_up(tmp_path, "--tls") as url, Client(url) as client:
        client.post("A", "Projects", subject="Hello")
        client.advance("15 min")
        assert [each["subject"] for each in client.messages("B", "Projects")] == ["Hello"]
        host, _, port = client.lab()["servers"][0]["smtp"].partition(":")
        letter = ("kim@outside.test", ["projects@contoso.test"], b"Subject: outside\r\n\r\nx\r\n")
        with SMTP(host, int(port)) as outside:
            with pytest.raises(SMTPSenderRefused) as refused:
                outside.sendmail(*letter)
            assert (refused.value.smtp_code, refused.value.smtp_error[:5]) == (530, b"5.7.0")
            outside.starttls()
            outside.sendmail(*letter)
        assert client.json("GET", "/nodes/A/messages/count?folder=Projects")["count"] == 2


def test_a_lab_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """up --resume continues a stopped run in a new run folder; with a topology, or for another folder, it is refused."""
    monkeypatch.chdir(tmp_path)
    with lab_up(tmp_path) as url, Client(url) as client:
        client.post("A", "Projects", subject="Hello")
        at = client.advance("5 min")["now_at"]
    (first,) = (tmp_path / "runs" / "up").iterdir()
    with lab_up(tmp_path, "--resume", "runs/latest", topology=None) as url, Client(url) as client:
        assert client.clock()["now_at"] == at
        client.advance("15 min")
        assert [each["subject"] for each in client.messages("B", "Projects")] == ["Hello"]
    latest = tmp_path / "runs" / "latest"
    assert (latest / "continues").read_text("utf-8").strip() == str(first)
    for wrong, told in (
        (("lab.yaml", "--resume", str(first)), "leave out"),
        (("--resume", "runs"), "cannot be continued"),
    ):
        assert run(["up", *wrong]) == ExitCode.UNKNOWN
        assert told in capsys.readouterr().err


ASKING = (
    "post", "folder", "clock", "fault", "content", "directory", "events", "top", "load", "export", "mailbox", "explain",
    "trace", "log", "state", "backfill", "verdict", "follow", "check", "diff", "edit", "delete", "resolve", "send", "messages",
    "queue", "settings", "status", "instances", "recover", "lab", "replicas", "resend", "synchronize",
)  # fmt: skip
"""The verbs for a running lab, and those that choose between a running lab and a run folder."""

HEAVY = ("sqlalchemy", "uvicorn", "aiosmtpd", "cryptography", "pyspark", "node.store", "node.agent", "pflab.drivers")
"""What takes most of the time of a start."""


def test_a_verb_that_asks_a_running_lab_loads_no_store() -> None:
    """Otherwise the imports of stores and drivers take over a second of each start."""
    code = (
        "import sys\n"
        "from pflab.cli.app import application_of\n"
        f"for verb in {ASKING}: application_of(verb)\n"
        f"print(sorted({set(HEAVY)} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_verb_on_a_run_folder_reads_databases_without_sqlalchemy() -> None:
    """Reading a store's file needs only SQLite's driver; the import of SQLAlchemy would take longer than all the rest."""
    code = (
        "import sys\n"
        "import pflab.runs.databases, pflab.cli.run_or_lab, pflab.explain.state_tables\n"
        f"print(sorted({set(HEAVY) - {'node.store', 'node.agent', 'cryptography'}} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
