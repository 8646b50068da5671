"""pflab edit, delete, resolve and messages, on a running lab and on a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pflab.cli.app import run
from pflab.client import Client
from pflab.terms.verdict import ExitCode
from tests.support.cli_runs import SCENARIOS
from tests.support.named_commands import examples_of
from tests.support.running_lab import lab_up

CONFLICT = """
title: A conflict
topology:
  servers: {A: , B: , C: }
  folders: {Projects: {replicas: [A, B]}, News: {replicas: [A, C]}}
steps:
  - post: {on: A, folder: Projects, subject: "Plan [b]", sender: kim@contoso.test, as: plan}
  - advance: 16 min
  - edit: {on: A, message: plan, body: of A}
  - edit: {on: B, message: plan, subject: "Plan of\\eB"}
  - advance: 20 min
  - post: {on: A, folder: Projects, subject: Only on A}
"""


@pytest.fixture
def conflict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Make a simulated run with a conflict in Projects, and a message that B lacks."""
    (tmp_path / "conflict.yaml").write_text(CONFLICT, "utf-8")
    assert run(["run", "conflict.yaml", "--simulate", "--traces", "runs"]) == ExitCode.GOOD
    capsys.readouterr()


@pytest.fixture
def up(tmp_path: Path) -> Iterator[str]:
    with lab_up(tmp_path) as url:
        yield url


@pytest.mark.usefixtures("conflict")
def test_messages_are_listed_for_each_folder_and_server(capsys: pytest.CaptureFixture[str]) -> None:
    """The list has a table for each folder of each store, at most 80 columns wide, and marks conflicts (CF-1). Replicas
    without messages are only counted, unless their folder was asked for. Texts of users do not control the terminal."""
    assert run(["messages"]) == ExitCode.GOOD
    out = capsys.readouterr().out
    assert [line.rstrip() for line in out.splitlines() if " on Server " in line] == [
        "Projects on Server A",
        "Projects on Server B",
    ]
    assert out.endswith("\n2 replicas have no messages\n")
    assert max(map(len, out.splitlines())) <= 80
    assert out.count("(in conflict with A-2)") == 2
    assert out.count("Only on A") == 1
    assert "kim@contoso.test" in out
    assert "Plan of\N{REPLACEMENT CHARACTER}B" in out
    assert run(["messages", "list", "--folder", "Projects", "--server", "A", "--limit", "1"]) == ExitCode.GOOD
    out = capsys.readouterr().out
    assert "Only on A" in out
    assert "(1 earlier messages left out; see --limit)" in out
    assert "replica" not in out
    assert run(["messages", "--folder", "News", "--server", "C"]) == ExitCode.GOOD
    assert capsys.readouterr().out == "News on Server C has no messages.\n"
    assert run(["messages", "--server", "B", "--json"]) == ExitCode.GOOD
    (message,) = json.loads(capsys.readouterr().out)
    assert (message["store"], message["folder"], message["number"]) == ("B", "Projects", "B-1")
    assert (message["numbers"], message["in_conflict"]) == (["B-1", "A-2"], True)
    assert message["modified_at"] == "2003-10-21T00:16:00Z"


@pytest.mark.usefixtures("conflict")
def test_each_version_of_a_conflict_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """show prints each version with who wrote it, where and when; any change number names the message (CF-1, CN-7)."""
    for number in ("A-1", "A-2", "B-1"):
        assert run(["messages", "show", number]) == ExitCode.GOOD
        told = [line for line in capsys.readouterr().out.splitlines() if "Size" not in line]
        assert told == [
            "'Plan of\N{REPLACEMENT CHARACTER}B' in Projects on Servers A and B: 2 versions in conflict",
            "  B-1  2003-10-21T00:16:00Z  made on B (shown)",
            "    From:     kim@contoso.test",
            "    Subject:  Plan of\N{REPLACEMENT CHARACTER}B",
            "    Includes: A-1, B-1",
            "  A-2  2003-10-21T00:16:00Z  made on A",
            "    From:     kim@contoso.test",
            "    Subject:  Plan [b]",
            "    Includes: A-2",
            "      of A",
            "",
        ]
    assert run(["messages", "show", "A-3"]) == ExitCode.GOOD
    out = capsys.readouterr().out
    assert "'Only on A' in Projects on Server A\n" in out
    assert "Server B: no message on B has the change A-3; the change may not have arrived yet\n" in out
    assert "Server C" not in out
    assert run(["messages", "show", "A-3", "--properties"]) == ExitCode.GOOD
    assert 'PR_SUBJECT 0x0037001F: "Only on A"' in capsys.readouterr().out
    assert run(["messages", "show", "A-1", "--server", "A", "--json"]) == ExitCode.GOOD
    ((shown),) = json.loads(capsys.readouterr().out)
    assert [each["number"] for each in shown["versions"]] == ["B-1", "A-2"]


def test_a_version_of_a_restored_store_names_its_server(capsys: pytest.CaptureFixture[str]) -> None:
    """After a restore, A's numbers are A.2-1, A.2-2, ... (RP-4); the server that made them is A."""
    assert run(["run", str(SCENARIOS / "restored.yaml"), "--simulate", "--traces", "runs"]) == ExitCode.GOOD
    capsys.readouterr()
    assert run(["messages", "show", "A.2-1"]) == ExitCode.GOOD
    assert "  A.2-1  2003-10-21T00:35:00Z  made on A\n" in capsys.readouterr().out


@pytest.mark.usefixtures("conflict")
@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["show", "A-99"], "no server here has the message A-99; pflab messages lists the messages"),
        (["show", "A-3", "--server", "B"], "no message on B has the change A-3; the change may not have arrived yet; "),
        (["show", "Plan"], "'Plan' is not a message; write one of its change numbers, such as A-4"),
        (["show"], "Missing argument 'CN'; see pflab messages show --help"),
        (["list", "A-1"], 'A-1: no store here holds this folder; one of "Projects"'),
        (["lists"], 'no such action; did you mean "list"?'),
        (["list", "Project"], 'did you mean "Projects"?'),
        (["--server", "D"], 'no server "D" in this run'),
    ],
)
def test_what_cannot_be_shown_is_misuse(args: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown message, folder or server gives one line that says what would be right."""
    assert run(["messages", *args]) == ExitCode.UNKNOWN
    assert expected in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.live
def test_messages_are_changed_by_their_numbers(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """edit, resolve and delete name a message by any of its changes, and print the number of the change (CF-3, DL-1)."""
    del up

    def said(*args: str) -> str:
        assert run(list(args)) == ExitCode.GOOD
        return capsys.readouterr().out.strip()

    def refused(*args: str) -> str:
        assert run(list(args)) == ExitCode.UNKNOWN
        (line,) = capsys.readouterr().err.splitlines()
        return line

    def conflict(message: str) -> None:
        """Edit a message on A and B at the same time."""
        for server in "AB":
            said("edit", message, "--node", server, "--subject", f"of {server}")
        said("clock", "advance", "30 min")

    assert said("post", "Projects", "--node", "A", "--subject", "One") == "A-1"
    assert said("edit", "A-1", "--node", "A", "--body", "text") == "A-2"
    assert "      text" in said("messages", "show", "A-1", "--server", "A")
    said("clock", "advance", "30 min")
    conflict("A-1")
    assert "(in conflict with A-3)" in said("messages", "--server", "A")
    assert refused("resolve", "A-1", "--node", "A", "--keep", "A-1").startswith(
        "--keep A-1: A-1 has no such version on A; "
    )
    told = refused("resolve", "A-1", "--node", "A", "--keep", "B-1", "--by", "sam@contoso.test")
    assert "sam@contoso.test is not a contact of Projects" in told
    assert said("resolve", "A-1", "--node", "A", "--keep", "B-1") == "A-4"
    assert refused("resolve", "A-1", "--node", "A", "--keep", "all").startswith(
        "pflab resolve: A-1 is not in conflict on A; "
    )
    said("clock", "advance", "30 min")
    conflict("A-1")
    made: Any = json.loads(said("resolve", "A-1", "--node", "B", "--keep", "all", "--json"))
    assert made["numbers"] == ["B-3", "B-4"]
    assert said("delete", "A-1", "--node", "B") == "B-5"
    assert said("delete", "B-4", "--node", "B") == "B-6"
    assert "Projects on Server B has no messages." in said("messages", "--server", "B", "--folder", "Projects")
    assert "message A-1 was deleted on B" in refused("edit", "A-1", "--node", "B", "--body", "x")
    assert "give --subject, --body or both" in refused("edit", "A-1", "--node", "B")
    assert "there is no server 'Z'" in refused("delete", "A-1", "--node", "Z")


@pytest.mark.live
def test_an_edit_names_the_version_that_was_opened(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """edit --based-on names the versions that its author opened; it is in conflict with what others saved since (CF-6)."""
    del up

    def said(*args: str, code: ExitCode = ExitCode.GOOD) -> str:
        assert run(list(args)) == code
        printed = capsys.readouterr()
        return (printed.out + printed.err).strip()

    assert said("post", "Projects", "--node", "A", "--subject", "One") == "A-1"
    assert said("edit", "A-1", "--node", "A", "--body", "of Kim", "--based-on", "A-1") == "A-2"
    assert said("edit", "A-1", "--node", "A", "--body", "of Lee", "--based-on", "A-1") == "A-3"
    assert "(in conflict with A-2)" in said("messages", "--server", "A")
    assert said("edit", "A-1", "--node", "A", "--body", "of both", "--based-on", "A-2", "--based-on", "A-3") == "A-4"
    assert "in conflict" not in said("messages", "--server", "A")
    refusal = said("edit", "A-1", "--node", "A", "--body", "x", "--based-on", "B-7", code=ExitCode.UNKNOWN)
    assert "B-7 is not a version of the message; the versions that A knows are: A-1, A-2, A-3, A-4" in refusal


@pytest.mark.live
def test_deleted_messages_and_folders_are_recovered(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """pflab recover lists what a server retains, and recovers a message or a folder (DL-5)."""

    def said(*args: str, code: ExitCode = ExitCode.GOOD) -> str:
        assert run(list(args)) == code
        printed = capsys.readouterr()
        return (printed.out + printed.err).strip()

    assert said("recover", "--node", "A") == "Server A retains no deleted messages or folders."
    with Client(up) as client:
        client.configure("A", {"Deleted Item Retention": "7 d"})
        client.post("A", "Projects", subject="Hello")
    said("edit", "A-1", "--node", "A", "--subject", "Hello again")
    said("delete", "A-1", "--node", "A")
    assert said("recover", "--node", "A").startswith("A-2  'Hello again' in Projects, deleted 2003-10-21T00:00:")
    assert "A retains no A-9" in said("recover", "A-9", "--node", "A", code=ExitCode.UNKNOWN)
    assert said("recover", "A-1", "--node", "A") == "A-4"
    said("folder", "delete", "Projects", "--node", "A")
    assert said("recover", "--node", "A").splitlines()[0].startswith("Projects  a folder with 1 message, deleted")
    assert said("recover", "Projects", "--node", "A").startswith("A-")
    kept = json.loads(said("recover", "--node", "A", "--json"))
    assert kept == []


@pytest.mark.live
def test_the_examples_of_the_help_work(up: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The examples of edit, resolve and delete work one after the other."""
    with Client(up) as client:
        made = client.post("A", "Projects", subject="Hello")["id"]
        client.advance("30 min")
        client.edit("B", "Projects", made, subject="first of B")
        client.edit("A", "Projects", made, subject="of A")
        for verb in ("edit", "resolve", "delete"):
            assert [run(example) for example in examples_of(verb)] == [ExitCode.GOOD]
            client.advance("30 min")
    assert capsys.readouterr().out.split() == ["B-2", "A-3", "B-3"]
