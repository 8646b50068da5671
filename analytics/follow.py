"""Following a lab that goes on: its traces taken in as they come, and a verdict on them that is kept current.

Each round begins with a handing over: whoever has the traces writes all that has happened up to an instant, and says so. The
verdict is one on that instant. What was taken in stays in the tables, so a round reads what is new; it judges all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from analytics.ingest.silver import GoesOn
from analytics.ingest.tables import Tables
from analytics.pipeline import judge_traces


@dataclass(frozen=True, slots=True)
class Handed:
    """Traces of a run that goes on, whole up to an instant, which is text; events: how many it has had in all. away: stores
    of which nobody knows whether their traces are whole."""

    run: str
    place: str
    at: str
    events: int
    away: Sequence[str] = ()


Verdict = dict[str, Any]
"""What a check says (`CheckResult.as_document`), of which run and up to which instant (`run`, `at`), in `words`, and the
`exit_code` of a check that says so."""


def follow(spark: SparkSession, base: str, handed: Callable[[], Handed]) -> Iterator[Verdict]:
    """A verdict for each handing over, for as long as they are asked for. The tables of a run are below `base/RUN`."""
    last: tuple[Handed, Verdict] | None = None
    while True:
        now = handed()
        if last is not None and _as_before(last[0], now):
            verdict = {**last[1], "at": now.at, "words": [_stands(now), *last[1]["words"][1:]]}
        else:
            verdict = _judged(spark, f"{base.rstrip('/')}/{now.run.replace('/', '-')}", now)
        last = (now, verdict)
        yield verdict


def _stands(handed: Handed) -> str:
    return f"{handed.run}, as of {handed.at}"


def _as_before(before: Handed, now: Handed) -> bool:
    """Whether nothing has happened since."""
    return (before.run, before.events, tuple(before.away)) == (now.run, now.events, tuple(now.away))


def _judged(spark: SparkSession, base: str, handed: Handed) -> Verdict:
    result = judge_traces([handed.place], Tables(spark, base), keep=True, goes_on=GoesOn(handed.away))
    spark.catalog.clearCache()  # what a round has kept is of no use to the next
    words = [_stands(handed), *result.in_words()]
    return {**result.as_document(), "run": handed.run, "at": handed.at, "words": words, "exit_code": result.exit_code}
