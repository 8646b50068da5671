"""Playing the scenario of a seed: its steps and faults, what is skipped, and the heal at the end."""

from __future__ import annotations

import pytest

from node.store.node import Node
from node.views import Changed
from pflab.campaign.draw import timed
from pflab.campaign.draw.timed import Span, Timed, fault
from pflab.campaign.player import JUDGED_EVERY_US, ONE_PLAYED_OUT_OF, SETTLING_US, Player
from pflab.campaign.scenario_document import Document
from pflab.campaign.seed import STORE_FAILED, run_document
from pflab.simulation.simulator import Simulator
from pflab.terms.verdict import Judgement
from tests.support.campaign_scenarios import (
    A_FAULT_OF_EACH_KIND,
    ORGANIZATION,
    ROUGH,
    WORK,
    campaign_scenario,
    simulated,
)
from traces.events import (
    BackupElsewhere,
    ChangeMade,
    ContentResumed,
    FaultHealed,
    FaultInjected,
    NodeStarted,
    NodeStopped,
    StoreCreated,
    VersionApplied,
)
from traces.labtime import HOUR_US, MINUTE_US


async def played(document: Document) -> tuple[Simulator, Player]:
    """Play a scenario; all invariants must hold. Return the lab."""
    lab, play = simulated(document)
    await lab.up()
    await play.play()
    return lab, play


async def test_every_step_is_a_change() -> None:
    """Each step does what it says, and no step is skipped (CN-2)."""
    lab, play = await played(campaign_scenario())
    assert (play.steps_run, play.skipped) == (len(WORK) + 1, 0)
    made = [(event.node, event.kind, event.operation) for event in lab.events() if isinstance(event, ChangeMade)]
    assert made[:4] == [("A", "message", "create")] * 3 + [("B", "fai", "create")]
    assert ("C", "folder", "delete") in made
    views = lab.read("A", lambda node: node.folders())
    assert [(view.path, view.replicas) for view in views] == [("F", ("A", "B"))]
    await lab.close()


def test_a_clean_run_violates_nothing() -> None:
    """Without faults every invariant holds at every instant, and in the end all stores have converged (CV-1 to CV-3)."""
    result = run_document(campaign_scenario())
    assert (result.judgement, result.violations, result.doubts) == (Judgement.CONVERGED, (), ())
    assert result.bound_us > 0
    assert {"conflict", "tombstone", "replica added", "replica dropped"} <= result.branches.keys()


@pytest.mark.parametrize(("seed", "played_out"), [(ONE_PLAYED_OUT_OF + 1, False), (ONE_PLAYED_OUT_OF, True)])
async def test_a_converged_lab_is_played_on_for_some_days(seed: int, played_out: bool) -> None:
    """A converged lab is played for two more days, or in one case of sixteen for all of its bound."""
    lab, play = await played({**campaign_scenario(), "seed": seed})
    healed_at = lab.topology.start_at + 10 * HOUR_US
    assert play.bound_us > JUDGED_EVERY_US + SETTLING_US
    assert lab.now - healed_at == (play.bound_us if played_out else JUDGED_EVERY_US + SETTLING_US)
    await lab.close()


async def test_a_lab_that_does_not_converge_is_played_for_all_of_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The player gives up a lab only at the end of its bound; here no store accepts any mail."""
    monkeypatch.setattr(Node, "mail_in", lambda *_: None)
    lab, play = simulated({**campaign_scenario(), "seed": ONE_PLAYED_OUT_OF + 1}, ())
    await lab.up()
    await play.play()
    assert lab.now - lab.topology.start_at - 10 * HOUR_US == play.bound_us
    await lab.close()


async def test_content_is_suspended_resumed_and_resumed_by_the_heal() -> None:
    """Stores that obey send no suspended content. A step resumes it, or at the latest the heal at the end does."""
    steps = (
        timed.content(action="suspend", at_us=MINUTE_US),
        timed.post(at_us=2 * MINUTE_US, on="A", folder="F", label="m1"),
        timed.content(action="resume", at_us=2 * HOUR_US),
        timed.content(action="suspend", at_us=3 * HOUR_US),
    )
    lab, play = await played(campaign_scenario(steps=steps))
    assert (play.steps_run, play.skipped) == (5, 0)
    start_at = lab.topology.start_at
    applied = [event.at - start_at for event in lab.events() if isinstance(event, VersionApplied)]
    assert min(applied) == 2 * HOUR_US + 15 * MINUTE_US
    resumed = [event.at - start_at for event in lab.events() if isinstance(event, ContentResumed) and event.node == "A"]
    assert resumed == [2 * HOUR_US, 10 * HOUR_US]
    await lab.close()


async def test_a_deleted_store_never_comes_back() -> None:
    """A step deletes a store with its replicas; later faults and the heal do not start it again (RP-6)."""
    outage = fault("kill", at_us=HOUR_US, lasts_us=4 * HOUR_US, server="C")
    back = fault("restore", at_us=0, lasts_us=6 * HOUR_US, server="C")
    steps = (*WORK[:2], timed.delete_store(at_us=2 * HOUR_US, on="A", store="C"))
    lab, _ = await played(campaign_scenario(outage, back, steps=steps))
    assert not lab.running("C")
    assert lab.read("B", lambda node: node.folders())[0].replicas == ("A", "B")
    await lab.close()


async def test_a_store_that_is_only_shown_is_replaced_at_the_end() -> None:
    """A server that shows another one's store at the end of the work gets a new store, because the shown one never replicates
    (RP-8). Its own backup is of no use to it before."""
    tape = timed.restore_elsewhere(at_us=3 * HOUR_US, on="C", owner="A", backup_at_us=HOUR_US, label="tape")
    back = fault("restore", at_us=0, lasts_us=6 * HOUR_US, server="C")
    lab, play = await played(campaign_scenario(back, steps=(*WORK[:2], *tape)))
    replaced = [event.store for event in lab.events() if isinstance(event, BackupElsewhere | StoreCreated)]
    assert (replaced, play.skipped) == (["C", "C"], 1)
    assert lab.running("C") and not lab.read("C", lambda node: node.folders())[0].hidden
    await lab.close()


@pytest.mark.parametrize("span", A_FAULT_OF_EACH_KIND, ids=lambda span: span.kind)
def test_each_kind_of_fault_is_survived(span: Span) -> None:
    """Under each kind of fault a lab keeps its invariants, and converges once it is healed (CV-3)."""
    result = run_document(campaign_scenario(span))
    assert [each.in_words() for each in result.violations] == []
    assert result.judgement is Judgement.CONVERGED


def test_all_kinds_of_fault_at_once_are_survived() -> None:
    """The same holds under all kinds of fault together, in a network with random delays and order."""
    result = run_document(campaign_scenario(*A_FAULT_OF_EACH_KIND, network=ROUGH))
    assert [each.in_words() for each in result.violations] == []


@pytest.mark.parametrize("span", A_FAULT_OF_EACH_KIND[:7], ids=lambda span: span.kind)
async def test_a_fault_begins_and_ends(span: Span) -> None:
    """A fault is injected at its time and healed at its end, unless its count was used up before."""
    lab, _ = await played(campaign_scenario(span))
    injected = [event for event in lab.events() if isinstance(event, FaultInjected)]
    healed = [event for event in lab.events() if isinstance(event, FaultHealed)]
    start_at = lab.topology.start_at
    assert [event.at for event in injected] == [start_at + span.at_us]
    assert [event.at <= start_at + span.at_us + span.lasts_us for event in healed] == [True]
    await lab.close()


async def test_a_swizzle_stops_and_starts_in_its_orders() -> None:
    """Stores stop one after the other and start in the other order."""
    swizzle = fault(
        "swizzle", at_us=HOUR_US, lasts_us=HOUR_US, stop=["C", "A"], start=["A", "C"], gap_us=10 * MINUTE_US
    )
    lab, _ = await played(campaign_scenario(swizzle, steps=()))
    back = [
        (event.node, event.at) for event in lab.events() if isinstance(event, NodeStarted) and event.reason == "restart"
    ]
    last_us = HOUR_US + HOUR_US + 2 * 10 * MINUTE_US
    start_at = lab.topology.start_at
    assert back == [("A", start_at + last_us), ("C", start_at + last_us + 10 * MINUTE_US)]
    await lab.close()


async def test_a_store_that_is_down_at_the_end_is_started() -> None:
    """Every store that is down at the end of the work is started, except one that never joined."""
    document = {**ORGANIZATION, "servers": {**ORGANIZATION["servers"], "D": {"joins": "later"}}}
    outage = fault("stop", at_us=HOUR_US, lasts_us=1000 * HOUR_US, server="B")
    lab, _ = await played(campaign_scenario(outage, topology=document, steps=()))
    assert [event.node for event in lab.events() if isinstance(event, NodeStopped)] == ["B"]
    assert (lab.running("B"), lab.absent("D")) == (True, True)
    await lab.close()


async def test_a_store_joins_once() -> None:
    """A store joins at its step; a second step for it does nothing (RP-3)."""
    document = {**ORGANIZATION, "servers": {**ORGANIZATION["servers"], "D": {"joins": "later"}}}
    joins = tuple(timed.join(at_us=hours * HOUR_US, store=store) for hours, store in ((1, "D"), (2, "D"), (3, "A")))
    lab, play = await played(campaign_scenario(topology=document, steps=joins))
    assert play.skipped == 2
    assert lab.running("D")
    await lab.close()


def test_steps_on_missing_things_are_skipped() -> None:
    """Steps whose message or folder does not exist yet, or that would change nothing, do nothing."""
    steps: tuple[Timed, ...] = (
        timed.post(at_us=0, on="A", folder="g", label="m2"),
        timed.edit(at_us=0, on="A", message="m1"),
        timed.delete(at_us=0, on="A", message="m1"),
        timed.recover(at_us=0, on="A", message="m1"),
        timed.create_folder(at_us=0, on="A", label="h", title="H", under="g"),
        timed.move_folder(at_us=0, on="A", folder="F", under="g"),
        timed.delete_folder(at_us=0, on="A", folder="g"),
        timed.add_replica(at_us=0, on="A", folder="F", store="B"),
        timed.remove_replica(at_us=0, on="A", folder="g", store="B"),
        timed.join(at_us=0, store="A"),
    )
    later = (
        timed.post(at_us=MINUTE_US, on="A", folder="F", label="m1"),
        timed.resolve(at_us=2 * MINUTE_US, on="A", message="m1", keep="last"),
        timed.create_folder(at_us=MINUTE_US, on="A", label="g", title="G"),
    )
    result = run_document(campaign_scenario(steps=steps + later))
    assert (result.steps_run, result.skipped) == (len(steps) + len(later) + 1, len(steps) + 1)
    assert result.judgement is Judgement.CONVERGED


def test_a_store_that_fails_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error inside a store, in a user's act or in the store's own work, ends the play as a violation, not as a crash."""

    def broken(*_: object, **__: object) -> None:
        raise AssertionError("planted")

    monkeypatch.setattr(Node, "tick", broken)
    (found,) = run_document(campaign_scenario()).violations
    assert found.invariant == STORE_FAILED
    assert "planted" in found.witness
    monkeypatch.undo()
    monkeypatch.setattr(Node, "post_batch", broken)
    (found,) = run_document(campaign_scenario()).violations
    assert found.witness == "server A: internal error while serving a user: AssertionError: planted"


def test_an_acknowledged_change_without_an_event_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every change that a store acknowledged must have an event (DU-1)."""
    monkeypatch.setattr(Node, "delete", lambda *_: Changed("E-9", f"{'ee' * 16}:9"))
    (found,) = run_document(campaign_scenario()).violations
    assert found.invariant == "acknowledged is committed"
    assert found.witness.startswith("A acknowledged eeee")
