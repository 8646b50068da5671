"""Shrinking a failing plan: it keeps what the failure needs and removes everything else, within bounds."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflab.campaign.as_scenario import scenario_text, steps_of
from pflab.campaign.plans import plan as cp
from pflab.campaign.plans.draw import draw_plan
from pflab.campaign.plans.file import plan_from_text
from pflab.campaign.plans.reductions import LISTS, SIMPLER, cut_after
from pflab.campaign.seed import SeedResult, run_plan
from pflab.campaign.shrinker import Shrinker, minimize
from pflab.errors import LabError
from pflab.invariants.evidence.facts import Facts
from pflab.invariants.invariant import Invariant, Violation, Witnesses
from pflab.scenario.load import scenario_from_text
from pflab.terms.event_handlers import event_handler
from pflab.terms.verdict import Judgement
from tests.support.campaign_plans import A_FAULT_OF_EACH_KIND, WORK, plan
from traces.events import HopDropped, TombstoneMade
from traces.labtime import HOUR_US, MINUTE_US


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


def play(a_plan: cp.Plan) -> SeedResult:
    return run_plan(a_plan, invariants=(NoDeletionAfterALoss,))


def failing() -> cp.Plan:
    """Return a plan with much that the planted failure does not need."""
    late = cp.Delete(at_us=7 * HOUR_US, on="B", message="m1.3")
    return plan(*A_FAULT_OF_EACH_KIND, steps=(*WORK, late), network=cp.Network(shuffle=True, jitter_us=MINUTE_US))


def test_a_planted_failure_is_made_minimal() -> None:
    """Only the few steps, faults and stores remain that the failure needs."""
    shrunk = Shrinker(play, most_plays=150).shrink(failing())
    assert shrunk.complete
    assert shrunk.result.broken == {"planted"}
    small = shrunk.plan
    assert [type(fault) for fault in small.faults] == [cp.Lose]
    assert [type(step) for step in small.steps] == [cp.Post, cp.Delete]
    assert len(small.topology["servers"]) == 2
    assert small.network == cp.Network()
    assert play(small).broken == {"planted"}


def test_shrinking_is_deterministic() -> None:
    """The same plan shrinks to the same plan with the same number of plays."""
    one, other = (Shrinker(play, most_plays=12).shrink(failing()) for _ in range(2))
    assert (one.plan, one.plays) == (other.plan, other.plays)


def test_the_file_of_a_shrunk_plan() -> None:
    """The file begins with the witness in words and is read back as the plan."""
    shrunk = Shrinker(play, most_plays=8).shrink(failing())
    text = shrunk.text("pflab simulate --plan x.yaml")
    lines = text.splitlines()
    assert lines[0].startswith(f"# seed 1, shrunk in {shrunk.plays} plays: planted (DL-1) at 2003-10-21T")
    assert lines[0].endswith("deleted a message after a mail was lost")
    assert "# pflab simulate --plan x.yaml" in lines
    assert plan_from_text(text) == shrunk.plan


def fake(judge: Callable[[cp.Plan], bool]) -> Callable[[cp.Plan], SeedResult]:
    """A player that fails as the test says and takes no time."""

    def result(a_plan: cp.Plan) -> SeedResult:
        if not judge(a_plan):
            return SeedResult(a_plan.seed, Judgement.CONVERGED)
        late = a_plan.organization().start_at + a_plan.length_us
        return SeedResult(a_plan.seed, Judgement.NOT_CONVERGED, (Violation("x", (), late, "planted"),))

    return result


def test_the_number_of_plays_is_bounded() -> None:
    """At the bound the shrinker returns the smallest plan so far, marked as unfinished."""
    shrunk = Shrinker(fake(lambda a_plan: len(a_plan.steps) > 3), most_plays=5).shrink(failing())
    assert (shrunk.plays, shrunk.complete) == (5, False)
    assert len(shrunk.plan.steps) > 3


def test_the_time_is_bounded() -> None:
    """When the time is up the shrinker returns the smallest plan so far; it always makes the first play."""
    shrunk = Shrinker(fake(lambda _: True), most_seconds=0.0).shrink(failing())
    assert (shrunk.plays, shrunk.complete) == (1, False)


def test_what_does_not_fail_cannot_be_shrunk() -> None:
    """A plan without a violation is refused."""
    with pytest.raises(LabError, match="plan 1 violates no invariant"):
        Shrinker(fake(lambda _: False)).shrink(plan())


def test_another_failure_is_not_taken_for_it() -> None:
    """A smaller plan that fails in another way is not accepted."""

    def result(a_plan: cp.Plan) -> SeedResult:
        id_ = "the one" if len(a_plan.steps) >= 4 else "another"
        return SeedResult(1, Judgement.NOT_CONVERGED, (Violation(id_, (), 10**18, ""),))

    assert len(Shrinker(result).shrink(failing()).plan.steps) == 4


@given(st.sets(st.integers(0, 40), max_size=5), st.integers(1, 41))
def test_least_keeps_what_is_needed(needed: set[int], size: int) -> None:
    """Delta debugging finds exactly the items that the failure needs, wherever they are."""
    needed = {item for item in needed if item < size}
    assert minimize(list(range(size)), lambda items: needed <= set(items)) == sorted(needed)


@pytest.mark.parametrize("seed", range(30, 36))
def test_smaller_plans_are_plans(seed: int) -> None:
    """Whatever a reduction removes, the rest is a valid organization and plan, or it is refused."""
    whole = draw_plan(seed)
    draw = random.Random(seed)
    for items_of, with_items in LISTS:
        items = items_of(whole)
        for _ in range(4):
            some = [item for item in items if draw.random() < 0.6]
            smaller = with_items(whole, some)
            if smaller is None or not smaller.topology["servers"]:
                continue
            smaller.organization()
            assert smaller.size <= whole.size
            for simpler in SIMPLER:
                for candidate in list(simpler(smaller))[:3]:
                    candidate.organization()


def test_a_plan_of_late_stores_only_is_refused() -> None:
    """Stores that all join later have no store to join, so the plan is refused."""
    document = {"servers": {"A": None, "B": {"joins": "later"}}, "folders": {"F": None}}
    (with_stores,) = [with_items for items_of, with_items in LISTS if items_of(plan()) == ["A", "B", "C"]]
    assert with_stores(plan(topology=document), ["B"]) is None
    assert with_stores(plan(topology=document), ["A"]) is not None


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
    (with_stores,) = [with_items for items_of, with_items in LISTS if items_of(plan()) == ["A", "B", "C"]]
    smaller = with_stores(plan(*A_FAULT_OF_EACH_KIND, topology=document), ["A", "C"])
    assert smaller is not None
    organization = smaller.organization()
    assert (organization.sites, organization.connectors) == (("SEA",), ())
    assert {path: folder.replicas for path, folder in organization.folders.items()} == {"F": ("A",)}
    assert not any("B" in str(fault) for fault in smaller.faults)
    assert not any(getattr(step, "on", None) == "B" for step in smaller.steps)


def test_a_reduction_that_disconnects_sites_is_refused() -> None:
    """Sites that mail can no longer reach would be a failure that the shrinker caused itself."""
    document = {
        "sites": ["SEA", "NYC", "LON"],
        "connectors": [{"between": ["SEA", "NYC"]}, {"between": ["NYC", "LON"]}],
        "servers": {"A": {"site": "SEA"}, "B": {"site": "NYC"}, "C": {"site": "LON"}},
        "folders": {},
    }
    (with_stores,) = [with_items for items_of, with_items in LISTS if items_of(plan()) == ["A", "B", "C"]]
    assert with_stores(plan(topology=document), ["A", "C"]) is None
    assert with_stores(plan(topology=document), ["A", "B"]) is not None
    assert with_stores(plan(topology=document), []) is None


def test_what_comes_after_the_failure_goes_first() -> None:
    """The first reduction removes all steps and faults later than the violation."""
    whole = plan(*A_FAULT_OF_EACH_KIND)
    cut = cut_after(whole, whole.organization().start_at + HOUR_US)
    assert cut is not None
    assert all(each.at_us <= HOUR_US for each in (*cut.steps, *cut.faults))
    assert cut_after(whole, whole.organization().start_at + whole.length_us) is None


@pytest.mark.parametrize("seed", [3, 5, 29])
def test_a_plan_and_its_scenario_are_the_same_run(seed: int) -> None:
    """The scenario of a plan is valid, and has the steps that the campaign plays, at the same times."""
    a_plan = draw_plan(seed, days=2)
    scenario = scenario_from_text(scenario_text(a_plan, "the plan"))
    *steps, repair, until = scenario.steps
    played = steps_of(a_plan)
    assert [(step.at_us, step.verb, step.args) for step in steps] == [
        (step.at_us, step.verb, step.args) for step in played
    ]
    assert (repair.verb, repair.at_us, until.verb) == ("repair", a_plan.length_us, "until")
    assert (scenario.seed, scenario.missing) == (seed, "skip")
