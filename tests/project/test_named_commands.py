"""The commands that documents name in sentences, and the commands that lessons tell a learner to run, exist and work."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any, cast

import pytest
import typer

from pflab.cli.app import VERBS, app, run
from pflab.scenario.load import load_scenario
from pflab.terms.verdict import ExitCode

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
LESSONS = sorted(path for path in (ROOT / "scenarios").glob("*.yaml") if "\nlook:" in path.read_text("utf-8"))

NO_COMMANDS = {"pflab replication mail 2", "pflab smtp authentication 1", "pflab store certificate 1"}
"""Texts that are signed, in docs/wire-format.md."""

_GROUP: Any = typer.main.get_command(app)
_USAGE_ERROR = cast(type[Exception], typer.BadParameter.__base__)


def _in_page(text: str) -> list[str]:
    """Return the commands between backticks in the sentences of a page."""
    sentences = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    found = {" ".join(each.split()) for each in re.findall(r"`(pflab\s[^`]+)`", sentences)}
    return sorted(found - NO_COMMANDS)


def _in_look(text: str) -> list[str]:
    """Return the commands in a lesson's `look`. A command ends at a colon, semicolon, comma or full stop."""
    return re.findall(r"\bpflab .+?(?=[:;,.](?: |$)|$)", text)


def mistake_in(command: str) -> str | None:
    """Return what is wrong with a command: an unknown verb, action or option, or too many arguments. It may be incomplete."""
    verb, *args = shlex.split(command)[1:]
    if verb == "node" or verb.startswith("-"):  # the options of node are those of python -m node
        return None
    if verb not in VERBS:
        return f"no verb {verb}"
    command_of = _GROUP.get_command(None, verb)
    acts: list[str] = next(
        (each.metavar.strip("[]").split("|") for each in command_of.params if each.name == "act"), []
    )
    if acts and args and args[0].islower() and args[0] not in acts:
        return f"pflab {verb} has no action {args[0]}"
    try:
        command_of.make_context(verb, args)
    except typer.BadParameter:
        return None  # a value is missing, or is a word that stands for one
    except _USAGE_ERROR as error:
        text = str(error.format_message())  # type: ignore[attr-defined]  # of click's errors
        return None if "requires an argument" in text else text
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_commands_in_sentences_exist(page: Path) -> None:
    """Each command between backticks has a verb and options that exist."""
    wrong = {command: mistake for command in _in_page(page.read_text("utf-8")) if (mistake := mistake_in(command))}
    assert wrong == {}


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
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
