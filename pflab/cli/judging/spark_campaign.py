"""A campaign as Spark jobs (`pflab simulate --spark`): a task plays a few seeds and judges them with both judges.

The oracle looks into the stores while the simulator plays; the check reads only the traces, with the embedded engine. Where the
two disagree, the seed has failed: one of the judges is wrong.

    a wave of seeds -> tasks: play, keep the traces in a folder of the task, judge them -> results, in the order of the seeds

A wave is a Spark job. If a worker dies, Spark plays the seeds of its unfinished tasks on another one. A seed decides
everything, so the results are the same. If the driver dies, the earlier waves are in the ledger, if there is one.

What must never happen: traces of two tasks in one folder, or a seed whose traces were not judged and that counts as good.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pflab.campaign.seed import SeedResult
from pflab.campaign.seeds import Order, Played, play_here
from pflab.cli.judging.failure import analytics_failure_of
from pflab.home import HOME
from pflab.invariants.invariant import Violation
from pflab.terms.verdict import ExitCode, Judgement
from traces.temporary_folder import temporary_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from analytics.rows import Findings

SEEDS_OF_A_TASK: Final = 20
"""With fewer seeds, a task would spend more time on planning the statements of the check than on running them."""

TASKS_OF_A_CORE: Final = 4
"""How many tasks of a wave each core gets, so that the cores finish a wave at about the same time."""

AGREEMENT: Final = "the trace says the same"
"""The id of the invariant that a seed violates if the two judges disagree."""

_SEED: Final = re.compile(r"seed-(\d+)/[^/]*$")
_RESULT: Final = "results"


@contextmanager
def playing_in_spark(master: str, select: Sequence[str], deselect: Sequence[str]) -> Iterator[Played]:
    """Start Spark inside the block, and return what plays seeds in its tasks.

    select, deselect: words that choose the rule checks of the traces.

    Raises CommandError if a word names no check, or if Spark fails.
    """
    from analytics.ingest.session import BATCHES, need_packages, session  # noqa: PLC0415 - an extra
    from analytics.rules.catalogue import chosen  # noqa: PLC0415 - an extra

    with analytics_failure_of("simulate"):
        checks = chosen(select, deselect)
        need_packages("duckdb", "pyarrow", "pyspark", "pandas")
        with session(master, BATCHES) as spark:
            yield played_on(spark, checks)


def played_on(spark: SparkSession, checks: Set[str]) -> Played:
    """Return a function that plays seeds in this session and yields the results in order.

    checks: the ids of the checks of the traces.
    """
    cores = spark.sparkContext.defaultParallelism

    def played(seeds: Sequence[int], order: Order) -> Iterator[SeedResult]:
        length = cores * TASKS_OF_A_CORE * SEEDS_OF_A_TASK
        for first in range(0, len(seeds), length):
            yield from _wave(spark, seeds[first : first + length], order, checks, cores)

    return played


def _wave(
    spark: SparkSession, seeds: Sequence[int], order: Order, checks: Set[str], cores: int
) -> Iterator[SeedResult]:
    size = min(SEEDS_OF_A_TASK, -(-len(seeds) // cores))
    parts = [list(seeds[first : first + size]) for first in range(0, len(seeds), size)]
    ids = spark.range(0, len(parts), 1, len(parts))
    rows = ids.mapInArrow(_task(str(HOME), parts, order, checks), f"id bigint, {_RESULT} binary").collect()
    for row in sorted(rows, key=lambda row: int(row.id)):
        yield from pickle.loads(bytes(row[_RESULT]))


def _task(
    home: str, parts: Sequence[Sequence[int]], order: Order, checks: Set[str]
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return the function of a task. It is a closure, because Spark sends a closure by value and a worker finds pflab's
    modules only below `home`."""
    payload = pickle.dumps((list(parts), order, checks))

    def play_parts(rows: Iterable[Any]) -> Iterator[Any]:
        import pickle  # noqa: PLC0415 - in the worker
        import sys  # noqa: PLC0415 - in the worker

        if home not in sys.path:
            sys.path.insert(0, home)
        import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415 - in the worker

        from pflab.cli.judging.spark_campaign import play_and_judge  # noqa: PLC0415 - in the worker

        parts, order, checks = pickle.loads(payload)
        for batch in rows:
            for number in batch.column(0).to_pylist():
                results = pickle.dumps(play_and_judge(parts[number], order, checks))
                yield pa.record_batch(
                    {"id": pa.array([number], pa.int64()), "results": pa.array([results], pa.binary())}
                )

    return play_parts


def play_and_judge(seeds: Sequence[int], order: Order, checks: Set[str]) -> list[SeedResult]:
    """Play the seeds, judge their traces, and return the results of both judges together.

    checks: the ids of the checks of the traces.
    """
    from analytics.embedded.engine import judge  # noqa: PLC0415 - an extra
    from analytics.rules.catalogue import by_table  # noqa: PLC0415 - an extra

    with temporary_folder("pflab-seeds-") as folder:
        results = list(play_here(seeds, replace(order, traces=Path(folder))))
        findings = judge([folder], by_table(checks))
    return [_together(result, _of_seed(findings, result.seed), checks) for result in results]


def _of_seed(findings: Findings, seed: int) -> Findings:
    """Return the findings of a seed's trace. A trace is named after its folder (`pflab.campaign.seed`)."""
    from analytics.ingest.lines import place_in  # noqa: PLC0415 - an extra

    def is_of_seed(trace: str) -> bool:
        match = _SEED.search(place_in(trace))
        return match is not None and int(match[1]) == seed

    return {name: [row for row in rows if is_of_seed(row["trace"])] for name, rows in findings.items()}


def _together(result: SeedResult, findings: Findings, checks: Set[str]) -> SeedResult:
    """Return the result of a seed with what the check of its trace adds to it.

    A check that was left out might have found what the simulator found. So, unless all checks were chosen, a trace that is good
    does not contradict a simulator that says otherwise.
    """
    from analytics.errors import NoTraces  # noqa: PLC0415 - an extra
    from analytics.rules.catalogue import EVERY  # noqa: PLC0415 - an extra
    from analytics.verdicts.conclusion import conclude  # noqa: PLC0415 - an extra

    if result.traceback:
        return result
    try:
        check = conclude(findings, checks)
    except NoTraces:
        return replace(result, judgement=Judgement.UNKNOWN, doubts=(*result.doubts, "the seed has no trace"))
    is_good = result.judgement is Judgement.CONVERGED
    is_good_trace = check.exit_code == ExitCode.GOOD
    if is_good == is_good_trace or (is_good_trace and checks != EVERY):
        return result
    disagreement = f"the simulator says {result.judgement.value}, the check of the trace says"
    witness = " / ".join(line.strip() for line in (disagreement, *check.in_words()))
    return replace(
        result,
        judgement=Judgement.NOT_CONVERGED,
        violations=(*result.violations, Violation(AGREEMENT, ("CV-1", "CV-2"), 0, witness)),
    )
