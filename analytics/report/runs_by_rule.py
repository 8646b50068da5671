"""The matrix of many runs: which run violated which rule check. Runs that say the same are one line with their number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.verdicts.gold import Gold
from analytics.verdicts.judgements import NOT_CONVERGED, UNKNOWN
from analytics.verdicts.result import short

LINES: Final = 60
"""How many lines the matrix has."""

CHECKS: Final = 32
"""How many rule checks the matrix has as columns: those that most of its lines violate."""


@dataclass(frozen=True, slots=True)
class Line:
    """Runs that violate the same checks: the first run and its numbers of folders and violations, and how many more runs there
    are. incomplete: its trace has a hole."""

    run: str
    more: int
    bad: int
    unknown: int
    incomplete: bool
    violations: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Matrix:
    """lines: the worst first. checks: the columns. The rest are counts: of runs that no line shows, of violated checks
    without a column, and of runs with nothing to say."""

    lines: tuple[Line, ...]
    checks: tuple[str, ...]
    more_runs: int
    more_checks: int
    quiet: int


def matrix(gold: Gold, traces: int) -> Matrix:
    """Return the matrix of `traces` runs."""
    alike = _alike(gold)
    worst = alike.orderBy(F.desc("bad"), F.desc(F.size("checks")), F.desc("runs"), "trace").limit(LINES).collect()
    saying = alike.agg(F.sum("runs").alias("runs"), F.collect_set("checks").alias("checks")).collect()[0]
    lines = tuple(
        Line(short(row.trace), row.runs - 1, row.bad, row.unknown, row.incomplete, dict(row.violations or {}))
        for row in worst
    )
    told = saying.runs or 0
    return arranged(lines, {check for each in saying.checks for check in each}, told, traces)


def arranged(lines: tuple[Line, ...], violated: set[str], saying: int, traces: int) -> Matrix:
    """Return the matrix of these lines. violated: the checks that any run violates; saying: how many runs have something to
    say."""
    times = {check: sum(check in line.violations for line in lines) for line in lines for check in line.violations}
    checks = sorted(times, key=lambda check: (-times[check], check))[:CHECKS]
    shown = sum(line.more + 1 for line in lines)
    return Matrix(lines, tuple(checks), saying - shown, len(violated) - len(checks), max(traces - saying, 0))


def _alike(gold: Gold) -> DataFrame:
    """Return a row for all runs that violate the same checks and have folders of the same judgements: the first trace with its
    figures, and the number of runs. Violations in incomplete traces do not count."""
    incomplete = gold.events.doubts.select("trace").distinct().withColumn("incomplete", F.lit(True))
    broken = gold.rules.where("violations > 0").join(incomplete, "trace", "left_anti")
    entries = F.collect_list(F.struct("check", "violations"))
    violations = broken.groupBy("trace").agg(F.map_from_entries(entries).alias("violations"))
    folders = gold.verdicts.groupBy("trace").agg(
        F.count_if(F.col("judgement") == NOT_CONVERGED).alias("bad"),
        F.count_if(F.col("judgement") == UNKNOWN).alias("unknown"),
    )
    every = folders.join(violations, "trace", "full").join(incomplete, "trace", "full").select(
        "trace", "violations",
        *(F.coalesce(name, F.lit(0)).alias(name) for name in ("bad", "unknown")),
        F.coalesce("incomplete", F.lit(False)).alias("incomplete"),
        F.coalesce(F.array_sort(F.map_keys("violations")), F.array().cast("array<string>")).alias("checks"),
    )  # fmt: skip
    saying = every.where("bad > 0 or unknown > 0 or incomplete or size(checks) > 0")
    return (
        saying.groupBy("checks", (F.col("bad") > 0).alias("some_bad"), (F.col("unknown") > 0).alias("some_unknown"))
        .agg(F.count(F.lit(1)).alias("runs"), F.min_by(F.struct("*"), "trace").alias("of"))
        .select("of.trace", "of.bad", "of.unknown", "of.incomplete", "of.violations", "checks", "runs")
    )
