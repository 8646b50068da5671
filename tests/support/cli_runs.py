"""Scenarios for tests of the command line, and the output of its verbs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pflab.cli.app import run
from pflab.terms.verdict import ExitCode

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
GOOD = """\
title: A post arrives
topology: one-site.yaml
rules: [OUT-1]
steps:
  - say: A posts.
  - post: {on: A, folder: Projects, subject: Hello, as: hello}
  - expect: {on: B, folder: Projects, has: hello, within: 15 min}
  - expect: {converged: all}
"""
BAD = GOOD.replace("within: 15 min", "within: 14 min")
LOST_MAIL = """\
title: A lost mail comes back
topology: one-site.yaml
rules: [BF-2]
steps:
  - lose: {from: A, to: B, type: content, count: 1}
  - post: {on: A, folder: Projects, subject: Hello, as: hello}
  - until: {mail: backfill request, from: B, to: A, within: 48 h}
  - expect: {converged: all, within: 15 min}
"""


def play(text: str, *more: str) -> Path:
    """Simulate a scenario with `pflab run`, and return the run's folder."""
    Path("played.yaml").write_text(text, "utf-8")
    assert run(["run", "played.yaml", "--simulate", "--traces", "runs", *more]) == ExitCode.GOOD
    return Path("runs/latest").resolve()


def printed_lines(capsys: pytest.CaptureFixture[str]) -> tuple[list[str], list[str]]:
    """Return the lines that were printed to stdout and to stderr."""
    captured = capsys.readouterr()
    return captured.out.splitlines(), captured.err.splitlines()


def printed_json(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def output_of(capsys: pytest.CaptureFixture[str], *args: str, code: int = ExitCode.GOOD) -> list[str]:
    """Run a verb that must end with this exit status, and return the lines it prints."""
    capsys.readouterr()
    assert run(list(args)) == code
    return capsys.readouterr().out.splitlines()


def json_of(capsys: pytest.CaptureFixture[str], *args: str, code: int = ExitCode.GOOD) -> Any:
    """Run a verb with --json, and return what it prints."""
    return json.loads("\n".join(output_of(capsys, *args, "--json", code=code)))


def last_sentence(lines: list[str]) -> str:
    """Return the last sentence of an explanation, which an empty line separates from its events."""
    return lines[lines.index("") - 1].strip()
