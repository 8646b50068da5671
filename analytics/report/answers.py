"""The answers to the queries of a report, for runs that were judged in parts or earlier."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from analytics.ingest.lines import place_in
from analytics.report.contents import shown_traces
from analytics.rows import Answers, Findings, Given, Row


def answers_of(every: Findings, judge_again: Callable[[set[str]], Answers]) -> Answers:
    """Return the function that answers the queries.

    every: the findings of all runs, and the rows of the queries about all runs.
    judge_again: judges the runs in these places once more, because a report shows them in detail; it is called once, and only
        if the report asks.
    """

    @cache
    def shown() -> Answers:
        return judge_again({place_in(trace) for trace in shown_traces(every)})

    def answers(name: str, parameters: Given) -> list[Row]:
        return list(every[name]) if name in every else shown()(name, parameters)

    return answers
