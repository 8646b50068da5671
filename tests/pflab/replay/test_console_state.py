"""The state that the console builds from events is the state of the stores."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pflab.faults.fault import Skew
from pflab.runs.checkpoint import Checkpoint
from pflab.simulation.simulator import Simulator
from pflab.terms import number_sets as sets
from tests.support.played_seeds import end_of, played
from tests.support.samples import sampled
from topology.file.load import topology_from_text
from traces.events import AnyEvent
from traces.labtime import HOUR_US

NODE = shutil.which("node")

TWO_SERVERS = """
servers: {A: , B: }
folders: {Projects: {replicas: [A, B]}}
"""

FOUR_FOLDERS = """
servers: {A: , B: }
folders:
  Notes: {replicas: [A, B]}
  Plans: {replicas: [A, B]}
  Projects: {replicas: [A, B]}
  Talks: {replicas: [A, B]}
"""

pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed; on Debian: apt-get install nodejs")


@pytest.mark.parametrize("seed", sampled([7, 12, 29, 103, 90060], 5))
def test_the_console_shows_what_the_stores_have(seed: int, tmp_path: Path) -> None:
    """Change numbers, rows, backfill arrays, shown versions, conflicts and paths that the console builds from the events are
    those of each store, in runs with restores, conflicts, removed replicas and all faults."""
    assert differences(*asyncio.run(played(seed)), tmp_path) == []


def test_the_console_shows_a_conflict_of_two_saves(tmp_path: Path) -> None:
    """Two saves of one version in one store are in conflict there, and in the store that gets both (CF-6)."""
    document, stores = asyncio.run(two_saves())
    (conflict,) = [table["conflicts"] for table in stores["A"].values() if table["conflicts"]]
    assert [len(versions) for versions in conflict.values()] == [2]
    assert differences(document, stores, tmp_path) == []


def test_the_console_shows_the_path_of_each_store(tmp_path: Path) -> None:
    """Stores show a folder at different paths: a new name is on its way, two folders got one name, and a name was lost with the
    state of the only store that knew it. The console has the path of each store, and calls each folder by one that a store
    shows."""
    document, stores = asyncio.run(renamed())
    paths = {
        name: sorted(table["path"] for table in folders.values() if table["path"]) for name, folders in stores.items()
    }
    assert paths == {name: ["Ideas", "Ideas (2)", "Late", "Plans"] for name in "AB"}
    assert differences(document, stores, tmp_path) == []
    run = json.loads(document)
    checkpoint = Checkpoint()
    checkpoint.take(msgspec.convert(event, AnyEvent) for event in run["events"])
    folders = json.loads(checkpoint.encoded())["folders"].values()
    assert sorted(folder["path"] for folder in folders if folder["id"] != "1-1") == paths["A"]


async def renamed() -> tuple[bytes, dict[str, Any]]:
    async with Simulator(topology_from_text(FOUR_FOLDERS)) as lab:
        lab.faults.inject(Skew(server="A", by="20 min"))
        await lab.do("A", lambda node, now: node.change_folder(now, "Notes", rename="Late"))
        await lab.do("B", lambda node, now: node.change_folder(now, "Notes", rename="Early"))
        await lab.do("A", lambda node, now: node.change_folder(now, "Projects", rename="Ideas"))
        await lab.do("B", lambda node, now: node.change_folder(now, "Talks", rename="Ideas"))
        await lab.advance(lab.now + HOUR_US)
        backup = await lab.backup("A")
        await lab.do("A", lambda node, now: node.change_folder(now, "Plans", rename="Lost"))
        await lab.kill("A")
        await lab.restore("A", backup)
        await lab.advance(lab.now + HOUR_US)
        return await end_of(lab)


async def two_saves() -> tuple[bytes, dict[str, Any]]:
    async with Simulator(topology_from_text(TWO_SERVERS)) as lab:
        post = await lab.do("A", lambda node, now: node.post(now, "Projects", subject="Plan"))
        for body in ("of kim", "of lee"):
            await lab.do(
                "A", lambda node, now, body=body: node.edit(now, "Projects", post.id, body=body, based_on=[post.change])
            )
        await lab.advance(lab.now + HOUR_US)
        return await end_of(lab)


def differences(document: bytes, stores: dict[str, Any], folder_of_run: Path) -> list[tuple[Any, ...]]:
    """Return where the console shows something else than what the stores have: store, folder, part, and the two."""
    assert NODE is not None
    file = folder_of_run / "run.json"
    file.write_bytes(document)
    script = Path(__file__).resolve().parents[3] / "console" / "tests" / "end_state.mjs"
    changes = {
        (each["folder"], each["number"]) for each in json.loads(document)["events"] if each["type"] == "change.made"
    }
    shown = json.loads(subprocess.run([NODE, script, file], check=True, capture_output=True, timeout=60).stdout)
    different = []
    for store, folders in stores.items():
        for folder, table in folders.items():
            found = shown[store].get(
                folder, {"numbers": "", "rows": {}, "entries": {}, "items": {}, "pending": False, "path": ""}
            )
            # Numbers that a store skips in a folder name no change of it, and so nobody can miss them.
            named = sets.union([sets.parse_traced(number) for at, number in changes if at == folder])
            table["numbers"] = sets.common(table["numbers"], named)
            built = {
                "numbers": sets.minus(
                    sets.parse_traced(found["numbers"]), sets.minus(sets.parse_traced(found["numbers"]), named)
                ),
                "rows": {name: sets.parse_traced(row) for name, row in found["rows"].items() if name in table["rows"]},
                "entries": {number: sets.parse_traced(entry) for number, entry in found["entries"].items()},
                "shown": {key: item["number"] for key, item in found["items"].items() if not item["deleted"]},
                "conflicts": {key: item["conflict"] for key, item in found["items"].items() if item["conflict"]},
                "pending": found["pending"],
                "path": found["path"] if table["path"] is not None else None,  # no event says where a hidden folder is
            }
            different += [
                (store, folder, part, table[part], built[part]) for part in table if table[part] != built[part]
            ]
    return different
