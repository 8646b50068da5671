"""The invariant of old conflicts fires on planted violations alone."""

from __future__ import annotations

from typing import Any

from pflab.invariants.conflicts import OldConflictsEndAtHome
from tests.support.clock import START_AT
from tests.support.invariant_builders import FOLDER, GUIDS, MESSAGE, Trace, number
from tests.support.topologies import THREE_STORES
from topology import topology_from_text
from traces.events import (
    ConflictAged,
    ConflictArose,
    ConflictEnded,
    ItemExpired,
    NodeStarted,
    ReplicaDropped,
    TombstoneMade,
)
from traces.labtime import DAY_US, HOUR_US

LIMITED = "settings: {Replication Folder Conflict Age Limit: 1 d}\n"
OF = {"folder": FOLDER, "object": MESSAGE}
LOSER, WINNER = number("A", 2), number("B", 1)


def lab(settings: str = LIMITED) -> Trace:
    """The topology's folder, whose home is A, and a message that is in conflict on A and B."""
    trace = Trace(OldConflictsEndAtHome, topology=topology_from_text(THREE_STORES + settings, "planted"))
    for node in "AB":
        arises(trace, node)
    return trace


def arises(trace: Trace, node: str, winner: str = WINNER) -> None:
    trace.add(ConflictArose, node, **OF, versions=(LOSER, WINNER), winner=winner)


def ends(trace: Trace, node: str, after_us: int, **fields: Any) -> None:
    """A store ends the conflict by a change of its own, for its age."""
    trace.at = START_AT + after_us
    made = number(node, 9)
    trace.add(ConflictEnded, node, **OF, number=made)
    aged(trace, node, **{"number": made, **fields})


def aged(trace: Trace, node: str, **fields: Any) -> None:
    given: dict[str, Any] = {"number": number(node, 9), "winner": WINNER, "since_at": START_AT, "limit_us": DAY_US}
    trace.add(ConflictAged, node, **OF, **given | fields)


def rest(trace: Trace, after_us: int, stores: str = "AB") -> list[str]:
    for store in stores:
        trace.guard.quiet(store, START_AT + after_us, START_AT + after_us)
    return trace.witnesses()


def test_a_conflict_that_the_home_store_ends_in_time() -> None:
    """At the limit the home store ends it, and nothing is wrong; the others wait for that as long as it takes."""
    trace = lab()
    assert rest(trace, DAY_US) == []
    ends(trace, "A", DAY_US)
    assert rest(trace, 9 * DAY_US) == []


def test_a_conflict_ended_too_early() -> None:
    """A conflict younger than the limit is people's alone, though the store tells of a greater age."""
    trace = lab()
    ends(trace, "A", DAY_US - 1, since_at=START_AT - HOUR_US)
    assert "before its time" in rest(trace, DAY_US)[0]


def test_a_conflict_that_joined_versions_make_no_younger() -> None:
    """The age counts from when the conflict arose, whoever has joined it since."""
    trace = lab()
    trace.at = START_AT + 20 * HOUR_US
    arises(trace, "A", LOSER)
    assert rest(trace, DAY_US) == []
    assert "is home and left" in rest(trace, DAY_US + 1)[0]


def test_a_conflict_left_to_itself() -> None:
    """Past the limit the home store has ended it."""
    assert "A is home and left" in rest(lab(), DAY_US + 1)[0]


def test_a_conflict_ended_by_another() -> None:
    """No other store ends a conflict for its age."""
    trace = lab()
    ends(trace, "B", DAY_US)
    assert "but the home store is A" in rest(trace, DAY_US)[0]


def test_a_conflict_that_may_last() -> None:
    """Without the setting no store ends a conflict, and none must."""
    trace = lab("")
    assert rest(trace, 99 * DAY_US) == []
    ends(trace, "A", 99 * DAY_US)
    assert "no age limit for conflicts" in rest(trace, 99 * DAY_US)[0]


def test_a_conflict_ended_in_favour_of_a_loser() -> None:
    """The winner is kept."""
    trace = lab()
    ends(trace, "A", DAY_US, winner=LOSER)
    assert "which was not shown" in rest(trace, DAY_US)[0]


def test_a_conflict_that_did_not_stand() -> None:
    """What a person ended, a deletion or an age limit took, or went with its replica, is no conflict any more."""
    gone: tuple[tuple[Any, dict[str, Any]], ...] = (
        (ConflictEnded, {**OF, "number": f"{GUIDS['C']}:5"}),
        (TombstoneMade, {**OF, "number": f"{GUIDS['C']}:5"}),
        (ItemExpired, {**OF, "number": WINNER, "modified_at": START_AT, "limit_us": HOUR_US}),
        (ReplicaDropped, {"folder": FOLDER, "cnset": ""}),
    )
    for kind, fields in gone:
        trace = lab()
        trace.add(kind, "A", **fields)
        assert rest(trace, 9 * DAY_US) == []
        aged(trace, "A", at=START_AT + 9 * DAY_US)
        assert "but there was none" in rest(trace, 9 * DAY_US)[0]


def test_a_restored_store_counts_anew() -> None:
    """From a restore on the age of what the backup has in conflict counts from there; a restart changes nothing."""
    for reason, late in (("restart", True), ("restored", False)):
        trace = lab()
        trace.at = START_AT + 20 * HOUR_US
        trace.add(NodeStarted, "A", version="2003", replica_guid="ee" * 16, reason=reason)
        assert bool(rest(trace, DAY_US + 1)) is late
