"""The invariant of source selection reports planted violations and nothing else (BF-3)."""

from __future__ import annotations

from typing import Any

import pytest

from pflab.invariants.backfill_sources import LeavingStoresAreAskedLast, SourcesAreChosenByVersionRules
from tests.support.clock import START_AT
from tests.support.invariant_builders import FOLDER, Trace, numbers
from topology.file.load import topology_from_text
from topology.model import Topology
from traces.events import AddressStamped, Candidate, RequestSent, RowReplaced, SourceDown, SourcesConsidered


def lab(topology: Topology | None = None, **has: tuple[int, ...]) -> Trace:
    """A knows that other stores of its site hold the folder, and has a row of each; by default B has B-1, and C has B-1..2."""
    has = has or {"B": (1,), "C": (1, 2)}
    trace = Trace(SourcesAreChosenByVersionRules, LeavingStoresAreAskedLast, topology=topology)
    for store in ("A", *has):
        trace.add(AddressStamped, "A", store=store, address=f"{store}-IS@contoso.test")
    made = {"object": FOLDER, "kind": "folder", "subject": "Projects", "replicas": ("A", *has), "parent": "1-1"}
    trace.change("A", 1, folder="1-1", **made)
    for store, counters in has.items():
        row = numbers("B", *counters)
        trace.add(
            RowReplaced, "A", folder=FOLDER, store=store, cnset=row, cnset_fai="", sent_at=START_AT, sent_number=1
        )
    return trace


def candidate(store: str, has: int, **fields: Any) -> Candidate:
    given: dict[str, Any] = {
        "down": False,
        "preferred": False,
        "cost": 0,
        "version": "2003",
        "passed_over": "",
        "site": "SEA",
        "near": True,
        "has_all": has == 2,
        "affinity": 0,
        "guid": store * 32,
    }
    return Candidate(store=store, has=has, **given | fields)


C_FIRST = (candidate("C", 2), candidate("B", 1, passed_over="the ones before it have all it has"))


def considers(
    trace: Trace, *candidates: Candidate, chosen: tuple[str, ...] = ("C",), method: str = "sorted list"
) -> None:
    missing = numbers("B", 1, 2)
    trace.add(
        SourcesConsidered,
        "A",
        folder=FOLDER,
        entry=1,
        candidates=candidates,
        chosen=chosen,
        method=method,
        cnset=missing,
        missing=missing,
    )


def test_a_correct_choice_is_no_violation() -> None:
    """Of two sources that are otherwise equal, the one with more of the numbers comes first."""
    trace = lab()
    considers(trace, *C_FIRST)
    assert trace.witnesses() == []


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [
        (C_FIRST[::-1], "considered B, C, but the right order is C, B"),
        (C_FIRST[:1], "did not consider B"),
        ((candidate("C", 1), C_FIRST[1]), "considered C with numbers 1; it is 2"),
        ((candidate("C", 2, down=True), C_FIRST[1]), "considered C with down True; it is False"),
        ((candidate("C", 2, preferred=True), C_FIRST[1]), "considered C with preferred True; it is False"),
        ((candidate("C", 2, version="2007"), C_FIRST[1]), "considered C with version 2007; it is 2003"),
        ((candidate("C", 2, cost=5), C_FIRST[1]), "considered C with cost 5; it is 0"),
        ((candidate("C", 2, transit_us=5), C_FIRST[1]), "considered C with transmission time 5; it is None"),
        ((candidate("C", 2, has_all=False), C_FIRST[1]), "considered C with all numbers False; it is True"),
    ],
)
def test_a_wrong_view_of_a_holder(candidates: tuple[Candidate, ...], expected: str) -> None:
    """A holder that is left out, out of order, or described wrongly is a violation."""
    trace = lab()
    considers(trace, *candidates)
    assert any(expected in each for each in trace.witnesses()), trace.witnesses()


def test_a_store_off_the_list_loses_its_row() -> None:
    """After a store was taken off the list and put back, its row is empty until its next mail (RST-4)."""
    trace = lab()
    made = {"object": FOLDER, "kind": "folder", "subject": "Projects", "parent": "1-1", "operation": "modify"}
    trace.change("A", 2, folder="1-1", replicas=("A", "B"), **made)
    trace.change("A", 3, folder="1-1", replicas=("A", "B", "C"), **made)
    considers(trace, *C_FIRST)
    assert any("considered C with numbers 2; it is 0" in each for each in trace.witnesses()), trace.witnesses()


def asks(trace: Trace, source: str) -> None:
    trace.add(
        RequestSent, "A", folder=FOLDER, entry=1, source=source, cnset=numbers("B", 2), cnset_fai="", retry_at=START_AT
    )


@pytest.mark.parametrize(
    ("has", "down", "expected"),
    [
        ((1, 2), False, "A asks C, which left the replica list, for B-2 of Projects, which B holds"),
        ((1,), False, ""),
        ((1, 2), True, ""),
    ],
)
def test_a_leaving_store_is_asked_though_a_holder_has_it(has: tuple[int, ...], down: bool, expected: str) -> None:
    """A store off the list is asked only for what no holder that is up claims (BF-3, RP-2)."""
    trace = lab(B=has, C=(1, 2))
    made = {"object": FOLDER, "kind": "folder", "subject": "Projects", "parent": "1-1", "operation": "modify"}
    trace.change("A", 2, folder="1-1", replicas=("A", "B"), **made)
    if down:
        trace.add(SourceDown, "A", store="B", folder=FOLDER)
    asks(trace, "C")
    asks(trace, "B")
    assert trace.witnesses() == ([expected] if expected else [])


def test_a_leaving_store_among_the_candidates() -> None:
    """A store off the list comes after the holders, and is known to be leaving (BF-3, RP-2)."""
    trace = lab()
    made = {"object": FOLDER, "kind": "folder", "subject": "Projects", "parent": "1-1", "operation": "modify"}
    trace.change("A", 2, folder="1-1", replicas=("A", "B"), **made)
    leaver = candidate("C", 2, leaving=True)
    considers(trace, candidate("B", 1), leaver, chosen=("B", "C"))
    assert trace.witnesses() == []
    considers(trace, leaver, candidate("B", 1), chosen=("C", "B"))
    considers(trace, *C_FIRST)
    order, *mistaken = trace.witnesses()
    assert "considered C, B, but the right order is B, C" in order
    assert any("considered C with leaving False; it is True" in each for each in mistaken)


def test_a_wrong_method_and_a_wrong_source() -> None:
    """Each version has its own method of selection, and the first source that has something is asked."""
    trace = lab()
    considers(trace, *C_FIRST, method="six groups")
    considers(trace, *C_FIRST, chosen=("B",))
    first, second = trace.witnesses()
    assert "chose by 'six groups', but 2003 chooses by 'sorted list'" in first
    assert "chose B, but should choose C" in second


OLD = """
servers: {A: {version: "5.5"}, B: {version: "5.5"}, C: {version: "5.5"}, D: {version: "5.5"}}
folders: {Projects: {replicas: [A, B, C, D]}}
"""


@pytest.mark.parametrize(("chosen", "wrong"), [(("C",), False), (("C", "D"), True)])
def test_a_source_that_is_being_asked_is_one_of_the_two(chosen: tuple[str, ...], wrong: bool) -> None:
    """A 5.5 server asks at most two sources at a time. If one still has its request, one more is asked (BF-3)."""
    trace = lab(topology_from_text(OLD, "old"), B=(1,), C=(1, 2), D=(1, 2))
    found = (
        candidate("C", 2, version="5.5"),
        candidate("D", 2, version="5.5", passed_over="" if wrong else "two holders before it are asked"),
        candidate("B", 1, version="5.5", passed_over="is being asked already"),
    )
    considers(trace, *found, chosen=chosen, method="two holders")
    assert bool(trace.witnesses()) is wrong, trace.witnesses()


def test_earlier_requests_and_silent_sources_count() -> None:
    """A source that was asked and marked down counts as such at the next choice (BF-4, BF-9)."""
    trace = lab()
    trace.add(
        RequestSent, "A", folder=FOLDER, entry=1, source="C", cnset=numbers("B", 1), cnset_fai="", retry_at=START_AT
    )
    trace.add(SourceDown, "A", store="C", folder=FOLDER)
    considers(trace, *C_FIRST)
    witnesses = "\n".join(trace.witnesses())
    assert "considered C with down False; it is True" in witnesses
    assert "considered C with last backfill 0" in witnesses
