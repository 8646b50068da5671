"""What the report says, as a limited number of plain values. Queries compute them; `analytics.report.page` writes them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from analytics.drawing.mail_types import name_of
from analytics.drawing.spacetime import Diagram
from analytics.report import runs_by_rule, surroundings, who_had_what
from analytics.report.runs import Found, Run, runs
from analytics.rows import Answers, Findings, Row
from analytics.verdicts.conclusion import UNTOLD, conclude, worst_folders
from analytics.verdicts.result import CheckResult, short
from analytics.verdicts.witness_names import named

RUNS: Final = 3
"""How many of several runs are shown in detail, the worst ones."""

_SUMMED: Final = ("mails", "copies", "bytes", "arrived", "lost", "bad")

PICTURES: Final = 8
"""How many findings of a report have a picture."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """The mails of a type over all runs.

    copies: one for each recipient.
    """

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

    runs: the runs in detail.
    texts: the findings of each in words, in the order of `Run.findings`.
    diagrams: by the places of the run and of the finding.
    matrix: None for a single run.
    engine: what computed the tables.
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
    engine: str


def contents(answers: Answers, findings: Findings, result: CheckResult, engine: str) -> Contents:
    """Return what the report says, from a fixed number of queries.

    engine: its name and version.
    """
    single = result.traces <= 1
    some_runs, texts, diagrams = _detailed(answers, findings, chosen_runs(findings, result))
    matrix = None if single else runs_by_rule.matrix(findings, result.traces)
    latency, fates, traffic = _figures(answers)
    had = tuple(who_had_what.matrices(answers, findings))
    return Contents(result, some_runs, texts, diagrams, matrix, had, latency, fates, traffic, engine)


def chosen_runs(findings: Findings, result: CheckResult) -> list[str]:
    """Return the traces that are shown in detail: the only one, or the worst of several. If two have the same short name, the
    first is shown."""
    single = result.traces <= 1
    names = [run.trace for run in result.runs if single or run.exit_code][: 1 if single else RUNS]
    of_name: dict[str, str] = {}
    for row in sorted(findings["lines"], key=lambda row: (not row.events, row.trace)):
        of_name.setdefault(short(row.trace), row.trace)
    return [of_name[name] for name in names if name in of_name]


def shown_traces(findings: Findings) -> set[str]:
    """Return the traces for which a report needs more than the findings and the figures."""
    return {
        *chosen_runs(findings, conclude(findings)),
        *(row.trace for row in worst_folders(findings)[: who_had_what.FOLDERS]),
    }


def _detailed(
    answers: Answers, findings: Findings, traces: list[str]
) -> tuple[tuple[Run, ...], tuple[tuple[str, ...], ...], dict[tuple[int, int], Diagram]]:
    some = tuple(runs(answers, traces))
    raw = [(run.trace, finding.text or UNTOLD) for run in some for finding in run.findings]
    sentences = iter(named(findings["names"], raw))
    texts = tuple(tuple(next(sentences) for _ in run.findings) for run in some)
    pictures_per_run = max(PICTURES // max(len(some), 1), 1)
    places = [(nth, index) for nth, run in enumerate(some) for index in _pictured(run.findings, pictures_per_run)]
    about: list[tuple[Run, Found]] = [(some[nth], some[nth].findings[index]) for nth, index in places]
    drawn = zip(places, surroundings.diagrams(answers, about), strict=True)
    return some, texts, {place: diagram for place, diagram in drawn if diagram is not None}


def _pictured(findings: tuple[Found, ...], most: int) -> list[int]:
    """Return the places of the findings that get a picture: the first ones whose time is known."""
    return [index for index, finding in enumerate(findings) if finding.at is not None][:most]


def _figures(answers: Answers) -> tuple[tuple[Latency, ...], tuple[tuple[str, int], ...], tuple[Traffic, ...]]:
    took: dict[str, list[Row]] = defaultdict(list)
    for row in answers("latencies", {}):
        took[row.way or ""].append(row)
    changes: Counter[str] = Counter()
    for row in answers("fates", {}):
        changes[row.fate] += row.changes
    sums: dict[int, Counter[str]] = defaultdict(Counter)
    for row in answers("traffic", {}):
        sums[row.message_type or 0].update({name: row[name] or 0 for name in _SUMMED})
    return (
        tuple(latency(way, took[way]) for way in sorted(took)),
        tuple(sorted(changes.items())),
        tuple(Traffic(name_of(kind), *(sums[kind][name] for name in _SUMMED)) for kind in sorted(sums)),
    )


def latency(way: str, rows: Sequence[Row]) -> Latency:
    """Return the latency of a way from its rows (took_us, applied, longest_us): of a part of all applied versions the longest,
    as `latencies` rounds them."""
    ordered = sorted(rows, key=lambda row: row.took_us)
    applied = sum(row.applied for row in ordered)

    def part(share: float) -> int:
        so_far = accumulate(row.applied for row in ordered)
        longest: int = next(row.took_us for row, count in zip(ordered, so_far, strict=True) if count >= share * applied)
        return longest

    return Latency(way, applied, part(0.5), part(0.9), part(0.99), max(row.longest_us for row in ordered))
