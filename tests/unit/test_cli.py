"""The command line: what it prints, and the exit code of each end."""

from __future__ import annotations

import json
import os
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from pflab.cli.app import VERBS, function_of, run
from pflab.verdict import ExitCode

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
GOOD = """\
title: A post arrives
topology: one-site.yaml
rules: [OUT-1]
steps:
  - say: A posts.
  - post: {on: A, folder: Projects, subject: Hello, as: hello}
  - expect: {on: B, folder: Projects, has: hello, within: 15 min}
  - expect: {converged: all}
"""
TESTED_ELSEWHERE = {
    "check",
    "demo",
    "up",
    "node",
    "post",
    "folder",
    "clock",
    "fault",
    "events",
    "top",
    "load",
    "import",
}
"""Verbs whose examples need a lab that is up or bring one up, and the demo: each with a test of its own elsewhere."""
BAD = GOOD.replace("within: 15 min", "within: 14 min")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in a folder of their own, as a user's do."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def good(tmp_path: Path) -> str:
    (tmp_path / "good.yaml").write_text(GOOD, "utf-8")
    return "good.yaml"


@pytest.fixture
def bad(tmp_path: Path) -> str:
    (tmp_path / "bad.yaml").write_text(BAD, "utf-8")
    return "bad.yaml"


def lines(capsys: pytest.CaptureFixture[str]) -> tuple[list[str], list[str]]:
    captured = capsys.readouterr()
    return captured.out.splitlines(), captured.err.splitlines()


def document(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_a_scenario_that_passes_exits_0(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    """pflab run tells what the scenario says, that it passed, and exits 0."""
    assert run(["run", good, "--simulate"]) == ExitCode.GOOD
    out, _ = lines(capsys)
    assert out == [
        "A post arrives",
        "2003-10-21T00:00:00Z  A posts.",
        "passed: A post arrives (4 steps, 1 mail, 15 min of lab time)",
    ]


def test_a_scenario_that_fails_exits_1(good: str, bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One failed scenario among several makes the exit code 1; all are run."""
    assert run(["run", bad, good, "--simulate"]) == ExitCode.VIOLATION
    out, _ = lines(capsys)
    assert "failed: A post arrives" in out
    assert "    expected  B to have hello in Projects within 14 min" in out
    assert out[-1].startswith("passed: A post arrives")


def test_results_as_json(good: str, bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    """--json prints one document, whose failures say what the text says."""
    assert run(["run", good, bad, "--simulate", "--json"]) == ExitCode.VIOLATION
    first, second = document(capsys)
    assert (first["passed"], first["failure"], first["verdict"]["judgement"]) == (True, None, "converged")
    assert (second["passed"], second["failure"]["step"], second["failure"]["line"]) == (False, 3, 7)
    assert second["rules"] == ["OUT-1"]


def test_live_runs_leave_a_run_folder(good: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A live run leaves topology, seed, databases, traces and verdict, and runs/latest points at them."""
    assert run(["run", good]) == ExitCode.GOOD
    out, _ = lines(capsys)
    assert out[-1].startswith("kept in runs/good/")
    latest = tmp_path / "runs" / "latest"
    assert sorted(each.name for each in (latest / "databases").glob("*.sqlite")) == ["A.sqlite", "B.sqlite", "C.sqlite"]
    assert json.loads((latest / "verdict.json").read_text("utf-8"))["passed"] is True
    assert list((latest / "traces").glob("A-*.jsonl"))
    assert run(["state", "--folder", "Projects", "--server", "A"]) == ExitCode.GOOD
    out, err = lines(capsys)
    assert err == [f"of the run {latest.resolve().relative_to(tmp_path)}"]
    assert out[0].startswith("Replication State Table for Server A")
    assert any("Projects on Server A" in line and "Last update sent: A-1" in line for line in out)
    assert any("Projects on Server B" in line and "never" in line for line in out)


def test_traces_go_where_they_are_wanted(good: str, tmp_path: Path) -> None:
    """--traces keeps a simulated run too, below the folder named."""
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
    assert run(["state", "--folder", "Projects", "--node", "B", "--json"]) == ExitCode.GOOD
    (table,) = document(capsys)
    assert (table["store"], table["folder"]) == ("B", "Projects")
    assert {row["store"]: row["has"] for row in table["rows"]} == {"B": {"A": [[1, 1]]}, "A": {"A": [[1, 1]]}, "C": {}}


def test_backfill_shows_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """pflab backfill prints each entry with its time-out; a store that misses nothing says so."""
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
    out, _ = lines(capsys)
    assert "Server A misses nothing that it knows of." in out
    assert any(line.startswith("Backfill array of Server B") for line in out)
    assert run(["backfill", "--node", "B", "--json"]) == ExitCode.GOOD
    (entry,) = document(capsys)
    assert (entry["missing"], entry["due_at"], entry["local"]) == ({"A": [[1, 1]]}, "2003-10-22T06:15:00Z", True)


def test_validate_says_what_a_good_file_is(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that can be run is told as such, topology or scenario."""
    (Path("lab.yaml")).write_text("servers: {A: {}, B: {}}\nfolders: {Projects: {}}\n", "utf-8")
    assert run(["validate", good]) == run(["validate", "lab.yaml"]) == ExitCode.GOOD
    out, _ = lines(capsys)
    assert out == [
        "good.yaml: a scenario that can be run: A post arrives (4 steps, rules OUT-1)",
        "lab.yaml: a topology that can be run: 2 servers in 1 site, 1 folder",
    ]


def test_validate_tells_each_mistake_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Mistakes go to stderr, one line each, and the exit code is 2."""
    Path("bad.yaml").write_text("title: x\ntopology: one-site.yaml\nsteps:\n  - psot: {}\n  - stop: Q\n", "utf-8")
    assert run(["validate", "bad.yaml"]) == ExitCode.UNKNOWN
    out, err = lines(capsys)
    assert out == []
    assert [line.split(": ")[0] for line in err] == ["bad.yaml:4:5", "bad.yaml:5:11"]
    assert run(["validate", "bad.yaml", "--json"]) == ExitCode.UNKNOWN
    assert [each["line"] for each in document(capsys)["problems"]] == [4, 5]


@pytest.mark.parametrize("kind", ["topology", "scenario"])
def test_schemas_are_json(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """pflab schema prints a JSON Schema document."""
    assert run(["schema", kind]) == ExitCode.GOOD
    assert document(capsys)["type"] == "object"


@pytest.mark.usefixtures("good")
@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["run", "none.yaml"], "none.yaml: no such file or directory; name a scenario file"),
        (["run", "."], ".: is a directory; name a scenario file"),
        (["validate", "none.yaml"], "none.yaml: no such file or directory; name a file that can be read"),
        (["decode", "none.eml"], "none.eml: no such file or directory; name a file that can be read"),
        (["state"], "runs/latest: no such run folder; give a run folder, or make a run first: pflab demo"),
        (["state", "elsewhere"], "elsewhere: no such run folder; give a run folder, or make a run first: pflab demo"),
        (["simulate", "--seeds", "9..1"], "--seeds 9..1: not a range of seeds; write 1..200, the smaller first"),
        (["simulate", "none.yaml"], "none.yaml: no such file or directory; name a topology file"),
        (["frobnicate"], "pflab: No such command 'frobnicate'; pflab --help says what is right"),
        (["simulat"], "pflab: no verb 'simulat'; did you mean 'simulate'?"),
        (
            ["simulate", "good.yaml"],
            "good.yaml: not a topology, but a file with steps; name a topology, or use pflab run",
        ),
        (["schema", "foo"], 'pflab schema foo: no such kind of file; one of "topology", "scenario"'),
        (["run"], "pflab run: Missing argument 'SCENARIO...'; pflab run --help says what is right"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(args: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever a user gets wrong is one clear line on stderr, never a traceback."""
    assert run(args) == ExitCode.UNKNOWN
    out, err = lines(capsys)
    assert (out, err) == ([], [told])


def test_an_unknown_fault_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """--faults names kinds of fault; another word is refused with those there are."""
    assert run(["simulate", "--faults", "frob"]) == ExitCode.UNKNOWN
    _, err = lines(capsys)
    assert len(err) == 1
    assert err[0].startswith("--faults frob: no fault is called frob; there are all, none, ")


def test_a_folder_that_is_no_run_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder without topology and seed is no run's."""
    (tmp_path / "empty").mkdir()
    assert run(["backfill", "empty"]) == ExitCode.UNKNOWN
    _, err = lines(capsys)
    assert len(err) == 1
    assert "is not the folder of a run" in err[0]


def test_an_unknown_server_or_folder_is_told(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    """--node and --folder name what the run has."""
    run(["run", good])
    capsys.readouterr()
    assert run(["state", "--server", "Z"]) == run(["state", "--folder", "Projets"]) == ExitCode.UNKNOWN
    _, err = lines(capsys)
    assert [line for line in err if not line.startswith("of the run ")] == [
        '--server Z: no such server in this run; one of "A", "B", "C"',
        '--folder Projets: no store of this run holds it; did you mean "Projects"?',
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_folder_is_told(good: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run folder that cannot be made is one line."""
    (tmp_path / "locked").mkdir(mode=0o500)
    assert run(["run", good, "--traces", "locked/here"]) == ExitCode.UNKNOWN
    _, err = lines(capsys)
    assert len(err) == 1
    assert "cannot be written" in err[0]


def test_a_run_folder_that_is_a_file_is_told(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a folder cannot be because a file is there, one line says so."""
    Path("taken").write_text("", "utf-8")
    assert run(["run", good, "--traces", "taken"]) == ExitCode.UNKNOWN
    _, err = lines(capsys)
    assert len(err) == 1
    assert "cannot be written" in err[0]


def test_a_version_that_is_not_built_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A topology may name versions that this pflab does not play yet; running it says so in one line."""
    lab = '{servers: {A: {}, B: {version: "5.5"}, C: {}}, folders: {Projects: {}}}'
    (tmp_path / "old.yaml").write_text(GOOD.replace("one-site.yaml", lab), "utf-8")
    (tmp_path / "lab.yaml").write_text(lab, "utf-8")
    (tmp_path / "beside.yaml").write_text(GOOD.replace("one-site.yaml", "lab.yaml"), "utf-8")
    for args in (["run", "old.yaml", "--simulate"], ["validate", "old.yaml"]):
        assert run(args) == ExitCode.UNKNOWN
        _, err = lines(capsys)
        where = "old.yaml:2:42: topology.servers.B.version"
        assert err == [f'{where}: "5.5" cannot be run yet; this pflab runs "2003"']
    for args in (["run", "beside.yaml", "--simulate"], ["validate", "beside.yaml"], ["validate", "lab.yaml"]):
        assert run(args) == ExitCode.UNKNOWN
        _, err = lines(capsys)
        assert err == ['lab.yaml:1:32: servers.B.version: "5.5" cannot be run yet; this pflab runs "2003"']


def test_a_few_seeds_are_simulated(capsys: pytest.CaptureFixture[str]) -> None:
    """pflab simulate plays seeds and says how many converged."""
    assert run(["simulate", "--seeds", "1..2", "--days", "1", "--faults", "none"]) == ExitCode.GOOD
    out, _ = lines(capsys)
    assert out == ["2 of 2 seeds converged and kept every acknowledged change"]


def test_decode_shows_a_mail_down_to_its_headers(capsys: pytest.CaptureFixture[str]) -> None:
    """pflab decode prints the tree of a mail; an ordinary one is told as such."""
    Path("mail.eml").write_bytes(
        b"From: <a@contoso.test>\r\nSubject: Hi\r\nMessage-ID: <1@contoso.test>\r\n\r\nHello\r\n"
    )
    assert run(["decode", "mail.eml"]) == ExitCode.GOOD
    out, _ = lines(capsys)
    assert any("Subject: Hi" in line for line in out)
    assert any("ordinary mail" in line for line in out)


@pytest.mark.parametrize("content", [b"", b"# A page\n\nFrom here on: text\n", b"title: x\nsteps: []\n", bytes(3000)])
def test_what_is_no_mail_is_told(content: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    """A file without a header field that mails have is not called an ordinary mail."""
    Path("page.md").write_bytes(content)
    assert run(["decode", "page.md"]) == ExitCode.UNKNOWN
    out, err = lines(capsys)
    assert (out, len(err)) == ([], 1)
    assert err[0].startswith("page.md: not a mail")


def test_every_verb_is_listed_and_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    """pflab --help lists the verbs as their own help begins; pflab VERB --help shows how the verb is used."""
    assert run(["--help"]) == ExitCode.GOOD
    listed = " ".join(capsys.readouterr().out.split())
    for name, (_, told) in VERBS.items():
        assert f"{name} {told}" in listed
        assert (function_of(name).__doc__ or "").partition("\n")[0] == told
        assert run([name, "--help"]) == ExitCode.GOOD
        assert f"Example: pflab {name}" in capsys.readouterr().out


@pytest.fixture
def lost_mail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A simulated run of the lesson, its mails kept, in a folder that has the scenarios, the topologies and old mail."""
    (tmp_path / "scenarios").symlink_to(SCENARIOS)
    (tmp_path / "topology").symlink_to(SCENARIOS.parent / "topology")
    (tmp_path / "archive.mbox").write_bytes(b"From kim@x.test Tue Oct 21 00:00:00 2003\nSubject: old\n\nmail\n")
    assert run(["run", "lost-mail", "--simulate", "--keep-mails"]) == ExitCode.GOOD
    capsys.readouterr()


@pytest.mark.usefixtures("lost_mail")
@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in TESTED_ELSEWHERE])
def test_the_example_of_each_help_does_what_it_says(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What pflab VERB --help gives as an example is taken by that verb, the demo's by a test of its own."""
    told = function_of(verb).__doc__
    example = told.partition("Example: pflab ")[2].partition(">")[0].split()
    # Its plans are drawn, which is where a wrong word is refused; a hundred seeds are not played here.
    args = [*example[:2], "1..2", *example[3:], "--expand"] if verb == "simulate" else example
    assert run(args) == ExitCode.GOOD
    assert capsys.readouterr().out


@pytest.mark.usefixtures("lost_mail")
def test_a_kept_mail_can_be_taken_apart(capsys: pytest.CaptureFixture[str]) -> None:
    """pflab run --keep-mails leaves each mail as a file, and pflab decode shows it with all its properties named."""
    mails = sorted(Path("runs/latest/mails").glob("*.eml"))
    assert [each.name for each in mails][:2] == [
        "2003-10-21T001500Z-A-to-B-content.eml",
        "2003-10-21T001500Z-A-to-C-content.eml",
    ]
    assert run(["decode", str(mails[0])]) == ExitCode.GOOD
    out, _ = lines(capsys)
    assert any(line.strip() == "PFLAB_TYPE 0x67110003: 0x4 content" for line in out)
    assert not [line for line in out if line.strip().startswith("0x")]


@pytest.mark.usefixtures("lost_mail")
def test_a_simulated_run_that_is_kept_can_be_looked_into(capsys: pytest.CaptureFixture[str]) -> None:
    """A kept simulation leaves databases as a live run does, and how long ago counts from the end of the run."""
    assert run(["state", "--folder", "Projects", "--server", "C"]) == ExitCode.GOOD
    out, err = lines(capsys)
    assert err == ["of the run runs/lost-mail/00001"]
    assert any("47 h 45 min ago" in line for line in out)
    assert run(["backfill"]) == ExitCode.GOOD


def test_results_say_where_the_run_is_kept(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    """--json names the run folder, or none where nothing was kept."""
    assert run(["run", good, "--simulate", "--json"]) == ExitCode.GOOD
    assert document(capsys)[0]["folder"] is None
    assert run(["run", good, "--simulate", "--traces", "kept", "--json"]) == ExitCode.GOOD
    assert document(capsys)[0]["folder"] == "kept/good/00001"


def test_without_a_verb_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    """pflab alone shows the help as it is, and that nothing was asked for; --version says which pflab this is."""
    assert run(["--help"]) == ExitCode.GOOD
    helped = capsys.readouterr().out
    assert run([]) == ExitCode.UNKNOWN
    assert capsys.readouterr().out == helped
    assert run(["--version"]) == ExitCode.GOOD
    assert capsys.readouterr().out == f"pflab {metadata.version('pflab')}\n"


def test_names_of_shipped_scenarios_are_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """pflab run edit plays scenarios/edit.yaml of the folder one is in."""
    monkeypatch.chdir(SCENARIOS.parent)
    assert run(["run", "edit", "--simulate"]) == ExitCode.GOOD
    capsys.readouterr()


@pytest.mark.live
def test_the_demo_ends_with_all_replicas_equal(capsys: pytest.CaptureFixture[str]) -> None:
    """pflab demo --headless asks nothing, tells the lesson, shows the tables, and its verdict is that all agree."""
    assert run(["demo", "--headless"]) == ExitCode.GOOD
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
