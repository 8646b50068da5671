"""The invariant of old conflicts reports planted violations and nothing else."""

from __future__ import annotations

from typing import Any

from pflab.invariants.conflicts import ContactsResolve, OldConflictsEndAtHome
from tests.support.clock import START_AT
from tests.support.invariant_builders import FOLDER, GUIDS, MESSAGE, Trace, number
from tests.support.topologies import THREE_STORES
from topology.file.load import topology_from_text
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
    """A message in conflict on A and B, in the topology's folder, whose home is A."""
    trace = Trace(OldConflictsEndAtHome, topology=topology_from_text(THREE_STORES + settings, "planted"))
    for node in "AB":
        arises(trace, node)
    return trace


def arises(trace: Trace, node: str, winner: str = WINNER) -> None:
    trace.add(ConflictArose, node, **OF, versions=(LOSER, WINNER), winner=winner)


def ends(trace: Trace, node: str, after_us: int, **fields: Any) -> None:
    """A store ends the conflict by a change of its own, because of its age."""
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
    """The home store may end the conflict at the limit; the other stores may have it for longer."""
    trace = lab()
    assert rest(trace, DAY_US) == []
    ends(trace, "A", DAY_US)
    assert rest(trace, 9 * DAY_US) == []


def test_a_conflict_ended_too_early() -> None:
    """Only a person may end a conflict below the limit, even if the store reports a greater age."""
    trace = lab()
    ends(trace, "A", DAY_US - 1, since_at=START_AT - HOUR_US)
    assert "before its time" in rest(trace, DAY_US)[0]


def test_a_conflict_resolved_by_somebody_else() -> None:
    """Only a contact of the folder resolves a conflict; a change that merely arrives has nobody (CF-3)."""
    text = THREE_STORES.replace("Projects: {", "Projects: {contacts: [kim@contoso.test], ")
    trace = Trace(ContactsResolve, topology=topology_from_text(text, "planted"))
    for by in ("", "kim@contoso.test"):
        trace.add(ConflictEnded, "A", **OF, number=number("A", 3), by=by)
    assert trace.witnesses() == []
    trace.add(ConflictEnded, "A", **OF, number=number("A", 3), by="sam@contoso.test")
    assert "sam@contoso.test resolved the conflict" in trace.witnesses()[0]


def test_a_conflict_that_joined_versions_make_no_younger() -> None:
    """The age counts from when the conflict arose, not from when versions joined."""
    trace = lab()
    trace.at = START_AT + 20 * HOUR_US
    arises(trace, "A", LOSER)
    assert rest(trace, DAY_US) == []
    assert "is the home store, but left" in rest(trace, DAY_US + 1)[0]


def test_an_old_conflict_that_does_not_end() -> None:
    """The home store must end a conflict past the limit."""
    assert "A is the home store, but left" in rest(lab(), DAY_US + 1)[0]


def test_a_conflict_ended_by_another_store() -> None:
    """No other store may end a conflict because of its age."""
    trace = lab()
    ends(trace, "B", DAY_US)
    assert "but the home store is A" in rest(trace, DAY_US)[0]


def test_a_conflict_that_may_last() -> None:
    """Without the setting no store may end a conflict because of its age."""
    trace = lab("")
    assert rest(trace, 99 * DAY_US) == []
    ends(trace, "A", 99 * DAY_US)
    assert "no age limit for conflicts" in rest(trace, 99 * DAY_US)[0]


def test_a_conflict_ended_in_favour_of_a_loser() -> None:
    """The end of a conflict must keep the winner."""
    trace = lab()
    ends(trace, "A", DAY_US, winner=LOSER)
    assert "which was not shown" in rest(trace, DAY_US)[0]


def test_a_conflict_that_ended_otherwise() -> None:
    """A conflict also ends by a person, a deletion, an age limit, or with its replica."""
    endings: tuple[tuple[Any, dict[str, Any]], ...] = (
        (ConflictEnded, {**OF, "number": f"{GUIDS['C']}:5"}),
        (TombstoneMade, {**OF, "number": f"{GUIDS['C']}:5"}),
        (ItemExpired, {**OF, "number": WINNER, "modified_at": START_AT, "limit_us": HOUR_US}),
        (ReplicaDropped, {"folder": FOLDER, "cnset": ""}),
    )
    for kind, fields in endings:
        trace = lab()
        trace.add(kind, "A", **fields)
        assert rest(trace, 9 * DAY_US) == []
        aged(trace, "A", at=START_AT + 9 * DAY_US)
        assert "but there was none" in rest(trace, 9 * DAY_US)[0]


def test_a_restored_store_counts_the_age_from_its_restore() -> None:
    """The age of a conflict in the backup counts from the restore; a restart does not change it."""
    for reason, late in (("restart", True), ("restored", False)):
        trace = lab()
        trace.at = START_AT + 20 * HOUR_US
        trace.add(NodeStarted, "A", version="2003", replica_guid="ee" * 16, reason=reason)
        assert bool(rest(trace, DAY_US + 1)) is late
