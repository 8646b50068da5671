"""The state tables and backfill arrays in the form for people (spec: RST-1 to RST-3, BF-2)."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from node.views import EntryView, RequestView, RowView, SourceView, StateView
from pflab.explain.state_tables import (
    MOST_RANGES,
    backfill_table,
    data_lines,
    sources_table,
    state_json,
    state_tables,
)
from traces.labtime import DAY_US, MINUTE_US, SECOND_US, LabTime, parse_instant

NOON = parse_instant("2003-10-22T12:15Z")


def own(store: str, numbers: str, last_sent: str | None = None) -> RowView:
    return RowView(store, True, numbers, "", last_sent, None)


def other(store: str, numbers: str, heard_at: LabTime | None = NOON, fai: str = "") -> RowView:
    return RowView(store, False, numbers, fai, None, heard_at)


def state(*rows: RowView) -> StateView:
    here = next(row.store for row in rows if row.is_local)
    return StateView("x:1", "Projects", here, rows)


def shown(table: object, width: int) -> str:
    text = io.StringIO()
    Console(file=text, width=width, color_system=None).print(table)
    return text.getvalue()


def test_complete_rows_are_printed_as_in_the_source() -> None:
    """RST-1: the own replica shows the last update sent, another's the last one received, each as its highest number."""
    rows = [own("A", "A-1..100, B-1..50", "A-100"), other("B", "A-1..100, B-1..50")]
    (table,) = state_tables([state(*rows)])
    assert str(table.title) == "Replication State Table for Server A"
    assert list(map(str, table.columns[0].cells)) == ["Projects on Server A\n(local replica)", "Projects on Server B"]
    assert list(map(str, table.columns[1].cells)) == ["Last update sent: A-100", "A-100 received\nB-50 received"]


def test_rows_are_in_the_order_of_the_servers_names() -> None:
    """As in the source's table of Server B, the local replica is in its place by name, and is marked."""
    (table,) = state_tables([state(own("B", "A-1", None), other("C", "A-1"), other("A", "A-1"))])
    replicas = list(map(str, table.columns[0].cells))
    assert replicas == ["Projects on Server A", "Projects on Server B\n(local replica)", "Projects on Server C"]


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ("A-2..3", ["A-2..3 received", "A-1 missing"]),
        ("A-2", ["A-2 received", "A-1 missing"]),
        ("A-1..2, A-5..9, A-11", ["A-1..2, A-5..9, A-11 received", "A-3..4, A-10 missing"]),
        ("A-1..4, B-3", ["A-4 received", "B-3 received", "B-1..2 missing"]),
        ("", ["nothing received"]),
    ],
)
def test_a_hole_is_shown(numbers: str, expected: list[str]) -> None:
    """RST-3: a store that lacks something below its highest number is not shown as complete."""
    row = other("B", numbers)
    lines = data_lines(row, [own("A", "A-1..20, B-1..3"), row])
    assert [line for line in lines if "not reported" not in line] == expected


def test_the_own_row_shows_its_holes_too() -> None:
    """The own row shows what the store lacks by another store's row."""
    rows = [own("B", "A-2, B-1", "B-1"), other("A", "A-1..2")]
    assert data_lines(rows[0], rows) == ["Last update sent: B-1", "A-1 missing"]


def test_numbers_older_than_the_folder_are_no_hole() -> None:
    """The changes before a folder's first one belong to other folders; no row of its table has them."""
    rows = [own("A", "A-2..3", "A-3"), other("B", "A-2..3")]
    assert data_lines(rows[1], rows) == ["A-3 received"]
    assert data_lines(rows[0], rows) == ["Last update sent: A-3"]


def test_changes_that_exist_elsewhere_are_named() -> None:
    """RST-3: what other rows have above the highest number, or of another store, exists; another store only has not reported
    it (RST-2)."""
    rows = [own("A", "A-1..5", "A-5"), other("B", "A-1..3, B-1, B-4..5"), other("C", "A-1..6, Setup-1", fai="B-2")]
    assert data_lines(rows[0], rows) == [
        "Last update sent: A-5",
        "A-6 exists, not received",
        "B-1, B-4..5 exist, not received",
        "Setup-1 exists, not received",
        "B-2 exists, not received (associated)",
    ]
    assert data_lines(rows[1], rows)[-3:-1] == ["A-4..6 exist, not reported", "Setup-1 exists, not reported"]


def test_a_replica_that_waits_to_be_dropped_is_marked() -> None:
    """RP-2: the leaving store's own replica is delete-pending, and a holder shows what a leaving store claims."""
    rows = own("A", "A-1", "A-1"), other("B", "A-1")
    leaving = StateView("x:1", "Projects", "A", rows, pending=True)
    (table,) = state_tables([leaving])
    assert str(next(iter(table.columns[0].cells))) == "Projects on Server A\n(local replica, delete-pending)"
    holder = StateView("x:1", "Projects", "A", rows, leavers=(other("C", "C-1", None),))
    (table,) = state_tables([holder])
    assert list(map(str, table.columns[0].cells))[-1] == "Projects on Server C\n(delete-pending)"
    assert str(next(iter(table.columns[1].cells))) == "Last update sent: A-1\nC-1 exists, not received"
    assert list(map(str, table.columns[2].cells))[-1] == ""
    document = state_json(holder, [SourceView("B", "SEA", "2003", 0, 0, SECOND_US, None, True, False, True)])
    assert document["leaving"] == [{"store": "C", "has": {"C": [[1, 1]]}}]
    assert document["rows"][1]["source"]["unavailable"] is True


def test_the_table_of_sources_shows_what_decides_between_them() -> None:
    """BF-3: cost, version, how long mail takes, the last request, and a source that is marked down."""
    sources = [
        SourceView("B", "SEA", "2003", 0, 0, SECOND_US // 4, NOON, False, True, True),
        SourceView("C", "NYC", "2000", None, None, None, None, True, False, False),
    ]
    text = shown(sources_table("A", sources), 90)
    assert "│ B      │ SEA  │ 2003    │ 0        │ 0.25 s     │ 2003-10-22T12:15:00Z │ preferred" in text
    assert "│ C      │ NYC  │ 2000    │ no route │ unknown    │ never                │ unavailable " in text


def test_a_set_in_many_pieces_is_cut_and_counted() -> None:
    """A row with very many holes is shortened, and shows how many there are."""
    row = other("B", ", ".join(f"A-{number}" for number in range(1, 40, 2)))
    received, missing = data_lines(row)
    assert received.startswith("A-1, A-3, A-5")
    assert received.endswith("A-11, ... up to A-39 (20 ranges) received")
    assert missing.endswith("... up to A-38 (19 ranges) missing")
    assert missing.count("A-") == MOST_RANGES + 1


def test_associated_messages_have_lines_of_their_own() -> None:
    """CN-9: the set of a folder's associated messages has lines of its own."""
    row = other("B", "A-1", fai="A-3")
    assert data_lines(row, [row, RowView("A", True, "A-1", "A-2..3", "A-3", None)]) == [
        "A-1 received",
        "A-3 received (associated)",
        "A-2 missing (associated)",
    ]


def test_ages_are_rounded_to_the_minute() -> None:
    """The age of a row is rounded to the minute, not cut, so that it agrees with the instant beside it."""
    heard_at = NOON + 30_000
    now = heard_at - 30_000 + DAY_US + 45 * MINUTE_US
    (table,) = state_tables([state(own("A", ""), other("B", "A-1", heard_at))], now)
    assert list(map(str, table.columns[2].cells)) == ["", "2003-10-22T12:15:00Z\n24 h 45 min ago"]


@pytest.mark.parametrize(("since_us", "expected"), [(34 * SECOND_US, "34 s"), (0, "0 s"), (MINUTE_US, "1 min")])
def test_an_age_below_a_minute_is_in_seconds(since_us: int, expected: str) -> None:
    """Half a minute is shown neither as one minute nor as none."""
    (table,) = state_tables([state(own("A", ""), other("B", "A-1", NOON))], NOON + since_us)
    assert str(list(map(str, table.columns[2].cells))[1]).endswith(f"\n{expected} ago")


def entry(path: str = "Projects", requests: tuple[RequestView, ...] = ()) -> EntryView:
    return EntryView(
        id=1,
        folder="x:1",
        path=path,
        missing="A-1..3, PUBLIC-STORE-1-17",
        missing_fai="",
        made_at=NOON,
        due_at=NOON + 6 * 60 * MINUTE_US + SECOND_US // 2,
        attempts=len(requests),
        local=True,
        waiting_for_slot=False,
        requests=requests,
    )


@pytest.mark.parametrize("width", [60, 80, 140])
def test_nothing_of_a_backfill_entry_is_cut(width: int) -> None:
    """BF-2: when an entry became known, when it asks and whom it asked are complete on any terminal, and without one."""
    asked = RequestView("PUBLIC-STORE-1", "A-1..3", NOON, NOON + DAY_US)
    text = shown(backfill_table("B", [entry("Projects/Archive/Old and rather long", (asked,))]), width)
    assert "…" not in text
    if width >= 80:
        for needed in ("2003-10-22T12:15:00Z", "2003-10-22T18:15:00Z", "2003-10-23T12:15:00Z", "PUBLIC-STORE-1"):
            assert needed in text


def test_an_entry_shows_how_often_it_was_requested() -> None:
    """An entry says in words how often it was requested."""
    assert "not asked yet" in shown(backfill_table("B", [entry()]), 100)
