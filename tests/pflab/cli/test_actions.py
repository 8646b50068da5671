"""Verbs with actions, such as `pflab clock advance`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pflab.cli.app import run
from pflab.client import Client
from pflab.terms.verdict import ExitCode
from tests.support.running_lab import ONE_SITE, lab_up


def test_an_unknown_action_is_refused_with_those_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    """The message names the most similar action, or else all of them, and never one that is only an old spelling."""
    assert run(["clock", "advanc"]) == ExitCode.UNKNOWN
    assert capsys.readouterr().err == 'pflab clock advanc: no such action; did you mean "advance"?\n'
    assert run(["clock", "until", "x"]) == ExitCode.UNKNOWN
    assert capsys.readouterr().err == ('pflab clock until x: no such action; one of "converged", "event", "mail"\n')


@pytest.mark.live
def test_the_action_may_stand_after_options_or_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without an action a verb shows or lists; options may stand before the action."""
    with lab_up(tmp_path, "--simulated", topology=ONE_SITE) as url:
        monkeypatch.chdir("/")
        for words, now in (
            (["clock", "--lab", url], "2003-10-21T00:00:00Z"),
            (["clock", "--lab", url, "advance", "1 h"], "2003-10-21T01:00:00Z"),
            (["clock", "show", "--lab", url], "2003-10-21T01:00:00Z"),
        ):
            assert run([*words, "--json"]) == ExitCode.GOOD
            assert json.loads(capsys.readouterr().out)["now_at"] == now


@pytest.mark.live
def test_spellings_of_the_first_release_still_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What scripts wrote for pflab 0.1 works in the next release too."""
    with lab_up(tmp_path, "--simulated", topology=ONE_SITE) as url:
        monkeypatch.chdir("/")
        monkeypatch.setenv("PFLAB_LAB", url)
        for line in (
            "post Projects --node A --subject Hello",
            "clock until --event mail.submitted",
            "clock until --converged Projects --within 1_h",
            "clock until --mail status --on A --within 54_h",
            "folder create Fresh --node A",
            "folder change Fresh --node A --rename Archive",
            "folder change Archive --node A --move-to Projects",
            "messages --folder Projects",
            "messages --server A list",
            "state --folder Projects",
            "backfill --folder Projects",
            "trace --folder Projects",
            "top --once --folder Projects",
            "load --folder Projects --count 1",
        ):
            assert run([word.replace("_", " ") for word in line.split()]) == ExitCode.GOOD, capsys.readouterr().err
        with Client(url) as client:
            assert "Projects/Archive" in [view["path"] for view in client.folders("A")]
        assert run(["clock", "until", "--mail", "status", "--event", "mail.submitted"]) == ExitCode.UNKNOWN
        assert "write converged FOLDER" in capsys.readouterr().err
