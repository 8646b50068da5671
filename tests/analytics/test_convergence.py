"""Convergence judged from the traces alone: the scenario suite, planted faults, and random traces beside a plain oracle."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analytics.embedded.engine import judge
from analytics.verdicts.conclusion import conclude
from analytics.verdicts.result import CheckResult
from tests.support.judged_traces import Judged
from tests.support.running_clocks import COURSES
from tests.support.samples import rest
from tests.support.scenario_traces import (
    BROKEN_ON_PURPOSE,
    ONCE_CALLED_WRONG,
    SCENARIOS,
    SEEDS,
    expected,
    write_campaign,
)
from tests.support.suite_sample import SAMPLE
from tests.support.trace_faults import PLANTED, find, read_source
from traces.labtime import HOUR_US


@pytest.fixture(scope="module")
def witnesses(judged: Judged) -> dict[tuple[str, str], list[str]]:
    """Return the witnesses by trace and path."""
    return {(each["trace"], each["path"]): each["witnesses"] for each in judged.document["told"]}


def test_every_scenario_is_judged_clean(judged: Judged) -> None:
    """Every scenario is judged converged and without a violation, except where the lesson breaks a rule."""
    codes = {name.removeprefix("suite/"): each["exit_code"] for name, each in judged.runs("suite").items()}
    assert {path.stem for path in SAMPLE} <= codes.keys()
    assert codes == {name: BROKEN_ON_PURPOSE.get(name, (0, set()))[0] for name in codes}


def test_a_sample_of_campaigns_is_judged_clean(judged: Judged) -> None:
    """Campaigns without a violation in the simulator have none by their traces either."""
    codes = {name: each["exit_code"] for name, each in judged.runs("campaign").items()}
    assert codes == {f"campaign/seed-{seed}": 0 for seed in SEEDS}


@pytest.mark.long
def test_what_was_once_called_wrong_is_judged_clean(tmp_path: Path) -> None:
    """Runs in which a check once found a violation that is none are clean."""
    write_campaign(tmp_path / "campaign", ONCE_CALLED_WRONG)
    runs = conclude(judge([str(tmp_path)])).as_document()["runs"]
    codes = {run["trace"].rpartition("/")[2]: run["exit_code"] for run in runs}
    assert codes == {f"seed-{seed}": 0 for seed in ONCE_CALLED_WRONG}


def test_a_run_that_ended_too_early_says_what_is_on_its_way(
    judged: Judged, witnesses: dict[tuple[str, str], list[str]]
) -> None:
    """A run that ended before its mails arrived has not converged yet, and the witnesses say where each change is."""
    (told,) = (
        each for each in judged.document["told"] if (each["trace"], each["path"]) == ("stories/early", "Projects")
    )
    assert (told["judgement"], told["under_way"]) == ("not converged", True)
    texts = "\n".join(witnesses["stories/early", "Projects"])
    assert re.search("B lacks A-1 .*is still on its way", texts), texts
    assert re.search("C lacks A-1 .*was lost at .*, will be requested at", texts), texts
    assert re.search("C lacks A-3 .*not broadcast yet", texts), texts


def test_a_mail_that_was_deleted_is_not_on_its_way(witnesses: dict[tuple[str, str], list[str]]) -> None:
    """The witnesses say that an administrator deleted the mail with a change (RT-5)."""
    texts = "\n".join(witnesses["stories/purged", "Projects"])
    assert re.search("B lacks A-1 .*was deleted from a queue at", texts), texts


def test_a_setting_holds_until_the_store_reads_it_again(judged: Judged) -> None:
    """After Preferred Backfill Source is deleted, the store prefers it until it starts again, and this is no violation (BF-7,
    SE-1)."""
    assert judged.runs("stories")["stories/preferred"]["exit_code"] == 0


def test_labs_with_a_running_clock_are_judged_clean(judged: Judged) -> None:
    """Live labs whose clock runs, at each of four rates, with lost mails, stops and kills, are judged converged and without a
    violation."""
    codes = {name: each["exit_code"] for name, each in judged.runs("running").items()}
    assert len(codes) in {len(COURSES), 2 * len(COURSES)}
    assert set(codes.values()) == {0}, codes


@pytest.mark.parametrize(
    "name",
    [path.stem if path in SAMPLE else rest(path.stem) for path in SCENARIOS],
)
def test_a_scenario_is_judged_from_its_trace_as_by_the_live_oracle(judged: Judged, name: str) -> None:
    """CV-1, CV-2: for each folder the trace leads to the same judgement as the oracle that read the stores."""
    wanted = expected(judged.root / "suite", name)
    assert judged.verdicts(f"suite/{name}") == wanted


@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_found(judged: Judged, witnesses: dict[tuple[str, str], list[str]], name: str) -> None:
    """A planted fault gives its judgement, with a witness that describes it; a trace with a gap is never clean."""
    planted = judged.planted[name]
    assert judged.verdicts(f"planted/{name}")[planted.path] == planted.judgement
    if planted.said:
        found = witnesses[f"planted/{name}", planted.path]
        assert any(planted.said in witness for witness in found), found


def test_a_trace_without_one_of_its_events_is_never_clean(judged: Judged) -> None:
    """Whichever event is removed from a trace, the result is unknown, and nothing is called a violation."""
    runs = judged.runs("removed")
    assert len(runs) > 50
    assert {each["judgement"] for each in runs.values()} == {"unknown"}


def test_lines_set_aside_are_counted(judged: Judged) -> None:
    """Malformed lines, unknown types and other versions are counted by kind; each of four segments has three, one of which is
    cut."""
    assert judged.document["aside"] == {"malformed": 13, "other version": 1, "unknown type": 1}


def test_a_plain_oracle_agrees_on_random_traces(judged: Judged) -> None:
    """CV-2: spark and a plain Python oracle find the same mismatches in random traces."""
    found: dict[str, set[tuple[str, str, str, str]]] = {name: set() for name in judged.random_runs}
    for row in judged.rows("mismatches", "trace like '%/random/%'"):
        found[row.trace.rpartition("#random-")[2]].add((row.folder, row.store, row.what, row.number))
    assert found == {name: run.wrong for name, run in judged.random_runs.items()}
    clean = sum(not run.wrong for run in judged.random_runs.values())
    assert 5 < clean < len(judged.random_runs) - 5, "some random runs must be clean and some not"


def test_a_plain_oracle_agrees_on_losses(judged: Judged) -> None:
    """DU-1: spark and the plain oracle find the same losses by restores."""
    found: dict[str, set[str]] = {name: set() for name in judged.random_runs}
    for row in judged.rows("losses", "trace like '%/random/%'"):
        name = row.trace.rpartition("#random-")[2]
        found[name] |= {row.number} - judged.random_runs[name].buried
    assert found == {name: run.lost for name, run in judged.random_runs.items()}
    assert any(found.values())


def test_a_number_issued_twice_after_a_restore_is_found(
    judged: Judged, witnesses: dict[tuple[str, str], list[str]]
) -> None:
    """RP-4, CN-1: a store that keeps its old GUID has the others' numbers with other contents, and both are reported."""
    assert judged.runs("stories")["stories/reissued"]["judgement"] == "not converged"
    assert any("other bytes" in witness for witness in witnesses["stories/reissued", "Projects"])
    reissued = "trace like '%/stories/reissued#%' and rule_check = 'numbers are never reissued'"
    (row,) = judged.rows("rules", reissued)
    assert row.violations == 2
    assert "to more than one change" in row.witness


def test_a_loss_by_a_restore_is_reported_and_no_violation(judged: Judged) -> None:
    """DU-1: a change that only the restored store had is listed as lost, by number and subject, and the run is clean."""
    assert judged.runs("stories")["stories/gone"]["exit_code"] == 0
    gone = judged.rows("losses", "trace like '%/stories/%'")
    assert [(row.path, row.subject) for row in gone] == [("Projects", "Gone")]


def test_a_post_is_no_part_of_the_set_of_associated_messages(judged: Judged) -> None:
    """CN-6, CN-9: a store that lacks a post and has a later view claims only the view; the post's number is a hole in that
    set."""
    assert judged.runs("stories")["stories/hole"]["exit_code"] == 0


def test_a_2000_server_waits_48_hours_for_the_rest(judged: Judged) -> None:
    """BF-3: if the source of a 2000 server is outside the site and has only a part, the rest waits for 48 hours."""
    assert judged.runs("stories")["stories/parts"]["exit_code"] == 0
    request = find(read_source(judged.root, "stories/parts"), "B", "request.sent", source="D")
    assert int(request["retry_at"]) - int(request["at"]) == 48 * HOUR_US


def test_what_expired_is_missing_nowhere(judged: Judged) -> None:
    """DL-3: a new replica may lack an item that expired everywhere, or at a source that no longer has a record of that."""
    assert {name: judged.runs("stories")[f"stories/{name}"]["exit_code"] for name in ("expired", "forgotten")} == {
        "expired": 0, "forgotten": 0
    }  # fmt: skip


def test_holders_of_a_doubtful_folder_are_compared_with_each_other(
    judged: Judged, witnesses: dict[tuple[str, str], list[str]]
) -> None:
    """CV-2, HI-6: nothing says what must exist in a folder that was once below a deleted folder. Nevertheless its holders may
    differ only in what has expired, and a witness names what one of them lacks."""
    doubtful = judged.rows("folders", "doubtful and trace like '%/stories/doubtful%'")
    assert [row.path for row in doubtful] == ["Moved", "Moved"]
    assert judged.verdicts("stories/doubtful")["Moved"] == "converged"
    assert judged.verdicts("stories/doubtful-and-lost")["Moved"] == "not converged"
    assert any("'Lost'" in each for each in witnesses["stories/doubtful-and-lost", "Moved"])


def test_stores_that_are_restored_deleted_or_killed_are_no_violation(judged: Judged) -> None:
    """RP-6, RP-1: a restored store may delete another by force; a deleted store may be on a list and may wait for changes; a
    killed store asks for statuses after it is back."""
    names = ("forced", "deleted", "orphan", "killed")
    assert [judged.runs("stories")[f"stories/{name}"]["exit_code"] for name in names] == [0, 0, 0, 0]


def test_a_store_may_drop_what_other_holders_have_between_them(judged: Judged) -> None:
    """RP-2: a holder answers for all that the leaving store claimed in its request. What came to the leaving store after this
    request may be on another holder."""
    assert judged.runs("stories")["stories/leaving"]["exit_code"] == 0


def test_a_cycle_may_be_late_at_a_silent_server_or_by_a_wrong_clock(judged: Judged) -> None:
    """OUT-1, ST-1, TM-1: a server that could do nothing when a cycle or a status check was due does it later. A clock that
    jumps skips the time of a cycle."""
    assert judged.runs("stories")["stories/late"]["exit_code"] == 0


def test_times_are_checked_again_after_a_wrong_clock(judged: Judged) -> None:
    """OUT-1, TM-1: a broadcast at a wrong time is found if the clock of its store was wrong only days before."""
    rows = judged.rows("rules", "trace like '%/stories/later#%' and violations > 0")
    assert {row.rule_check for row in rows} >= {"hierarchy is broadcast on schedule", "lab times follow mails"}


def test_nothing_to_judge_is_unknown() -> None:
    """A verdict over nothing is never clean."""
    nothing = CheckResult(0, 0, {}, {}, ())
    assert nothing.exit_code == 2
