"""The file of `pflab replay`: one page that needs nothing else."""

from __future__ import annotations

import base64
import gzip
import json
import re

import pytest

from pflab.campaign.seed import run_seed
from pflab.errors import LabError
from pflab.replay.console_files import CONSOLE, resolved, script_paths
from pflab.replay.replay_file import replay_file
from pflab.runs.events import RunEvents

RELATIVE = re.compile(r"""(?m)^\s*(?:import|export)\b[^;]*?["']\.{1,2}/""")
COMMENT = re.compile(r"(?ms)^\s*/\*\*.*?\*/")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunEvents:
    place = tmp_path_factory.mktemp("runs")
    run_seed(103, folder=place)
    return RunEvents.at(place / "seed-103" / "00001")


def test_the_file_has_every_module_and_no_relative_import(run: RunEvents) -> None:
    """Each module of the console is in the import map, and imports others only by their names there."""
    page = replay_file(run, title="run")
    found = re.search(r'<script type="importmap">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    imports = json.loads(found[1])["imports"]
    assert set(imports) == {f"pflab:/{path}" for path in script_paths()}
    for name, url in imports.items():
        text = base64.b64decode(url.removeprefix("data:text/javascript;base64,")).decode()
        assert RELATIVE.search(COMMENT.sub("", text)) is None, name
        for wanted in re.findall(r'"(pflab:/[^"]+)"', text):
            assert wanted in imports, (name, wanted)


def test_the_file_has_all_events_in_their_order(run: RunEvents) -> None:
    """The run in the file is the run: its topology, and each event with its words."""
    page = replay_file(run, title="run")
    packed = re.search(r'id="run">([^<]*)<', page)
    assert packed is not None
    document = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    assert [(each["node"], each["seq"]) for each in document["events"]] == [
        (each.node, each.seq) for each in run.events
    ]
    assert all(each["words"] for each in document["events"])
    assert run.topology is not None
    assert document["topology"] == run.topology.as_document()


def test_a_title_is_text(run: RunEvents) -> None:
    """A title cannot add markup to the page."""
    assert "<b>" not in replay_file(run, title="<b>run</b>").split("<style>")[0]


def test_a_run_without_a_topology_is_refused(run: RunEvents) -> None:
    """Nothing can be drawn of a run whose topology cannot be read, and the error says so."""
    with pytest.raises(LabError, match="its topology cannot be read"):
        replay_file(RunEvents(run.path, run.events, run.names, ("no topology",)), title="run")


def test_every_module_is_loaded_by_a_page_or_by_a_worker() -> None:
    """What neither the page of a server nor that of a tab imports is a worker that a module starts, or imported by one. So the
    console has no dead module. The build puts the service worker above the console's folder."""
    modules = {path.relative_to(CONSOLE).as_posix() for path in CONSOLE.rglob("*.js")}
    loaded = {*script_paths(), *script_paths("tab/start.js")}
    for path in sorted(loaded):
        for worker in re.findall(r'new URL\("([^"]+\.js)", import\.meta\.url\)', (CONSOLE / path).read_text("utf-8")):
            place = resolved(path, worker)
            loaded |= set(script_paths({"../service_worker.js": "tab/service_worker.js"}.get(place, place)))
    assert modules - loaded == {each for each in modules if each.startswith("tests/")}


def test_the_file_has_nothing_for_workers_alone() -> None:
    """A replay starts no worker, so neither workers nor the signatures of a lab in a tab make its file larger."""
    assert {"source/shared_streams.js", "vendor/ed25519.js"}.isdisjoint(script_paths())
