"""The command line and a running lab: `pflab up`, and the verbs that find it."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from smtplib import SMTP
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from pflab.cli.app import function_of, run
from pflab.client import Client
from pflab.drivers.launch import node_environment
from pflab.terms.verdict import ExitCode
from tests.support.running_lab import lab_up

pytestmark = pytest.mark.live


@pytest.fixture(params=["embedded", "processes"])
def up(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A lab that is up in a folder of its own, its clock standing; it stops well."""
    monkeypatch.chdir(tmp_path)
    with lab_up(tmp_path, *(["--processes"] if request.param == "processes" else [])) as url:
        yield url
    assert not (tmp_path / "runs" / "lab.json").exists()
    assert list((tmp_path / "runs" / "latest" / "traces").glob("B-*.jsonl"))


def test_verbs_act_on_the_lab_that_is_up(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Posting, moving the clock, faults, folders, state and events, each by its verb, and JSON for programs."""
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
        "pflab: '15 minuets' is not an instant; write it in UTC as 2003-10-21T00:15:00Z, or how far, as 15 min\n"
    )
    assert asked("fault") == []
    assert asked("clock", "until", "--converged", "Projects", "--within", "54 h")["held"]
    (state,) = asked("state", "--folder", "Projects", "--server", "B")
    assert {row["store"] for row in state["rows"]} == {"A", "B"}
    assert asked("backfill") == []
    asked("folder", "create", "Fresh", "--node", "A", "--replicas", "A,B")
    assert "Fresh" in [each["path"] for each in asked("folder", "list", "--node", "A")]
    asked("folder", "change", "Fresh", "--node", "A", "--resolve", "last writer wins", "--age-limit", "30 d")
    (fresh,) = asked("folder", "list", "Fresh", "--node", "A")
    assert fresh["resolve"] == "last writer wins"
    asked("fault", "kill", "B")
    asked("fault", "start", "B")
    assert run(["events", "--type", "hop.dropped"]) == ExitCode.GOOD
    assert fault in capsys.readouterr().out
    assert run(["post", "Nowhere", "--node", "A", "--subject", "x"]) == ExitCode.UNKNOWN
    assert "no folder 'Nowhere' here" in capsys.readouterr().err


def test_numbers_are_told_as_everywhere_else(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What post and folder print is a change number such as A-1, which explain takes; no internal ids."""
    del up

    def told(*args: str) -> str:
        assert run(list(args)) == ExitCode.GOOD
        return capsys.readouterr().out.strip()

    assert told("post", "Projects", "--node", "A", "--subject", "One") == "A-1"
    assert (
        told("post", "Projects", "--node", "A", "--subject", "{n}", "--count", "3") == "3 messages posted, A-2 to A-4"
    )
    assert told("folder", "create", "Fresh", "--node", "A") == "A-5"
    assert told("folder", "change", "Fresh", "--node", "A", "--rename", "Stale") == "A-6"
    assert told("explain", "A-6").startswith("Change A-6: folder 'Stale', changed on A")


def test_until_converged_says_whom_it_did_not_ask(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A holder that does not run is no part of the answer, and that is said: who waits is not to take it for all of them."""
    del up

    def told(*args: str) -> str:
        assert run(list(args)) == ExitCode.GOOD
        return capsys.readouterr().out

    told("post", "Projects", "--node", "A", "--subject", "One")
    told("fault", "kill", "B")
    for folder in ("Projects", "1-1"):
        out = told("clock", "until", "--converged", folder, "--within", "1 h")
        assert f"{folder} has converged on the holders that run; these do not run: B" in out
    told("fault", "start", "B")
    assert "do not run" not in told("clock", "until", "--converged", "Projects", "--within", "54 h")


def test_the_example_of_each_help_does_what_it_says(up: str) -> None:
    """What the help of a verb about running labs gives as an example is done by that verb."""
    del up
    for verb in ("post", "folder", "clock", "fault", "events", "content"):
        told = function_of(verb).__doc__
        assert run(shlex.split(told.partition("Example: pflab ")[2])) == ExitCode.GOOD
    assert run(["fault", "stop", "B"]) == ExitCode.GOOD
    assert run(shlex.split(function_of("directory").__doc__.partition("Example: pflab ")[2])) == ExitCode.GOOD


def test_a_fault_for_all_mail_says_so(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A fault that is confined to nothing is listed as one for all mail."""
    del up
    for more in ([], ["--count", "3"], ["--to", "B"]):
        assert run(["fault", "lose", *more]) == ExitCode.GOOD
    capsys.readouterr()
    assert run(["fault"]) == ExitCode.GOOD
    assert capsys.readouterr().out.splitlines() == [
        "F1  lose  all mail",
        "F2  lose  all mail, count 3",
        "F3  lose  to B",
    ]


def test_what_cannot_be_asked_is_named(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a lab that is up, servers that do not run are named where stores are told of, for programs too."""
    del up
    assert run(["fault", "kill", "B"]) == ExitCode.GOOD
    capsys.readouterr()
    for verb in ("backfill", "state"):
        assert run([verb]) == ExitCode.GOOD
        assert "left out because not running: B\n" in capsys.readouterr().err
    assert run(["backfill", "--json"]) == ExitCode.GOOD
    assert json.loads(capsys.readouterr().out) == [{"store": "B", "not_asked": "it does not run"}]
    assert run(["backfill", "--server", "B"]) == ExitCode.UNKNOWN
    assert "--server B: not running; start it: pflab fault start B" in capsys.readouterr().err
    assert run(["fault", "stop", "A"]) == ExitCode.GOOD
    assert run(["backfill"]) == ExitCode.UNKNOWN
    assert "no server of this lab is running; start one" in capsys.readouterr().err


def test_a_lab_that_nobody_judges_says_how_it_is_done(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Without an analysis there is no verdict, and in one line stands what gives one."""
    del up
    assert run(["verdict"]) == ExitCode.UNKNOWN
    (line,) = capsys.readouterr().err.splitlines()
    assert "nobody has judged the run" in line
    assert "pflab follow" in line
    assert "--profile analytics" in line


def test_a_body_that_is_no_json_is_told_in_words(up: str) -> None:
    """Where a body stops being JSON is said, and why."""
    request = Request(f"{up}/lab/faults", b'{"kind": "lose" "to": "B"}', {"Content-Type": "application/json"})
    with pytest.raises(HTTPError) as refused:
        urlopen(request)
    with refused.value as answer:
        assert answer.code == 422
        told = json.loads(answer.read())["detail"]
    assert told == "body: invalid JSON at character 16: expecting ',' delimiter"


def test_content_is_suspended_and_resumed(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """RP-5: one verb suspends content on all servers that run and know of it, shows it, and resumes it; who does not run is
    named, and that is no success."""

    def told(*args: str) -> Any:
        assert run(["content", *args, "--json"]) == ExitCode.GOOD
        return {each["server"]: each["content"] for each in json.loads(capsys.readouterr().out)}

    assert told() == {"A": "replicates", "B": "replicates"}
    assert told("suspend") == {"A": "suspended", "B": "suspended"}
    with Client(up) as client:
        client.post("A", "Projects", subject="waits")
        client.advance("1 h")
        assert client.messages("B", "Projects") == []
        assert told("show") == {"A": "suspended", "B": "suspended"}
        assert run(["fault", "stop", "B"]) == ExitCode.GOOD
        capsys.readouterr()
        assert run(["content", "resume"]) == ExitCode.UNKNOWN
        caught = capsys.readouterr()
        assert caught.out == "A  replicates\n"
        assert "not set on servers that do not run: B; start them and repeat pflab content resume" in caught.err
        assert run(["fault", "start", "B"]) == ExitCode.GOOD
        capsys.readouterr()
        assert told("resume") == {"A": "replicates", "B": "replicates"}
        client.advance("3 h")
        assert [each["subject"] for each in client.messages("B", "Projects")] == ["waits"]
    assert run(["content", "resum"]) == ExitCode.UNKNOWN
    assert 'did you mean "resume"?' in capsys.readouterr().err


def test_a_store_is_deleted_from_the_directory(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """RP-6: a store goes from the directory only when it is stopped, and while it holds replicas only by force; then it is off
    all lists."""

    def refused(*args: str) -> str:
        assert run(["directory", *args]) == ExitCode.UNKNOWN
        return capsys.readouterr().err

    assert "B runs; stop it before it is deleted" in refused("delete", "B", "--on", "A")
    assert run(["fault", "stop", "B"]) == ExitCode.GOOD
    assert "cannot be deleted: it holds replicas of" in refused("delete", "B", "--on", "A")
    assert 'did you mean "delete"?' in refused("delet", "B", "--on", "A")
    assert "there is no server 'Z'" in refused("delete", "Z", "--on", "A")
    capsys.readouterr()
    assert run(["directory", "delete", "B", "--on", "A", "--force", "--json"]) == ExitCode.GOOD
    assert json.loads(capsys.readouterr().out) == {"deleted": "B", "on": "A"}
    with Client(up) as client:
        assert {tuple(each["replicas"]) for each in client.folders("A") if each["path"] == "Projects"} == {("A",)}


def test_without_a_lab_verbs_say_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where no lab is up, a verb says in one line how to start one."""
    monkeypatch.chdir(tmp_path)
    assert run(["clock"]) == ExitCode.UNKNOWN
    assert capsys.readouterr().err.splitlines() == [
        "no lab was started in this folder; start one: pflab up TOPOLOGY, or give its URL: --lab http://127.0.0.1:8025"
    ]


def test_the_client_needs_nothing_of_ours(tmp_path: Path) -> None:
    """pflab.client can be imported where nothing but the standard library is."""
    code = (
        "import sys, pflab.client; "
        "print(sorted({'traces', 'topology', 'transport', 'node', 'msgspec', 'pydantic', 'fastapi'} & set(sys.modules)))"
    )
    told = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, env=node_environment(), check=True, cwd=tmp_path
    )
    assert told.stdout.strip() == b"[]"


def test_mail_can_be_sent_to_a_server_of_the_lab(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """ML-1: the lab tells where each of its servers takes mail; a mail sent there to a folder's address is in it."""
    with Client(up) as client:
        smtp = {each["name"]: each["smtp"] for each in client.lab()["servers"]}
        host, _, port = smtp["B"].partition(":")
        with SMTP(host, int(port)) as mail:
            mail.sendmail("kim@x.test", ["News@contoso.test"], b"Subject: from outside\r\n\r\nmail\r\n")
        assert [each["subject"] for each in client.messages("B", "News")] == ["from outside"]
        assert run(["fault", "stop", "A"]) == ExitCode.GOOD
        assert {each["name"]: each["smtp"] for each in client.lab()["servers"]} == {"A": None, "B": smtp["B"]}
    capsys.readouterr()


def test_what_cannot_come_up_leaves_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """pflab up of a port that is taken, or where a lab is up, says so in a line; the latest run and the lab that is up
    stay what they are."""
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


def test_a_lab_that_is_up_is_explained(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """pflab explain and trace tell what has happened in the lab that is up, as they do of a run that is over."""
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


def test_what_cannot_be_is_said_in_words(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A cut without its ends, a wait in vain and an export from a store without the folder say what would be right."""
    del up

    def told(*args: str, code: int = ExitCode.UNKNOWN) -> str:
        assert run(args) == code
        return capsys.readouterr().err

    assert told("fault", "cut") == "pflab fault cut: give the ends of the link, --from A --to B, or --connector NAME\n"
    assert told("fault", "cut", "--from", "A").startswith("pflab fault cut: give the ends of the link")
    assert run(["post", "Projects", "--node", "A", "--subject", "x"]) == ExitCode.GOOD
    in_vain = told("clock", "until", "--converged", "Projects", "--within", "1 min", code=ExitCode.VIOLATION)
    assert in_vain == "Projects did not converge within 1 min; pflab backfill shows which changes are missing\n"
    never = told("clock", "until", "--event", "mail.bad", "--within", "1 min", code=ExitCode.VIOLATION)
    assert never == "no mail.bad within 1 min\n"
    assert told("export", "News", "--server", "A") == (
        "--server A: it holds no replica of News; name a holder, or leave out --server\n"
    )


@pytest.mark.live
def test_scenarios_that_cannot_be_played_are_told_one_by_one(
    up: str, project_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of several scenarios each that the lab cannot play is told with the reason; the code says that nothing is known."""
    scenarios = [str(project_root / "scenarios" / name) for name in ("lost-mail.yaml", "killed.yaml")]
    assert run(["run", *scenarios, "--lab", up, "--renew", "--json"]) == ExitCode.UNKNOWN
    told = json.loads(capsys.readouterr().out)
    assert [each["scenario"] for each in told] == scenarios
    assert all("begin" in each["not_played"] for each in told)
