"""The conclusion of a check: from findings of any engine, or of several checks together, to a `CheckResult`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import Final

from analytics.errors import NoTraces
from analytics.ingest.lines import REASONS
from analytics.rows import Findings, Row, in_order
from analytics.rules.catalogue import CHECKS, EVERY
from analytics.verdicts import words
from analytics.verdicts.judgements import (
    BROKEN,
    CONVERGED,
    EXIT_CODES,
    NOT_CONVERGED,
    UNKNOWN,
)
from analytics.verdicts.result import CheckResult, FolderVerdict, RuleResult, RunVerdict, short
from analytics.verdicts.witness_names import named

MAX_RUNS: Final = 2000
MAX_FOLDERS: Final = 200
"""How many folders a verdict names, the worst first. The tables have all folders."""

MAX_WITNESSES: Final = 12
"""How many witnesses of a folder are shown. The tables have all mismatches."""

MAX_LOSSES: Final = 20
MAX_DOUBTS: Final = 20

UNTOLD: Final = "a field that the witness names is missing"
"""The witness of a violation whose text cannot be computed."""


def together(every: Sequence[Findings]) -> Findings:
    """Return the findings of several checks, at least one, as one."""
    return {name: [row for findings in every for row in findings[name]] for name in every[0]}


def worst_folders(findings: Findings) -> list[Row]:
    """Return the folders of the findings, the worst first: not converged, then unknown, then converged."""
    return in_order(findings["folders"], "rank", "trace", "path")


def conclude(findings: Findings, checks: Set[str] = EVERY) -> CheckResult:
    """Return the result for people and programs.

    checks: the ids of the checks whose violations count.

    Raises NoTraces if there is no line.
    """
    chosen = {**findings, "rules": [row for row in findings["rules"] if row.check in checks]}
    if not sum(row.lines for row in chosen["lines"]):
        raise NoTraces("the given paths contain no segment (*.jsonl); name run folders or segment files")
    incomplete = {row.trace for row in chosen["doubts"]}
    rules, violations = _rule_results(chosen, incomplete, checks)
    folders: Counter[str] = Counter()
    for row in chosen["judgements"]:
        folders[row.judgement] += row.folders
    losses = in_order(chosen["losses"], "trace", "path", "number")
    aside = {reason: sum(row[reason] for row in chosen["lines"]) for reason in REASONS}
    judged = {row.trace for row in chosen["judgements"]}
    doubts = in_order((row for row in chosen["doubts"] if row.trace not in judged), "trace", "doubt")
    return CheckResult(
        runs=_run_verdicts(chosen, incomplete),
        rules=rules,
        violations=violations,
        traces=sum(row.events > 0 for row in chosen["lines"]),
        events=sum(row.events for row in chosen["lines"]),
        aside={reason: number for reason, number in aside.items() if number},
        folders=dict(sorted(folders.items())),
        told=_folder_verdicts(chosen),
        doubts=tuple(f"{short(row.trace)}: {row.doubt}" for row in doubts[:MAX_DOUBTS]),
        lost_rightly=tuple(map(_loss, losses[:MAX_LOSSES])),
        lost_rightly_count=sum({row.trace: row["all"] for row in losses}.values()),
    )


def _loss(row: Row) -> str:
    return f"{short(row.trace)}: {row.name or 'Setup'}-{row.number.rpartition(':')[2]} ({row.subject!r}) of {row.path}"


def _rule_results(findings: Findings, incomplete: set[str], checks: Set[str]) -> tuple[tuple[RuleResult, ...], int]:
    """Return each check with what it consumed and found over all runs, and the number of violations.

    Violations in incomplete runs do not count, because a missing event may look like a violation.
    """
    consumed: Counter[str] = Counter()
    violations: Counter[str] = Counter()
    broken: dict[str, list[Row]] = {}
    for row in findings["rules"]:
        consumed[row.check] += row.consumed
        if row.violations and row.trace not in incomplete:
            violations[row.check] += row.violations
            broken.setdefault(row.check, []).append(row)
    first = {check: in_order(rows, "at", "trace", "witness")[0] for check, rows in broken.items()}
    texts = named(findings["names"], [(row.trace, row.witness or UNTOLD) for row in first.values()])
    witnesses = {row.check: f"{short(row.trace)}: {text}" for row, text in zip(first.values(), texts, strict=True)}
    results = tuple(
        RuleResult(check.id, check.rules, consumed[check.id], violations[check.id], witnesses.get(check.id, ""))
        for check in CHECKS
        if check.id in checks
    )
    return results, violations.total()


def _run_verdicts(findings: Findings, incomplete: set[str]) -> tuple[RunVerdict, ...]:
    """Return the verdict of each run, the worst first, at most MAX_RUNS."""
    folders: dict[str, Counter[str]] = {trace: Counter() for trace in incomplete}
    for row in findings["judgements"]:
        folders.setdefault(row.trace, Counter())[row.judgement] += row.folders
    violations: Counter[str] = Counter()
    for row in findings["rules"]:
        folders.setdefault(row.trace, Counter())
        if row.trace not in incomplete:
            violations[row.trace] += row.violations
    ranked = sorted(
        (_rank(many, violations[trace], incomplete=trace in incomplete), trace) for trace, many in folders.items()
    )
    return tuple(
        RunVerdict(
            short(trace),
            _RANKS[rank],
            EXIT_CODES[_RANKS[rank]],
            folders[trace][NOT_CONVERGED],
            folders[trace][UNKNOWN],
            violations[trace],
            trace in incomplete,
        )
        for rank, trace in ranked[:MAX_RUNS]
    )


_RANKS: Final = (NOT_CONVERGED, BROKEN, UNKNOWN, CONVERGED)
"""The judgements of a run, the worst first."""


def _rank(folders: Mapping[str, int], violations: int, *, incomplete: bool) -> int:
    if folders.get(NOT_CONVERGED):
        return _RANKS.index(NOT_CONVERGED)
    if violations:
        return _RANKS.index(BROKEN)
    if folders.get(UNKNOWN) or not folders.get(CONVERGED) or incomplete:
        return _RANKS.index(UNKNOWN)
    return _RANKS.index(CONVERGED)


def _folder_verdicts(findings: Findings) -> tuple[FolderVerdict, ...]:
    texts: dict[tuple[str, str], list[str]] = {}
    stuck: set[tuple[str, str]] = set()
    for row in in_order(findings["witnesses"], "trace", "path", "nth"):
        lines = texts.setdefault((row.trace, row.folder), [])
        lines.append(words.witness(row, row.fate))
        if not words.is_under_way(row.fate):
            stuck.add((row.trace, row.folder))
        if row.nth == MAX_WITNESSES and row["all"] > row.nth:
            lines.append(f"and {row['all'] - row.nth} more")
    worst = worst_folders(findings)[:MAX_FOLDERS]
    return tuple(
        FolderVerdict(
            short(row.trace),
            row.folder,
            row.path,
            row.judgement,
            tuple(row.holders or ()),
            tuple(texts.get((row.trace, row.folder), row.reasons)),
            under_way=(row.trace, row.folder) in texts.keys() - stuck,
        )
        for row in worst
    )
