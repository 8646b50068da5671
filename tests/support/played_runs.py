"""Runs to tell of, and what was told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pflab.cli.app import run
from pflab.terms.verdict import ExitCode

LOST = """\
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
    """A simulated run of a scenario, kept; its folder."""
    Path("played.yaml").write_text(text, "utf-8")
    assert run(["run", "played.yaml", "--simulate", "--traces", "runs", *more]) == ExitCode.GOOD
    return Path("runs/latest").resolve()


def told(capsys: pytest.CaptureFixture[str], *args: str, code: int = ExitCode.GOOD) -> list[str]:
    capsys.readouterr()
    assert run(list(args)) == code
    return capsys.readouterr().out.splitlines()


def document(capsys: pytest.CaptureFixture[str], *args: str, code: int = ExitCode.GOOD) -> Any:
    return json.loads("\n".join(told(capsys, *args, "--json", code=code)))


def closing(lines: list[str]) -> str:
    """The last sentence of a life, before its events."""
    return lines[lines.index("") - 1].strip()
