"""The generator: complete traces of any size, with the planted number of faults."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analytics.embedded.engine import judged
from analytics.generate import POSTS
from analytics.ingest.places import contents_of
from analytics.verdicts.conclusion import conclude
from tests.support.generated_traces import SHAPES, write_generated
from tests.support.judged_traces import rows_in
from traces.reading import read_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with traces that the generator made, by the names of their shapes."""
    place = tmp_path_factory.mktemp("made").resolve()
    write_generated(spark, place)
    return place


@pytest.mark.parametrize("name", SHAPES)
def test_a_generated_trace_is_complete(made: Path, name: str) -> None:
    """Each line is a valid event, and no node's numbers have a gap."""
    trace = read_files(sorted((made / name / "traces").glob("*.jsonl")))
    assert trace.report() == []
    assert len(trace.events) == SHAPES[name].events


def test_planted_faults_are_found_to_the_number(made: Path, tmp_path: Path) -> None:
    """As many versions are missing as were planted; without faults every folder has converged and no rule is violated."""
    with judged(contents_of([str(made)])) as found:
        fates = found.answers("fates", {})
        runs = {each.trace.rpartition("/")[2]: each for each in conclude(found.findings).runs}
        found.publish(str(tmp_path))
    lacks = rows_in(f"{tmp_path}/mismatches.parquet", "what = 'lacks'")
    assert {row.trace.rpartition("/")[2].partition("#")[0] for row in lacks} == {"faulty"}
    assert len(lacks) == SHAPES["faulty"].faults
    assert {name: each.exit_code for name, each in runs.items()} == {"clean": 0, "faulty": 1}
    assert runs["clean"].violations == 0
    changes = {name: {row.fate: row.changes for row in fates if f"/{name}#" in row.trace} for name in SHAPES}
    posts, unread = {name: shape.cycles * POSTS for name, shape in SHAPES.items()}, SHAPES["faulty"].faults
    assert changes == {
        "clean": {"stable": posts["clean"]}, "faulty": {"stable": posts["faulty"] - unread, "never read": unread}
    }  # fmt: skip
