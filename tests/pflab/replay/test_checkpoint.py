"""A checkpoint of a lab is the state that the console would have built from the events that the lab has forgotten."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pflab.faults.fault import Cut
from pflab.replay.replay_file import Replay, run_document
from pflab.runs.checkpoint import Checkpoint
from pflab.runs.events import RunEvents
from pflab.simulation.simulator import Simulator
from tests.support.played_seeds import played
from tests.support.samples import sampled
from topology.file.load import topology_from_text
from traces.events import (
    AnyEvent,
    BackupRestored,
    ChangeMade,
    Event,
    FolderShown,
    OrganizationChanged,
    OrganizationRead,
)
from traces.labtime import HOUR_US, MINUTE_US

NODE = shutil.which("node")

SEEDS = (7, 10, 12, 14, 29, 103, 90060, *range(200, 223))
"""Runs with restores, conflicts, removed replicas, lost and duplicated mails, and all faults."""


TWO_SITES = """
sites: [SEA, NYC]
servers: {A: {site: SEA}, B: {site: NYC}}
connectors: [{between: [SEA, NYC], cost: 10}]
folders: {Projects: {replicas: [A, B]}}
"""


def recorded(document: bytes) -> tuple[dict[str, Any], list[Event]]:
    """Return a run with its events in the order of a lab's record, which begins with that of the lab itself."""
    run = json.loads(document)
    run["events"].sort(key=lambda event: event["type"] != "run.started")
    return run, [msgspec.convert(event, AnyEvent) for event in run["events"]]


@pytest.mark.skipif(NODE is None, reason="node is not installed; on Debian: apt-get install nodejs")
@pytest.mark.parametrize("seed", sampled(SEEDS, 20))
def test_a_checkpoint_is_the_state_of_the_console(seed: int, tmp_path: Path) -> None:
    """A console that begins with a checkpoint shows the same states, mails on their way and waits as one that has all events,
    wherever in the run the checkpoint is."""
    document, _stores = asyncio.run(played(seed))
    content, events = recorded(document)
    assert differences(content, events, tmp_path, [int(part * len(events)) for part in (0.1, 0.4, 0.77, 1)]) == []


@pytest.mark.skipif(NODE is None, reason="node is not installed; on Debian: apt-get install nodejs")
def test_a_checkpoint_has_the_organization_as_it_was_then(tmp_path: Path) -> None:
    """A console that begins with a checkpoint knows the servers and connectors of that moment, and which change each server
    has read, also after a restore (RT-6)."""
    content, events = recorded(asyncio.run(reorganized()))
    kinds = BackupRestored | OrganizationChanged | OrganizationRead
    places = [place for place, event in enumerate(events, start=1) if isinstance(event, kinds)]
    assert len(places) > 10
    assert differences(content, events, tmp_path, places) == []


async def reorganized() -> bytes:
    """Return a run in which connectors are added, changed, cut and removed, while servers stop and go back to backups; a site
    and a server come in too."""
    topology = topology_from_text(TWO_SITES)
    async with Simulator(topology) as lab:
        await lab.do("A", lambda node, now: node.post(now, "Projects", subject="Hello"))
        await lab.add_connector("second", between=["SEA", "NYC"], cost=3)
        lab.faults.inject(Cut(connector="second"))
        await lab.advance(lab.now + HOUR_US)
        backup = await lab.backup("B")
        await lab.change_connector("second", cost=30)
        await lab.stop("A")
        await lab.change_connector("SEA-NYC", schedule="every 1 h")
        await lab.advance(lab.now + HOUR_US)
        await lab.start("A")
        await lab.stop("B")
        await lab.restore("B", backup)
        await lab.remove_connector("second")
        await lab.advance(lab.now + HOUR_US)
        await lab.add_site("LON")
        await lab.add_server("C", site="LON", version="5.5")
        await lab.start("C")
        await lab.add_connector("SEA-LON", between=["SEA", "LON"])
        await lab.advance(lab.now + 2 * HOUR_US)
        events = RunEvents.of(Path("run"), lab.events()).events
    return run_document(Replay(title="run", topology=topology, events=events))


@pytest.mark.skipif(NODE is None, reason="node is not installed; on Debian: apt-get install nodejs")
def test_a_checkpoint_has_the_new_places_of_folders(tmp_path: Path) -> None:
    """A folder that gets another name or parent has its new path at once, with all below it, also while stores still show a
    new subfolder at the old place (HI-5)."""
    content, events = recorded(asyncio.run(rearranged()))
    places = [place for place, event in enumerate(events, start=1) if isinstance(event, ChangeMade | FolderShown)]
    assert differences(content, events, tmp_path, places) == []
    checkpoint = Checkpoint()
    checkpoint.take(events)
    folders = json.loads(checkpoint.encoded())["folders"].values()
    assert {folder["path"] for folder in folders if not folder["deleted"]} >= {"Top", "Top/Ideas", "Top/Ideas/Old"}


async def rearranged() -> bytes:
    """Return a run in which a folder is renamed and moved while its new subfolder is on its way to another store."""
    topology = topology_from_text(TWO_SITES)
    async with Simulator(topology) as lab:
        for path in ("Top", "Projects/Old"):
            await lab.do("A", lambda node, now, path=path: node.create_folder(now, path, replicas=["A", "B"]))
        await lab.advance(lab.now + 15 * MINUTE_US)
        await lab.do("A", lambda node, now: node.change_folder(now, "Projects", rename="Ideas"))
        await lab.advance(lab.now + HOUR_US)
        await lab.do("A", lambda node, now: node.change_folder(now, "Ideas", move_to="Top", schedule="every 1 h"))
        await lab.advance(lab.now + HOUR_US)
        await lab.do("B", lambda node, now: node.change_folder(now, "Top/Ideas", schedule="always"))
        await lab.advance(lab.now + HOUR_US)
        events = RunEvents.of(Path("run"), lab.events()).events
    return run_document(Replay(title="run", topology=topology, events=events))


def differences(content: dict[str, Any], events: list[Event], folder: Path, places: list[int]) -> list[str]:
    """Return where a console that begins with a checkpoint shows something else than one that has all events of a run.

    places: after how many events the checkpoints are
    """
    assert NODE is not None
    (run := folder / "run.json").write_text(json.dumps(content))
    script = Path(__file__).resolve().parents[3] / "console" / "tests" / "checkpoint.mjs"
    different = []
    for place in places:
        checkpoint = Checkpoint(past_mails=len(events), past_changes=len(events))
        checkpoint.take(events[:place])
        (kept := folder / "checkpoint.json").write_bytes(checkpoint.encoded())
        found = subprocess.run([NODE, script, run, kept], check=True, capture_output=True).stdout
        different += [f"after {place} of {len(events)} events: {difference}" for difference in json.loads(found)]
    return different
