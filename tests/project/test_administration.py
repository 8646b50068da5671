"""docs/how-to/administration.md lists each operation of Exchange's tools with a verb, a request and a scenario that exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pflab.drivers.live import LiveLab
from pflab.runs.run_folder import RunFolder
from pflab.scenario.model import VERBS
from pflab.server.app import app_of_live_lab
from tests.support.named_commands import mistake_in
from topology.file.load import topology_from_text

TOOLS = {
    "2003": "Send Hierarchy;Send Contents;Synchronize Hierarchy;Synchronize Content;Stop Content Replication;"
    "Resume Content Replication;Move All Replicas;Manage Settings;Propagate Settings;Public Folder Instances;"
    "Replication Status;Queue Viewer;Freeze;Unfreeze;Delete (no NDR);Delete (with NDR);pfMigrate;PFDAVAdmin",
    "2007": "Update-PublicFolder;Update-PublicFolderHierarchy;Suspend-PublicFolderReplication;"
    "Resume-PublicFolderReplication;Get-PublicFolder;Get-PublicFolderStatistics;New-PublicFolder;Set-PublicFolder;"
    "Remove-PublicFolder;Suspend-Queue;Suspend-Message;Resume-Queue;Resume-Message;Remove-Message;Get-Queue;Enable-MailPublicFolder;Set-PublicFolderDatabase;Remove-PublicFolderDatabase;"
    "AddReplicaToPFRecursive.ps1;RemoveReplicaFromPFRecursive.ps1;ReplaceReplicaOnPFRecursive.ps1;MoveAllReplicas.ps1",
}
"""What the tools called their operations; none may be missing on the page."""

Row = dict[str, str]


@pytest.fixture(scope="module")
def rows(project_root: Path) -> list[Row]:
    found: list[Row] = []
    names: list[str] = []
    for line in (project_root / "docs" / "how-to" / "administration.md").read_text("utf-8").splitlines():
        cells = [each.strip() for each in line.strip("|").split("|")]
        if not line.startswith("|") or len(cells) < 8:
            names = []
        elif not names:
            names = cells
        elif cells[0].strip("-"):
            found.append(dict(zip(names, cells, strict=True)))
    return found


def test_no_operation_of_the_tools_is_missing(rows: list[Row]) -> None:
    """Each command of System Manager and of the Shell is in the column of its version (AD-1)."""
    for version, known in TOOLS.items():
        column = " ".join(row[version] for row in rows)
        missing = [each for each in known.split(";") if not re.search(rf"{re.escape(each)}(?![\w-])", column)]
        assert missing == [], version


def test_each_verb_exists(rows: list[Row]) -> None:
    """Each row has a command that pflab accepts, or is planned in all three columns."""
    for row in rows:
        if "planned" in (row["verb"], row["API"], row["scenario"]):
            assert row["verb"] == row["API"] == row["scenario"] == "planned", row["operation"]
        else:
            assert mistake_in(row["verb"].strip("`")) is None, row["operation"]


def test_each_request_exists(rows: list[Row], tmp_path: Path) -> None:
    """Each request is a method and a path of the API of a lab."""
    lab = LiveLab(topology_from_text("servers: {A: , B: }\nfolders: {Projects: }\n"), folder=RunFolder.at(tmp_path))
    paths: dict[str, Any] = app_of_live_lab(lambda: lab).openapi()["paths"]
    patterns = [(re.compile(re.sub(r"\{[^}]*\}", "[^/]+", path)), set(methods)) for path, methods in paths.items()]
    for row in rows:
        if row["API"] != "planned":
            method, path = row["API"].strip("`").split()
            fits = [methods for pattern, methods in patterns if pattern.fullmatch(path)]
            assert any(method.lower() in methods for methods in fits), row["API"]


def test_each_operation_of_the_console_is_there(rows: list[Row], project_root: Path) -> None:
    """What the column `console` names, the place and what is pressed there, stands in the console."""
    sources = [file for part in ("views", "state") for file in (project_root / "console" / part).rglob("*.js")]
    text = "\n".join(file.read_text("utf-8") for file in sources)
    cells = {row["console"] for row in rows} - {"-"}
    assert len(cells) > 20
    missing = {
        name
        for cell in cells
        for name in cell.split(": ")
        if not re.search(rf"[>\"`}}\s]{re.escape(name)}[<\"\s]", text)
    }
    assert missing == set()


def test_each_scenario_exists_and_shows_something(rows: list[Row], project_root: Path) -> None:
    """Each scenario exists. Those of the orders have the step that gives the order."""
    steps = {
        "POST /nodes/A/send": "resend",
        "POST /nodes/A/synchronize": "synchronize",
        "POST /nodes/A/replicas": "replicas",
        "POST /nodes/A/queue": "queue",
    }
    for row in rows:
        if row["scenario"] != "planned":
            text = (project_root / "scenarios" / f"{row['scenario']}.yaml").read_text("utf-8")
            step = steps.get(row["API"].strip("`"))
            assert step is None or (step in VERBS and f"- {step}:" in text), row["operation"]


def test_the_commands_that_the_console_tells_are_accepted(project_root: Path) -> None:
    """Each command that the console shows for an order, as its own tests have them, is one that pflab accepts."""
    text = (project_root / "console" / "tests" / "terminal.test.js").read_text("utf-8")
    lines = [line for pair in re.findall(r'"(pflab [^"\\]+)"|`(pflab [^`$]+)`', text) for line in pair if line]
    commands = [command for line in lines for command in line.split(" && ")]
    assert len(commands) > 40
    assert {command: mistake_in(command) for command in commands if mistake_in(command) is not None} == {}


def test_each_operation_of_the_console_is_tried_in_a_browser(rows: list[Row], project_root: Path) -> None:
    """A test in Chromium uses what the column `console` names. In a name such as `Move up`, the test may name an object."""
    modules = [path.read_text("utf-8") for path in (project_root / "tests" / "console").rglob("test_*.py")]
    text = "\n".join(modules)
    names = {row["console"].rpartition(": ")[2].removesuffix(" …") for row in rows} - {"-"}
    assert {name for name in names if not re.search(re.escape(name).replace(r"\ ", r".{1,12}"), text)} == set()
