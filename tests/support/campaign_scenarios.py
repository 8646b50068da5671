"""Small scenarios of campaigns for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pflab.campaign.draw import timed
from pflab.campaign.draw.scenario import scenario_of
from pflab.campaign.draw.timed import Span, Timed, fault
from pflab.campaign.monitor import CampaignMonitor
from pflab.campaign.player import Player
from pflab.campaign.scenario_document import Document, scenario_of_document
from pflab.invariants.invariant import Invariant
from pflab.invariants.registry import INVARIANTS
from pflab.simulation.simulator import Simulator
from topology.file.yaml_source import read_yaml
from traces.labtime import HOUR_US, MINUTE_US

ORGANIZATION: dict[str, Any] = {
    "servers": {"A": {}, "B": {}, "C": {}},
    "folders": {"F": {"replicas": ["A", "B", "C"], "contacts": ["kim@contoso.test"]}},
}

CALM: dict[str, Any] = {}
ROUGH: dict[str, Any] = {"shuffle": True, "jitter": "5 min"}

WORK: tuple[Timed, ...] = (
    timed.post(at_us=5 * MINUTE_US, on="A", folder="F", label="m1", count=3),
    timed.post(at_us=20 * MINUTE_US, on="B", folder="F", label="m2", associated=True),
    timed.edit(at_us=HOUR_US, on="B", message="m1-1"),
    timed.edit(at_us=HOUR_US, on="C", message="m1-1"),
    timed.delete(at_us=HOUR_US, on="A", message="m1-2"),
    timed.resolve(at_us=2 * HOUR_US, on="A", message="m1-1", keep="all"),
    timed.create_folder(at_us=2 * HOUR_US, on="C", label="g1", title="G", under="F", replicas=("C", "A")),
    timed.post(at_us=3 * HOUR_US, on="A", folder="g1", label="m3"),
    timed.add_replica(at_us=3 * HOUR_US, on="A", folder="g1", store="B"),
    timed.rename_folder(at_us=4 * HOUR_US, on="B", folder="g1", title="H"),
    timed.move_folder(at_us=5 * HOUR_US, on="B", folder="g1", under=None),
    timed.change_folder(at_us=5 * HOUR_US, on="A", folder="g1", schedule="every 1 h", resolve="last writer wins"),
    timed.remove_replica(at_us=6 * HOUR_US, on="A", folder="F", store="C"),
    timed.delete_folder(at_us=8 * HOUR_US, on="C", folder="g1"),
)
"""Every kind of step that needs no particular organization."""


def campaign_scenario(
    *faults: Span,
    steps: tuple[Timed, ...] = WORK,
    topology: dict[str, Any] = ORGANIZATION,
    network: dict[str, Any] = CALM,
    length_us: int = 10 * HOUR_US,
) -> Document:
    """Return a scenario of seed 1."""
    return scenario_of(1, topology, steps, faults, length_us, network)


def document_of(text: str) -> Document:
    """Return the document of a scenario file."""
    source = read_yaml(text, "scenario")
    assert not source.problems
    return dict(source.data)


A_FAULT_OF_EACH_KIND: tuple[Span, ...] = (
    fault("lose", at_us=0, lasts_us=4 * HOUR_US, from_="A", type="content", count=2),
    fault("delay", at_us=0, lasts_us=4 * HOUR_US, to="B", by_us=3 * HOUR_US),
    fault("duplicate", at_us=0, lasts_us=8 * HOUR_US),
    fault("reorder", at_us=0, lasts_us=8 * HOUR_US, by_us=40 * MINUTE_US, count=None),
    fault("alter", at_us=0, lasts_us=2 * HOUR_US, how="noise", count=5),
    fault("cut", at_us=0, lasts_us=5 * HOUR_US, between=["A", "B"], one_way=True),
    fault("hold", at_us=0, lasts_us=5 * HOUR_US, from_="A", to="B"),
    fault("swizzle", at_us=HOUR_US, lasts_us=HOUR_US, stop=["C", "A"], start=["A", "C"], gap_us=10 * MINUTE_US),
    fault("crash", at_us=0, lasts_us=2 * HOUR_US, server="A", point="before commit", after=1),
    fault("stall", at_us=HOUR_US, lasts_us=HOUR_US, server="B", commits=True),
    fault("skew", at_us=0, lasts_us=5 * HOUR_US, server="C", by_us=3 * HOUR_US),
    fault("stop", at_us=0, lasts_us=5 * HOUR_US, server="B"),
    fault("unstamp", at_us=9 * HOUR_US, lasts_us=HOUR_US, server="C"),
    fault("unlink", at_us=11 * HOUR_US, lasts_us=HOUR_US, server="C"),
    fault("double", at_us=13 * HOUR_US, lasts_us=HOUR_US, server="B"),
)


def simulated(document: Document, invariants: Sequence[type[Invariant]] = INVARIANTS) -> tuple[Simulator, Player]:
    """Return the lab of a scenario, which is not up yet, and what plays the scenario on it."""
    scenario = scenario_of_document(document)
    network = None if scenario.network is None else scenario.network.policy()
    lab = Simulator(scenario.topology, seed=scenario.seed or 0, network=network)
    return lab, Player(lab, scenario, CampaignMonitor(lab, invariants))
