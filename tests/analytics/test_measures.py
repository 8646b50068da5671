"""What the tables show of time and traffic, on runs with known figures."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame

from analytics.generate import POSTS
from analytics.report import measures
from tests.support.generated_traces import SHAPES
from tests.support.judged_traces import Judged


def of(judged: Judged, table: str, name: str) -> DataFrame:
    return judged.table(table).where(f"trace like '%/{name}#%'")


def test_the_time_to_each_replica_is_measured_by_way(judged: Judged) -> None:
    """The lost mail's post reaches C by broadcast within a cycle, and B by backfill much later."""
    rows = {row.way: row for row in measures.latency(of(judged, "evidence/versions", "suite/lost-mail")).collect()}
    assert {way: row.applied for way, row in rows.items()} == {"broadcast": 1, "backfill": 1}
    assert rows["broadcast"].longest_us == 15 * 60 * 1_000_000
    assert rows["backfill"].p50_us > 24 * 3600 * 1_000_000


CLEAN, FAULTY = (SHAPES[name].cycles * POSTS for name in ("clean", "faulty"))
UNREAD = SHAPES["faulty"].faults


@pytest.mark.parametrize(
    ("name", "fates"),
    [
        ("made/clean", {"stable": CLEAN}),
        (
            "made/faulty",
            {
                "stable": SHAPES["faulty"].cycles * POSTS - SHAPES["faulty"].faults,
                "never read": SHAPES["faulty"].faults,
            },
        ),
        ("suite/lost-mail", {"late": 1}),
        ("stories/gone", {"lost": 1}),
    ],
)
def test_every_change_has_one_outcome(judged: Judged, name: str, fates: dict[str, int]) -> None:
    """CV-1, DU-1: each change is stable, late, never read or lost, and is counted once."""
    rows, things, tree = (of(judged, f"evidence/{table}", name) for table in ("versions", "objects", "folders"))
    assert {
        row.fate: row["count"] for row in measures.fates(rows, things, tree).groupBy("fate").count().collect()
    } == fates


def test_mails_are_counted_by_type_and_end(judged: Judged) -> None:
    """One mail to two holders is two copies; the one that a fault took is lost."""
    rows = {
        row.message_type: row for row in measures.traffic(of(judged, "evidence/mails", "suite/lost-mail")).collect()
    }
    content = rows[4]
    assert (content.mails, content.copies, content.arrived, content.lost) == (1, 2, 1, 1)
    assert rows[8].mails == 1
