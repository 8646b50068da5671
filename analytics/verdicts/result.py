"""The result of a check as a limited number of plain values, and as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from analytics.ingest.lines import place_in
from analytics.verdicts.judgements import BROKEN, CONVERGED, EXIT_CODES, NOT_CONVERGED, UNKNOWN


@dataclass(frozen=True, slots=True)
class FolderVerdict:
    """The verdict on one folder of one trace. The witnesses say which store lacks what, or why the verdict is unknown.

    under_way: everything that the witnesses name would still arrive without help, so the run only ended too early.
    """

    trace: str
    folder: str
    path: str
    judgement: str
    holders: tuple[str, ...]
    witnesses: tuple[str, ...] = ()
    under_way: bool = False


@dataclass(frozen=True, slots=True)
class RuleResult:
    """The result of a rule check over all traces.

    consumed: the number of rows that the check was about.
    witness: the first violation in words.
    """

    check: str
    rules: tuple[str, ...]
    consumed: int
    violations: int
    witness: str = ""


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The verdict on one trace: the numbers of its folders that have not converged or are unknown, and of its violations.

    incomplete: events are missing, so that violations do not count.
    """

    trace: str
    judgement: str
    exit_code: int
    not_converged: int
    unknown: int
    violations: int
    incomplete: bool = False


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The verdict over all traces of a check.

    aside: the number of lines that were set aside, by reason.
    folders: the number of folders by judgement.
    told: the folders that the verdict names, the worst first.
    lost_rightly: the first changes whose loss with a restored or deleted store is excused (DU-1), as text.
    lost_rightly_count: how many there are.
    """

    traces: int
    events: int
    aside: dict[str, int]
    folders: dict[str, int]
    told: tuple[FolderVerdict, ...]
    doubts: tuple[str, ...] = ()
    lost_rightly: tuple[str, ...] = ()
    lost_rightly_count: int = 0
    rules: tuple[RuleResult, ...] = ()
    violations: int = 0
    runs: tuple[RunVerdict, ...] = ()

    @property
    def judgement(self) -> str:
        """The worst judgement of all; unknown if there is no folder."""
        if self.folders.get(NOT_CONVERGED):
            return NOT_CONVERGED
        if self.violations:
            return BROKEN
        if self.folders.get(UNKNOWN) or not self.folders.get(CONVERGED) or self.doubts:
            return UNKNOWN
        return CONVERGED

    @property
    def exit_code(self) -> int:
        """0 converged, 1 not converged or a violation, 2 unknown."""
        return EXIT_CODES[self.judgement]

    def as_document(self) -> dict[str, Any]:
        return {"judgement": self.judgement, **asdict(self), "words": self.in_words()}

    def in_words(self) -> list[str]:
        """Return the lines of text. Checks without events are only counted; their names are in the document."""
        lines = [f"{counted(self.traces, 'run')}, {counted(self.events, 'event')}"]
        lines += [f"{counted(number, 'line')} kept aside: {why}" for why, number in sorted(self.aside.items())]
        lines += self.doubts
        lines += list(_folder_lines(self.told))
        remainder = sum(self.folders.values()) - len(self.told)
        if remainder > 0:
            lines.append(f"and {counted(remainder, 'folder')} more")
        lines += [f"lost with a restored or deleted store (no violation): {text}" for text in self.lost_rightly]
        if self.lost_rightly_count > len(self.lost_rightly):
            lines.append(f"and {self.lost_rightly_count - len(self.lost_rightly)} more lost in this way")
        lines += _rule_lines(self.rules)
        numbers = ", ".join(f"{number} {judgement}" for judgement, number in sorted(self.folders.items()))
        lines.append(f"{self.judgement}: {numbers or 'no folder'}")
        return lines


def _rule_lines(rules: Iterable[RuleResult]) -> Iterable[str]:
    """Yield a line for each violated check, then the numbers of checks without events and of checks that hold."""
    every = list(rules)
    for rule in every:
        if rule.violations:
            yield f"{rule.check} ({', '.join(rule.rules)}): {counted(rule.violations, 'violation')}; the first: {rule.witness}"
    idle = sum(1 for rule in every if not rule.consumed)
    if idle:
        yield f"{counted(idle, 'rule check')} found no events to check, which is not a fault (--json and the report name them)"
    satisfied = sum(1 for rule in every if rule.consumed and not rule.violations)
    if satisfied:
        yield f"{counted(satisfied, 'rule check')} passed over {counted(sum(rule.consumed for rule in every), 'case')}"


def _folder_lines(folders: Iterable[FolderVerdict]) -> Iterable[str]:
    """Yield lines for each folder that has not converged, and one line for the converged folders of each trace."""
    good: dict[str, list[str]] = {}
    for verdict in folders:
        if verdict.judgement == CONVERGED:
            good.setdefault(verdict.trace, []).append(verdict.path)
        else:
            yield f"{verdict.trace}: {verdict.path}: {verdict.judgement}{' yet' if verdict.under_way else ''}"
            yield from (f"    {witness}" for witness in verdict.witnesses)
    for trace, paths in good.items():
        yield f"{trace}: converged: {', '.join(paths)}"


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def short(trace: str) -> str:
    """Return the short name of a trace: the last two folders of its path."""
    place = place_in(trace)
    return "/".join(place.split("/")[-2:])
