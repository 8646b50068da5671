"""The state that the console builds from events is the state of the stores."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from pflab.terms import number_sets as sets
from tests.support.played_seeds import played
from tests.support.samples import sampled

NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed; on Debian: apt-get install nodejs")


@pytest.mark.parametrize("seed", sampled([7, 12, 29, 103, 90060], 3))
def test_the_console_shows_what_the_stores_have(seed: int, tmp_path: Path) -> None:
    """Change numbers, rows, backfill arrays and shown versions that the console builds from the events are those
    of each store, in runs with restores, conflicts, removed replicas and all faults."""
    assert NODE is not None
    document, stores = asyncio.run(played(seed))
    file = tmp_path / "run.json"
    file.write_bytes(document)
    script = Path(__file__).resolve().parents[3] / "console" / "tests" / "end_state.mjs"
    changes = {
        (each["folder"], each["number"]) for each in json.loads(document)["events"] if each["type"] == "change.made"
    }
    shown = json.loads(subprocess.run([NODE, script, file], check=True, capture_output=True, timeout=60).stdout)
    differences = []
    for store, folders in stores.items():
        for folder, table in folders.items():
            found = shown[store].get(folder, {"numbers": "", "rows": {}, "entries": {}, "items": {}, "pending": False})
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
                "pending": found["pending"],
            }
            differences += [
                (store, folder, part, table[part], built[part]) for part in table if table[part] != built[part]
            ]
    assert differences == []
