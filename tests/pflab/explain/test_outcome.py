"""The last sentence of an explanation agrees with what the stores have, at each step of each scenario."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from node.errors import NodeError
from node.views import Knowledge
from pflab.explain.outcome import Outcome
from pflab.runs.events import RunEvents
from pflab.scenario.load import Step, load_scenario, scenario_from_text
from pflab.scenario.runner import run_scenario
from pflab.simulation.simulator import Simulator
from pflab.terms import number_sets as sets
from pflab.terms.store_objects import StoreObjects
from pflab.terms.verdict import join_names
from tests.support.cli_runs import SCENARIOS
from tests.support.samples import sampled
from topology.model import Topology
from traces.events import BackupElsewhere, ChangeMade, StoreCreated, TombstoneDropped
from traces.labtime import LabTime

AT_ONCE = 8
"""How many changes are asked about at one step: the newest one and others, evenly spread."""
NOWHERE = "; no store has it."
ENDS = (
    "has it",
    "has a newer version",
    "has deleted it",
    "has expired it by age",
    "counts it as received without its content",
)

RESTORES = """\
title: Two stores come back from backups, one with a loss
topology: {servers: {A: , B: }, folders: {Projects: , News: }}
steps:
  - post: {on: A, folder: Projects, subject: One}
  - advance: 1 min
  - backup: {on: A, as: early}
  - post: {on: A, folder: Projects, subject: Lost}
  - post: {on: A, folder: News, subject: Lost too}
  - backup: {on: A, as: later}
  - advance: 1 min
  - restore: {on: A, backup: early}
  - advance: 16 min
  - post: {on: A, folder: Projects, subject: Next}
  - backup: {on: B, as: of B}
  - advance: 1 h
  - restore: {on: B, backup: of B}
  - restore: {on: A, backup: later}
  - say: The later backup has what was lost.
  - advance: 3 d
"""


@dataclass
class Watcher:
    """Compares the sentences with the stores before each step."""

    lab: Simulator | None = None
    kept: dict[tuple[str, str], Knowledge | None] = field(default_factory=dict)
    """By store and folder: what the store knew when it last ran."""
    objects: StoreObjects = field(default_factory=StoreObjects)
    seen: int = 0
    asked: int = 0

    def make(self, topology: Topology) -> Simulator:
        self.lab = Simulator(topology, seed=1)
        return self.lab

    def check(self, step: Step | None = None, now: LabTime = 0) -> None:
        assert self.lab is not None
        events = self.lab.events()
        if len(events) == self.seen:
            return
        self.seen = len(events)
        run = RunEvents.of(Path("nowhere"), events)
        for event in run.events:
            if isinstance(event, BackupElsewhere):
                self.objects.elsewhere(event)
            elif isinstance(event, StoreCreated):
                self.objects.created(event)
        changes = [event for event in run.events if isinstance(event, ChangeMade)]
        # Of a message that is back after its tombstone was dropped, no store can say which deletion it missed (DL-4).
        dropped = {event.object for event in run.events if isinstance(event, TombstoneDropped)}
        changes = [event for event in changes if event.object not in dropped]
        self._look({event.folder for event in changes})
        for event in changes[:: -max(1, len(changes) // AT_ONCE)]:
            self.asked += 1
            said = Outcome(self.lab.topology, run, event).sentence()
            if said.endswith(NOWHERE):
                said = NOWHERE
            where = f"line {step.line}" if step is not None else "the end"
            assert said in self._true(event, changes), (where, run.names.number(event.number))

    def _look(self, changed: set[str]) -> None:
        """Read what the running stores know of the changed folders, and of all that a store has: one may stop before the first
        change of a folder."""
        assert self.lab is not None
        for store in filter(self.lab.running, self.lab.names):
            paths = {view.id: view.path for view in self.lab.read(store, lambda node: node.folders())} | {"1-1": "1-1"}
            for folder in changed | paths.keys():
                try:
                    path = paths[folder]
                    known = self.lab.read(store, lambda node, path=path: node.knowledge(path))  # type: ignore[misc]
                except (NodeError, KeyError):
                    known = None
                self.kept[store, folder] = known

    def _true(self, change: ChangeMade, changes: list[ChangeMade]) -> set[str]:
        """Return the sentences that are true; NOWHERE for any sentence about a loss."""
        assert self.lab is not None
        holders = {
            store: known
            for store in self.lab.names
            if not self.lab.deleted(store)
            and store not in self.objects.copies  # it holds no replica (RP-8)
            and (known := self.kept.get((store, change.folder))) is not None
            and known.holds
        }
        if not holders:
            return {"No store holds a replica any more."}
        ends = {store: _ends(known, change, changes) for store, known in holders.items()}
        lacking = [store for store, each in ends.items() if not each]
        if lacking:
            told = {f"{join_names(lacking)} still {'lacks' if len(lacking) == 1 else 'lack'} it."}
            return told | {NOWHERE} if len(lacking) == len(holders) else told
        every = "Every store" if change.folder == "1-1" else "Every store that holds a replica"
        some = {end for each in ends.values() for end in each}
        return {
            f"{every} {' or '.join(each)}."
            for each in _choices([end for end in ENDS if end in some])
            if all(set(each) & of_one for of_one in ends.values())
        }


def _choices(ends: list[str]) -> list[list[str]]:
    """Return all selections of these ends, in their order."""
    found: list[list[str]] = [[]]
    for end in ends:
        found += [[*each, end] for each in found]
    return found


def _ends(known: Knowledge, change: ChangeMade, changes: list[ChangeMade]) -> set[str]:
    """Return what can be said of a store by what it has; nothing if it lacks the change."""
    ancestors: dict[str, set[str]] = {}
    for each in changes:
        ancestors[each.number] = set(each.supersedes).union(*(ancestors.get(one, set()) for one in each.supersedes))
    versions = [number for number, _ in known.versions.get(change.object, ())]
    if change.number in versions:
        return {"has it"}
    if any(change.number in ancestors.get(number, ()) for number in versions):
        return {"has a newer version"}
    accounts = sets.contains(
        known.numbers_fai if change.kind == "fai" else known.numbers, *sets.split_number(change.number)
    )
    if change.object in known.tombstones:
        if change.operation != "delete":
            return {"has deleted it"}
        # Of two deletions a store keeps one, and does not show which.
        return {"has it", "has a newer version", "has deleted it"} if accounts else {"has deleted it"}
    if not accounts:
        return set()
    if change.operation == "delete" and versions:
        return {"counts it as received without its content"}
    # An expired version can be a newer one, and a store forgets in time that something has expired.
    return {"has a newer version", "has expired it by age", "counts it as received without its content"}


@pytest.mark.parametrize("path", sampled(sorted(SCENARIOS.glob("*.yaml")), 6), ids=lambda path: path.stem)
async def test_the_last_sentence_agrees_with_the_stores(path: Path) -> None:
    """Whatever a scenario has done so far, the sentence about a change is what the stores have."""
    watcher = Watcher()
    await run_scenario(load_scenario(path), watcher.make, watch=watcher.check, finish=lambda _: watcher.check())


async def test_the_last_sentence_agrees_with_stores_that_were_restored() -> None:
    """RP-4, DU-1: a restore takes back what a store has, and a restore from a newer backup can bring it again."""
    watcher = Watcher()
    scenario = scenario_from_text(RESTORES)
    result = await run_scenario(scenario, watcher.make, watch=watcher.check, finish=lambda _: watcher.check())
    assert result.passed, result.in_words()
    assert watcher.asked > len(scenario.steps)
