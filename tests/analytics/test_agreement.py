"""The comparison of the two judges of a simulated run (`make agree`)."""

from __future__ import annotations

from pflab.campaign.seed import SeedResult
from pflab.invariants.invariant import Violation
from pflab.terms.verdict import Judgement
from tests.agreement.run import differences

GOOD = SeedResult(1, Judgement.CONVERGED)
BAD = SeedResult(2, Judgement.NOT_CONVERGED, (Violation("a rule", ("CN-1",), 0, "A is wrong"),))


def test_judges_that_agree_have_no_differences() -> None:
    """A violation is no difference if both judges find one, also if each finds another."""
    judgements = {"seed-1": "converged", "seed-2": "rules violated"}
    assert differences({"seed-1": GOOD, "seed-2": BAD}, judgements, {"seed-2": ["another rule: B is wrong"]}) == []


def test_a_difference_names_the_seed_and_what_each_judge_found() -> None:
    """Each judge may be wrong alone; a run that Spark has not judged is a difference too."""
    judgements = {"seed-1": "rules violated", "seed-2": "converged"}
    text = differences({"seed-1": GOOD, "seed-2": BAD, "seed-3": GOOD}, judgements, {"seed-1": ["a rule: A is wrong"]})
    assert text[:3] == [
        "seed-1: the simulator says converged, Spark says rules violated",
        "    Spark: a rule: A is wrong",
        "seed-2: the simulator says not converged, Spark says converged",
    ]
    assert "A is wrong" in text[3]
    assert text[4:] == ["seed-3: the simulator says converged, Spark says not judged"]
