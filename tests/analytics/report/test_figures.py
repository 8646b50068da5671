"""The figures of a report, of time and traffic, on runs with known figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from analytics.embedded.engine import judged as judged_here
from analytics.ingest.places import contents_of
from analytics.report.contents import latency
from analytics.report.queries import FIGURES
from analytics.rows import Row
from tests.support.judged_traces import Judged

Figures = Mapping[str, Sequence[Row]]

PLACES = ("suite/lost-mail", "stories/gone")


@pytest.fixture(scope="module")
def figures(judged: Judged) -> dict[str, Figures]:
    """Return the figures of some runs of the tests, by their places."""
    with judged_here(contents_of(map(judged.place, PLACES))) as found:
        every = {query: found.answers(query, {}) for query in FIGURES}
    return {
        name: {
            query: [row for row in rows if row.trace.startswith(f"{judged.place(name)}#")]
            for query, rows in every.items()
        }
        for name in PLACES
    }


def test_the_time_to_each_replica_is_measured_by_way(figures: dict[str, Figures]) -> None:
    """The lost mail's post reaches C by broadcast within a cycle, and B by backfill much later."""
    rows = figures["suite/lost-mail"]["latencies"]
    by_way = {way: latency(way, [row for row in rows if row.way == way]) for way in ("broadcast", "backfill")}
    assert [each.applied for each in by_way.values()] == [1, 1]
    assert by_way["broadcast"].longest_us == 15 * 60 * 1_000_000
    assert by_way["backfill"].p50_us > 24 * 3600 * 1_000_000


def test_a_part_of_the_versions_took_no_longer() -> None:
    """p90 is the least time within which nine of ten versions were applied."""
    rows = [Row(took_us=took, applied=applied, longest_us=took) for took, applied in ((30, 1), (10, 8), (20, 1))]
    shares = latency("broadcast", rows)
    assert (shares.applied, shares.p50_us, shares.p90_us, shares.p99_us, shares.longest_us) == (10, 10, 20, 30, 30)


@pytest.mark.parametrize(("name", "fates"), [("suite/lost-mail", {"late": 1}), ("stories/gone", {"lost": 1})])
def test_every_change_has_one_outcome(figures: dict[str, Figures], name: str, fates: dict[str, int]) -> None:
    """CV-1, DU-1: each change is stable, late, never read or lost, and is counted once."""
    assert {row.fate: row.changes for row in figures[name]["fates"]} == fates


def test_mails_are_counted_by_type_and_end(figures: dict[str, Figures]) -> None:
    """One mail to two holders is two copies; the one that a fault took is lost."""
    rows = {row.message_type: row for row in figures["suite/lost-mail"]["traffic"]}
    content = rows[4]
    assert (content.mails, content.copies, content.arrived, content.lost) == (1, 2, 1, 1)
    assert rows[8].mails == 1
