"""Scenario files as tests: `pytest scenarios/` plays each file with `pflab run`."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

_KEYS: Final = (b"title", b"topology", b"steps")
_PLAYS: Final = {"simulated": ["--simulate"], "embedded": [], "processes": ["--processes"]}
MOST_BYTES: Final = 1_000_000
"""A longer file is no scenario."""


def is_scenario(path: Path) -> bool:
    """Return whether a YAML file has the keys of a scenario, without parsing it."""
    try:
        text = path.read_bytes() if path.stat().st_size <= MOST_BYTES else b""
    except OSError:
        return False
    return all(re.search(rb"^%b:" % key, text, re.MULTILINE) for key in _KEYS)


class ScenarioFile(pytest.File):
    """A file with one scenario."""

    def collect(self) -> Iterator[pytest.Item]:
        yield ScenarioItem.from_parent(self, name=self.path.stem)


class ScenarioFailed(Exception):
    """A scenario has failed. The text is what `pflab run` wrote."""


class ScenarioItem(pytest.Item):
    """A scenario, played by the driver of the option --pflab-driver or on the lab of --pflab-lab."""

    def runtest(self) -> None:
        option = self.config.getoption
        url, traces = option("--pflab-lab"), option("--pflab-traces")
        how = ["--lab", url, "--renew"] if url else _PLAYS[option("--pflab-driver")]
        command = [sys.executable, "-P", "-m", "pflab", "run", str(self.path), *how]
        if traces is not None and not url:
            command += ["--traces", str(Path(traces).resolve())]
        if option("--pflab-keep-mails") and not url:
            command.append("--keep-mails")
        folder = self._folder()
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        if done.returncode:
            raise ScenarioFailed(f"{done.stdout}{done.stderr}".strip())

    def _folder(self) -> Path:
        """Return a folder for the run. pytest removes it after three sessions."""
        factory: pytest.TempPathFactory = self.config._tmp_path_factory  # type: ignore[attr-defined]
        return factory.mktemp("scenario")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, ScenarioFailed):
            return f"{self.path}: pflab run ended with\n{excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"scenario {self.name}"
