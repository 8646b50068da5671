"""The command line: what it prints, and the exit code of each result."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pflab.cli.app import run
from pflab.cli.junit import Played, write_junit
from pflab.terms.verdict import ExitCode
from tests.support.cli_runs import BAD, GOOD, printed_json, printed_lines


def test_a_scenario_that_passes_exits_0(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    """pflab run prints the scenario's description and that it passed, and exits with 0."""
    assert run(["run", good, "--simulate"]) == ExitCode.GOOD
    out, _ = printed_lines(capsys)
    assert out == [
        "A post arrives",
        "2003-10-21T00:00:00Z  A posts.",
        "passed: A post arrives (4 steps, 1 mail, 15 min of lab time)",
    ]


def test_a_scenario_that_fails_exits_1(good: str, bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One failed scenario among several makes the exit code 1; all are played."""
    assert run(["run", bad, good, "--simulate"]) == ExitCode.VIOLATION
    out, _ = printed_lines(capsys)
    assert "failed: A post arrives" in out
    assert "    expected  B to have hello in Projects within 14 min" in out
    assert out[-1].startswith("passed: A post arrives")


def test_results_as_json(good: str, bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    """--json prints one document, whose failures say the same as the text."""
    assert run(["run", good, bad, "--simulate", "--json"]) == ExitCode.VIOLATION
    first, second = printed_json(capsys)
    assert (first["passed"], first["failure"], first["verdict"]["judgement"]) == (True, None, "converged")
    assert (second["passed"], second["failure"]["step"], second["failure"]["line"]) == (False, 3, 7)
    assert second["rules"] == ["OUT-1"]


def test_live_runs_leave_a_run_folder(good: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A live run leaves topology, seed, databases, traces and verdict; runs/latest points to its folder."""
    assert run(["run", good]) == ExitCode.GOOD
    out, _ = printed_lines(capsys)
    assert out[-1].startswith("kept in runs/good/")
    latest = tmp_path / "runs" / "latest"
    assert sorted(each.name for each in (latest / "databases").glob("*.sqlite")) == ["A.sqlite", "B.sqlite", "C.sqlite"]
    assert json.loads((latest / "verdict.json").read_text("utf-8"))["passed"] is True
    assert list((latest / "traces").glob("A-*.jsonl"))
    assert run(["state", "Projects", "--server", "A"]) == ExitCode.GOOD
    out, err = printed_lines(capsys)
    assert err == [f"reading the run {latest.resolve().relative_to(tmp_path)}"]
    assert out[0].startswith("Replication State Table for Server A")
    assert any("Projects on Server A" in line and "Last update sent: A-1" in line for line in out)
    assert any("Projects on Server B" in line and "never" in line for line in out)


def test_traces_option_sets_the_folder_of_the_run(good: str, tmp_path: Path) -> None:
    """--traces keeps a simulated run too, below that folder."""
    assert run(["run", good, "--simulate", "--traces", "kept"]) == ExitCode.GOOD
    assert list((tmp_path / "kept" / "good" / "00001" / "traces").glob("*.jsonl"))
    assert not (tmp_path / "runs").exists()


def test_the_same_seed_gives_the_same_trace(good: str, tmp_path: Path) -> None:
    """A simulation is repeatable: two runs of one seed leave the same traces."""
    for _ in range(2):
        run(["run", good, "--simulate", "--traces", "kept", "--seed", "5"])
    first, second = (
        {each.name: each.read_bytes() for each in (tmp_path / "kept" / "good" / number / "traces").iterdir()}
        for number in ("00001", "00002")
    )
    assert first == second
    assert first


def test_state_as_json(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    """pflab state --json gives sets as ranges by store."""
    run(["run", good])
    capsys.readouterr()
    assert run(["state", "Projects", "--node", "B", "--json"]) == ExitCode.GOOD
    (table,) = printed_json(capsys)
    assert (table["store"], table["folder"]) == ("B", "Projects")
    assert {row["store"]: row["has"] for row in table["rows"]} == {"B": {"A": [[1, 1]]}, "A": {"A": [[1, 1]]}, "C": {}}


def test_status_of_a_run(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    """RST-3: pflab status prints a matrix of a run's stores, and refuses a folder that no store holds."""
    run(["run", good])
    capsys.readouterr()
    assert run(["status"]) == ExitCode.GOOD
    out, _ = printed_lines(capsys)
    assert out[2].split() == ["Projects", "modified", "in", "sync", "in", "sync"]
    assert run(["status", "Project"]) == ExitCode.UNKNOWN
    _, err = printed_lines(capsys)
    assert err[-1] == 'pflab status Project: no store here holds this folder; did you mean "Projects"?'


def test_backfill_shows_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """pflab backfill prints each entry with its time-out; for a store that lacks nothing it says so."""
    (tmp_path / "missing.yaml").write_text(
        "title: x\ntopology: one-site.yaml\nsteps:\n"
        "  - lose: {from: A, to: B, type: content, count: 1}\n"
        "  - post: {on: A, folder: Projects, subject: Hello}\n"
        "  - advance: 2003-10-22T01:00Z\n",
        "utf-8",
    )
    run(["run", "missing.yaml"])
    capsys.readouterr()
    assert run(["backfill"]) == ExitCode.GOOD
    out, _ = printed_lines(capsys)
    assert "Server A knows of no missing changes." in out
    assert any(line.startswith("Backfill array of Server B") for line in out)
    assert run(["backfill", "--node", "B", "--json"]) == ExitCode.GOOD
    (entry,) = printed_json(capsys)
    assert (entry["missing"], entry["due_at"], entry["local"]) == ({"A": [[1, 1]]}, "2003-10-22T06:15:00Z", True)


def test_validate_says_what_a_good_file_is(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The output says that a valid file is valid, and whether it is a topology or a scenario."""
    (Path("lab.yaml")).write_text("servers: {A: {}, B: {}}\nfolders: {Projects: {}}\n", "utf-8")
    assert run(["validate", good, "lab.yaml"]) == ExitCode.GOOD
    out, _ = printed_lines(capsys)
    assert out == [
        "good.yaml: a valid scenario: A post arrives (4 steps, rules OUT-1)",
        "lab.yaml: a valid topology: 2 servers in 1 site, 1 folder",
    ]


@pytest.mark.parametrize("kind", ["topology", "scenario"])
def test_schemas_are_json(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """pflab schema prints a JSON Schema document."""
    assert run(["schema", kind]) == ExitCode.GOOD
    assert printed_json(capsys)["type"] == "object"


def test_a_few_seeds_are_simulated(capsys: pytest.CaptureFixture[str]) -> None:
    """pflab simulate plays seeds and prints how many converged."""
    assert run(["simulate", "--seeds", "1..2", "--days", "1", "--faults", "none"]) == ExitCode.GOOD
    out, _ = printed_lines(capsys)
    assert out == ["2 of 2 seeds converged and kept every acknowledged change"]


def test_decode_shows_a_mail_down_to_its_headers(capsys: pytest.CaptureFixture[str]) -> None:
    """pflab decode prints the tree of a replication mail, and names an ordinary mail as one."""
    Path("mail.eml").write_bytes(
        b"From: <a@contoso.test>\r\nSubject: Hi\r\nMessage-ID: <1@contoso.test>\r\n\r\nHello\r\n"
    )
    assert run(["decode", "mail.eml"]) == ExitCode.GOOD
    out, _ = printed_lines(capsys)
    assert any("Subject: Hi" in line for line in out)
    assert any("ordinary mail" in line for line in out)


@pytest.mark.usefixtures("lost_mail")
def test_a_kept_mail_can_be_decoded(capsys: pytest.CaptureFixture[str]) -> None:
    """pflab run --keep-mails writes each mail to a file, which pflab decode shows with all its properties named."""
    mails = sorted(Path("runs/latest/mails").glob("*.eml"))
    assert [each.name for each in mails][:2] == [
        "2003-10-21T001500Z-A-to-B-content.eml",
        "2003-10-21T001500Z-A-to-C-content.eml",
    ]
    assert run(["decode", str(mails[0])]) == ExitCode.GOOD
    out, _ = printed_lines(capsys)
    assert any(line.strip() == "PFLAB_TYPE 0x67110003: 0x4 content" for line in out)
    assert not [line for line in out if line.strip().startswith("0x")]


@pytest.mark.usefixtures("lost_mail")
def test_a_kept_simulation_has_databases(capsys: pytest.CaptureFixture[str]) -> None:
    """A kept simulation leaves databases as a live run does; ages count from the end of the run."""
    assert run(["state", "Projects", "--server", "C"]) == ExitCode.GOOD
    out, err = printed_lines(capsys)
    assert err == ["reading the run runs/lost-mail/00001"]
    assert any("47 h 45 min ago" in line for line in out)
    assert run(["backfill"]) == ExitCode.GOOD


def test_results_say_where_the_run_is_kept(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    """--json names the run folder, or null if no run was kept."""
    assert run(["run", good, "--simulate", "--json"]) == ExitCode.GOOD
    assert printed_json(capsys)[0]["folder"] is None
    assert run(["run", good, "--simulate", "--traces", "kept", "--json"]) == ExitCode.GOOD
    assert printed_json(capsys)[0]["folder"] == "kept/good/00001"


@pytest.mark.parametrize("name", ["edit", "edit.yaml"])
def test_names_of_shipped_scenarios_are_found(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """pflab run edit plays the scenario of pflab from any folder; the user's own file of that name has priority."""
    assert run(["run", name, "--simulate"]) == ExitCode.GOOD
    assert "passed: An edited message" in capsys.readouterr().out
    Path("scenarios").mkdir()
    Path("scenarios/edit.yaml").write_text(GOOD, "utf-8")
    assert run(["run", name, "--simulate"]) == ExitCode.GOOD
    assert "passed: An edited message" not in capsys.readouterr().out


def test_names_of_shipped_topologies_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    """An example topology of pflab is found by its name from any folder."""
    for name in ("one-site", "one-site.yaml"):
        assert run(["analyze", name]) == ExitCode.GOOD
    assert run(["analyze", "no-site"]) == ExitCode.UNKNOWN
    assert (
        "no-site: no such file or directory; name a topology file, or one that comes with pflab: "
        in capsys.readouterr().err
    )
    assert run(["analyze", "topology/examples/one-site.yaml"]) == ExitCode.UNKNOWN
    assert 'or one that comes with pflab: did you mean "one-site"?' in capsys.readouterr().err


def test_every_verb_finds_the_examples_of_its_kind(capsys: pytest.CaptureFixture[str]) -> None:
    """The name of an example stands for its file: in validate for examples of both kinds; in simulate and import too."""
    assert run(["validate", "one-site", "lost-mail", "lost-mail.yaml"]) == ExitCode.GOOD
    topology, *scenarios = capsys.readouterr().out.splitlines()
    assert topology.startswith("one-site: a valid topology: 3 servers")
    assert [each.partition(" (")[0] for each in scenarios] == [
        f"{name}: a valid scenario: A lost mail comes back by backfill" for name in ("lost-mail", "lost-mail.yaml")
    ]
    assert run(["validate", "scenarios/lost-mail.yaml"]) == ExitCode.UNKNOWN
    assert 'or one that comes with pflab: did you mean "lost-mail"?' in capsys.readouterr().err
    assert run(["simulate", "two-sites", "--seeds", "1", "--expand"]) == ExitCode.GOOD
    Path("archive.mbox").write_bytes(b"From kim@x.test Tue Oct 21 00:00:00 2003\nSubject: old\n\nmail\n")
    assert run(["import", "Projects", "archive.mbox", "--topology", "one-site"]) == ExitCode.GOOD


def test_a_file_of_the_user_comes_before_an_example(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A file with the name of an example is what the user means."""
    Path("one-site").write_bytes(Path(good).read_bytes())
    assert run(["validate", "one-site"]) == ExitCode.GOOD
    assert "one-site: a valid scenario" in capsys.readouterr().out


def test_examples_are_printed_as_files_to_begin_from(project_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """pflab example lists every topology and scenario, none of which share a name, and prints the file of one."""
    files = [*(project_root / "topology/examples").glob("*.yaml"), *(project_root / "scenarios").glob("*.yaml")]
    assert run(["example"]) == ExitCode.GOOD
    listed = dict(re.findall(r"^  (\S+) +(\S.*)$", capsys.readouterr().out, re.MULTILINE))
    assert sorted(listed) == sorted(each.stem for each in files)
    assert listed["one-site"] == "Three stores in one site"
    assert listed["lost-mail"] == "A lost mail comes back by backfill"
    for each in files:
        assert run(["example", each.stem]) == ExitCode.GOOD
        assert capsys.readouterr().out == each.read_text("utf-8")
    assert run(["example", "lost"]) == ExitCode.UNKNOWN
    assert 'pflab example lost: no such example; did you mean "lost-mail"?' in capsys.readouterr().err


@pytest.mark.live
def test_the_demo_ends_with_all_replicas_equal(project_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """pflab demo --headless asks nothing and ends as docs/how-to/labs.md shows: tables, events, equal replicas."""
    assert run(["demo", "--headless", "--skip-check"]) == ExitCode.GOOD
    text = capsys.readouterr().out
    for needed in (
        "Replication State Table for Server A",
        "Last update sent: A-1",
        "loses a mail",
        "all replicas of all",
        "mails/2003-10-21T001500Z-A-to-B-content.eml",
    ):
        assert needed in text
    assert Path("runs/latest/verdict.json").is_file()
    blocks = (project_root / "docs" / "how-to" / "labs.md").read_text("utf-8").split("```\n")[1::2]
    shown = [line for block in blocks for line in block.splitlines() if line[:1] in set("2┃│├╭╰")]
    assert shown
    assert [line for line in shown if line not in text] == []


def test_results_as_a_junit_report(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    """--junit writes a test case for each scenario, with why it failed; the exit code and the output stay as they are."""
    Path("bad.yaml").write_text(BAD, "utf-8")
    assert run(["run", good, "bad.yaml", "--simulate", "--junit", "results.xml"]) == ExitCode.VIOLATION
    suite = ElementTree.parse("results.xml").getroot()[0]
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["2", "1", "0"]
    passed, failed = suite
    assert (passed.get("classname"), passed.get("name"), len(passed)) == ("good.yaml", "A post arrives", 0)
    assert str(failed[0].get("message")).startswith("step 3, line ")
    assert "expected" in str(failed[0].text)
    capsys.readouterr()
    assert run(["run", good, "--simulate", "--junit", "none/results.xml"]) == ExitCode.UNKNOWN
    assert capsys.readouterr().err.startswith("--junit none/results.xml: not the name of a file in an existing folder")


def test_a_junit_report_is_xml_whatever_a_subject_has() -> None:
    """A subject with characters that XML does not allow cannot make a report that no program reads."""
    write_junit(Path("results.xml"), [Played("f.yaml", "t", 0.1, failed=["lacks 'a\x00\x1b\ud800\uffff<&'"])])
    (failure,) = ElementTree.parse("results.xml").getroot().iter("failure")
    assert failure.text == "lacks 'a" + "\N{REPLACEMENT CHARACTER}" * 4 + "<&'"
