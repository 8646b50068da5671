"""Shrinking a failing scenario: it keeps what the failure needs and removes everything else, within bounds."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflab.campaign.draw import timed
from pflab.campaign.draw.scenario import draw_scenario
from pflab.campaign.reductions import LISTS, SIMPLER, at_of, cut_after, size_of, work_of
from pflab.campaign.scenario_document import Document, scenario_of_document, verb_of
from pflab.campaign.seed import SeedResult, run_document
from pflab.campaign.shrinker import Shrinker, minimize
from pflab.errors import LabError
from pflab.invariants.evidence.facts import Facts
from pflab.invariants.invariant import Invariant, Violation, Witnesses
from pflab.terms.event_handlers import event_handler
from pflab.terms.verdict import Judgement
from tests.support.campaign_scenarios import A_FAULT_OF_EACH_KIND, ROUGH, WORK, campaign_scenario, document_of
from tests.support.samples import sampled
from traces.events import HopDropped, TombstoneMade
from traces.labtime import HOUR_US


class NoDeletionAfterALoss(Invariant):
    """A planted invariant: after the loss of a mail there must be no deletion."""

    id = "planted"
    rules = ("DL-1",)
    says = "No deletion follows a lost mail."

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._lost = False

    @event_handler
    def _dropped(self, event: HopDropped) -> Witnesses:
        del event
        self._lost = True
        return iter(())

    @event_handler
    def _deleted(self, event: TombstoneMade) -> Witnesses:
        if self._lost and event.folder != "1-1":
            yield f"{event.node} deleted a message after a mail was lost"


def play(scenario: Document) -> SeedResult:
    return run_document(scenario, invariants=(NoDeletionAfterALoss,))


def failing() -> Document:
    """Return a scenario with much that the planted failure does not need."""
    late = timed.delete(at_us=7 * HOUR_US, on="B", message="m1-3")
    return campaign_scenario(*A_FAULT_OF_EACH_KIND, steps=(*WORK, late), network=ROUGH)


def test_a_planted_failure_is_made_minimal() -> None:
    """Only the few steps, faults and stores remain that the failure needs."""
    shrunk = Shrinker(play, most_plays=200).shrink(failing())
    assert shrunk.complete
    assert shrunk.result.broken == {"planted"}
    small = shrunk.scenario
    assert sorted(verb_of(step) for step in work_of(small)) == ["delete", "lose", "posts"]
    assert len(small["topology"]["servers"]) == 2
    assert "network" not in small
    assert play(small).broken == {"planted"}


def test_shrinking_is_deterministic() -> None:
    """The same scenario shrinks to the same scenario with the same number of plays."""
    one, other = (Shrinker(play, most_plays=12).shrink(failing()) for _ in range(2))
    assert (one.scenario, one.plays) == (other.scenario, other.plays)


def test_the_file_of_a_shrunk_scenario() -> None:
    """The file begins with the witness in words and is read back as the scenario."""
    shrunk = Shrinker(play, most_plays=8).shrink(failing())
    text = shrunk.text("pflab run x.yaml --simulate")
    lines = text.splitlines()
    assert lines[0].startswith(f"# seed 1, shrunk in {shrunk.plays} plays: planted (DL-1) at 2003-10-21T")
    assert lines[0].endswith("deleted a message after a mail was lost")
    assert "# pflab run x.yaml --simulate" in lines
    read = document_of(text)
    assert (read["title"], read["steps"]) == ("Seed 1, shrunk", shrunk.scenario["steps"])


def fake(judge: Callable[[Document], bool]) -> Callable[[Document], SeedResult]:
    """A player that fails as the test says and takes no time."""

    def result(scenario: Document) -> SeedResult:
        if not judge(scenario):
            return SeedResult(1, Judgement.CONVERGED)
        late = scenario_of_document(scenario).topology.start_at + 10 * HOUR_US
        return SeedResult(1, Judgement.NOT_CONVERGED, (Violation("x", (), late, "planted"),))

    return result


def test_the_number_of_plays_is_bounded() -> None:
    """At the bound the shrinker returns the smallest scenario so far, marked as unfinished."""
    shrunk = Shrinker(fake(lambda scenario: len(work_of(scenario)) > 3), most_plays=5).shrink(failing())
    assert (shrunk.plays, shrunk.complete) == (5, False)
    assert len(work_of(shrunk.scenario)) > 3


def test_the_time_is_bounded() -> None:
    """When the time is up the shrinker returns the smallest scenario so far; it always makes the first play."""
    shrunk = Shrinker(fake(lambda _: True), most_seconds=0.0).shrink(failing())
    assert (shrunk.plays, shrunk.complete) == (1, False)


def test_what_does_not_fail_cannot_be_shrunk() -> None:
    """A scenario without a violation is refused."""
    with pytest.raises(LabError, match="seed 1 violates no invariant"):
        Shrinker(fake(lambda _: False)).shrink(campaign_scenario())


def test_another_failure_is_not_taken_for_it() -> None:
    """A smaller scenario that fails in another way is not accepted."""

    def result(scenario: Document) -> SeedResult:
        id_ = "the one" if len(work_of(scenario)) >= 4 else "another"
        return SeedResult(1, Judgement.NOT_CONVERGED, (Violation(id_, (), 10**18, ""),))

    assert len(work_of(Shrinker(result).shrink(failing()).scenario)) == 4


@given(st.sets(st.integers(0, 40), max_size=5), st.integers(1, 41))
def test_least_keeps_what_is_needed(needed: set[int], size: int) -> None:
    """Delta debugging finds exactly the items that the failure needs, wherever they are."""
    needed = {item for item in needed if item < size}
    assert minimize(list(range(size)), lambda items: needed <= set(items)) == sorted(needed)


@pytest.mark.parametrize("seed", sampled(range(30, 36), 3))
def test_smaller_scenarios_are_valid(seed: int) -> None:
    """Whatever a reduction removes, the rest is a valid scenario, or it is refused."""
    whole = draw_scenario(seed)
    draw = random.Random(seed)
    for items_of, with_items in LISTS:
        items = items_of(whole)
        for _ in range(4):
            some = [item for item in items if draw.random() < 0.6]
            smaller = with_items(whole, some)
            if smaller is None or not smaller["topology"]["servers"]:
                continue
            scenario_of_document(smaller)
            assert size_of(smaller) <= size_of(whole)
            for simpler in SIMPLER:
                for candidate in list(simpler(smaller))[:3]:
                    scenario_of_document(candidate)


def with_stores(scenario: Document, *stores: str) -> Document | None:
    (reduced,) = [with_items for items_of, with_items in LISTS if items_of(campaign_scenario()) == ["A", "B", "C"]]
    return reduced(scenario, stores)


def test_an_organization_of_late_stores_only_is_refused() -> None:
    """Stores that all join later have no store to join, so the scenario is refused."""
    document = {"servers": {"A": None, "B": {"joins": "later"}}, "folders": {"F": None}}
    assert with_stores(campaign_scenario(topology=document), "B") is None
    assert with_stores(campaign_scenario(topology=document), "A") is not None


def test_removing_a_store_removes_all_that_refers_to_it() -> None:
    """Removing a store removes its steps, its faults, its replicas, and its site if that is empty."""
    document = {
        "sites": ["SEA", "NYC"],
        "connectors": [{"name": "X", "between": ["SEA", "NYC"], "bridgeheads": {"SEA": "A", "NYC": "B"}}],
        "servers": {
            "A": {"site": "SEA", "settings": {"Preferred Backfill Source": "B"}},
            "B": {"site": "NYC"},
            "C": {"site": "SEA"},
        },
        "folders": {"F": {"replicas": ["B", "A"]}, "F/G": {"replicas": ["B"]}, "F/G/H": {"replicas": ["A"]}},
    }
    smaller = with_stores(campaign_scenario(*A_FAULT_OF_EACH_KIND, topology=document), "A", "C")
    assert smaller is not None
    organization = scenario_of_document(smaller).topology
    assert (organization.sites, organization.connectors) == (("SEA",), ())
    assert {path: folder.replicas for path, folder in organization.folders.items()} == {"F": ("A",)}
    assert "'B'" not in str(work_of(smaller))


def test_removing_a_store_removes_the_policies_that_name_it_or_its_site() -> None:
    """A recipient policy that names a server or a site that there is not any more is removed, and so are the steps with it."""
    document = {
        "sites": ["SEA", "NYC"],
        "connectors": [{"between": ["SEA", "NYC"]}],
        "servers": {"A": {"site": "SEA"}, "B": {"site": "NYC"}},
        "folders": {},
        "recipient_policies": [
            {"name": "NYC", "domain": "x.test", "filter": {"sites": ["NYC"]}},
            {"name": "both", "domain": "x.test", "filter": {"servers": ["A", "B"]}},
            {"name": "new", "domain": "x.test", "filter": {"versions": ["2003"]}},
        ],
    }
    changes: list[dict[str, Any]] = [
        {"change": "NYC", "priority": 2},
        {"change": "new", "priority": 1},
        {"add": "B", "domain": "y.test", "filter": {"servers": ["B"]}},
        {"remove": "B"},
        {"remove": "new"},
    ]
    steps = tuple(timed.recipient_policy(at_us=at * HOUR_US, **change) for at, change in enumerate(changes, 1))
    smaller = with_stores(campaign_scenario(steps=steps, topology=document), "A")
    assert smaller is not None
    assert [policy.name for policy in scenario_of_document(smaller).topology.recipient_policies] == ["new"]
    assert [step["recipient_policy"] for step in work_of(smaller)] == [
        {"change": "new", "priority": 1},
        {"remove": "new"},
    ]


def test_a_reduction_that_disconnects_sites_is_refused() -> None:
    """Sites that mail can no longer reach would be a failure that the shrinker caused itself."""
    document = {
        "sites": ["SEA", "NYC", "LON"],
        "connectors": [{"between": ["SEA", "NYC"]}, {"between": ["NYC", "LON"]}],
        "servers": {"A": {"site": "SEA"}, "B": {"site": "NYC"}, "C": {"site": "LON"}},
        "folders": {},
    }
    whole = campaign_scenario(topology=document)
    assert with_stores(whole, "A", "C") is None
    assert with_stores(whole, "A", "B") is not None
    assert with_stores(whole) is None


def test_what_comes_after_the_failure_goes_first() -> None:
    """The first reduction removes all steps and faults later than the violation."""
    whole = campaign_scenario(*A_FAULT_OF_EACH_KIND)
    start_at = scenario_of_document(whole).topology.start_at
    cut = cut_after(whole, start_at + HOUR_US)
    assert cut is not None
    assert all(at_of(step) <= HOUR_US for step in work_of(cut))
    assert cut_after(whole, start_at + 10 * HOUR_US) is None
