"""The order of a run's events: each comes after its causes, also those of the lab about backups."""

from __future__ import annotations

import random

from pflab.runs.causal_order import in_causal_order
from pflab.scenario.load import scenario_from_text
from pflab.scenario.runner import run_scenario
from pflab.simulation.simulator import Simulator
from topology.file.load import topology_from_text
from topology.model import Topology
from traces.events import (
    BackupMade,
    BackupRestored,
    Event,
    NodeStarted,
    OrganizationChanged,
    OrganizationRead,
    RunStarted,
)

BACKUPS = """\
title: Backups and restores at one instant and later
topology: {servers: {A: , B: }, folders: {Projects: }}
steps:
  - post: {on: A, folder: Projects, subject: One}
  - backup: {on: A, as: one}
  - post: {on: A, folder: Projects, subject: Two}
  - backup: {on: B, as: empty}
  - backup: {on: A, as: two}
  - post: {on: A, folder: Projects, subject: Three}
  - restore: {on: A, backup: one}
  - restore: {on: A, backup: two}
  - advance: 16 min
  - post: {on: A, folder: Projects, subject: Four}
  - restore: {on: B, backup: empty}
  - stop: A
  - start: A
  - restore: {on: A, backup: one}
  - advance: 1 h
"""


async def test_backups_and_restores_are_between_the_right_events_of_their_store() -> None:
    """RP-4: whatever the Lamport numbers of the lab are, its events about the backups of a store have the same place among
    that store's events as when they were recorded."""
    labs: list[Simulator] = []

    def make(topology: Topology) -> Simulator:
        labs.append(Simulator(topology, seed=1))
        return labs[0]

    result = await run_scenario(scenario_from_text(BACKUPS), make)
    assert result.passed, result.in_words()
    recorded = list(labs[0].events())
    for seed in range(20):
        events = list(recorded)
        random.Random(seed).shuffle(events)
        ordered = in_causal_order(events)
        assert len(ordered) == len(recorded)
        for store in ("A", "B"):
            assert _of(store, ordered) == _of(store, recorded)


async def test_a_change_of_the_organization_comes_before_the_stores_read_it() -> None:
    """RT-6: whatever the Lamport numbers of the lab are, each change comes before the stores read it, and after the change
    before it, also if all are at one instant. A server is added before it starts."""
    topology = topology_from_text("servers: {A: {site: SEA}, B: {site: NYC}}\nconnectors: [{between: [SEA, NYC]}]\n")
    async with Simulator(topology, seed=1) as lab:
        await lab.stop("B")
        for cost in (20, 30, 40):
            await lab.change_connector("SEA-NYC", cost=cost)
        await lab.start("B")
        await lab.change_connector("SEA-NYC", cost=50)
        await lab.add_server("C", site="NYC")
        await lab.start("C")
        recorded = list(lab.events())
    for seed in range(20):
        events = list(recorded)
        random.Random(seed).shuffle(events)
        known = 0
        in_order = in_causal_order(events)
        assert isinstance(in_order[0], RunStarted)
        for event in in_order:
            if isinstance(event, OrganizationChanged):
                assert event.revision == known + 1
                known = event.revision
            elif isinstance(event, NodeStarted) and event.node == "C":
                assert known == 5
            elif isinstance(event, OrganizationRead):
                assert event.revision <= known


def _of(store: str, events: list[Event]) -> list[Event]:
    return [
        event
        for event in events
        if event.node == store or (isinstance(event, BackupMade | BackupRestored) and event.store == store)
    ]
