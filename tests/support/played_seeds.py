"""Seeds of campaigns, played in the simulator, as the console gets them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pflab.campaign.draw.scenario import draw_scenario
from pflab.replay.replay_file import Replay, run_document
from pflab.runs.events import RunEvents
from pflab.simulation.simulator import Simulator
from pflab.terms import number_sets as sets
from tests.support.campaign_scenarios import simulated


async def played(seed: int) -> tuple[bytes, dict[str, Any]]:
    """Play a seed. Return its run as the console reads it, and the state of its stores at the end."""
    lab, player = simulated(draw_scenario(seed))
    await lab.up()
    await player.play()
    return await end_of(lab)


async def end_of(lab: Simulator) -> tuple[bytes, dict[str, Any]]:
    """Close a lab. Return its run as the console reads it, and the state of its stores at the end."""
    stores = {name: lab.read(name, state_of) for name in lab.names if lab.running(name)}
    events = RunEvents.of(Path("run"), lab.events()).events
    await lab.close()
    return run_document(Replay(title="run", topology=lab.topology, events=events)), stores


def state_of(node: Any) -> dict[str, Any]:
    held = [view.id for view in node.folders() if view.held_here]
    paths = {view.id: view.path for view in node.folders() if not view.hidden}
    return {folder: {**table_of(node, folder), "path": paths.get(folder)} for folder in ("1-1", *held)}


def table_of(node: Any, folder: str) -> dict[str, Any]:
    known, state = node.knowledge(folder), node.state(folder)
    return {
        "numbers": both(known.numbers, known.numbers_fai),
        "rows": {row.store: both(row.cnset, row.cnset_fai) for row in state.rows if not row.is_local and row.heard_at},
        "entries": {
            str(entry.id): both(entry.cnset, entry.cnset_fai) for entry in node.backfill() if entry.folder == folder
        },
        "shown": dict(known.shown),
        "conflicts": {
            key: sorted(number for number, _digest in versions)
            for key, versions in known.versions.items()
            if len(versions) > 1 and key in known.shown
        },
        "pending": state.pending,
    }


def both(contents: str, associated: str) -> sets.Numbers:
    return sets.union([sets.parse_traced(contents), sets.parse_traced(associated)])
