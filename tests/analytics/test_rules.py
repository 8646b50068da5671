"""The rule checks: each catches the violation planted for it, and all are silent on the scenario suite."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from analytics.rules.catalogue import CHECKS
from tests.support.judged_traces import Judged
from tests.support.rule_faults import FAULTS, place_of
from tests.support.scenario_traces import BROKEN_ON_PURPOSE

Found = dict[tuple[str, str], tuple[int, int, str]]


@pytest.fixture(scope="module")
def found(judged: Judged) -> Found:
    """By place and check: consumed, violations, witness."""
    rows = judged.rows("rules")
    return {(row.trace.rpartition("#")[0], row.rule_check): (row.consumed, row.violations, row.witness) for row in rows}


@pytest.mark.parametrize("check", [check.id for check in CHECKS])
def test_a_check_catches_what_is_planted_for_it(judged: Judged, found: Found, check: str) -> None:
    """Each check finds its planted violation, with a witness in words."""
    consumed, violations, witness = found[judged.place(place_of(check)), check]
    assert consumed >= violations >= 1
    assert witness


def test_witnesses_have_names(judged: Judged) -> None:
    """The result shows change numbers as `A-3`, folders by their paths and messages by their subjects."""
    texts = [each["witness"] for each in judged.document["rules"]]
    assert any(re.search(r"\bA-\d", text) for text in texts)
    assert [text for text in texts if re.search(r"[0-9a-f]{32}|folder=|object=", text)] == []


@pytest.mark.parametrize("check", [check.id for check in CHECKS])
def test_a_check_is_silent_on_clean_traces(judged: Judged, found: Found, check: str) -> None:
    """Over the whole scenario suite and a sample of campaigns a check has something to look at and nothing to say, but where
    its rule is broken on purpose, and there it says so."""
    clean = tuple(judged.place(group) + "/" for group in ("suite", "campaign", "clean"))
    mine = {place: each for (place, name), each in found.items() if name == check and place.startswith(clean)}
    (rules,) = (set(each.rules) for each in CHECKS if each.id == check)
    lessons = {name for name, (_, broken) in BROKEN_ON_PURPOSE.items() if rules & broken}
    assert {place: each for place, each in mine.items() if each[1] and place.rpartition("/")[2] not in lessons} == {}
    silent = {"one status after an update"}  # a healthy organization has no second status to look at
    assert sum(each[0] for each in mine.values()) > 0 or check in silent


def test_every_check_has_a_fault_and_an_id_of_its_own() -> None:
    """No check is without a planted violation, and no two bear one name."""
    assert sorted(FAULTS) == sorted(check.id for check in CHECKS)


def test_checks_cite_rules_of_the_catalogue(project_root: Path) -> None:
    """Every rule that a check names is in docs/rules.yaml, and built."""
    catalogue = yaml.safe_load((project_root / "docs" / "rules.yaml").read_text(encoding="utf-8"))
    built = {rule["id"] for rule in catalogue["rules"] if rule["status"] == "built"}
    assert {rule for check in CHECKS for rule in check.rules} <= built
