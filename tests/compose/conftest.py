"""The stack that all tests of containers share, and the figures that they print."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.compose_stack import Stack, engine_is_there

_FIGURES: list[str] = []


@pytest.fixture(scope="session")
def stack(project_root: Path) -> Iterator[Stack]:
    """Build the stack and start it without the load; afterwards remove it with its volumes."""
    missing = engine_is_there(os.environ.get("PFLAB_DOCKER_ENGINE"))
    if missing:
        _FIGURES.append(f"NOT RUN, none of it: {missing}")
        pytest.skip(missing)
    stack = Stack(project_root, f"pflab-test-{os.getpid()}")
    try:
        began_s = time.monotonic()
        stack.compose("--profile", "*", "build", "--quiet")
        built_s = time.monotonic()
        stack.compose("up", "--detach", "--wait", "lab", "a", "b", "c", "d", "e")
        stack.figure(f"built in {built_s - began_s:.0f} s, up and healthy {time.monotonic() - built_s:.1f} s later")
        yield stack
    finally:
        stack.compose("--profile", "*", "down", "--volumes", "--timeout", "10")
        _FIGURES.extend(stack.figures)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for figure in _FIGURES:
        terminalreporter.write_line(figure if figure.startswith("NOT RUN") else f"figure: {figure}", bold=True)
