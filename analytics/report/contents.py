"""What the report says, as a limited number of plain values. Spark computes them; `analytics.report.page` writes them."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

from pyspark.sql import functions as F  # noqa: N812

from analytics.drawing.mail_types import name_of
from analytics.drawing.spacetime import Diagram
from analytics.ingest.tables import AT_ONCE
from analytics.report import measures, runs_by_rule, surroundings, who_had_what
from analytics.report.runs import Found, Run, runs
from analytics.rows import Findings
from analytics.rules import catalogue
from analytics.rules.check import Check
from analytics.verdicts import witness
from analytics.verdicts.conclusion import UNTOLD
from analytics.verdicts.gold import Gold
from analytics.verdicts.result import CheckResult
from analytics.verdicts.witness_names import named

RUNS: Final = 3
"""How many of several runs are shown in detail, the worst ones."""

PICTURES: Final = 8
"""How many findings of a report have a picture."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """The mails of a type over all runs. copies: one for each recipient."""

    name: str
    mails: int
    copies: int
    size: int
    arrived: int
    lost: int
    bad: int


@dataclass(frozen=True, slots=True)
class Latency:
    """The times from a change to each replica, by the way it came."""

    way: str
    applied: int
    p50_us: int
    p90_us: int
    p99_us: int
    longest_us: int


@dataclass(frozen=True, slots=True)
class Contents:
    """All that a report says.

    runs: the runs in detail. texts: the findings of each in words, in the order of `Run.found`. diagrams: by the places of
    the run and of the finding. matrix: None for a single run. spark: the version of Spark.
    """

    result: CheckResult
    runs: tuple[Run, ...]
    texts: tuple[tuple[str, ...], ...]
    diagrams: Mapping[tuple[int, int], Diagram]
    matrix: runs_by_rule.Matrix | None
    matrices: tuple[who_had_what.Matrix, ...]
    latency: tuple[Latency, ...]
    fates: tuple[tuple[str, int], ...]
    traffic: tuple[Traffic, ...]
    spark: str


def subjects() -> dict[str, tuple[Check, ...]]:
    """Return the rule checks by subject, which is the module that has them."""
    modules = {name: value for name, value in vars(catalogue).items() if isinstance(value, ModuleType)}
    return {
        name.replace("_", " "): tuple(module.CHECKS) for name, module in modules.items() if hasattr(module, "CHECKS")
    }


def contents(gold: Gold, found: Findings, result: CheckResult) -> Contents:
    """Return what the report says, from a fixed number of queries."""
    single = result.traces <= 1
    names = [each.trace for each in result.runs if single or each.exit_code][: 1 if single else RUNS]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        detailed = pool.submit(_detailed, gold, found, names)
        figures = pool.submit(_figures, gold)
        had = pool.submit(_who_had_what, gold)
        matrix = None if single else pool.submit(runs_by_rule.matrix, gold, result.traces)
    some_runs, texts, diagrams = detailed.result()
    latency, fates, traffic = figures.result()
    return Contents(
        result, some_runs, texts, diagrams, matrix.result() if matrix else None, had.result(), latency, fates, traffic,
        gold.mails.sparkSession.version,
    )  # fmt: skip


def _detailed(
    gold: Gold, findings: Findings, names: list[str]
) -> tuple[tuple[Run, ...], tuple[tuple[str, ...], ...], dict[tuple[int, int], Diagram]]:
    some = tuple(runs(gold, names))
    raw = [(run.trace, found.text or UNTOLD) for run in some for found in run.found]
    told = iter(named(findings["names"], raw))
    texts = tuple(tuple(next(told) for _ in run.found) for run in some)
    each = max(PICTURES // max(len(some), 1), 1)
    places = [(nth, index) for nth, run in enumerate(some) for index in _pictured(run.found, each)]
    about: list[tuple[Run, Found]] = [(some[nth], some[nth].found[index]) for nth, index in places]
    drawn = zip(places, surroundings.diagrams(gold, about), strict=True)
    return some, texts, {place: diagram for place, diagram in drawn if diagram is not None}


def _pictured(found: tuple[Found, ...], most: int) -> list[int]:
    """Return the places of the findings that get a picture: the first ones whose time is known."""
    return [index for index, each in enumerate(found) if each.at is not None][:most]


def _figures(gold: Gold) -> tuple[tuple[Latency, ...], tuple[tuple[str, int], ...], tuple[Traffic, ...]]:
    latency = measures.latency(gold.histories).orderBy("way").collect()
    fates = measures.fates(gold.histories, gold.objects, gold.folders).groupBy("fate").count().orderBy("fate").collect()
    sums = [F.sum(name).alias(name) for name in ("mails", "copies", "bytes", "arrived", "lost", "bad")]
    traffic = measures.traffic(gold.mails).groupBy("message_type").agg(*sums).orderBy("message_type").collect()
    return (
        tuple(
            Latency(row.way or "", row.applied, row.p50_us, row.p90_us, row.p99_us, row.longest_us) for row in latency
        ),
        tuple((row.fate, row["count"]) for row in fates),
        tuple(_traffic(row) for row in traffic),
    )


def _traffic(row: Any) -> Traffic:
    name = name_of(row.message_type or 0)
    return Traffic(name, row.mails, row.copies, row.bytes or 0, row.arrived, row.lost, row.bad)


def _who_had_what(gold: Gold) -> tuple[who_had_what.Matrix, ...]:
    chosen = witness.worst_folders(gold.verdicts).limit(who_had_what.FOLDERS).collect()
    return tuple(who_had_what.matrices(chosen, gold.histories, gold.org.guids))
