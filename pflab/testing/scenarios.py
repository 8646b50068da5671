"""Scenario files as tests: `pytest scenarios/` plays each file with `pflab run`, in its own lab.

A scenario begins at the start of its own topology, so it cannot use the lab of --pflab-lab.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from pflab.testing.judge import UNTIL_REMOVED, JudgeFailed, RuleViolated, judge_of

_KEYS: Final = (b"title", b"topology", b"steps")
_PLAYS: Final = {"simulated": ["--simulate"], "embedded": [], "processes": ["--processes"]}
_KEPT: Final = re.compile(r"^kept in (.*)$", re.MULTILINE)
_FAILED: Final = re.compile(r"^failed: .*\n", re.MULTILINE)
SCENARIO_TIMEOUT_S = 1800.0
"""How long, in real time, a scenario may take. Those of pflab take less than a minute."""

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
    """A scenario, played by the driver of the option --pflab-driver."""

    def runtest(self) -> None:
        """Play the scenario. Raises ScenarioFailed, and with --pflab-check RuleViolated or JudgeFailed."""
        option = self.config.getoption
        factory: pytest.TempPathFactory = self.config._tmp_path_factory  # type: ignore[attr-defined]
        traces = option("--pflab-traces")
        # The run is not below the current folder, so that pflab run prints its whole path.
        here = factory.mktemp("scenario")
        runs = factory.mktemp("scenario-runs") if traces is None else Path(traces).resolve()
        command = [sys.executable, "-P", "-m", "pflab", "run", str(self.path), *_PLAYS[option("--pflab-driver")]]
        command += ["--traces", str(runs), *(["--keep-mails"] if option("--pflab-keep-mails") else [])]
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
        try:
            process = subprocess.run(
                command,
                cwd=here,
                env=environment,
                capture_output=True,
                encoding="utf-8",
                check=False,
                stdin=subprocess.DEVNULL,
                timeout=SCENARIO_TIMEOUT_S,
            )
        except subprocess.TimeoutExpired:
            raise ScenarioFailed(f"pflab run did not end within {SCENARIO_TIMEOUT_S:g} s, and was killed") from None
        if process.returncode:
            raise ScenarioFailed(f"{process.stdout}{process.stderr}".strip())
        judge, match = judge_of(self.config), _KEPT.search(process.stdout)
        if judge is not None and match is not None:
            judge.check([here / match[1]])
        if traces is None:
            shutil.rmtree(runs, ignore_errors=True)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the output of pflab run from the first mistake or the failed step on. Pytest's summary has it too."""
        if isinstance(excinfo.value, RuleViolated | JudgeFailed):
            return str(excinfo.value)
        if not isinstance(excinfo.value, ScenarioFailed):
            return super().repr_failure(excinfo, style)
        text = str(excinfo.value).replace(f"{self.path}:", f"{self.nodeid.partition('::')[0]}:")
        failed = _FAILED.search(text)
        if failed is not None:
            text = "\n".join(line.removeprefix("  ") for line in text[failed.end() :].splitlines())
        if self.config.getoption("--pflab-traces") is None:
            text = _KEPT.sub(rf"The run is in \1, {UNTIL_REMOVED}\nTo see it in a browser: pflab replay \1", text)
        return text

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"scenario {self.name}"
