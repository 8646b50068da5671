"""Follow a running lab: read its traces as they grow, and keep a verdict on them up to date.

At the beginning of each round the lab exports all events up to an instant, and says which instant that is. The verdict is about
that instant. The tables stay, so a round reads only new segments; the checks run over everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from analytics.ingest.silver import Unfinished
from analytics.ingest.tables import Tables
from analytics.pipeline import judged
from analytics.verdicts.conclusion import conclude


@dataclass(frozen=True, slots=True)
class Export:
    """Traces of a run that has not ended, complete up to the instant `at` (text).

    events: the number of events so far.
    away: stores that did not answer, so their traces may be incomplete.
    """

    run: str
    place: str
    at: str
    events: int
    away: Sequence[str] = ()


Verdict = dict[str, Any]
"""The result of a check (`CheckResult.as_document`), with `run`, `at` (the instant), `words` and `exit_code`."""


def follow(spark: SparkSession, base: str, export: Callable[[], Export]) -> Iterator[Verdict]:
    """Yield a verdict for each export. The tables of a run are below `base/RUN`."""
    last: tuple[Export, Verdict] | None = None
    while True:
        now = export()
        if last is not None and _is_unchanged(last[0], now):
            verdict = {**last[1], "at": now.at, "words": [_heading(now), *last[1]["words"][1:]]}
        else:
            verdict = _judged(spark, f"{base.rstrip('/')}/{now.run.replace('/', '-')}", now)
        last = (now, verdict)
        yield verdict


def _heading(export: Export) -> str:
    return f"{export.run}, as of {export.at}"


def _is_unchanged(before: Export, now: Export) -> bool:
    """Return whether nothing has happened since the export before."""
    return (before.run, before.events, tuple(before.away)) == (now.run, now.events, tuple(now.away))


def _judged(spark: SparkSession, base: str, export: Export) -> Verdict:
    with judged([export.place], Tables(spark, base), keep=True, unfinished=Unfinished(export.away)) as outcome:
        result = conclude(outcome.findings)
    spark.catalog.clearCache()  # the next round cannot use what this round cached
    words = [_heading(export), *result.in_words()]
    return {**result.as_document(), "run": export.run, "at": export.at, "words": words, "exit_code": result.exit_code}
