"""The scenarios that tests of the command line play, and what it has shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

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


def lines(capsys: pytest.CaptureFixture[str]) -> tuple[list[str], list[str]]:
    captured = capsys.readouterr()
    return captured.out.splitlines(), captured.err.splitlines()


def document(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)
