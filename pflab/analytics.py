"""Judge traces from Python: in this environment, or as a job of your own Spark session.

    from pflab.analytics import judge

    verdict = judge("runs")                  # the embedded engine, without Java
    verdict = judge("runs", spark=session)   # each task of the job judges a batch of runs
    assert verdict.exit_code == 0, verdict

It needs the extra `analytics`, and a job also the extra `spark`. Neither call leaves pflab's internal modules imported in this
process: the embedded engine judges in a separate process, and the driver's part of a Spark job puts back what it finds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pflab.home import HOME, environment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["CannotJudge", "Verdict", "judge"]

_PARTS = ("analytics", "traces")
"""The parts of pflab that judging imports."""


class CannotJudge(Exception):
    """There is nothing to judge, or the check failed; the text is one line."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on runs.

    judgement: the worst of all runs: converged, not converged, rules violated or unknown.
    words: what `pflab check` prints.
    document: what `pflab check --json` prints, with a verdict for each run, folder and rule check.
    """

    judgement: str
    words: tuple[str, ...]
    document: Mapping[str, Any]

    @property
    def exit_code(self) -> int:
        """0 if all runs converged, 1 if a run did not converge or violated a rule, 2 if the traces are incomplete."""
        return {"converged": 0, "unknown": 2}.get(self.judgement, 1)

    def __str__(self) -> str:
        return "\n".join(self.words)


def judge(
    traces: str | Path | Sequence[str | Path],
    *,
    spark: SparkSession | None = None,
    select: str | Sequence[str] = (),
    deselect: str | Sequence[str] = (),
) -> Verdict:
    """Judge the traces of runs.

    traces: run folders, folders that contain run folders, segment files, or patterns of them; with Spark also URLs, in any file
        system that Spark knows.
    spark: a session, classic or Spark Connect, with any settings; without it the embedded engine judges.
    select: count only violations of these rules: rules like `BF-3`, groups like `BF`, or subjects like `backfill`.
    deselect: do not count violations of these rules.

    Raises CannotJudge.
    """
    paths = [traces] if isinstance(traces, str | Path) else traces
    places = [os.fspath(path) for path in paths]
    selected, deselected = ([words] if isinstance(words, str) else words for words in (select, deselect))
    return (
        _judge_here(places, selected, deselected) if spark is None else _judge_on(spark, places, selected, deselected)
    )


def _judge_here(places: Sequence[str], selected: Sequence[str], deselected: Sequence[str]) -> Verdict:
    choice = [f"--select={word}" for word in selected] + [f"--deselect={word}" for word in deselected]
    order = [sys.executable, "-P", "-m", "pflab", "check", "--engine", "embedded", "--json", *choice, "--", *places]
    process = subprocess.run(order, capture_output=True, encoding="utf-8", check=False, env=environment())
    try:
        document = json.loads(process.stdout)
    except ValueError:
        lines = process.stderr.strip().splitlines() or ["pflab check ended without a verdict"]
        raise CannotJudge(lines[-1].removeprefix("pflab check: ")) from None
    return Verdict(document["judgement"], tuple(document["words"]), document)


def _judge_on(
    spark: SparkSession, places: Sequence[str], selected: Sequence[str], deselected: Sequence[str]
) -> Verdict:
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # noqa: PLC0415 - the caller has a session
    from pyspark.errors import PySparkException  # noqa: PLC0415 - the caller has a session

    with _borrowed_parts():
        from analytics import batches  # noqa: PLC0415 - only inside the block
        from analytics.errors import AnalyticsError  # noqa: PLC0415 - only inside the block
        from analytics.ingest.places import named  # noqa: PLC0415 - only inside the block
        from analytics.ingest.session import for_plans, in_a_line  # noqa: PLC0415 - only inside the block
        from analytics.ingest.tables import Tables  # noqa: PLC0415 - only inside the block
        from analytics.rules.catalogue import by_table, chosen  # noqa: PLC0415 - only inside the block
        from analytics.verdicts.conclusion import conclude  # noqa: PLC0415 - only inside the block
        from traces.temporary_folder import temporary_folder  # noqa: PLC0415 - only inside the block

        try:
            checks = chosen(selected, deselected)
            with (
                temporary_folder("pflab-judge-") as base,
                batches.judged(
                    spark,
                    named(places),
                    lambda nth: Tables(for_plans(spark), f"{base}/{nth}"),
                    rules=by_table(checks),
                ) as judged_runs,
            ):
                result = conclude(judged_runs.findings, checks)
        except AnalyticsError as error:
            raise CannotJudge(str(error)) from None
        except (PySparkException, Py4JError) as error:
            raise CannotJudge(f"Spark failed: {in_a_line(error)}") from None
        document = json.loads(json.dumps(result.as_document()))
        return Verdict(result.judgement, tuple(result.in_words()), document)


@contextmanager
def _borrowed_parts() -> Iterator[None]:
    """Let this process import pflab's parts inside the block. It may have modules with the names of the parts."""

    def take() -> dict[str, Any]:
        return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in _PARTS}

    theirs = take()
    sys.path.insert(0, str(HOME))
    try:
        yield
    finally:
        sys.path.remove(str(HOME))
        take()
        sys.modules.update(theirs)
