"""A run's events line by line (`pflab trace`), and the application logs of its stores (`pflab log`)."""

from __future__ import annotations

import pytest

from pflab.cli.app import run
from pflab.runs.event_lines import style_of
from pflab.terms.verdict import ExitCode
from tests.support.cli_runs import LOST_MAIL, json_of, output_of, play
from traces.events import EVENT_TYPES


def test_events_are_one_line_each_and_can_be_filtered(capsys: pytest.CaptureFixture[str]) -> None:
    """Filters are server, folder, type or group of types, and time; of too many events the last ones are shown."""
    play(LOST_MAIL)
    everything = output_of(capsys, "trace")
    assert all(line.startswith("2003-10-2") for line in everything)
    requests = output_of(capsys, "trace", "Projects", "--node", "B", "--type", "request")
    assert requests[0].split("  ", 2)[2].strip().startswith("asks A for A-1 of Projects")
    assert len(output_of(capsys, "trace", "--since", "2003-10-22T06:15Z")) < len(everything)
    limited = output_of(capsys, "trace", "--limit", "3")
    assert limited == [f"({len(everything) - 3} earlier events left out; see --limit)", *everything[-3:]]
    found = json_of(capsys, "trace", "--type", "version.applied", "--until", "2003-10-21T01:00Z")
    assert {each["type"] for each in found} == {"version.applied"}
    assert {each["node"] for each in found} == {"C"}


def test_a_run_that_was_interrupted_has_its_folder_names(capsys: pytest.CaptureFixture[str]) -> None:
    """The lab writes its own events at the end of a run. Without them trace and explain take the names of folders from the
    topology in the run's folder."""
    path = play(LOST_MAIL)
    whole = output_of(capsys, "trace", "--node", "A")
    (lab,) = (path / "traces").glob("lab-*.jsonl")
    lab.unlink()
    assert output_of(capsys, "trace", "--node", "A") == whole
    life = output_of(capsys, "explain", "A-1")
    assert life[0].startswith("Change A-1: 'Hello' in Projects, made on A")


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("--type", "version.aplied"), "did you mean"),
        (("--server", "Z"), 'no server "Z"'),
        (("--since", "yesterday"), "--since yesterday"),
    ],
)
def test_misspelt_filters_are_refused(args: tuple[str, ...], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt type, server or instant is misuse, in one line."""
    play(LOST_MAIL)
    capsys.readouterr()
    assert run(["trace", *args]) == ExitCode.UNKNOWN
    assert expected in capsys.readouterr().err


def test_events_are_coloured_by_their_type() -> None:
    """Errors are red, the longest matching prefix of a type decides, and other events have no colour."""
    plain = [tag for tag in EVENT_TYPES if not style_of(tag)]
    assert {tag.partition(".")[0] for tag in plain} == {
        "address",
        "folder",
        "organization",
        "post",
        "recipient",
        "responders",
        "setting",
        "sources",
        "tree",
    }
    assert (style_of("hop.failed"), style_of("hop.sent"), style_of("source.down")) == ("red", "dim", "red")


def test_the_application_log_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    """pflab log prints ids, levels, categories and texts of all stores in order, or one id of one server."""
    play(LOST_MAIL)
    lines = output_of(capsys, "log")
    assert any(
        line.endswith("3020  Information  MSExchangeIS Public Store  Replication Outgoing Messages") for line in lines
    )
    found = json_of(capsys, "log", "--server", "B", "--event", "3031")
    assert [each["event"] for each in found] == [3031]
    assert "Hello" in found[0]["text"]


RENAMED = """\
title: A subject changes, and a number is given out twice
topology: one-site.yaml
breaks: [CN-1, HI-2]
settings: {New Replica GUID On Restore: 0}
steps:
  - post: {on: A, folder: Projects, subject: Draft, as: draft}
  - advance: 16 min
  - backup: {on: A, as: early}
  - edit: {on: A, message: draft, subject: Plan}
  - advance: 16 min
  - delete: {on: B, message: draft}
  - restore: {on: A, backup: early}
  - edit: {on: A, message: draft, subject: Other}
"""


def test_a_message_is_named_as_it_was_then(capsys: pytest.CaptureFixture[str]) -> None:
    """An event has the subject of its own version, even if the message had another subject later or under the same number."""
    play(RENAMED)
    changes = [
        each.split("  ")[-1].strip()
        for each in output_of(capsys, "trace", "--type", "change.made", "--type", "version.applied")
    ]
    assert [each for each in changes if "A-" in each or "B-" in each] == [
        "makes 'Draft' in Projects as A-1",
        "applies A-1, 'Draft' in Projects (broadcast)",
        "applies A-1, 'Draft' in Projects (broadcast)",
        "changes 'Plan' in Projects as A-2",
        "applies A-2, 'Plan' in Projects (broadcast)",
        "applies A-2, 'Plan' in Projects (broadcast)",
        "deletes 'Plan' in Projects as B-1",
        "changes 'Other' in Projects as A-2",
    ]
    assert output_of(capsys, "explain", "A-1")[0].startswith("Change A-1: 'Draft' in Projects, made on A")
