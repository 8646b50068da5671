"""Checks that are left out, for the trace has none of the events that they are about."""

from __future__ import annotations

from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.evidence import TABLES
from analytics.rules.catalogue import CHECKS
from analytics.rules.required_events import NEEDS
from tests.support.judged_traces import Judged
from traces.events import EVENT_TYPES


def test_what_is_needed_are_events_and_tables_that_there_are() -> None:
    """A table is left out by its name, for types of event that there are."""
    assert NEEDS.keys() <= TABLES.keys()
    assert {tag for tags in NEEDS.values() for tag in tags} <= EVENT_TYPES.keys()


def test_no_check_looks_at_anything_without_the_events_that_it_needs(judged: Judged) -> None:
    """In no trace does a check that is left out for want of events consume any; and in some trace each consumes something."""
    lines = judged.spark.read.option("recursiveFileLookup", "true").parquet(str(judged.tables / "bronze"))
    types = lines.where("aside is null").groupBy("trace").agg(F.collect_set("type").alias("types"))
    there = {row.trace: set(row.types) for row in types.collect()}
    tables = {check.id: check.table for check in CHECKS}
    consumed = judged.table("gold/rules").where("consumed > 0").select("trace", "check").collect()
    without = [
        (row.trace, row.check)
        for row in consumed
        if tables[row.check] in NEEDS and there[row.trace].isdisjoint(NEEDS[tables[row.check]])
    ]
    assert without == []
    assert {row.check for row in consumed} == tables.keys()
