"""What README.md tells people to type is understood."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from pflab.cli.app import VERBS, run
from pflab.terms.verdict import ExitCode
from tests.support.running_lab import lab_up


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


@pytest.mark.live
def test_the_test_in_python_passes(project_root: Path, tmp_path: Path) -> None:
    """The test that README.md shows passes against a lab of the topology that it names."""
    readme = (project_root / "README.md").read_text("utf-8")
    (block,) = [part.partition("```")[0] for part in readme.split("```python\n")[1:]]
    topology = (project_root / "topology/examples/one-site.yaml").read_text("utf-8")
    with lab_up(tmp_path, topology=topology) as url:
        named: dict[str, Any] = {}
        exec(block.replace("http://127.0.0.1:8025", url), named)
        tests = [value for name, value in named.items() if name.startswith("test_")]
        assert tests
        for test in tests:
            test()
