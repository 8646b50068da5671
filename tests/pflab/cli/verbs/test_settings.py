"""pflab settings, on a running lab and on a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pflab.cli.app import run
from pflab.terms.verdict import ExitCode
from tests.support.named_commands import examples_of
from tests.support.running_lab import lab_up

TOPOLOGY = """
servers: {A: {settings: {Preferred Backfill Source: B}}, B: {version: 5.5}}
folders: {Projects: {replicas: [A, B]}}
"""


def test_the_settings_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SE-1: settings prints the values that differ from the default; --all prints every value; a name prints what it does."""
    steps = "title: Settings\ntopology: t.yaml\nsteps: [{advance: 1 h}]\n"
    (tmp_path / "t.yaml").write_text(TOPOLOGY, "utf-8")
    (tmp_path / "s.yaml").write_text(steps, "utf-8")
    assert run(["run", "s.yaml", "--simulate", "--traces", "runs"]) == ExitCode.GOOD
    capsys.readouterr()
    assert run(["settings"]) == ExitCode.GOOD
    assert capsys.readouterr().out.splitlines() == [
        "Server A",
        "  Preferred Backfill Source: B (default absent)",
        "Server B",
        "  Every setting has its default.",
    ]
    assert run(["settings", "show", "MTA Hop Limit", "--server", "B"]) == ExitCode.GOOD
    assert capsys.readouterr().out.splitlines() == [
        "MTA Hop Limit",
        "  maximum number of servers that a mail may pass; a mail that passes more is in",
        "  a loop",
        "Server B: 30",
        "  property of the server's message transfer in the directory",
    ]
    assert run(["settings", "show", "Content Replication Suspended"]) == ExitCode.GOOD
    assert "Server B: this version does not have the setting\n" in capsys.readouterr().out
    assert run(["settings", "--all", "--server", "A", "--json"]) == ExitCode.GOOD
    found = json.loads(capsys.readouterr().out)
    assert len(found) > 30
    assert {each["server"] for each in found} == {"A"}


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["set"], "pflab settings set: no such action; "),
        (["change", "MTA Hop Limit"], "Missing argument 'VALUE'; see pflab settings change --help"),
        (["change", "MTA Hop Limit", "30"], "Missing option '--server'"),
        (["change", "MTA Hop Limit", "30", "--server", "A", "--run", "."], "No such option: --run"),
        (["change", "MTA Hop", "30", "--server", "A"], "MTA Hop Limit"),
        (["show", "MTA Hop Limit", "30"], "(30); see pflab settings show --help"),
    ],
)
def test_wrong_words_are_misuse(args: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong action, name or option gives one line that says what would be right."""
    assert run(["settings", *args]) == ExitCode.UNKNOWN
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line


@pytest.mark.live
def test_settings_are_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SE-1: a value in the directory applies at once, a value in the registry from the server's next start on."""

    def said(*args: str) -> list[str]:
        assert run(list(args)) == ExitCode.GOOD
        return capsys.readouterr().out.splitlines()

    with lab_up(tmp_path, topology=TOPOLOGY):
        change = ("settings", "change")
        assert said(*change, "MTA Hop Limit", "40", "--server", "A", "--server", "B") == [
            "A  MTA Hop Limit: 40 (default 30)",
            "B  MTA Hop Limit: 40 (default 30)",
        ]
        assert said(*examples_of("settings")[1]) == [
            "A  Replication Send Status Timeout: 24 h; from the next start 12 h"
        ]
        said("fault", "stop", "A")
        said("fault", "start", "A")
        assert said("settings", "--server", "A") == [
            "Server A",
            "  Replication Send Status Timeout: 12 h (default 24 h)",
            "  Preferred Backfill Source: B (default absent)",
            "  MTA Hop Limit: 40 (default 30)",
        ]
        said(*change, "Preferred Backfill Source", "absent", "--server", "A")
        found: Any = json.loads("".join(said(*change, "MTA Hop Limit", "30", "--server", "A", "--json")))
        assert (found[0]["server"], found[0]["value"], found[0]["next_value"]) == ("A", "30", None)
        assert run([*change, "MTA Hop Limit", "4000", "--server", "A"]) == ExitCode.GOOD
        assert "warning: server A: MTA Hop Limit: 4000 is above its range; 255 is used" in capsys.readouterr().err
        said("fault", "stop", "B")
        assert run([*change, "MTA Hop Limit", "50", "--server", "A", "--server", "B"]) == ExitCode.UNKNOWN
        told = capsys.readouterr()
        assert told.out == "A  MTA Hop Limit: 50 (default 30)\n"
        assert "server B is stopped; start it first" in told.err
        assert run([*change, "MTA Hop Limit", "many", "--server", "A"]) == ExitCode.UNKNOWN
        assert "is not a count" in capsys.readouterr().err
