"""The command line: what it says of itself, and that it is so."""

from __future__ import annotations

import re
from importlib import metadata

import pytest

from pflab.cli.app import VERBS, function_of, run
from pflab.terms.verdict import ExitCode

TESTED_ELSEWHERE = {
    "check",
    "demo",
    "up",
    "node",
    "coordinate",
    "post",
    "folder",
    "clock",
    "fault",
    "content",
    "directory",
    "events",
    "top",
    "load",
    "import",
    "lab",
    "follow",
    "verdict",
}
"""Verbs whose examples need a lab that is up or bring one up, and the demo: each with a test of its own elsewhere."""


def test_every_verb_is_listed_and_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    """pflab --help lists the verbs as their own help begins; pflab VERB --help shows how the verb is used."""
    assert run(["--help"]) == ExitCode.GOOD
    listed = " ".join(capsys.readouterr().out.split())
    for name, (_, told) in VERBS.items():
        assert f"{name} {told}" in listed
        assert (function_of(name).__doc__ or "").partition("\n")[0] == told
        assert run([name, "--help"]) == ExitCode.GOOD
        assert f"Example: pflab {name}" in capsys.readouterr().out


@pytest.mark.parametrize("verb", VERBS)
def test_values_have_the_names_of_the_field(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """No help calls a value after a type of a programming language."""
    assert run([verb, "--help"]) == ExitCode.GOOD
    told = capsys.readouterr().out
    words = set(re.findall(r"[A-Z]{3,}", told))
    assert not words & {"INTEGER", "FLOAT", "RANGE", "BOOLEAN", "STRING", "UUID", "CHOICE"}
    assert " TEXT" not in told or verb == "post"  # whose subject and body are texts
    assert "Annotated" not in told
    usage, _, rest = told.partition("\n\n")
    assert not re.search(r"[{}<>]|\[\[", usage)
    assert not re.search(r"<\w+(\[\w+\])?>", rest)


@pytest.mark.usefixtures("lost_mail")
@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in TESTED_ELSEWHERE])
def test_the_example_of_each_help_does_what_it_says(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What pflab VERB --help gives as an example is taken by that verb, the demo's by a test of its own."""
    told = function_of(verb).__doc__
    example = told.partition("Example: pflab ")[2].partition(">")[0].split()
    # Its plans are drawn, which is where a wrong word is refused; a hundred seeds are not played here.
    args = [*example[:2], "1..2", *example[3:], "--expand"] if verb == "simulate" else example
    assert run(args) == ExitCode.GOOD
    assert capsys.readouterr().out


def test_without_a_verb_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    """pflab alone shows the help as it is, and that nothing was asked for; --version says which pflab this is."""
    assert run(["--help"]) == ExitCode.GOOD
    helped = capsys.readouterr().out
    assert run([]) == ExitCode.UNKNOWN
    assert capsys.readouterr().out == helped
    assert run(["--version"]) == ExitCode.GOOD
    assert capsys.readouterr().out == f"pflab {metadata.version('pflab')}\n"
