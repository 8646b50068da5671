"""The matrix of many runs: which run violated which rule check. Runs with the same violations are one line with their
number."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Final

from analytics.rows import Findings
from analytics.verdicts.judgements import NOT_CONVERGED, UNKNOWN
from analytics.verdicts.result import short

LINES: Final = 60
"""How many lines the matrix has."""

CHECKS: Final = 32
"""How many rule checks the matrix has as columns: those that most of its lines violate."""


@dataclass(frozen=True, slots=True)
class Line:
    """Runs that violate the same checks: the first run and its numbers of folders and violations, and how many more runs there
    are.

    incomplete: its trace has a hole.
    """

    run: str
    more: int
    bad: int
    unknown: int
    incomplete: bool
    violations: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Matrix:
    """lines: the worst first.
    checks: the columns. The rest are counts: of runs that no line shows, of violated checks without a column, and of runs with
        nothing to say.
    """

    lines: tuple[Line, ...]
    checks: tuple[str, ...]
    more_runs: int
    more_checks: int
    quiet: int


def matrix(findings: Findings, traces: int) -> Matrix:
    """Return the matrix of `traces` runs. Violations in incomplete traces do not count."""
    incomplete = {row.trace for row in findings["doubts"]}
    violations: dict[str, dict[str, int]] = defaultdict(dict)
    for row in findings["rules"]:
        if row.violations and row.trace not in incomplete:
            violations[row.trace][row.check] = row.violations
    folders = {(row.trace, row.judgement): row.folders for row in findings["judgements"]}
    alike: dict[tuple[tuple[str, ...], bool, bool], list[Line]] = defaultdict(list)
    for trace in sorted(incomplete | violations.keys() | {trace for trace, _ in folders}):
        bad, unknown = (folders.get((trace, judgement), 0) for judgement in (NOT_CONVERGED, UNKNOWN))
        line = Line(short(trace), 0, bad, unknown, trace in incomplete, violations.get(trace, {}))
        if bad or unknown or line.incomplete or line.violations:
            alike[tuple(sorted(line.violations)), bad > 0, unknown > 0].append(line)
    lines = [replace(same[0], more=len(same) - 1) for same in alike.values()]
    worst = sorted(lines, key=lambda line: (-line.bad, -len(line.violations), -line.more, line.run))[:LINES]
    saying = sum(line.more + 1 for line in lines)
    return arranged(tuple(worst), {check for checks, *_ in alike for check in checks}, saying, traces)


def arranged(lines: tuple[Line, ...], violated: set[str], saying: int, traces: int) -> Matrix:
    """Return the matrix of these lines.

    violated: the checks that any run violates.
    saying: how many runs have violations or folders to report.
    """
    times = {check: sum(check in line.violations for line in lines) for line in lines for check in line.violations}
    checks = sorted(times, key=lambda check: (-times[check], check))[:CHECKS]
    listed = sum(line.more + 1 for line in lines)
    return Matrix(lines, tuple(checks), saying - listed, len(violated) - len(checks), max(traces - saying, 0))
