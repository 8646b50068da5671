"""The command line reports each mistake of its user in one line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pflab.cli.app import run
from pflab.lessons.course import lessons_of_pflab
from pflab.terms.verdict import ExitCode
from tests.support.cli_runs import GOOD, printed_json, printed_lines


def test_validate_tells_each_mistake_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Mistakes go to stderr, one line each, with exit code 2."""
    Path("bad.yaml").write_text("title: x\ntopology: one-site.yaml\nsteps:\n  - psot: {}\n  - stop: Q\n", "utf-8")
    assert run(["validate", "bad.yaml"]) == ExitCode.UNKNOWN
    out, err = printed_lines(capsys)
    assert out == []
    assert [line.split(": ")[0] for line in err] == ["bad.yaml:4:5", "bad.yaml:5:11"]
    assert run(["validate", "bad.yaml", "--json"]) == ExitCode.UNKNOWN
    assert [each["line"] for each in printed_json(capsys)["problems"]] == [4, 5]


def test_a_scenario_without_a_title_is_told_all_its_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    """A missing title hides no other mistake. Without steps too, the file is still judged as a scenario."""
    for text, lines in (
        ("topology: one-site.yaml\nrules: [XX-1]\nsteps:\n  - psot: {}\n  - stop: Q\n", [1, 2, 4, 5]),
        ("topology: one-sit.yaml\nlive: 3\nstps:\n  - stop: Q\n", [1, 1, 1, 2, 3]),
        ("title: x\ntopology: one-site.yaml\nstps:\n  - stop: A\n", [1, 3]),
    ):
        Path("bad.yaml").write_text(text, "utf-8")
        assert run(["validate", "bad.yaml", "--json"]) == ExitCode.UNKNOWN
        found = printed_json(capsys)
        assert found["kind"] == "scenario"
        assert [each["line"] for each in found["problems"]] == lines


def test_validate_tells_the_mistakes_of_several_files(capsys: pytest.CaptureFixture[str]) -> None:
    """Every file is checked, also after one that is wrong or cannot be read; the exit code is 2 if any file is wrong."""
    Path("lab.yaml").write_text("servers: {A: {}}\nfolders: {Projects: {replica: [A]}}\n", "utf-8")
    steps = "title: T\ntopology: {servers: {A: {}}}\nsteps: [{at: 5 min, delete: {on: A, message: m1}}]\n"
    Path("steps.yaml").write_text(steps, "utf-8")
    Path("good.yaml").write_text("servers: {A: {}}\n", "utf-8")
    files = ("lab.yaml", "none.yaml", "steps.yaml", "good.yaml")
    assert run(["validate", *files]) == ExitCode.UNKNOWN
    out, err = printed_lines(capsys)
    assert out == ["good.yaml: a valid topology: 1 server in 1 site, 0 folders"]
    assert [line.split(": ")[0] for line in err] == ["lab.yaml:2:22", "none.yaml", "steps.yaml:3:46"]
    assert run(["validate", *files, "--json"]) == ExitCode.UNKNOWN
    found = printed_json(capsys)
    assert [(each["kind"], len(each["problems"])) for each in found] == [
        ("topology", 1),
        ("file", 1),
        ("scenario", 1),
        ("topology", 0),
    ]


@pytest.mark.usefixtures("good")
@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["run", "none.yaml"], "none.yaml: no such file or directory; name a scenario file"),
        (
            ["run", "lost-mial"],
            "lost-mial: no such file or directory; name a scenario file, or one that comes with pflab:"
            ' did you mean "lost-mail"?',
        ),
        (["run", "."], ".: is a directory; name a scenario file"),
        (["validate", "none.yaml"], "none.yaml: no such file or directory; name a file that can be read"),
        (["decode", "none.eml"], "none.eml: no such file or directory; name a file that can be read"),
        (
            ["check", ".", "--report", "nowhere/report.html"],
            "pflab check: nowhere/report.html cannot be written: there is no folder nowhere",
        ),
        (["check", ".", "--shiviz", "."], "pflab check: . cannot be written: it is a folder"),
        (
            ["check", ".", "--report", "/proc/r.html"],
            "pflab check: /proc/r.html cannot be written: no file can be created in /proc: no such file or directory",
        ),
        (
            ["tables", ".", "-o", "/proc/new/t"],
            "pflab tables: /proc/new/t cannot be written: no file can be created in /proc: no such file or directory",
        ),
        (["state"], "runs/latest: no such run folder; name a run folder, or make a run first: pflab demo"),
        (
            ["state", "--run", "elsewhere"],
            "elsewhere: no such run folder; name a run folder, or make a run first: pflab demo",
        ),
        (
            ["simulate", "--seeds", "9..1"],
            "--seeds 9..1: not a range of seeds; write for example 1..200, the smaller first",
        ),
        (
            ["simulate", "--seeds", "1..99999999999"],
            "--seeds 1..99999999999: more than 1000000 seeds; give a smaller range",
        ),
        (
            ["simulate", "--seeds", "1..2", "--traces", "kept", "--verify-share", "1"],
            "pflab simulate: --verify-share plays seeds a second time in other processes, which keep no traces;"
            " leave out --traces or --verify-share",
        ),
        (
            ["simulate", "--select", "BF"],
            "pflab simulate: --select and --deselect choose checks of traces; add --spark",
        ),
        (
            ["simulate", "--spark", "--json", "--deselect", "BX-9"],
            "pflab simulate: 'BX-9' is not a check; write a rule like BF-3, a group like BF, or a subject: change numbers,"
            " versions, deletions, conflicts, folder tree, replicas, broadcasts, statuses, backfill, source selection, mails,"
            " agreement",
        ),
        (
            ["simulate", "--plan", "p.yaml"],
            "pflab simulate --plan p.yaml: campaigns have no plan files any more; --shrink writes scenarios for pflab run",
        ),
        (["decode", "/dev/zero"], "/dev/zero: larger than 268435456 bytes; name a smaller file"),
        (["simulate", "/dev/zero"], "/dev/zero:1:1: the file is larger than 1048576 bytes; split it or shorten it"),
        (["simulate", "none.yaml"], "none.yaml: no such file or directory; name a topology file"),
        (["frobnicate"], "pflab: No such command 'frobnicate'; see pflab --help"),
        (["simulat"], "pflab: no verb 'simulat'; did you mean 'simulate'?"),
        (
            ["simulate", "good.yaml"],
            "good.yaml: this is a scenario, not a topology; name a topology, or use pflab run",
        ),
        (["schema", "foo"], 'pflab schema foo: no such kind of file; one of "topology", "scenario"'),
        *(
            (
                ["up", "good.yaml", "--clock", rate],
                f"--clock {rate}: {shown} is not a rate of the clock; it is 0 (paused), or from 0.000001 to 1000000 lab"
                " seconds per second",
            )
            for rate, shown in (("nan", "nan"), ("inf", "inf"), ("-1", "-1"), ("1e-300", "1e-300"), ("1e7", "1e+07"))
        ),
        (
            ["up", "good.yaml", "--clock", "x"],
            "--clock x: not a rate; write the word real, or a number such as 60 for a minute per second",
        ),
        *(
            (["demo", "--lesson", name], f"--lesson {name}: no such lesson; {told}")
            for name, told in (
                ("99", f"there are {len(lessons_of_pflab())}, and pflab demo --lessons lists them"),
                ("nosuch", f"there are {len(lessons_of_pflab())}, and pflab demo --lessons lists them"),
                ("lost-mial", 'did you mean "lost-mail"? pflab demo --lessons lists all lessons'),
            )
        ),
        (
            ["demo", "--lesson", "none.yaml"],
            "none.yaml: no such file or directory; name a scenario file",
        ),
        (["run"], "pflab run: Missing argument 'SCENARIO...'; see pflab run --help"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    args: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every mistake of a user gives one clear line on stderr, never a traceback."""
    assert run(args) == ExitCode.UNKNOWN
    out, err = printed_lines(capsys)
    assert (out, err) == ([], [expected])


def test_a_run_to_resume_that_does_not_exist_is_answered_with_those_that_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """up --resume of an unknown run names the runs that can be continued, the newest first, with their saved labs."""
    assert run(["up", "--resume", "nope"]) == ExitCode.UNKNOWN
    assert printed_lines(capsys) == ([], ["--resume nope: no such run; no run below runs can be continued"])
    for folder in ("up/1", "up/2", "up/2/.saved/start"):
        place = tmp_path / "runs" / folder
        place.mkdir(parents=True)
        (place / "lab.json").touch()
    (tmp_path / "runs" / "up" / "killed").mkdir()
    (tmp_path / "runs" / "lab.json").touch()
    assert run(["up", "--resume", "nope"]) == ExitCode.UNKNOWN
    names = '"runs/up/2/.saved/start", "runs/up/2", "runs/up/1"'
    assert printed_lines(capsys) == ([], [f"--resume nope: no such run; one of {names}"])


LONG = "x" * 300
"""A name that no file can have."""


@pytest.mark.usefixtures("good")
@pytest.mark.parametrize(
    "args",
    [
        *(["validate", LONG], ["run", LONG], ["simulate", LONG], ["state", LONG], ["trace", LONG], ["up", LONG]),
        *(["explain", "A-1", "--run", LONG], ["decode", LONG], ["import", LONG, "--folder", "F", "--node", "A"]),
        *(["export", "Projects", "--run", LONG], ["analyze", LONG], ["diff", LONG, LONG], ["demo", "--lesson", LONG]),
        *(["run", "good.yaml", "--simulate", "--traces", LONG], ["check", LONG]),
        *(["simulate", "--seed-file", LONG], ["compose", LONG], ["log", LONG], ["mailbox", LONG], ["backfill", LONG]),
    ],
)
def test_a_name_that_no_file_can_have_is_one_line(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A name that is too long for a file is a mistake of the user."""
    assert run(args) == ExitCode.UNKNOWN
    out, err = printed_lines(capsys)
    assert (out, len(err)) == ([], 1)
    assert "bug" not in err[0]


@pytest.mark.usefixtures("good")
def test_traces_of_a_campaign_that_cannot_be_written_are_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    """A file in place of the folder for traces is the user's mistake and not an internal error."""
    assert run(["simulate", "--seeds", "1", "--traces", "good.yaml"]) == ExitCode.UNKNOWN
    last = printed_lines(capsys)[1][-1]
    assert last.startswith("pflab: the run folder good.yaml cannot be written: ")
    assert last.endswith("; choose a folder that can be written")


def test_an_unknown_fault_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """--faults takes kinds of fault; another word is refused with the list of kinds."""
    assert run(["simulate", "--faults", "frob"]) == ExitCode.UNKNOWN
    _, err = printed_lines(capsys)
    assert len(err) == 1
    assert err[0].startswith("--faults frob: unknown fault frob; write all, none, or some of ")


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder without topology and seed is not a run."""
    (tmp_path / "empty").mkdir()
    assert run(["backfill", "--run", "empty"]) == ExitCode.UNKNOWN
    _, err = printed_lines(capsys)
    assert len(err) == 1
    assert "is not the folder of a run" in err[0]


def test_an_unknown_server_or_folder_is_refused(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    """--node and the argument FOLDER take the names of the run."""
    run(["run", good])
    capsys.readouterr()
    assert run(["state", "--server", "Z"]) == run(["state", "Projets"]) == ExitCode.UNKNOWN
    _, err = printed_lines(capsys)
    assert [line for line in err if not line.startswith("reading the run ")] == [
        'no server "Z" in this run; one of "A", "B", "C"',
        'pflab state Projets: no store here holds this folder; did you mean "Projects"?',
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_folder_is_refused(good: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run folder that cannot be made gives one line."""
    (tmp_path / "locked").mkdir(mode=0o500)
    assert run(["run", good, "--traces", "locked/here"]) == ExitCode.UNKNOWN
    _, err = printed_lines(capsys)
    assert len(err) == 1
    assert "cannot be written" in err[0]


def test_a_run_folder_that_is_a_file_is_refused(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A file in the place of the run folder gives one line."""
    Path("taken").write_text("", "utf-8")
    assert run(["run", good, "--traces", "taken"]) == ExitCode.UNKNOWN
    _, err = printed_lines(capsys)
    assert len(err) == 1
    assert "cannot be written" in err[0]


def test_an_unknown_version_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A version that is none of the four is refused with its place and the four names."""
    lab = '{servers: {A: {}, B: {version: "2001"}, C: {}}, folders: {Projects: {}}}'
    (tmp_path / "old.yaml").write_text(GOOD.replace("one-site.yaml", lab), "utf-8")
    for args in (["run", "old.yaml", "--simulate"], ["validate", "old.yaml"]):
        assert run(args) == ExitCode.UNKNOWN
        _, err = printed_lines(capsys)
        assert err == [
            'old.yaml:2:33: topology.servers.B.version: "2001" is not a version; one of "5.5", "2000", "2003", "2007"'
        ]


@pytest.mark.parametrize("content", [b"", b"# A page\n\nFrom here on: text\n", b"title: x\nsteps: []\n", bytes(3000)])
def test_a_file_without_mail_headers_is_refused(content: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    """A file without the header fields of a mail is not called an ordinary mail."""
    Path("page.md").write_bytes(content)
    assert run(["decode", "page.md"]) == ExitCode.UNKNOWN
    out, err = printed_lines(capsys)
    assert (out, len(err)) == ([], 1)
    assert err[0].startswith("page.md: not a mail")


def test_the_default_lesson_is_listed_first(capsys: pytest.CaptureFixture[str]) -> None:
    """demo --lessons lists every lesson that demo --lesson suggests, the default one first."""
    assert run(["demo", "--lessons"]) == ExitCode.GOOD
    out, _ = printed_lines(capsys)
    listed = [line.split()[1] for line in out if line[:3].strip().isdecimal()]
    assert listed == list(lessons_of_pflab())
    assert out[1].startswith("  1 lost-mail ") and out[1].endswith(", the default)")
    assert max(map(len, out)) <= 80


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["run", "lost-mail", "--simulate", "--seed", "-3"], "'--seed': it must be at least 0; see"),
        (["demo", "--seed", "-1"], "'--seed': it must be at least 0; see"),
        (["up", "default.yaml", "--seed", "9" * 30], "'--seed': it must be at most 999999999999; see"),
        (["load", "--seed", "x"], "'--seed': it must be a whole number; see"),
        (["load", "--rate", "inf"], "'--rate': it must be at most 1000000; see"),
        (["load", "--rate", "-1"], "'--rate': it must be at least 0; see"),
        (["load", "--rate", "x"], "'--rate': it must be a number; see"),
        (["load", "--rate", "nan"], "'--rate': it must be at most 1000000; see"),
        (["follow", "traces", "--tables", "t", "--every", "inf"], "'--every': it must be at most 86400; see"),
        (["up", "default.yaml", "--port", "70000"], "'--port': it must be at most 65535; see"),
    ],
)
def test_a_number_out_of_range_is_said_plainly(
    args: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A number that an option does not take is refused in plain words."""
    assert run(args) == ExitCode.UNKNOWN
    (line,) = printed_lines(capsys)[1]
    assert expected in line
