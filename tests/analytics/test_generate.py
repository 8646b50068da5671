"""The generator: complete traces of any size, with the planted number of faults."""

from __future__ import annotations

import pytest

from tests.support.generated_traces import SHAPES
from tests.support.judged_traces import Judged
from traces.reading import read_files


@pytest.mark.parametrize("name", SHAPES)
def test_a_generated_trace_is_complete(judged: Judged, name: str) -> None:
    """Each line is a valid event, and no node's numbers have a gap."""
    trace = read_files(sorted((judged.root / "made" / name / "traces").glob("*.jsonl")))
    assert trace.report() == []
    assert len(trace.events) == SHAPES[name].events


def test_planted_faults_are_found_to_the_number(judged: Judged) -> None:
    """As many versions are missing as were planted; without faults every folder has converged and no rule is violated."""
    lacks = judged.table("gold/mismatches").where("what = 'lacks' and trace like '%/made/%'")
    found = {
        row.trace.split("/")[-1].partition("#")[0]: row["count"] for row in lacks.groupBy("trace").count().collect()
    }
    assert found == {"faulty": SHAPES["faulty"].faults}
    runs = judged.runs("made")
    assert {name: each["exit_code"] for name, each in runs.items()} == {"made/clean": 0, "made/faulty": 1}
    assert runs["made/clean"]["violations"] == 0
