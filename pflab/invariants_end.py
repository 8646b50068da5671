"""What must hold in the end, after the heal and the bound: the judge's verdict (CV-1 to CV-3) as violations."""

from __future__ import annotations

from collections.abc import Iterator

from pflab.invariants import Violation
from pflab.verdict import Judgement, Verdict
from traces.labtime import LabTime

CONVERGED = "converged"
NOTHING_LOST = "nothing lost"
ROWS_TRUTHFUL = "rows truthful"
NOTHING_LEFT_TO_FETCH = "nothing left to fetch"

VALIDATIONS: dict[str, tuple[tuple[str, ...], str]] = {
    CONVERGED: (("CV-1", "CV-2"), "All holders of a folder know the same, and it is what was acknowledged."),
    NOTHING_LOST: (("CV-2", "DU-1"), "Every acknowledged change is kept by some store, or rightly gone."),
    ROWS_TRUTHFUL: (("CV-3", "RST-2"), "No row claims what its store does not have."),
    NOTHING_LEFT_TO_FETCH: (("CV-3", "BF-2"), "No entry remains that a present holder could satisfy."),
}
"""Each validation's rules and the requirement in one sentence."""


def violations_of(verdict: Verdict, at: LabTime) -> tuple[tuple[Violation, ...], tuple[str, ...]]:
    """What the verdict says against the run, and what it cannot tell."""
    found = tuple(Violation(id_, VALIDATIONS[id_][0], at, witness) for id_, witness in _told(verdict))
    unknown = [each for each in verdict.folders if each.judgement is Judgement.UNKNOWN]
    doubts = tuple(each.in_words() for each in unknown)
    if not verdict.folders:
        doubts = ("there is no folder to judge",)
    return found, doubts


def _told(verdict: Verdict) -> Iterator[tuple[str, str]]:
    for folder in verdict.folders:
        if folder.judgement is Judgement.NOT_CONVERGED:
            yield CONVERGED, folder.in_words()
    for id_, witnesses in (
        (NOTHING_LOST, verdict.lost),
        (ROWS_TRUTHFUL, verdict.untruthful),
        (NOTHING_LEFT_TO_FETCH, verdict.leftovers),
    ):
        for witness in witnesses:
            yield id_, witness
