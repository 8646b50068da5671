"""What connectors carry, as `pflab traffic`, `pflab what-if` and checkpoints tell it."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from pflab.cli.app import run
from pflab.explain.traffic import recent_sentences
from pflab.runs.checkpoint import Checkpoint
from pflab.runs.events import RunEvents
from pflab.runs.traffic_sums import Carried, size_words, traffic_of
from pflab.terms.event_words import to_the_second
from pflab.terms.verdict import ExitCode
from tests.support.cli_runs import LOST_MAIL, json_of, output_of, play
from tests.support.running_lab import lab_up
from traces.events import HopSent
from traces.labtime import DAY_US

TWO_SITES = """\
title: A post crosses a line
topology:
  sites: [PARIS, LONDON]
  connectors: [{between: [PARIS, LONDON], kind: x400, bandwidth: 8 kbit/s}]
  servers: {A: {site: PARIS}, B: {site: LONDON}, C: {site: LONDON}}
  folders: {Projects: }
steps:
  - post: {on: A, folder: Projects, subject: Hello, as: hello}
  - advance: 30 h
"""


def test_each_mail_counts_on_the_connector_that_it_crosses(capsys: pytest.CaptureFixture[str]) -> None:
    """The sums by hour and type are those of the hops over connectors; hops within a site do not count. A mail for two servers
    beyond the connector crosses it once."""
    run_events = RunEvents.at(play(TWO_SITES))
    crossing = [event for event in run_events.events if isinstance(event, HopSent) and event.connector is not None]
    inside = [event for event in run_events.events if isinstance(event, HopSent) and event.connector is None]
    assert crossing
    assert inside
    rows = traffic_of(run_events.events)
    assert sum(row.carried.mails for row in rows) == len(crossing)
    assert sum(row.carried.bytes for row in rows) == sum(event.size for event in crossing)
    posted = [row for row in json_of(capsys, "traffic", "PARIS-LONDON") if row["type"] == "content"]
    assert [(row["hour_at"], row["mails"]) for row in posted][:1] == [("2003-10-21T00:00:00Z", 1)]
    assert len(json_of(capsys, "traffic")) == len(rows)


def test_people_read_sums_and_what_the_line_needed(capsys: pytest.CaptureFixture[str]) -> None:
    """The table has a row for each type, with --hourly for each hour. The line below it names the sum, how long a line with a
    limited bandwidth needed, and the busiest hour."""
    rows = traffic_of(RunEvents.at(play(TWO_SITES)).events)
    total = sum(row.carried.bytes for row in rows)
    lines = output_of(capsys, "traffic")
    assert sum(line.count("│ PARIS-LONDON") for line in lines) == len({row.type for row in rows})
    text = " ".join(lines)
    assert f"PARIS-LONDON has carried {sum(row.carried.mails for row in rows)} mails, {size_words(total)}" in text
    assert f"the line needed {total * 8 // 8000} s" in text
    hourly = output_of(capsys, "traffic", "--hourly")
    assert sum(line.count("│ PARIS-LONDON") for line in hourly) == len(rows)


def test_the_status_says_what_connectors_have_carried_lately(capsys: pytest.CaptureFixture[str]) -> None:
    """Below its matrix, `pflab status` has a line for each connector: the last day by type of mail, and the last hour. A lab
    without connectors, one folder, one server and JSON have none."""
    run_events = RunEvents.at(play(TWO_SITES))
    end_at = max(event.at for event in run_events.events)
    posted_at = next(event.at for event in run_events.events if isinstance(event, HopSent))
    text = " ".join(output_of(capsys, "status"))
    day = sum((row.carried for row in traffic_of(run_events.events, since_at=end_at - DAY_US)), Carried())
    everything = sum((row.carried for row in traffic_of(run_events.events)), Carried())
    assert 0 < day.bytes < everything.bytes, "the post crossed the line more than a day ago"
    assert f"PARIS-LONDON has carried {day} in the last day (status: {day}), nothing in the last hour." in text
    events = [event for event in run_events.events if event.at <= posted_at]
    posted = traffic_of(events)[0].carried
    assert [*recent_sentences(events, ["X-Y", "PARIS-LONDON"], posted_at)] == [
        f"PARIS-LONDON has carried {posted} in the last day (content: {posted}), {posted} in the last hour.",
        "X-Y has carried no mail in the last day.",
    ]
    newest = [event for event in run_events.events if event.at > posted_at]
    since = to_the_second(newest[0].at)
    (sentence,) = recent_sentences(newest, ["PARIS-LONDON"], newest[0].at)
    assert f" since {since} (status: " in sentence, "the older events are not known"
    for more in (["Projects"], ["--server", "A"], ["--json"]):
        assert "carried" not in " ".join(output_of(capsys, "status", *more))
    play(LOST_MAIL)
    assert "carried" not in " ".join(output_of(capsys, "status"))


def test_a_connector_that_does_not_exist_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong name is refused with the one that is meant. A lab without connectors says that nothing has crossed one."""
    play(TWO_SITES)
    assert run(["traffic", "PARIS-LODNON"]) == ExitCode.UNKNOWN
    assert 'no connector "PARIS-LODNON" in this lab' in capsys.readouterr().err
    play(LOST_MAIL)
    assert output_of(capsys, "traffic") == ["No mail has crossed a connector yet; mail within a site crosses none."]
    assert json_of(capsys, "traffic") == []


@pytest.mark.live
def test_a_forecast_says_what_a_change_would_cost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`pflab what-if` says what each connector will carry, and beside it what it would carry without the changes."""
    topology = "sites: [P, L]\nconnectors: [{between: [P, L], kind: x400}]\nfolders: {Big: {replicas: [A]}}\n"
    topology += "servers: {A: {site: P}, B: {site: L}}\n"
    with lab_up(tmp_path, "--simulated", topology=topology) as url:
        order = ["post", "Big", "--node", "A", "--subject", "x", "--body", "x" * 1_500_000, "--lab", url]
        assert run(order) == ExitCode.GOOD
        assert run(["what-if", "--within", "2 d", "--lab", url]) == ExitCode.GOOD
        assert "carry" not in capsys.readouterr().err
        moved = "replica: {folder: Big, add: B, on: A}"
        assert run(["what-if", moved, "--within", "2 d", "--lab", url]) == ExitCode.GOOD
        line = r"^P-L would carry \d+ mails, [\d.]+ MB; without the changes 0 mails, 0 bytes$"
        assert re.search(line, capsys.readouterr().err, re.MULTILINE)
        assert run(["traffic", "--lab", url]) == ExitCode.GOOD
        assert "No mail has crossed a connector yet" in capsys.readouterr().out
        assert run(["status", "--lab", url]) == ExitCode.GOOD
        assert "P-L has carried no mail in the last day." in capsys.readouterr().out


def test_a_checkpoint_has_the_same_sums() -> None:
    """A console that begins with a checkpoint shows what connectors have carried before it."""
    events = RunEvents.at(play(TWO_SITES)).events
    checkpoint = Checkpoint()
    checkpoint.take(events)
    sums: Counter[str] = Counter()
    for row in traffic_of(events):
        sums[row.connector] += row.carried.bytes
    carried = json.loads(checkpoint.encoded())["carried"]
    assert {name: sum(kind["bytes"] for kind in kinds.values()) for name, kinds in carried.items()} == sums


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (1023, "1,023 bytes"), (1024, "1.0 KB"), (3 * 1024**2, "3.0 MB"), (2**40, "1024.0 GB")],
)
def test_sizes_are_rounded(size: int, words: str) -> None:
    """A size has the largest unit of which it has one."""
    assert size_words(size) == words


def test_a_line_that_became_faster_needed_less() -> None:
    """RT-6: each mail takes the time of the connector as it was when the mail crossed, also over a connector that was added."""
    changed = TWO_SITES.replace("  - advance: 30 h\n", "").replace("\n  - post", "\n  - advance: 2 h\n  - post") + (
        "  - advance: 1 h\n"
        "  - connector: {change: PARIS-LONDON, bandwidth: 800 kbit/s}\n"
        "  - post: {on: A, folder: Projects, subject: Again, as: again}\n"
        "  - advance: 1 h\n"
        "  - connector: {remove: PARIS-LONDON}\n"
        "  - connector: {add: cable, between: [PARIS, LONDON], bandwidth: 8 kbit/s}\n"
        "  - post: {on: A, folder: Projects, subject: By cable, as: cable}\n"
        "  - advance: 1 h\n"
    )
    run_events = RunEvents.at(play(changed))
    rows = traffic_of(run_events.events, run_events.topology)
    content = [row for row in rows if row.type == "content"]
    slow, fast, cable = (row.carried for row in sorted(content, key=lambda row: row.hour_at))
    assert (slow.mails, fast.mails, cable.mails) == (1, 1, 1)
    assert slow.needed_us == slow.bytes * 1000
    assert fast.needed_us == fast.bytes * 10
    assert cable.needed_us == cable.bytes * 1000
