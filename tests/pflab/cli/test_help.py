"""The help of the command line, and that it is correct."""

from __future__ import annotations

import re
from importlib import metadata

import pytest

from pflab.cli.app import GROUPS, VERBS, run
from pflab.terms.verdict import ExitCode
from tests.support.named_commands import commands_of, examples_of

TESTED_ELSEWHERE = {
    "check",
    "class",
    "demo",
    "up",
    "node",
    "coordinate",
    "post",
    "edit",
    "delete",
    "recover",
    "resolve",
    "send",
    "settings",
    "folder",
    "clock",
    "fault",
    "content",
    "resend",
    "replicas",
    "synchronize",
    "queue",
    "directory",
    "site",
    "server",
    "connector",
    "topology",
    "events",
    "top",
    "load",
    "import",
    "lab",
    "mailbox",
    "follow",
    "verdict",
    "what-if",
}
"""Verbs whose examples need a lab that is up or bring one up, and the demo: each with a test of its own elsewhere."""


def test_every_verb_is_listed_and_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    """pflab --help lists each verb in its group, with the first line of its help; the help of each action has an example."""
    assert run(["--help"]) == ExitCode.GOOD
    listed = " ".join(capsys.readouterr().out.split())
    assert all(f"{group}: {next(iter(verbs))} " in listed for group, verbs in GROUPS.items())
    for name, (_, summary) in VERBS.items():
        assert f"{name} {summary}" in listed
        commands = commands_of(name)
        assert commands[name].help.partition("\n")[0] == summary
        for words, command in commands.items():
            assert run([*words.split(), "--help"]) == ExitCode.GOOD
            shown = capsys.readouterr().out
            assert f"Example: pflab {words}" in shown or hasattr(command, "commands"), words
            assert not re.search(r"\bFor [a-z]+:", shown) or words.startswith("fault"), (
                f"{words}: an option for one action"
            )


@pytest.mark.parametrize("verb", VERBS)
def test_values_are_not_named_after_types(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """No help names a value after a type of a programming language."""
    for words in commands_of(verb):
        assert run([*words.split(), "--help"]) == ExitCode.GOOD
        help_text = capsys.readouterr().out
        names = set(re.findall(r"[A-Z]{3,}", help_text))
        assert not names & {"INTEGER", "FLOAT", "RANGE", "BOOLEAN", "STRING", "UUID", "CHOICE"}
        assert " TEXT" not in help_text or verb in {"post", "edit", "send"}  # whose subject and body are texts
        assert "Annotated" not in help_text
        usage, _, rest = help_text.partition("\n\n")
        assert not re.search(r"[{}<>]|\[\[", usage)
        assert not re.search(r"<\w+(\[\w+\])?>", rest)


@pytest.mark.usefixtures("lost_mail")
@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in TESTED_ELSEWHERE])
def test_the_example_of_each_help_works(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each verb accepts the example in its help; the demo's has a test of its own."""
    for example in examples_of(verb):
        # Its scenarios are drawn, which is where a wrong word is refused; a hundred seeds are not played here.
        args = [*example[:2], "1..2", *example[3:], "--expand"] if verb == "simulate" else example
        assert run(args) == ExitCode.GOOD
        assert capsys.readouterr().out


def test_without_a_verb_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    """pflab alone prints its help and exits as misuse; --version prints the version."""
    assert run(["--help"]) == ExitCode.GOOD
    helped = capsys.readouterr().out
    assert run([]) == ExitCode.UNKNOWN
    assert capsys.readouterr().out == helped
    assert run(["--version"]) == ExitCode.GOOD
    assert capsys.readouterr().out == f"pflab {metadata.version('pflab')}\n"
