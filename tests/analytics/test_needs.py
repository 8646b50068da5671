"""Checks are skipped if the trace has none of the events that they need."""

from __future__ import annotations

import json

from analytics.embedded import engine
from analytics.embedded.product import product
from analytics.evidence.tables import TABLES
from analytics.ingest.lines import read_lines
from analytics.ingest.places import contents_of
from analytics.rows import Row
from analytics.rules.catalogue import CHECKS, by_table, chosen
from analytics.rules.required_events import NEEDS
from tests.support.judged_traces import Judged
from traces.events import EVENT_TYPES


def test_every_need_is_an_event_type_or_table() -> None:
    """A table is skipped by its name, and every needed type of event exists."""
    assert NEEDS.keys() <= TABLES.keys()
    assert {tag for tags in NEEDS.values() for tag in tags} <= EVENT_TYPES.keys()


def test_a_skipped_check_would_read_nothing(judged: Judged) -> None:
    """A check that is skipped in a trace would read no event of it, and each check reads events in some trace."""
    there: dict[str, set[str]] = {}
    for file, content in contents_of([str(judged.root)]):
        lines = read_lines(file, content)
        for trace, event in zip(lines.trace, lines.event, strict=True):
            if event is not None:
                there.setdefault(trace, set()).add(json.loads(event)["type"])
    tables = {check.id: check.table for check in CHECKS}
    consumed = judged.rows("rules", "consumed > 0")
    without = [
        (row.trace, row.rule_check)
        for row in consumed
        if tables[row.rule_check] in NEEDS and there[row.trace].isdisjoint(NEEDS[tables[row.rule_check]])
    ]
    assert without == []
    assert {row.rule_check for row in consumed} == tables.keys()


def test_chosen_checks_find_the_same_with_fewer_tables(judged: Judged) -> None:
    """`--select` computes only the tables that the verdict and the chosen checks need; the checks find the same, and nothing of
    others is left, also not of those that are computed in the same tables."""
    segments = list(contents_of([str(judged.place("stories/reissued"))]))
    ids = chosen(["TM", "CN-1"], [])
    rules = by_table(ids)
    assert rules is not None
    with engine.judged(segments) as found:
        every = found.findings
    with engine.judged(segments, rules=rules) as found:
        some = found.findings

    def ordered(rows: list[Row]) -> list[str]:
        return sorted(map(str, rows))

    assert ordered(some["rules"]) == ordered([row for row in every["rules"] if row.check in ids])
    assert [row for row in some["rules"] if row.violations]
    assert {name: ordered(some[name]) for name in some if name not in {"rules", "names"}} == {
        name: ordered(every[name]) for name in every if name not in {"rules", "names"}
    }
    names = [table.name for table in product().tables_for(rules)]
    assert {name for name in names if name.startswith("rules/")} == {f"rules/{name}" for name in rules}
    assert "evidence/candidates" not in names
