"""Campaigns as Spark jobs (`pflab simulate --spark`)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from analytics.rules.catalogue import EVERY, chosen
from pflab.campaign.seed import SeedResult
from pflab.campaign.seeds import Order, play_here
from pflab.cli.judging import spark_campaign
from pflab.cli.judging.spark_campaign import AGREEMENT, play_and_judge, played_on
from pflab.terms.verdict import Judgement
from tests.support.samples import sampled
from tests.support.trace_faults import nth, read_trace, write_trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDER = Order(days=1)
SEEDS = range(21, 26)


def test_tasks_play_what_this_process_plays(spark: SparkSession) -> None:
    """The results come in the order of the seeds, with the same events and branches as without Spark."""
    assert list(played_on(spark, EVERY)(SEEDS, ORDER)) == list(play_here(SEEDS, ORDER))


@pytest.mark.long
def test_a_trace_that_says_something_else_fails_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A campaign finds where the two judges disagree: here a segment of one seed lost a line after it was written."""

    def play_and_damage(seeds: Sequence[int], order: Order) -> Iterator[SeedResult]:
        yield from play_here(seeds, order)
        assert order.traces is not None
        segment = next((order.traces / "seed-22").rglob("*.jsonl"))
        lines = segment.read_bytes().splitlines(keepends=True)
        segment.write_bytes(b"".join(lines[:1] + lines[2:]))

    monkeypatch.setattr(spark_campaign, "play_here", play_and_damage)
    results = {result.seed: result for result in play_and_judge(SEEDS[:3], ORDER, EVERY)}
    assert [each.judgement for each in results.values()].count(Judgement.CONVERGED) == 2
    (violation,) = results[22].violations
    assert violation.invariant == AGREEMENT
    assert violation.witness.startswith("the simulator says converged, the check of the trace says")
    assert "seed-22/00001: 1-1: unknown" in violation.witness


@pytest.mark.parametrize("judgement", sampled([Judgement.CONVERGED, Judgement.NOT_CONVERGED], 2))
def test_checks_of_traces_are_chosen(monkeypatch: pytest.MonkeyPatch, judgement: Judgement) -> None:
    """Only violations of chosen rules fail a seed: here a change has another time in the trace. A trace in which the chosen
    checks find nothing does not contradict a simulator that found something."""

    def play_and_alter(seeds: Sequence[int], order: Order) -> Iterator[SeedResult]:
        assert order.traces is not None
        for result in play_here(seeds, order):
            (folder,) = (order.traces / f"seed-{result.seed}").rglob("traces")
            trace = read_trace(folder)
            nth(trace, "change.made", 3)["modified_at"] -= 86_400_000_000
            shutil.rmtree(folder)
            write_trace(folder, trace)
            yield replace(result, judgement=judgement)

    monkeypatch.setattr(spark_campaign, "play_here", play_and_alter)

    def witnesses(checks: Set[str]) -> list[str]:
        (result,) = play_and_judge(SEEDS[:1], ORDER, checks)
        return [violation.witness for violation in result.violations]

    with_all, without_all = witnesses(EVERY), witnesses(chosen(["BF-6"], []))
    assert len(with_all) == (judgement is Judgement.CONVERGED)
    assert without_all == []


def test_a_seed_without_a_trace_is_not_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seed whose traces are missing was not judged."""

    def play_without_traces(seeds: Sequence[int], _order: Order) -> Iterator[SeedResult]:
        return play_here(seeds, ORDER)

    monkeypatch.setattr(spark_campaign, "play_here", play_without_traces)
    (result,) = play_and_judge(SEEDS[:1], ORDER, EVERY)
    assert result.judgement is Judgement.UNKNOWN
    assert result.doubts == ("the seed has no trace",)
