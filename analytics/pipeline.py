"""A check from segments to verdict: the stages in order. Each writes tables that the next one reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from functools import partial, reduce
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.errors import NoTraces
from analytics.evidence import evidence, folder_tree, mails, objects, organization, version_history  # fmt: skip
from analytics.ingest import bronze, incremental, silver  # fmt: skip
from analytics.ingest.table_lock import locked
from analytics.ingest.tables import AT_ONCE, Tables, at_once
from analytics.report import witness, words  # fmt: skip
from analytics.rules import required_events
from analytics.rules.catalogue import CHECKS
from analytics.verdicts import convergence, evaluate
from analytics.verdicts.verdict import CheckResult, FolderVerdict, Gold, short

STAGES: Final = (
    "reading the segments", "histories", "what must exist and who has what", "mails end to end", "the rules",
    "the verdict",
)  # fmt: skip

Progress = Callable[[str], None]
"""Called with the name of each stage when it begins."""

_MAX_LOSSES: Final = 20
_MAX_DOUBTS: Final = 20
_REASONS: Final = (bronze.MALFORMED, bronze.OTHER_VERSION, bronze.UNKNOWN_TYPE)


def judge_traces(
    traces: Sequence[str],
    tables: Tables,
    progress: Progress = lambda _: None,
    *,
    keep: bool = False,
    unfinished: silver.Unfinished | None = None,
    then: Callable[[Gold, CheckResult], None] = lambda _gold, _result: None,
) -> CheckResult:
    """Check these traces (folders, files, globs). Raises NoTraces if there is no segment.

    keep: keep the tables, and read only segments that were not there the last time. unfinished: the runs have not ended. then:
    called with the tables and the result before the tables are removed.
    """
    progress(STAGES[0])
    with locked(tables) if keep else nullcontext():
        if keep:
            lines = incremental.take_new(tables, traces)
        else:
            lines = tables.keep("bronze", bronze.parse(bronze.read_lines(tables.spark, traces)), by=["family"])
        with incremental.naming_damage(tables):
            gold = judge(lines, tables, progress, unfinished)
            result = conclude(gold)
            then(gold, result)
        return result


def judge(
    lines: DataFrame, tables: Tables, progress: Progress = lambda _: None, unfinished: silver.Unfinished | None = None
) -> Gold:
    """Compute the gold tables from bronze."""
    events = silver.silver(lines, unfinished)
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
    made = {"mails": lambda: mails.mail_ends(events), "mail_folders": lambda: mails.mail_folders(events)}
    ends, mail_folders = tables.keep_all("evidence", made).values()
    mismatches = tables.keep("gold/mismatches", convergence.mismatches(things, tree, mails.excused(events)))
    stopped = convergence.stopped(events.events, unfinished=unfinished is not None)
    verdicts = tables.keep("gold/verdicts", convergence.verdicts(tree, mismatches, events.doubts, stopped))
    progress(STAGES[4])
    material = evidence.material(tables, events, rows, things, org)
    rules = _rule_tables(tables, material, verdicts, unfinished=unfinished is not None)
    progress(STAGES[5])
    lost = tables.keep("gold/losses", convergence.losses(things, tree))
    return Gold(lines, events, org, rows, things, tree, ends, mail_folders, mismatches, lost, verdicts, rules)


def _rule_tables(tables: Tables, material: evidence.Material, verdicts: DataFrame, *, unfinished: bool) -> DataFrame:
    """Run the rule checks for which there are events, several parts at the same time."""
    about = required_events.with_events(CHECKS, material.events)

    def judge_part(part: int) -> DataFrame:
        mine = [check for check in about if check.table in evidence.PARTS[part]]
        return tables.keep(
            f"gold/rules/part={part}", evaluate.judge_rules(material, verdicts, mine, unfinished=unfinished)
        )

    return reduce(DataFrame.unionByName, at_once(*[partial(judge_part, part) for part in range(len(evidence.PARTS))]))


def conclude(gold: Gold) -> CheckResult:
    """Return the result for people and programs: counts, and a limited number of rows in words."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        asked = pool.submit(_counts, gold.bronze)
        verdicts = pool.submit(gold.verdicts.groupBy("judgement").count().collect)
        doubts = pool.submit(_doubts, gold)
        losses = pool.submit(_lost, gold)
        ruled = pool.submit(evaluate.rule_results, gold)
        runs = pool.submit(evaluate.run_verdicts, gold.verdicts, gold.rules, gold.events.doubts)
        folders = pool.submit(_folder_verdicts, gold)
    counts, (rules, broken), (lost, lost_count) = asked.result(), ruled.result(), losses.result()
    return CheckResult(
        runs=runs.result(),
        rules=rules,
        violations=broken,
        traces=counts["traces"],
        events=counts["events"],
        aside={reason: counts[reason] for reason in _REASONS if counts[reason]},
        folders={row.judgement: row["count"] for row in sorted(verdicts.result())},
        told=folders.result(),
        doubts=doubts.result(),
        lost_rightly=lost,
        lost_rightly_count=lost_count,
    )


def _counts(lines: DataFrame) -> dict[str, int]:
    counts = lines.agg(
        F.count_if(F.col("aside").isNull()).alias("events"), F.count(F.lit(1)).alias("lines"),
        F.count_distinct(F.when(F.col("aside").isNull(), F.col("trace"))).alias("traces"),
        *[F.count_if(F.col("aside") == reason).alias(reason) for reason in _REASONS],
    ).first()  # fmt: skip
    if counts is None or not counts.lines:
        raise NoTraces("the given paths contain no segment (*.jsonl); name run folders or segment files")
    return counts.asDict()


def _doubts(gold: Gold) -> tuple[str, ...]:
    """Return the doubts about traces that have no verdict."""
    doubts = gold.events.doubts.join(gold.folders.select("trace").distinct(), "trace", "left_anti")
    return tuple(f"{short(row.trace)}: {row.doubt}" for row in doubts.limit(_MAX_DOUBTS).collect())


def _lost(gold: Gold) -> tuple[tuple[str, ...], int]:
    """Return the excused losses: some of them in words, and the number of all."""
    lost = gold.losses.join(F.broadcast(gold.org.guids), [
        gold.losses["trace"] == gold.org.guids["trace"], F.substring_index("number", ":", 1) == gold.org.guids["guid"]
    ], "left").select(gold.losses["trace"], "path", "subject", "number", "name", "store")  # fmt: skip
    some = lost.orderBy("trace", "path", "number").limit(_MAX_LOSSES).collect()
    words = tuple(
        f"{short(row.trace)}: {row.name or 'Setup'}-{row.number.rpartition(':')[2]} ({row.subject!r}) of {row.path}"
        for row in some
    )
    return words, lost.count() if len(some) == _MAX_LOSSES else len(some)


def _folder_verdicts(gold: Gold) -> tuple[FolderVerdict, ...]:
    chosen = witness.worst_folders(gold.verdicts).collect()
    bad = [row for row in chosen if row.judgement == convergence.NOT_CONVERGED]
    witnesses: dict[tuple[str, str], list[str]] = {}
    stuck: set[tuple[str, str]] = set()
    if bad:
        # In a folder whose verdict is unknown, a mismatch proves nothing, so the reason of the doubt is shown instead.
        not_converged = F.broadcast(
            gold.verdicts.where(F.col("judgement") == convergence.NOT_CONVERGED).select("trace", "folder")
        )
        mismatches = gold.mismatches.join(not_converged, ["trace", "folder"], "left_semi")
        few = (
            witness.witness_rows(mismatches, gold.org.guids).limit(witness.MAX_FOLDERS * witness.MAX_WITNESSES).cache()
        )
        key = ("trace", "folder", "store", "guid", "low")
        fates = {
            tuple(row[name] for name in key): row
            for row in witness.fates(few, gold.mail_folders, gold.mails, gold.events).collect()
        }
        for row in few.orderBy("trace", "path", "nth").collect():
            texts = witnesses.setdefault((row.trace, row.folder), [])
            fate = fates.get(tuple(row[name] for name in key)) if row.what.startswith("lacks") else None
            texts.append(words.witness(row, fate))
            if not words.is_under_way(fate):
                stuck.add((row.trace, row.folder))
            if row.nth == witness.MAX_WITNESSES and row["all"] > row.nth:
                texts.append(f"and {row['all'] - row.nth} more")
        few.unpersist()
    return tuple(
        FolderVerdict(
            short(row.trace), row.folder, row.path, row.judgement, tuple(row.holders or ()),
            tuple(witnesses.get((row.trace, row.folder), row.reasons)),
            under_way=(row.trace, row.folder) in witnesses.keys() - stuck,
        )
        for row in chosen
    )  # fmt: skip
