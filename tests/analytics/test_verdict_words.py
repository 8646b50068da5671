"""What a check says in words."""

from __future__ import annotations

from analytics.verdicts.judgements import CONVERGED
from analytics.verdicts.result import CheckResult, RuleResult
from analytics.verdicts.witness_names import marked


def test_checks_without_a_case_are_counted_and_are_no_fault() -> None:
    """Checks without events are counted in one line, and only the JSON document names them."""
    rules = (RuleResult("a held one", ("BF-2",), 5, 0), *(RuleResult(f"idle {n}", ("CF-2",), 0, 0) for n in range(45)))
    result = CheckResult(1, 10, {}, {CONVERGED: 1}, (), rules=rules)
    lines = result.in_words()
    assert "45 rule checks found no events to check, which is not a fault (--json and the report name them)" in lines
    assert not any("idle" in line for line in lines)
    assert [each["check"] for each in result.as_document()["rules"] if not each["consumed"]][:2] == ["idle 0", "idle 1"]


def test_the_ids_of_folders_and_objects_are_marked_in_witnesses() -> None:
    """Ids of folders and objects have the form of change numbers, so the SQL of a witness says which they are. Its texts and
    fields of other columns stay."""
    assert marked("concat(node, ' of an object ', object, number)") == (
        "concat(node, ' of an object ', concat('object=', object), number)"
    )
    assert (
        marked("concat(f.folder, ' its folder ', folder)")
        == "concat(f.folder, ' its folder ', concat('folder=', folder))"
    )
