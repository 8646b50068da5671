"""Run the rule checks: all checks of a table in one job, with a row for each trace and check."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.material import Material
from analytics.evidence.tables import TABLES
from analytics.rules.catalogue import CHECKS
from analytics.rules.check import Check
from analytics.verdicts.judgements import CONVERGED
from analytics.verdicts.witness_names import marked


def judge_rules(
    material: Material, verdicts: DataFrame, checks: Iterable[Check] = CHECKS, *, unfinished: bool = False
) -> DataFrame:
    """Return trace, check, consumed (the number of rows that the check was about), violations, at and witness (of the first).

    In a run that has not ended (`unfinished`), mails may still be on their way, so checks of the final state are left out.
    A trace without a row for a check has no row in the result. Without checks the result is empty.
    """
    by_table = checks_by_table(checks)
    about = settled(verdicts, unfinished=unfinished)
    judged = [judge_table(name, material, about, mine) for name, mine in by_table.items()]
    return reduce(DataFrame.unionByName, judged) if judged else _no_results(verdicts)


def checks_by_table(checks: Iterable[Check]) -> dict[str, list[Check]]:
    """Map the name of each evidence table to its checks."""
    by_table: dict[str, list[Check]] = {}
    for check in checks:
        by_table.setdefault(check.table, []).append(check)
    return by_table


def settled(verdicts: DataFrame, *, unfinished: bool) -> DataFrame:
    """Return trace, settled: whether all folders of a run that has ended have converged."""
    ended = F.lit(not unfinished)
    return verdicts.groupBy("trace").agg((ended & F.min(F.col("judgement") == CONVERGED)).alias("settled"))


def judge_table(name: str, material: Material, about: DataFrame, checks: list[Check]) -> DataFrame:
    """Return the results of the checks of one evidence table.

    about: see `settled`.
    """
    return _table(_prepared(name, TABLES[name](material), about), checks)


def _no_results(verdicts: DataFrame) -> DataFrame:
    """Return an empty result of `judge_rules`."""
    long, text = F.lit(None).cast("bigint"), F.lit(None).cast("string")
    return verdicts.limit(0).select(
        "trace",
        text.alias("check"),
        long.alias("consumed"),
        long.alias("violations"),
        long.alias("at"),
        text.alias("witness"),
    )


def _prepared(name: str, table: DataFrame, settled: DataFrame) -> DataFrame:
    """Return the table with the columns about the whole trace that its checks need."""
    return table.join(F.broadcast(settled), "trace", "left") if name in {"entries", "facts", "steps"} else table


def _table(table: DataFrame, checks: list[Check]) -> DataFrame:
    """Return the results of all checks of a table, in one pass with one small shuffle."""
    cases: list[Column] = []
    columns: list[Column] = []
    for index, check in enumerate(checks):
        about = F.coalesce(F.expr(check.about), F.lit(False))
        # What a check does not look at is not computed.
        wrong = F.when(about, ~F.coalesce(F.expr(check.holds), F.lit(False))).otherwise(F.lit(False))
        witness = F.when(wrong, F.expr(marked(check.words)))
        cases += [about.alias(f"about{index}"), wrong.alias(f"wrong{index}"), witness.alias(f"witness{index}")]
        is_wrong = F.col(f"wrong{index}")
        first = F.min(F.when(is_wrong, F.struct("at", F.col(f"witness{index}").alias("words"))))
        columns += [
            F.count_if(F.col(f"about{index}")).alias(f"consumed{index}"),
            F.count_if(is_wrong).alias(f"violations{index}"),
            first.alias(f"first{index}"),
        ]
    judged = table.select("trace", F.col("at").cast("long").alias("at"), *cases)
    counted = judged.groupBy("trace").agg(*columns)
    results = [
        F.struct(
            F.lit(check.id).alias("check"),
            F.col(f"consumed{index}").alias("consumed"),
            F.col(f"violations{index}").alias("violations"),
            F.col(f"first{index}.at").alias("at"),
            F.col(f"first{index}.words").alias("witness"),
        )
        for index, check in enumerate(checks)
    ]
    return counted.select("trace", F.explode(F.array(*results)).alias("c")).select("trace", "c.*").where("consumed > 0")
