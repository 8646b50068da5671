"""Run the rule checks: all checks of a table in one job, with a row for each trace and check."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.evidence import TABLES, Material
from analytics.rules.catalogue import CHECKS
from analytics.rules.check import Check
from analytics.verdicts.convergence import CONVERGED, NOT_CONVERGED, UNKNOWN
from analytics.verdicts.verdict import BROKEN, EXIT_CODES, Gold, RuleResult, RunVerdict, short
from analytics.verdicts.witness_names import marked, named

MAX_RUNS: Final = 2000

UNTOLD: Final = "a field that the witness names is missing"
"""The witness of a violation whose text cannot be computed."""


def judge_rules(
    material: Material, verdicts: DataFrame, checks: Iterable[Check] = CHECKS, *, unfinished: bool = False
) -> DataFrame:
    """Return trace, check, consumed (the number of rows that the check was about), violations, at and witness (of the first).

    In a run that has not ended (`unfinished`), mails may still be on their way, so checks of the final state are left out.
    A trace without a row for a check has no row in the result. Without checks the result is empty.
    """
    by_table: dict[str, list[Check]] = {}
    for check in checks:
        by_table.setdefault(check.table, []).append(check)
    ended = F.lit(not unfinished)
    settled = verdicts.groupBy("trace").agg((ended & F.min(F.col("judgement") == CONVERGED)).alias("settled"))
    judged = [_table(_prepared(name, TABLES[name](material), settled), mine) for name, mine in by_table.items()]
    return reduce(DataFrame.unionByName, judged) if judged else _no_results(verdicts)


def _no_results(verdicts: DataFrame) -> DataFrame:
    """Return an empty result of `judge_rules`."""
    long, text = F.lit(None).cast("bigint"), F.lit(None).cast("string")
    return verdicts.limit(0).select(
        "trace", text.alias("check"), long.alias("consumed"), long.alias("violations"), long.alias("at"),
        text.alias("witness"),
    )  # fmt: skip


def rule_results(gold: Gold) -> tuple[tuple[RuleResult, ...], int]:
    """Return each check with what it consumed and found over all traces, and the number of violations.

    Violations in incomplete traces do not count, because a missing event may look like a violation.
    """
    sure = gold.rules.join(
        gold.events.doubts.select("trace").distinct().withColumn("doubtful", F.lit(True)), "trace", "left"
    )
    counted = F.when(F.col("doubtful").isNull(), F.col("violations")).otherwise(0)
    first = F.min(F.when(counted > 0, F.struct("at", "trace", "witness")))
    sums = (F.sum("consumed").alias("consumed"), F.sum(counted).alias("violations"), first.alias("earliest"))
    by_id = {row.check: row for row in sure.groupBy("check").agg(*sums).collect()}  # as many rows as there are checks
    earliest = {id_: row.earliest for id_, row in by_id.items() if row.earliest is not None}
    texts = named(gold, [(each.trace, each.witness or UNTOLD) for each in earliest.values()])
    witnesses = {id_: f"{short(each.trace)}: {text}" for (id_, each), text in zip(earliest.items(), texts, strict=True)}
    results = []
    for check in CHECKS:
        row = by_id.get(check.id)
        if row is None:
            results.append(RuleResult(check.id, check.rules, 0, 0))
            continue
        results.append(RuleResult(check.id, check.rules, row.consumed, row.violations, witnesses.get(check.id, "")))
    return tuple(results), sum(each.violations for each in results)


def run_verdicts(verdicts: DataFrame, rules: DataFrame, doubts: DataFrame) -> tuple[RunVerdict, ...]:
    """Return the verdict of each trace, the worst first, at most MAX_RUNS."""

    def many(judgement: str) -> Column:
        return F.count_if(F.col("judgement") == judgement)

    folders = verdicts.groupBy("trace").agg(
        many(NOT_CONVERGED).alias("bad"), many(UNKNOWN).alias("unknown"), many(CONVERGED).alias("good")
    )
    broken = rules.groupBy("trace").agg(F.sum("violations").alias("violations"))
    incomplete = doubts.select("trace").distinct().withColumn("incomplete", F.lit(True))
    every = folders.join(broken, "trace", "full").join(incomplete, "trace", "full")
    none = F.lit(0)
    bad, unknown, good = (F.coalesce(name, none) for name in ("bad", "unknown", "good"))
    violations = F.when(F.col("incomplete").isNull(), F.coalesce("violations", none)).otherwise(none)
    judgement = (
        F.when(bad > 0, NOT_CONVERGED)
        .when(violations > 0, BROKEN)
        .when((unknown > 0) | (good == 0) | F.col("incomplete").isNotNull(), UNKNOWN)
        .otherwise(CONVERGED)
    )
    rank = F.when(bad > 0, 0).when(violations > 0, 1).when(judgement == UNKNOWN, 2).otherwise(3)
    rows = every.select(
        "trace", judgement.alias("judgement"), bad.alias("bad"), unknown.alias("unknown"), violations.alias("violations"),
        rank.alias("rank"),
    )  # fmt: skip
    return tuple(
        RunVerdict(short(row.trace), row.judgement, EXIT_CODES[row.judgement], row.bad, row.unknown, row.violations)
        for row in rows.orderBy("rank", "trace").limit(MAX_RUNS).collect()
    )


def _prepared(name: str, table: DataFrame, settled: DataFrame) -> DataFrame:
    """Return the table with the columns about the whole trace that its checks need."""
    return table.join(F.broadcast(settled), "trace", "left") if name in {"entries", "facts", "steps"} else table


def _table(table: DataFrame, checks: list[Check]) -> DataFrame:
    """Return the results of all checks of a table, in one pass with one small shuffle."""
    columns: list[Column] = []
    for index, check in enumerate(checks):
        about = F.coalesce(F.expr(check.about), F.lit(False))
        wrong = about & ~F.coalesce(F.expr(check.holds), F.lit(False))
        columns += [
            F.count_if(about).alias(f"consumed{index}"),
            F.count_if(wrong).alias(f"violations{index}"),
            F.min(
                F.when(
                    wrong, F.struct(F.col("at").cast("long").alias("at"), F.expr(marked(check.words)).alias("words"))
                )
            ).alias(f"first{index}"),
        ]
    counted = table.groupBy("trace").agg(*columns)
    cases = [
        F.struct(
            F.lit(check.id).alias("check"),
            F.col(f"consumed{index}").alias("consumed"),
            F.col(f"violations{index}").alias("violations"),
            F.col(f"first{index}.at").alias("at"),
            F.col(f"first{index}.words").alias("witness"),
        )
        for index, check in enumerate(checks)
    ]
    return counted.select("trace", F.explode(F.array(*cases)).alias("c")).select("trace", "c.*").where("consumed > 0")
