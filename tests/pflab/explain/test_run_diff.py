"""The differences of two runs, as `pflab diff` prints them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.cli.app import run
from pflab.terms.verdict import ExitCode
from tests.support.cli_runs import LOST_MAIL, json_of, output_of, play


def test_equal_runs_are_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """Two runs of a scenario with one seed are equal to the last event; exit 0. Another seed is reported and is no
    difference."""
    one, two, other = play(LOST_MAIL), play(LOST_MAIL), play(LOST_MAIL, "--seed", "7")
    assert "The same happened in both" in output_of(capsys, "diff", str(one), str(two))[-1]
    lines = output_of(capsys, "diff", str(one), str(other))
    assert "Seed: 1; 7." in lines
    assert "The same happened in both" in lines[-1]


def test_the_first_difference_of_two_runs_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """A run without the loss differs from one with it where the fault is injected; the store has its change earlier."""
    lost = play(LOST_MAIL)
    sound = play(
        LOST_MAIL.replace("  - lose: {from: A, to: B, type: content, count: 1}\n", "").replace(
            "until: {mail: backfill request, from: B, to: A, within: 48 h}", "advance: 31 h"
        )
    )
    found = json_of(capsys, "diff", str(lost), str(sound), code=ExitCode.VIOLATION)
    assert found["parted_at"] == "2003-10-21T00:00:00Z"
    assert any("fault F1" in line for line in found["only_left"])
    assert found["counts"]["request.sent"] == [1, 0]
    assert found["arrivals"] == ["B has A-1 ('Hello' in Projects) 30 h earlier in the second"]
    lines = output_of(capsys, "diff", str(lost), str(sound), code=ExitCode.VIOLATION)
    assert any(line.startswith("Both runs are the same until 2003-10-21T00:00:00Z") for line in lines)


def test_a_change_of_the_topology_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A setting that only one run has is shown with its place in the topology."""
    one = play(LOST_MAIL)
    two = play(LOST_MAIL.replace("rules:", "settings: {Replication Short Backfill Request Timeout: 7 h}\nrules:"))
    lines = output_of(capsys, "diff", str(one), str(two), code=ExitCode.VIOLATION)
    assert any("Replication Short Backfill Request Timeout" in line for line in lines)


def test_a_missing_run_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A run folder that does not exist is reported before any difference."""
    Path("empty").mkdir()
    for pair in (("empty", "nothere"), ("nothere", "empty")):
        assert run(["diff", *pair]) == ExitCode.UNKNOWN
        assert capsys.readouterr().err.startswith("nothere: no such run folder")


def test_runs_without_a_verdict_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    """A run that only performed its steps has no verdict, and diff says so."""
    Path("lab.yaml").write_text("servers: {A: , B: }\nfolders: {Projects: }\n", "utf-8")
    Path("one.eml").write_bytes(b"Subject: 1\n\n")
    runs = []
    for _ in range(2):
        assert run(["import", "Projects", "one.eml", "--topology", "lab.yaml"]) == ExitCode.GOOD
        runs.append(str(Path("runs/latest").resolve()))
    (ends,) = [each for each in output_of(capsys, "diff", *runs) if each.startswith("Ends: ")]
    assert ends.count("ended without a verdict") == 2
