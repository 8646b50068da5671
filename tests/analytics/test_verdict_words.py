"""What a check says in words."""

from __future__ import annotations

from analytics.rules.convergence import CONVERGED
from analytics.rules.verdict import CheckResult, RuleResult


def test_checks_without_a_case_are_counted_and_are_no_fault() -> None:
    """A check that found nothing to look at is one of a number in a line that says so; who wants its name asks for JSON."""
    rules = (RuleResult("a held one", ("BF-2",), 5, 0), *(RuleResult(f"idle {n}", ("CF-2",), 0, 0) for n in range(45)))
    result = CheckResult(1, 10, {}, {CONVERGED: 1}, (), rules=rules)
    lines = result.in_words()
    assert "45 rule checks had nothing to look at, which is no fault (--json and the report name them)" in lines
    assert not any("idle" in line for line in lines)
    assert [each["check"] for each in result.as_document()["rules"] if not each["consumed"]][:2] == ["idle 0", "idle 1"]
