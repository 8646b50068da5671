"""The console reads and writes schedules as the API does (console/state/schedule.js)."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pflab.replay.console_files import CONSOLE
from topology.problems import ValueTextError
from topology.schedule import SLOTS_A_DAY, SLOTS_A_WEEK, Schedule, parse_schedule

NODE = shutil.which("node")

SCRIPT = """
import {{ readFileSync }} from "node:fs";
import {{ scheduleSlots, scheduleText }} from "{module}";
const {{ grids, texts }} = JSON.parse(readFileSync(0, "utf-8"));
const slotsOf = (text) => {{
  const slots = scheduleSlots(text);
  return slots && [...slots].sort((a, b) => a - b);
}};
console.log(JSON.stringify([grids.map((grid) => scheduleText(new Set(grid))), texts.map(slotsOf)]));
"""

SPANS = st.tuples(st.integers(0, SLOTS_A_WEEK - 1), st.integers(1, 2 * SLOTS_A_DAY))
GRIDS = st.lists(SPANS, min_size=1, max_size=6).map(
    lambda spans: sorted({(start + at) % SLOTS_A_WEEK for start, length in spans for at in range(length)})
)
WORDS = (
    "Mon",
    "sun",
    "Fri-Mon",
    "Sat,Sun",
    "daily",
    "20:00-06:00",
    "12:15",
    "24:00",
    "08:00-24:00",
    ";",
    "every 2 h",
    "-",
)
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)


def slots_of(text: str) -> list[int] | None:
    try:
        return list(parse_schedule(text).slots)
    except ValueTextError:
        return None


@pytest.mark.skipif(NODE is None, reason="node runs the module")
@given(st.lists(GRIDS, min_size=20, max_size=40), st.lists(TEXTS, min_size=20, max_size=40))
@settings(max_examples=10, deadline=None)
def test_texts_and_grids_are_those_of_the_api(
    tmp_path_factory: pytest.TempPathFactory, grids: list[list[int]], texts: list[str]
) -> None:
    """OUT-1: the console writes each grid as the API does, and reads a text as it does, or as none."""
    script: Path = tmp_path_factory.mktemp("schedules") / "schedules.mjs"
    script.write_text(SCRIPT.format(module=(CONSOLE / "state" / "schedule.js").as_uri()), "utf-8")
    given_ = json.dumps({"grids": grids, "texts": texts})
    printed = subprocess.run([str(NODE), str(script)], input=given_, capture_output=True, text=True, check=True).stdout
    written, read = json.loads(printed)
    assert written == [str(Schedule.of_slots(grid)) for grid in grids]
    assert dict(zip(texts, read, strict=True)) == {text: slots_of(text) for text in texts}
