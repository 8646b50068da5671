"""The invariant of what contacts are told fires on planted violations alone."""

from __future__ import annotations

import pytest

from pflab.invariants.conflicts import ContactsAreNotified
from tests.support.clock import START_AT
from tests.support.invariant_builders import FOLDER, MESSAGE, Trace, applies, number
from topology import topology_from_text
from traces.events import ChangeMade, ConflictNotice
from traces.labtime import HOUR_US


def lab(resolve: str = "default") -> Trace:
    """The folder of which A is home, as all three know it."""
    text = f"servers: {{A: , B: , C: }}\nfolders: {{Projects: {{replicas: [A, B], resolve: {resolve}}}}}\n"
    trace = Trace(ContactsAreNotified, topology=topology_from_text(text, "planted"))
    made = trace.change(
        "A",
        1,
        folder="1-1",
        object=FOLDER,
        kind="folder",
        subject="Projects",
        replicas=("A", "B"),
        parent="1-1",
        resolve=resolve,
    )
    for node in "BC":
        applies(trace, node, made)
    return trace


def edit(trace: Trace, node: str, counter: int, *over: str, operation: str = "modify") -> ChangeMade:
    return trace.change(node, counter, object=MESSAGE, operation=operation, supersedes=over)


def tells(trace: Trace, node: str, *numbers: str) -> None:
    trace.add(ConflictNotice, node, folder=FOLDER, object=MESSAGE, contacts=(), versions=numbers)


def found(trace: Trace) -> list[str]:
    for store in "AB":
        trace.guard.quiet(store, START_AT + HOUR_US, START_AT + HOUR_US)
    return trace.witnesses()


def in_conflict(trace: Trace) -> ChangeMade:
    """A and B have edited one message; A applies B's edit beside its own."""
    first = edit(trace, "A", 2, operation="create")
    applies(trace, "B", first)
    edit(trace, "A", 3, first.number)
    other = edit(trace, "B", 1, first.number)
    applies(trace, "A", other)
    return other


def test_a_conflict_told_by_the_home_store() -> None:
    """The home store tells once of each version that joins, and nothing is wrong; a second time is once too often."""
    trace = lab()
    other = in_conflict(trace)
    tells(trace, "A", other.number, number("A", 3))
    assert found(trace) == []
    tells(trace, "A", other.number, number("A", 3))
    assert "without a reason; the home store is A" in found(trace)[0]


def test_a_conflict_that_nobody_tells() -> None:
    """The home store must tell of a conflict in the transaction in which it arises (CF-2)."""
    trace = lab()
    in_conflict(trace)
    assert "which is in conflict, but sent no notice" in found(trace)[0]


@pytest.mark.parametrize("resolve", ["last writer wins", "no notification"])
def test_a_conflict_of_which_nobody_is_to_hear(resolve: str) -> None:
    """Where the resolve method tells nobody there is no notice, and one is too many (CF-4)."""
    trace = lab(resolve)
    other = in_conflict(trace)
    assert found(trace) == []
    tells(trace, "A", other.number, number("A", 3))
    assert "without a reason" in found(trace)[0]


def test_the_resolve_method_is_that_of_the_folder_as_its_home_knows_it() -> None:
    """A method set later counts from when the home store has it, whatever the topology said (CF-4)."""
    trace = lab()
    quiet = trace.change(
        "B", 1, folder="1-1", object=FOLDER, kind="folder", operation="modify", subject="Projects",
        replicas=("A", "B"), parent="1-1", resolve="no notification", supersedes=(number("A", 1),),
    )  # fmt: skip
    applies(trace, "A", quiet)
    first = edit(trace, "A", 2, operation="create")
    applies(trace, "B", first)
    edit(trace, "A", 3, first.number)
    applies(trace, "A", edit(trace, "B", 2, first.number))
    assert found(trace) == []


def test_a_conflict_told_by_another() -> None:
    """A holder that is not the folder's home tells nobody."""
    trace = lab()
    other = in_conflict(trace)
    tells(trace, "A", other.number, number("A", 3))
    applies(trace, "B", trace.facts.changes[number("A", 3)])
    tells(trace, "B", other.number, number("A", 3))
    assert found(trace)[0].startswith("B sent a notice of a conflict")


def test_an_edit_that_lost_to_a_deletion() -> None:
    """The home store tells of an edit that a concurrent deletion ended (DL-2); the one that is deleted on purpose is none."""
    trace = lab()
    first = edit(trace, "A", 2, operation="create")
    applies(trace, "B", first)
    mine = edit(trace, "A", 3, first.number)
    applies(trace, "A", edit(trace, "B", 1, first.number, operation="delete"))
    tells(trace, "A", mine.number)
    assert found(trace) == []
    other = lab()
    first = edit(other, "A", 2, operation="create")
    edit(other, "A", 3, first.number)
    applies(other, "A", edit(other, "B", 1, first.number, operation="delete"))
    assert "lost to a deletion, but sent no notice" in found(other)[0]
    known = lab()
    first = edit(known, "A", 2, operation="create")
    applies(known, "A", edit(known, "B", 1, first.number, operation="delete"))
    assert found(known) == []


def test_a_lost_edit_told_by_another() -> None:
    """Another store tells only of edits of its own, which may never have left it."""
    trace = lab()
    tells(trace, "B", number("B", 7))
    assert found(trace) == []
    tells(trace, "B", number("A", 7))
    assert "is not the folder's home store" in found(trace)[0]
