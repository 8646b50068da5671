"""A check from segments to verdict: the stages in order. Each writes tables that the next one reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial, reduce
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.errors import NoTraces
from analytics.evidence import evidence, folder_tree, mails, objects, organization, version_history  # fmt: skip
from analytics.ingest import bronze, incremental, silver  # fmt: skip
from analytics.ingest.tables import AT_ONCE, Tables, at_once
from analytics.report import witness, words  # fmt: skip
from analytics.rules import convergence, evaluate, required_events  # fmt: skip
from analytics.rules.catalogue import CHECKS
from analytics.rules.verdict import CheckResult, FolderVerdict, Gold, short

STAGES: Final = (
    "reading the segments", "histories", "what must exist and who has what", "mails end to end", "the rules",
    "the verdict",
)  # fmt: skip

Progress = Callable[[str], None]
"""Called with the name of each stage when it begins."""

_LOSSES_TOLD: Final = 20
_DOUBTS_TOLD: Final = 20
_REASONS: Final = (bronze.MALFORMED, bronze.OTHER_VERSION, bronze.UNKNOWN_TYPE)


def judge_traces(
    traces: Sequence[str],
    tables: Tables,
    tell: Progress = lambda _: None,
    *,
    keep: bool = False,
    goes_on: silver.GoesOn | None = None,
    then: Callable[[Gold, CheckResult], None] = lambda _gold, _result: None,
) -> CheckResult:
    """Check these traces (folders, files, globs). Raises NoTraces if there is no segment.

    keep: keep the tables, and read only segments that were not there the last time. goes_on: the runs have not ended. then:
    called with the tables and the result before the tables are removed.
    """
    tell(STAGES[0])
    if keep:
        kept = incremental.take_new(tables, traces)
    else:
        kept = tables.keep("bronze", bronze.parse(bronze.read_lines(tables.spark, traces)), by=["family"])
    gold = judge(kept, tables, tell, goes_on)
    result = conclude(gold)
    then(gold, result)
    return result


def judge(
    kept: DataFrame, tables: Tables, tell: Progress = lambda _: None, goes_on: silver.GoesOn | None = None
) -> Gold:
    """Compute the gold tables from bronze."""
    events = silver.silver(kept, goes_on)
    tell(STAGES[1])
    org = organization.Organization(**tables.keep_all("organization", organization.parts(events)))
    rows = tables.keep("evidence/versions", version_history.histories(events, org))
    tell(STAGES[2])
    things = tables.keep("evidence/objects", objects.objects(rows))
    everyone = tables.keep("evidence/stores", folder_tree.stores(events, org))
    unseen = everyone.where("not seen").select(
        "trace", F.format_string("%s is not in the trace", "store").alias("doubt")
    )
    events = replace(events, doubts=tables.keep("evidence/doubts", events.doubts.unionByName(unseen)))
    tree = tables.keep("evidence/folders", folder_tree.folders(things, rows, everyone))
    tell(STAGES[3])
    ends = {"mails": lambda: mails.mail_ends(events), "mail_folders": lambda: mails.mail_folders(events)}
    post = tables.keep_all("evidence", ends)
    wrong = tables.keep("gold/mismatches", convergence.mismatches(things, tree, mails.excused(events)))
    off = convergence.stopped(events.events, goes_on=goes_on is not None)
    judged = tables.keep("gold/verdicts", convergence.verdicts(tree, wrong, events.doubts, off))
    tell(STAGES[4])
    material = evidence.material(tables, events, rows, things, org)
    ruled = _ruled(tables, material, judged, goes_on=goes_on is not None)
    tell(STAGES[5])
    lost = tables.keep("gold/losses", convergence.losses(things, tree))
    return Gold(kept, events, org, rows, things, tree, post["mails"], post["mail_folders"], wrong, lost, judged, ruled)


def _ruled(tables: Tables, material: evidence.Material, judged: DataFrame, *, goes_on: bool) -> DataFrame:
    """Run the rule checks for which there are events, several parts at the same time."""
    about = required_events.with_events(CHECKS, material.events)

    def judged_part(part: int) -> DataFrame:
        mine = [check for check in about if check.table in evidence.PARTS[part]]
        return tables.keep(f"gold/rules/part={part}", evaluate.judge_rules(material, judged, mine, goes_on=goes_on))

    return reduce(DataFrame.unionByName, at_once(*[partial(judged_part, part) for part in range(len(evidence.PARTS))]))


def conclude(gold: Gold) -> CheckResult:
    """Return the result for people and programs: counts, and a limited number of rows in words."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        asked = pool.submit(_counts, gold.bronze)
        judged = pool.submit(gold.verdicts.groupBy("judgement").count().collect)
        doubts = pool.submit(_doubts, gold)
        losses = pool.submit(_lost, gold)
        ruled = pool.submit(evaluate.told_rules, gold.rules, gold.events.doubts)
        runs = pool.submit(evaluate.told_runs, gold.verdicts, gold.rules, gold.events.doubts)
        told = pool.submit(_told, gold)
    counts, (rules, broken), (lost, lost_count) = asked.result(), ruled.result(), losses.result()
    return CheckResult(
        runs=runs.result(),
        rules=rules,
        violations=broken,
        traces=counts["traces"],
        events=counts["events"],
        aside={reason: counts[reason] for reason in _REASONS if counts[reason]},
        folders={row.judgement: row["count"] for row in sorted(judged.result())},
        told=told.result(),
        doubts=doubts.result(),
        lost_rightly=lost,
        lost_rightly_count=lost_count,
    )


def _counts(kept: DataFrame) -> dict[str, int]:
    counts = kept.agg(
        F.count_if(F.col("aside").isNull()).alias("events"), F.count(F.lit(1)).alias("lines"),
        F.count_distinct(F.when(F.col("aside").isNull(), F.col("trace"))).alias("traces"),
        *[F.count_if(F.col("aside") == reason).alias(reason) for reason in _REASONS],
    ).first()  # fmt: skip
    if counts is None or not counts.lines:
        raise NoTraces("there is no segment (*.jsonl) in the traces named; name run folders or segment files")
    return counts.asDict()


def _doubts(gold: Gold) -> tuple[str, ...]:
    """Return the doubts about traces that have no verdict."""
    doubts = gold.events.doubts.join(gold.folders.select("trace").distinct(), "trace", "left_anti")
    return tuple(f"{short(row.trace)}: {row.doubt}" for row in doubts.limit(_DOUBTS_TOLD).collect())


def _lost(gold: Gold) -> tuple[tuple[str, ...], int]:
    """Return the excused losses: some of them in words, and the number of all."""
    lost = gold.losses.join(F.broadcast(gold.org.guids), [
        gold.losses["trace"] == gold.org.guids["trace"], F.substring_index("number", ":", 1) == gold.org.guids["guid"]
    ], "left").select(gold.losses["trace"], "path", "subject", "number", "name", "store")  # fmt: skip
    some = lost.orderBy("trace", "path", "number").limit(_LOSSES_TOLD).collect()
    words = tuple(
        f"{short(row.trace)}: {row.name or 'Setup'}-{row.number.rpartition(':')[2]} ({row.subject!r}) of {row.path}"
        for row in some
    )
    return words, lost.count() if len(some) == _LOSSES_TOLD else len(some)


def _told(gold: Gold) -> tuple[FolderVerdict, ...]:
    chosen = witness.told_folders(gold.verdicts).collect()
    bad = [row for row in chosen if row.judgement == convergence.NOT_CONVERGED]
    said: dict[tuple[str, str], list[str]] = {}
    if bad:
        # In a folder whose verdict is unknown, a mismatch is no witness; the reason of the doubt is shown instead.
        sure = F.broadcast(
            gold.verdicts.where(F.col("judgement") == convergence.NOT_CONVERGED).select("trace", "folder")
        )
        wrong = gold.mismatches.join(sure, ["trace", "folder"], "left_semi")
        few = witness.told(wrong, gold.org.guids).limit(witness.FOLDERS_TOLD * witness.WITNESSES_TOLD).cache()
        key = ("trace", "folder", "store", "guid", "low")
        fates = {
            tuple(row[name] for name in key): row
            for row in witness.fates(few, gold.mail_folders, gold.mails, gold.events).collect()
        }
        for row in few.orderBy("trace", "path", "nth").collect():
            lines = said.setdefault((row.trace, row.folder), [])
            fate = fates.get(tuple(row[name] for name in key)) if row.what.startswith("lacks") else None
            lines.append(words.witness(row, fate))
            if row.nth == witness.WITNESSES_TOLD and row["all"] > row.nth:
                lines.append(f"and {row['all'] - row.nth} more")
        few.unpersist()
    return tuple(
        FolderVerdict(
            short(row.trace), row.folder, row.path, row.judgement, tuple(row.holders or ()),
            tuple(said.get((row.trace, row.folder), row.reasons)),
        )
        for row in chosen
    )  # fmt: skip
