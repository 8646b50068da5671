"""Running the checks: all checks of a table in one job, a row for each trace and check."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.convergence import CONVERGED
from analytics.evidence import TABLES, plain_stores
from analytics.rules import CHECKS, Check
from analytics.silver import Silver
from analytics.verdict import RuleResult, short


def judge_rules(
    events: Silver, rows: DataFrame, verdicts: DataFrame, checks: Iterable[Check] = CHECKS, *, goes_on: bool = False
) -> DataFrame:
    """trace, check, consumed (rows that the check was about), violations, at and witness (of the first).

    What must hold once all has come is not asked of a run that goes on: more may be on its way.
    A trace that a check found nothing to look at in has no row of it.
    """
    by_table: dict[str, list[Check]] = {}
    for check in checks:
        by_table.setdefault(check.table, []).append(check)
    plain = plain_stores(events).select("trace", F.col("store").alias("node"), F.lit(True).alias("plain")).cache()
    ended = F.lit(not goes_on)
    settled = verdicts.groupBy("trace").agg((ended & F.min(F.col("judgement") == CONVERGED)).alias("settled")).cache()
    judged = [
        _table(_prepared(name, TABLES[name](events, rows), plain, settled), mine) for name, mine in by_table.items()
    ]
    return reduce(DataFrame.unionByName, judged)


def told_rules(rules: DataFrame, doubts: DataFrame) -> tuple[tuple[RuleResult, ...], int]:
    """Every check with what it consumed and found over all traces, and how many violations there are in traces that are whole:
    what a hole hides may look like a violation, and is none."""
    sure = rules.join(doubts.select("trace").distinct().withColumn("doubtful", F.lit(True)), "trace", "left")
    counted = F.when(F.col("doubtful").isNull(), F.col("violations")).otherwise(0)
    first = F.min(F.when(counted > 0, F.struct("at", "trace", "witness")))
    sums = (F.sum("consumed").alias("consumed"), F.sum(counted).alias("violations"), first.alias("earliest"))
    by_id = {row.check: row for row in sure.groupBy("check").agg(*sums).collect()}  # as many rows as there are checks
    told = []
    for check in CHECKS:
        row = by_id.get(check.id)
        if row is None:
            told.append(RuleResult(check.id, check.rules, 0, 0))
            continue
        witness = "" if row.earliest is None else f"{short(row.earliest.trace)}: {row.earliest.witness}"
        told.append(RuleResult(check.id, check.rules, row.consumed, row.violations, witness))
    return tuple(told), sum(each.violations for each in told)


def _prepared(name: str, table: DataFrame, plain: DataFrame, settled: DataFrame) -> DataFrame:
    """With what some checks ask about their trace or store."""
    if name == "sent":
        table = table.join(F.broadcast(plain), ["trace", "node"], "left").withColumn(
            "plain", F.coalesce("plain", F.lit(False))
        )
    if name == "entries":
        table = table.join(F.broadcast(settled), "trace", "left")
    return table


def _table(table: DataFrame, checks: list[Check]) -> DataFrame:
    """One pass and one small shuffle, however many checks."""
    columns: list[Column] = []
    for index, check in enumerate(checks):
        about = F.coalesce(F.expr(check.about), F.lit(False))
        wrong = about & ~F.coalesce(F.expr(check.holds), F.lit(False))
        columns += [
            F.count_if(about).alias(f"consumed{index}"),
            F.count_if(wrong).alias(f"violations{index}"),
            F.min(
                F.when(wrong, F.struct(F.col("at").cast("long").alias("at"), F.expr(check.words).alias("words")))
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
