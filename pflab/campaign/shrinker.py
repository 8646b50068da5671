"""Shrink a failing scenario.

The shrinker keeps the *best* scenario: the smallest one so far that violates one of the invariants that the first one violated.
It proposes candidates and plays each. A candidate that fails in this way becomes the new best one. The shrinker never accepts a
scenario that fails only in another way, because that could be another defect.

| stage | candidates | ends |
|---|---|---|
| cut | the scenario without everything later than the first violation | after one candidate |
| reduce | the scenario with fewer steps, stores, folders or settings, by delta debugging | when a pass over all lists
removes nothing |
| simplify | the scenario with one thing in a simpler form: one site, small posts | when no form helps |

Delta debugging (`minimize`) first tries the empty list. Then it halves the list and tries to leave out each half. If it still
fails without a part, it continues without this part. If all are needed, it makes the parts half as large. For example, a list
has eight steps, and only the third and the eighth are needed:

    1 2 3 4 5 6 7 8    both halves are needed: four parts
    3 4 5 6 7 8        without 1 2
    3 4 7 8            without 5 6
    3 7 8              without 4
    3 8                without 7; neither can be left out: the result

The result depends only on the scenario, unless a limit of plays or of time ends shrinking early. Then the best one so far
is the result; it still fails, but may be larger than necessary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar

import msgspec

from pflab.campaign.reductions import LISTS, SIMPLER, WithItems, cut_after, size_of
from pflab.campaign.scenario_document import Document, scenario_text
from pflab.campaign.seed import SeedResult, run_document
from pflab.errors import LabError
from topology.problems import ProblemsError, counted

T = TypeVar("T")

MOST_PLAYS = 400
MOST_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class ShrinkResult:
    """A scenario that fails, and the result of its last play.

    plays: the number of plays.
    complete: False if a limit ended shrinking.
    """

    scenario: Document
    result: SeedResult
    plays: int
    complete: bool

    def text(self, command: str = "pflab run THIS-FILE --simulate") -> str:
        """Return the scenario as a file that starts with the witness."""
        return scenario_text(
            {**self.scenario, "title": f"Seed {self.result.seed}, shrunk"}, [*self._comments(), command]
        )

    def _comments(self) -> list[str]:
        first = self.result.violations[0].in_words() if self.result.violations else "nothing is violated"
        others = [f"also {violation.in_words()}" for violation in self.result.violations[1:]]
        return [f"seed {self.result.seed}, shrunk in {counted(self.plays, 'play')}: {first}", *others]


class _LimitReached(Exception):
    """Raised when the limit of plays or of time is reached."""


class Shrinker:
    """Shrinks scenarios. `play` returns a scenario's result; `tick(plays, size)` is called before each play."""

    def __init__(
        self,
        play: Callable[[Document], SeedResult] = run_document,
        *,
        most_plays: int = MOST_PLAYS,
        most_seconds: float = MOST_SECONDS,
        tick: Callable[[int, int], None] = lambda _plays, _size: None,
    ) -> None:
        self._play = play
        self._most_plays = most_plays
        self._ends_at = monotonic() + most_seconds
        self._tick = tick
        self._plays = 0
        self._verdicts: dict[bytes, bool] = {}

    def shrink(self, scenario: Document) -> ShrinkResult:
        """Return the smallest failing scenario found. Raises LabError if the scenario does not fail."""
        result = self._played(scenario)
        if not result.violations:
            raise LabError(f"seed {result.seed} violates no invariant, so it cannot be shrunk")
        self._broken = result.broken
        self._best, self._result = scenario, result
        complete = True
        try:
            self._try(cut_after(scenario, result.violations[0].at))
            size = -1
            while size != size_of(self._best):
                size = size_of(self._best)
                self._pass()
            self._simplify()
        except _LimitReached:
            complete = False
        return ShrinkResult(self._best, self._result, self._plays, complete)

    def _pass(self) -> None:
        """Reduce each list of the best scenario once."""
        for items_of, with_items in LISTS:
            base = self._best

            def fails(items: Sequence[Any], base: Document = base, put: WithItems = with_items) -> bool:
                return self._try(put(base, items))

            minimize(items_of(base), fails)

    def _simplify(self) -> None:
        """Replace parts of the best scenario by simpler forms until no form helps."""
        changed = True
        while changed:
            changed = False
            for simpler in SIMPLER:
                for candidate in simpler(self._best):
                    if self._try(candidate):
                        changed = True
                        break

    def _try(self, scenario: Document | None) -> bool:
        """Return whether a scenario violates one of the wanted invariants. If so, it becomes the best one."""
        if scenario is None or scenario == self._best:
            return False
        key = msgspec.json.encode(scenario)
        if key not in self._verdicts:
            try:
                result = self._played(scenario)
            except (ProblemsError, LabError):
                self._verdicts[key] = False  # the candidate has no valid organization
                return False
            self._verdicts[key] = bool(result.broken & self._broken)
            if self._verdicts[key]:
                self._best, self._result = scenario, result
        elif self._verdicts[key]:
            self._best = scenario
        return self._verdicts[key]

    def _played(self, scenario: Document) -> SeedResult:
        if self._plays >= self._most_plays or (self._plays > 0 and monotonic() > self._ends_at):
            raise _LimitReached
        self._plays += 1
        self._tick(self._plays, size_of(scenario))
        return self._play(scenario)


def minimize(items: Sequence[T], fails: Callable[[list[T]], bool]) -> list[T]:
    """Return some of the `items`: they still fail, and none of them can be left out (Zeller's ddmin, complements only).

    `fails(items)` must be true.
    """
    remaining = list(items)
    if remaining and fails([]):
        return []
    parts = 2
    while len(remaining) > 1:
        for candidate in _without_a_part(remaining, parts):
            if fails(candidate):
                remaining = candidate
                parts = max(2, parts - 1)
                break
        else:
            if parts >= len(remaining):
                break
            parts = min(len(remaining), 2 * parts)
    return remaining


def _without_a_part(items: list[T], parts: int) -> Iterator[list[T]]:
    size = -(-len(items) // parts)
    for start in range(0, len(items), size):
        yield items[:start] + items[start + size :]
