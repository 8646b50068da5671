"""Many expiries and many dropped tombstones: short stimuli, at one instant, through indexes (spec: DL-3, DL-4)."""

from __future__ import annotations

import pytest

from node.objects import expiry, tombstones
from tests.support.clock import HOUR_MIN
from tests.support.post_office import PostOffice
from traces.events import ItemExpired, TombstoneDropped
from transport import stimulus

POSTS = 6
AGED = """
organization: Test
sites: [SEA]
settings: {Replication Folder Tombstone Age Limit: 1 d}
servers: {A: {}, B: {settings: {Age Limit: 1 h, Maintenance Schedule: '03:00-04:00'}}}
folders: {Projects: {replicas: [A, B]}, Other: {replicas: [A, B]}}
"""


def posted() -> tuple[PostOffice, list[str]]:
    """Return an office in which each of two folders has POSTS messages, at both stores."""
    office = PostOffice(AGED)
    ids = [
        office["A"].post(office.at(1), path, subject=path).id for _ in range(POSTS) for path in ("Projects", "Other")
    ]
    office.run(office.at(15))
    return office, ids


def expired(office: PostOffice) -> list[tuple[object, ...]]:
    return [(event.at, event.folder, event.object) for event in office.events if isinstance(event, ItemExpired)]


def test_a_divided_expiry_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one item for each stimulus, the same items expire in the same order at the same instant, and the next run comes a
    night later."""
    at = 3 * HOUR_MIN
    whole, _ = posted()
    whole.run(whole.at(at))
    monkeypatch.setattr(stimulus, "STIMULUS_BYTES", 1)
    office, _ = posted()
    stimuli = 0
    while office["B"].tick(office.at(at)):
        stimuli += 1
    assert (stimuli, len(expired(office))) == (2 * POSTS, 2 * POSTS)
    assert expired(office) == expired(whole)
    assert office["B"].next_due() == whole["B"].next_due()


def test_a_kill_between_two_stimuli_of_an_expiry_continues_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was not finished does not count as the run of the night."""
    # spec: OUT-9
    monkeypatch.setattr(stimulus, "STIMULUS_BYTES", 1)
    office, _ = posted()
    at = office.at(3 * HOUR_MIN)
    assert office["B"].tick(at)
    assert office["B"].count("Projects") + office["B"].count("Other") == 2 * POSTS - 1
    office["B"].abandon()
    office["B"].reopen(at)
    office.run(at)
    assert office["B"].count("Projects") + office["B"].count("Other") == 0


def test_dropping_tombstones_is_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one tombstone for each stimulus, all are dropped at the instant of one status check, in order of age."""
    dropped = []
    for limit in (stimulus.STIMULUS_BYTES, 1):
        monkeypatch.setattr(stimulus, "STIMULUS_BYTES", limit)
        office, ids = posted()
        for number, each in enumerate(ids):
            office["A"].delete(office.at(16 + number), ("Projects", "Other")[number % 2], each)
        for hours in range(1, 3 * 24):
            office.run(office.at(30 + hours * HOUR_MIN))
            office.run(office.at(15 + hours * HOUR_MIN))
        found = [(each.node, each.at, each.object) for each in office.events if isinstance(each, TombstoneDropped)]
        dropped.append(sorted(found, key=lambda each: each[:2]))
        assert office["A"].knowledge("Projects").tombstones == office["B"].knowledge("Other").tombstones == ()
    assert dropped[0] == dropped[1]
    assert len(dropped[0]) == 4 * POSTS


@pytest.mark.parametrize(
    ("statement", "values", "index"),
    [
        (expiry.TOO_OLD, (1, 0, 0, 100), "message_by_age"),
        (tombstones.NEXT_FOLDER, (0,), "message_removed"),
        (tombstones.REMOVED, (1, 1, 0, 0, 0, 100), "message_removed"),
    ],
)
def test_maintenance_reads_only_what_is_old(statement: str, values: tuple[int, ...], index: str) -> None:
    """Each statement finds its rows by age in an index, and does not read the other messages of the folder."""
    office = PostOffice(AGED)
    _, conn = office["A"]._opened()
    plan = [row[3] for row in conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values).all()]
    assert f"INDEX {index} (" in plan[0]
    assert "modified_at<" in plan[0] or statement == tombstones.NEXT_FOLDER
    assert not [step for step in plan if step.startswith("SCAN")]
