"""The invariant of notices to contacts reports planted violations and nothing else."""

from __future__ import annotations

import pytest

from pflab.invariants.conflicts import ContactsAreNotified
from tests.support.clock import START_AT
from tests.support.invariant_builders import FOLDER, MESSAGE, Trace, applies, number, traced
from topology.file.load import topology_from_text
from traces.events import ChangeMade, ConflictNotice, ItemExpired, RowReplaced
from traces.labtime import DAY_US, HOUR_US


def lab(resolve: str = "default") -> Trace:
    """A trace in which all three stores know the folder, whose home is A."""
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
    """A and B have edited one message, and A has applied B's edit beside its own."""
    first = edit(trace, "A", 2, operation="create")
    applies(trace, "B", first)
    edit(trace, "A", 3, first.number)
    other = edit(trace, "B", 1, first.number)
    applies(trace, "A", other)
    return other


def test_a_conflict_reported_by_the_home_store() -> None:
    """The home store must send one notice for each version that joins; a second one is a violation."""
    trace = lab()
    other = in_conflict(trace)
    tells(trace, "A", other.number, number("A", 3))
    assert found(trace) == []
    tells(trace, "A", other.number, number("A", 3))
    assert "without a reason; the home store is A" in found(trace)[0]


def test_a_notice_that_names_other_versions() -> None:
    """A notice must name the versions that were in conflict when a version joined, not those after a later one (CF-2)."""
    trace = lab()
    other = in_conflict(trace)
    third = edit(trace, "C", 1, number("A", 2))
    applies(trace, "A", third)
    tells(trace, "A", other.number, number("A", 3), third.number)
    [witness] = found(trace)
    assert "which is in conflict, but sent no notice" in witness
    trace = lab()
    other = in_conflict(trace)
    tells(trace, "A", other.number, third.number)
    assert "but the conflict is between" in found(trace)[0]


def test_a_conflict_without_a_notice() -> None:
    """The home store must report a conflict in the transaction in which it arises (CF-2)."""
    trace = lab()
    in_conflict(trace)
    assert "which is in conflict, but sent no notice" in found(trace)[0]


def test_a_version_beside_an_expired_one() -> None:
    """A version that comes after the other one has expired is in no conflict, and there is nothing to report (DL-3, CF-2)."""
    trace = lab()
    first = edit(trace, "A", 2, operation="create")
    applies(trace, "B", first)
    mine, other = edit(trace, "A", 3, first.number), edit(trace, "B", 1, first.number)
    expired = {"number": mine.number, "modified_at": mine.modified_at, "limit_us": HOUR_US}
    trace.add(ItemExpired, "A", folder=FOLDER, object=MESSAGE, **expired)
    applies(trace, "A", other)
    assert found(trace) == []


@pytest.mark.parametrize("resolve", ["last writer wins", "no notification"])
def test_a_conflict_in_a_folder_without_notices(resolve: str) -> None:
    """If the resolve method has no notices, each notice is a violation (CF-4)."""
    trace = lab(resolve)
    other = in_conflict(trace)
    assert found(trace) == []
    tells(trace, "A", other.number, number("A", 3))
    assert "without a reason" in found(trace)[0]


def test_the_resolve_method_is_that_of_the_folder_as_its_home_knows_it() -> None:
    """A changed method counts from when the home store has it, whatever the topology says (CF-4)."""
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


def test_a_conflict_reported_by_another_store() -> None:
    """A holder that is not the folder's home must send no notice."""
    trace = lab()
    other = in_conflict(trace)
    tells(trace, "A", other.number, number("A", 3))
    applies(trace, "B", trace.facts.changes[number("A", 3)])
    tells(trace, "B", other.number, number("A", 3))
    assert found(trace)[0].startswith("B sent a notice of a conflict")


def told_by_another(*, after_days: int = 2, heard: bool = False, again: bool = False) -> list[str]:
    """A is silent. B has a conflict, and sends the notice some days after it arose."""
    trace = lab()
    first = edit(trace, "B", 1, operation="create")
    applies(trace, "A", first)
    edit(trace, "B", 2, first.number)
    applies(trace, "B", edit(trace, "C", 1, first.number))
    versions = number("B", 2), number("C", 1)
    if heard:
        of_a = {"folder": FOLDER, "store": "A", "cnset": traced("B-2, C-1"), "cnset_fai": ""}
        trace.add(RowReplaced, "B", **of_a, sent_at=trace.at, sent_number=1)
    trace.at += after_days * DAY_US
    tells(trace, "B", *versions)
    if again:
        tells(trace, "B", *versions)
    return found(trace)


def test_a_notice_in_the_place_of_a_silent_home_store() -> None:
    """Another holder may send one notice two days after a conflict arose, if the home store was not heard to have it (CF-2)."""
    assert told_by_another() == []
    assert "before its time" in told_by_another(after_days=1)[0]
    assert "but A was heard to have all its versions" in told_by_another(heard=True)[0]
    assert "without a reason" in told_by_another(again=True)[0]


def test_an_edit_that_lost_to_a_deletion() -> None:
    """The home store must report an edit that lost to a concurrent deletion (DL-2), but not one that it supersedes."""
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
    assert "lost to a deletion" in found(other)[0]
    known = lab()
    first = edit(known, "A", 2, operation="create")
    applies(known, "A", edit(known, "B", 1, first.number, operation="delete"))
    assert found(known) == []


def test_an_edit_that_a_merged_deletion_includes() -> None:
    """Two deletions of one message merge their predecessor lists. An edit that only the other one knew is not lost (DL-2)."""
    trace = lab()
    first = edit(trace, "B", 2, operation="create")
    applies(trace, "A", first)
    applies(trace, "A", edit(trace, "B", 3, first.number))
    late = edit(trace, "C", 1, first.number, operation="delete")
    applies(trace, "A", late, pcl=f"{number('B', 4)};{late.number}")
    assert found(trace) == []


def test_a_lost_edit_reported_by_another_store() -> None:
    """Another store may report only its own edits, which may never have been sent."""
    trace = lab()
    tells(trace, "B", number("B", 7))
    assert found(trace) == []
    tells(trace, "B", number("A", 7))
    assert "is not the folder's home store" in found(trace)[0]
