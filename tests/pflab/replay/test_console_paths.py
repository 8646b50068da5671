"""The paths that the console writes (console/api.js) are those of a lab's API."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pflab.drivers.live import LiveLab
from pflab.lessons.classroom import Classroom
from pflab.lessons.course import Lessons
from pflab.lessons.routes import extension_of
from pflab.replay.console_files import CONSOLE
from pflab.room.app import api_of_class
from pflab.room.room import Room
from pflab.runs.run_folder import RunFolder
from pflab.server.app import app_of_live_lab
from topology.file.load import topology_from_text

NODE = shutil.which("node")

PATHS = """
import * as api from "{api}";
const orders = ["start", "stop", "kill", "backup", "restore", "delete"];
const paths = [...orders.map((order) => api.server("A", order)), api.node("A").replicationStatus()];
const walk = (value) => {{
  if (typeof value === "string") paths.push(value);
  else if (typeof value === "function") walk(value("A", "a", "1"));
  else Object.values(value).forEach(walk);
}};
const {{ server, ...others }} = api;
walk(others);
console.log(JSON.stringify(paths));
"""


@pytest.mark.skipif(NODE is None, reason="node runs the module")
def test_each_path_of_the_console_exists(tmp_path: Path) -> None:
    """Each path that console/api.js makes is a path of the lab, of a server, of a lesson, or of a class."""
    lab = LiveLab(topology_from_text("servers: {A: , B: }\nfolders: {Projects: }\n"), folder=RunFolder.at(tmp_path))
    lessons = extension_of(Classroom(lambda: Lessons({})))
    app: Any = app_of_live_lab(lambda: lab, lessons)
    room = Room(Classroom(lambda: Lessons({})))
    of_class = api_of_class(room, extension_of(room.classroom))
    written = [*app.openapi()["paths"], *of_class.openapi()["paths"]]
    patterns = [re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(path)) for path in written]
    script = tmp_path / "paths.mjs"
    script.write_text(PATHS.format(api=(CONSOLE / "api.js").as_uri()), "utf-8")
    printed = subprocess.run([str(NODE), str(script)], capture_output=True, text=True, check=True).stdout
    paths = {path.partition("?")[0] for path in json.loads(printed)}
    known = re.compile("|".join(patterns))
    # A lesson's lab has its API below the lesson's path.
    assert [
        path for path in sorted(paths) if not known.fullmatch(path) and not known.fullmatch(f"/lessons/A{path}")
    ] == []
