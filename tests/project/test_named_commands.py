"""The commands that documents name in sentences, and the commands that lessons tell a learner to run, exist and work."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from pflab.cli.app import run
from pflab.scenario.load import load_scenario
from pflab.terms.verdict import ExitCode
from tests.support.named_commands import mistake_in
from tests.support.samples import sampled

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LESSONS = sorted(path for path in (ROOT / "scenarios").glob("*.yaml") if "\nlook:" in path.read_text("utf-8"))

NO_COMMANDS = {"pflab replication mail 2", "pflab smtp authentication 1", "pflab store certificate 1"}
"""Texts that are signed, in docs/reference/wire-format.md."""


def _in_page(text: str) -> list[str]:
    """Return the commands between backticks in the sentences of a page."""
    sentences = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    found = {" ".join(each.split()) for each in re.findall(r"`(pflab\s[^`]+)`", sentences)}
    return sorted(found - NO_COMMANDS)


def _in_look(text: str) -> list[str]:
    """Return the commands in a lesson's `look`. A command ends at a colon, semicolon, comma or full stop."""
    return re.findall(r"\bpflab .+?(?=[:;,.](?: |$)|$)", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_commands_in_sentences_exist(page: Path) -> None:
    """Each command between backticks has a verb and options that exist."""
    wrong = {command: mistake for command in _in_page(page.read_text("utf-8")) if (mistake := mistake_in(command))}
    assert wrong == {}


@pytest.mark.parametrize("lesson", sampled(LESSONS, 8), ids=lambda path: path.stem)
def test_what_a_lesson_tells_to_look_at_can_be_looked_at(
    lesson: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each lesson names a command at least, and each command that it names prints something after the lesson."""
    commands = _in_look(load_scenario(lesson).look or "")
    assert commands
    monkeypatch.chdir(tmp_path)
    assert run(["run", str(lesson), "--simulate", "--traces", "runs"]) == ExitCode.GOOD
    for command in commands:
        capsys.readouterr()
        assert run(shlex.split(command)[1:]) == ExitCode.GOOD, (command, capsys.readouterr().err)
        printed = capsys.readouterr().out
        assert printed.strip(), command
        assert "no missing changes" not in printed, command
