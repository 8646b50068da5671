"""Convergence from the traces alone: the scenario suite, planted faults, random traces beside a plain oracle."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from analytics import check
from analytics.verdict import FolderVerdict
from tests.analytics.conftest import Judged
from tests.analytics.corpus import SCENARIOS, expected
from tests.analytics.planting import PLANTED

SUITE_WITHIN_S = 60


@pytest.fixture(scope="module")
def result(judged: Judged) -> check.CheckResult:
    return check.conclude(judged.gold)


@pytest.fixture(scope="module")
def told(result: check.CheckResult) -> dict[tuple[str, str], FolderVerdict]:
    return {(each.trace, each.path): each for each in result.told}


def test_the_suite_was_judged(judged: Judged) -> None:
    """Every scenario is a trace of the run, and every trace has verdicts."""
    assert len(SCENARIOS) >= 33
    places = {row.place for row in judged.gold.bronze.select("place").distinct().collect()}
    assert {judged.place(f"suite/{path.stem}") for path in SCENARIOS} <= places
    assert all(judged.verdicts(f"suite/{path.stem}") for path in SCENARIOS)


@pytest.mark.parametrize("name", [path.stem for path in SCENARIOS])
def test_a_scenario_is_judged_from_its_trace_as_by_the_live_oracle(judged: Judged, name: str) -> None:
    """CV-1, CV-2: folder by folder, the trace alone leads to what the oracle said that looked into the stores."""
    assert judged.verdicts(f"suite/{name}") == expected(judged.root / "suite", name)


@pytest.mark.parametrize("name", PLANTED)
def test_what_was_planted_is_found(judged: Judged, told: dict[tuple[str, str], FolderVerdict], name: str) -> None:
    """A planted fault leads to its judgement, with a witness that tells of it; a hole in the trace is never clean."""
    planted = judged.planted[name]
    assert judged.verdicts(f"planted/{name}")[planted.path] == planted.judgement
    if planted.said:
        witnesses = told[f"planted/{name}", planted.path].witnesses
        assert any(planted.said in witness for witness in witnesses), witnesses


def test_lines_kept_aside_are_counted(result: check.CheckResult) -> None:
    """Malformed lines, unknown types and other versions are counted by what they are; two stand in each of four segments."""
    assert result.aside == {"malformed": 9, "other version": 1, "unknown type": 1}


def test_the_worst_decides(result: check.CheckResult) -> None:
    """One folder that has not converged makes the check end with 1."""
    assert result.judgement == "not converged"
    assert result.exit_code == 1


def test_a_plain_oracle_agrees_on_random_traces(judged: Judged) -> None:
    """CV-2: what Spark finds wrong in random traces is what a plain Python oracle finds wrong, to the number."""
    found: dict[str, set[tuple[str, str, str, str]]] = {name: set() for name in judged.toys}
    for row in judged.gold.mismatches.where("trace like '%/toys/%'").collect():
        found[row.trace.rpartition("#toy-")[2]].add((row.folder, row.store, row.what, row.number))
    assert found == {name: toy.wrong for name, toy in judged.toys.items()}
    clean = sum(not toy.wrong for toy in judged.toys.values())
    assert 5 < clean < len(judged.toys) - 5, "the toys must be of both kinds"


def test_a_plain_oracle_agrees_on_losses(judged: Judged) -> None:
    """DU-1: what went rightly with a restored store is what the plain oracle says."""
    found: dict[str, set[str]] = {name: set() for name in judged.toys}
    for row in judged.gold.losses.where("trace like '%/toys/%'").collect():
        name = row.trace.rpartition("#toy-")[2]
        found[name] |= {row.number} - judged.toys[name].buried
    assert found == {name: toy.lost for name, toy in judged.toys.items()}
    assert any(found.values())


def test_nothing_to_judge_is_unknown(spark: SparkSession, judged: Judged) -> None:
    """A verdict over nothing is never clean."""
    nothing = check.CheckResult(0, 0, {}, {}, ())
    assert nothing.exit_code == 2
