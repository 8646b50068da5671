"""The generator: whole traces of any size, with as many faults as were planted."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from analytics import check
from analytics.generate import Shape, generate
from analytics.tables import Tables
from traces import read_files


@pytest.mark.parametrize("shape", [Shape(7, 3), Shape(10, 4, 3)])
def test_a_generated_trace_is_whole(spark: SparkSession, tmp_path: Path, shape: Shape) -> None:
    """Each line is an event by its definition, and each node's numbers have no gap."""
    generate(spark, shape, tmp_path)
    trace = read_files(sorted((tmp_path / "traces").glob("*.jsonl")))
    assert trace.report() == []
    assert len(trace.events) == shape.events


def test_planted_faults_are_found_to_the_number(spark: SparkSession, tmp_path: Path) -> None:
    """As many versions are missing as were planted, no rule is violated, and without faults the verdict is clean."""
    found = {}
    for name, shape in {"clean": Shape(9, 3), "faulty": Shape(9, 3, 4)}.items():
        generate(spark, shape, tmp_path / name)
        tables = Tables(spark, str(tmp_path / "tables" / name))
        result = check.judge_traces([str(tmp_path / name)], tables)
        wrong = spark.read.parquet(tables.path("gold/mismatches")).where("what = 'lacks'").count()
        found[name] = (result.exit_code, wrong, shape.faults, result.violations, result.events == shape.events)
    assert found == {"clean": (0, 0, 0, 0, True), "faulty": (1, 3, 3, 0, True)}
