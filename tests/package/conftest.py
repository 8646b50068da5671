"""The built package, new environments with it, and the figures that their tests print."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.installed import Environment, Package, interpreter, new_environment

_FIGURES: list[str] = []


@pytest.fixture(scope="session")
def package(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Package:
    """Build the wheel and the sdist of this tree."""
    return Package.built(project_root, tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="session")
def environment(package: Package, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Install the wheel with the extra test into a new environment outside the checkout."""
    began_s = time.monotonic()
    new = new_environment(Path(sys.executable), tmp_path_factory.mktemp("environment"))
    venv_s = time.monotonic()
    new.install(f"{package.wheel}[test]")
    size, bytecode = new.sizes()
    _FIGURES.append(
        f"pip install took {time.monotonic() - venv_s:.0f} s, after {venv_s - began_s:.0f} s for the environment; "
        f"{size / 1e6:.0f} MB, and {bytecode / 1e6:.0f} MB of bytecode"
    )
    return new


@pytest.fixture(scope="session")
def environment_of(
    package: Package, environment: Environment, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Environment:
    """Install the same into an environment of another version of Python, or skip if this machine does not have it."""
    version: str = request.param
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return environment
    python = interpreter(version)
    if python is None:
        missing = f"Python {version} is not installed on this machine"
        _FIGURES.append(f"NOT RUN: {missing}")
        pytest.skip(missing)
    new = new_environment(python, tmp_path_factory.mktemp(f"environment-{version}"))
    new.install("--no-compile", f"{package.wheel}[test]")
    return new


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder outside the checkout, from which no process finds pflab except in its environment."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.chdir(tmp_path)
    yield tmp_path


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for figure in _FIGURES:
        terminalreporter.write_line(figure if figure.startswith("NOT RUN") else f"figure: {figure}", bold=True)
