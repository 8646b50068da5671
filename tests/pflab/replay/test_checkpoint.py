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

from pflab.runs.checkpoint import Checkpoint
from tests.support.played_seeds import played
from tests.support.samples import sampled
from traces.events import AnyEvent, Event

NODE = shutil.which("node")

SEEDS = (7, 10, 12, 14, 29, 103, 90060, *range(200, 223))
"""Runs with restores, conflicts, removed replicas, lost and duplicated mails, and all faults."""


def recorded(document: bytes) -> tuple[dict[str, Any], list[Event]]:
    """Return a run with its events in the order of a lab's record, which begins with that of the lab itself."""
    run = json.loads(document)
    run["events"].sort(key=lambda event: event["type"] != "run.started")
    return run, [msgspec.convert(event, AnyEvent) for event in run["events"]]


@pytest.mark.skipif(NODE is None, reason="node is not installed; on Debian: apt-get install nodejs")
@pytest.mark.parametrize("seed", sampled(SEEDS, 10))
def test_a_checkpoint_is_the_state_of_the_console(seed: int, tmp_path: Path) -> None:
    """A console that begins with a checkpoint shows the same states, mails on their way and waits as one that has all events,
    wherever in the run the checkpoint is."""
    assert NODE is not None
    document, _stores = asyncio.run(played(seed))
    content, events = recorded(document)
    (run := tmp_path / "run.json").write_text(json.dumps(content))
    script = Path(__file__).resolve().parents[3] / "console" / "tests" / "checkpoint.mjs"
    differences = []
    for part in (0.1, 0.4, 0.77, 1):
        checkpoint = Checkpoint(past_mails=len(events), past_changes=len(events))
        checkpoint.take(events[: int(part * len(events))])
        (kept := tmp_path / "checkpoint.json").write_bytes(checkpoint.encoded())
        found = subprocess.run([NODE, script, run, kept], check=True, capture_output=True).stdout
        differences += [f"from {part} of the run: {told}" for told in json.loads(found)]
    assert differences == []
