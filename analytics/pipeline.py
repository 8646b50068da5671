"""A check from segments to verdict: the stages in order. Each writes tables that the next one reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial, reduce
from pathlib import Path
from typing import Final, Protocol

import pyarrow.parquet as pq  # type: ignore[import-untyped]
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.embedded.product import Rules, product
from analytics.evidence import folder_tree, objects, organization, version_history
from analytics.evidence.mail import mails
from analytics.evidence.material import Material, material_of
from analytics.evidence.tables import PARTS
from analytics.ingest import bronze, incremental, silver
from analytics.ingest.table_lock import locked
from analytics.ingest.tables import Tables, at_once
from analytics.published.parquet import put_together
from analytics.published.tables import PUBLISHED
from analytics.report.queries import DETAILS, FIGURES, GIVEN
from analytics.rows import Findings, Given, Judged, Row, row_of
from analytics.rules import required_events
from analytics.rules.catalogue import CHECKS
from analytics.verdicts import convergence, evaluate, findings
from analytics.verdicts.findings import FINDINGS
from analytics.verdicts.gold import Gold

STAGES: Final = (
    "reading the segments",
    "histories",
    "what must exist and who has what",
    "mails end to end",
    "the rules",
    "the verdict",
)

Progress = Callable[[str], None]
"""Called with the name of each stage when the stage begins."""


class RuleChecks(Protocol):
    """Runs the rule checks."""

    def __call__(self, tables: Tables, material: Material, verdicts: DataFrame, *, unfinished: bool) -> DataFrame:
        """Return the table gold/rules."""
        ...


@contextmanager
def judged(
    traces: Sequence[str],
    tables: Tables,
    progress: Progress = lambda _: None,
    *,
    keep: bool = False,
    unfinished: silver.Unfinished | None = None,
    rules: Rules | None = None,
) -> Iterator[Judged]:
    """Judge these traces (folders, files, globs) by Spark's own plans of the tables, which are there inside the block.

    keep: keep the tables, and read only segments that were not there the last time.
    unfinished: the runs have not ended.
    rules: the chosen checks; None for all.
    """
    progress(STAGES[0])
    if rules is not None:
        tables = replace(tables, needed=frozenset(table.name for table in product().tables_for(rules)))
    with locked(tables) if keep else nullcontext():
        if keep:
            lines = incremental.take_new(tables, traces)
        else:
            lines = tables.keep("bronze", bronze.read_lines(tables.spark, traces), by=["family"])
        with incremental.naming_damage(tables):
            gold = judge(lines, tables, progress, unfinished, rules=partial(_rule_tables, only=rules))
            yield Judged(findings_of(gold), partial(_answer, gold), partial(_publish, gold, tables))


def judge(
    lines: DataFrame,
    tables: Tables,
    progress: Progress = lambda _: None,
    unfinished: silver.Unfinished | None = None,
    *,
    look: Callable[[DataFrame], silver.Seen] = silver.seen,
    rules: RuleChecks | None = None,
) -> Gold:
    """Compute the gold tables from bronze.

    look: computes what is known about the events.
    rules: runs the rule checks; by default several at the same time.
    """
    events = silver.silver(lines, tables, unfinished, look)
    progress(STAGES[1])
    org = organization.Organization(**tables.keep_all("organization", organization.parts(events)))
    rows = tables.keep("evidence/versions", version_history.histories(events, org))
    progress(STAGES[2])
    things = tables.keep("evidence/objects", objects.objects(rows, version_history.expiries(events)))
    stores = tables.keep("evidence/stores", folder_tree.stores(events, org))
    unseen = stores.where("not seen").select("trace", F.format_string("%s is not in the trace", "store").alias("doubt"))
    events = replace(events, doubts=tables.keep("evidence/doubts", events.doubts.unionByName(unseen)))
    tree = tables.keep(
        "evidence/folders", folder_tree.folders(things, rows, stores, version_history.deleted_stores(events))
    )
    progress(STAGES[3])
    plans = {"mails": lambda: mails.mail_ends(events), "mail_folders": lambda: mails.mail_folders(events)}
    ends, mail_folders = tables.keep_all("evidence", plans).values()
    mismatches = tables.keep("gold/mismatches", convergence.mismatches(things, tree, mails.excused(events)))
    stopped = convergence.stopped(events.events, unfinished=unfinished is not None)
    verdicts = tables.keep("gold/verdicts", convergence.verdicts(tree, mismatches, events.doubts, stopped))
    progress(STAGES[4])
    material = material_of(tables, events, rows, things, org)
    judged = (rules or _rule_tables)(tables, material, verdicts, unfinished=unfinished is not None)
    progress(STAGES[5])
    lost = tables.keep("gold/losses", convergence.losses(things, tree))
    gold = Gold(
        lines, events, org, rows, things, tree, ends, mail_folders, mismatches, lost, verdicts, judged, mismatches
    )
    return replace(gold, differences=tables.keep("evidence/differences", findings.differences(gold)))


def _rule_tables(
    tables: Tables, material: Material, verdicts: DataFrame, *, unfinished: bool, only: Rules | None = None
) -> DataFrame:
    """Run the rule checks for which there are events, several parts at the same time.

    only: the chosen checks; None for all.
    """
    chosen = [check for check in CHECKS if only is None or check.id in only.get(check.table, ())]
    about = required_events.with_events(chosen, material.events)

    def judge_part(part: int) -> DataFrame:
        mine = [check for check in about if check.table in PARTS[part]]
        return tables.keep(
            f"gold/rules/part={part}", evaluate.judge_rules(material, verdicts, mine, unfinished=unfinished)
        )

    return reduce(DataFrame.unionByName, at_once(*[partial(judge_part, part) for part in range(len(PARTS))]))


def findings_of(gold: Gold) -> Findings:
    """Return what a check has found, from several queries at the same time."""
    queries = [partial(_rows, query(gold)) for query in FINDINGS.values()]
    return dict(zip(FINDINGS, at_once(*queries), strict=True))


def _answer(gold: Gold, name: str, parameters: Given) -> list[Row]:
    """Return the rows of a query of a report."""
    spark = gold.verdicts.sparkSession
    tables = {
        table: spark.createDataFrame(list(parameters.get(table, ())), columns) for table, columns in GIVEN.items()
    }
    return _rows({**FIGURES, **DETAILS}[name](gold, tables))


def _publish(gold: Gold, tables: Tables, folder: str) -> None:
    """Write the published tables into a folder of this machine."""
    for name, query in PUBLISHED.items():
        file = f"{folder}/{name}.parquet"
        if "://" in tables.base:
            pq.write_table(query(gold).toArrow(), file)
        else:
            tables.keep(f"published/{name}", query(gold))
            put_together(sorted(map(str, Path(tables.path(f"published/{name}")).glob("*.parquet"))), file)


def _rows(frame: DataFrame) -> list[Row]:
    return [row_of(row.asDict(recursive=True)) for row in frame.collect()]
