"""What README.md tells people to type is understood."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from pflab.cli.app import VERBS, run
from pflab.verdict import ExitCode


def _commands(readme: str) -> list[list[str]]:
    """The indented lines that begin with pflab, without the words beside them."""
    lines = [line.strip().split("   ")[0] for line in readme.splitlines() if line.startswith("    pflab ")]
    return [shlex.split(line.partition(" > ")[0])[1:] for line in lines]


def test_every_command_of_the_readme_is_one(project_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each verb and each option of README.md's commands stands in the help of that verb."""
    commands = _commands((project_root / "README.md").read_text("utf-8"))
    assert len(commands) > 25
    for verb, *args in commands:
        assert verb in VERBS
        assert run([verb, "--help"]) == ExitCode.GOOD
        offered = capsys.readouterr().out.replace(",", " ").split()
        options = [each for each in args if each.startswith("-")]
        assert set(options) <= set(offered), (verb, options)


def test_topologies_and_scenarios_of_the_readme_are_there(project_root: Path) -> None:
    """Each file below topology/ and scenarios/ that README.md's commands name lies in the tree."""
    commands = _commands((project_root / "README.md").read_text("utf-8"))
    named = {each for command in commands for each in command if each.startswith(("topology/", "scenarios/"))}
    assert named
    assert not [each for each in named if not (project_root / each).is_file()]
