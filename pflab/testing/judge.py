"""Judges the runs of tests (`--pflab-check`), in a separate process that stays for the whole session.

The process has read the statements of all rule checks before the first test ends, so judging a run costs a test well under a
second on a machine that is not busy. A test may end at any moment, so a run need not have converged: what counts is whether it
kept the rules.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest

from pflab.home import environment

UNTIL_REMOVED: Final = "until pytest removes its temporary folders; --pflab-traces DIR keeps it"
"""How long the run folder of a failed test stays."""

NEEDS: Final = "judging runs needs duckdb and pyarrow; install pflab again with the extra analytics"

_PACKAGES: Final = ("duckdb", "pyarrow")


_JUDGE: Final = pytest.StashKey["Judge"]()


class RuleViolated(Exception):
    """The run of a test has violated a rule. The text names each rule, the first violation and the run folder."""


class JudgeFailed(Exception):
    """A run could not be judged; the text is one line."""


def is_installed() -> bool:
    """Return whether the packages that judge runs are installed."""
    return all(find_spec(package) is not None for package in _PACKAGES)


@dataclass(slots=True)
class Judge:
    """Judges runs, one after another. Its process starts with it.

    removes: whether pytest removes the run folders later.
    """

    removes: bool
    _process: subprocess.Popen[str] = field(init=False)

    def __post_init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "analytics.serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=environment(),
        )

    def check(self, runs: Iterable[Path]) -> None:
        """Judge the traces in these run folders. Raises RuleViolated, and JudgeFailed if there is no verdict. Warns of a run
        whose traces are incomplete, because its rules cannot be judged."""
        texts = []
        for run in runs:
            traces = run / "traces"
            if any(traces.glob("*.jsonl")):
                texts += self._violations(run, self._verdict(traces))
        if texts:
            raise RuleViolated("\n".join(texts))

    def _violations(self, run: Path, verdict: dict[str, Any]) -> list[str]:
        if any(entry["incomplete"] for entry in verdict["runs"]):
            reasons = [*verdict["doubts"], *(word for folder in verdict["told"] for word in folder["witnesses"])]
            warnings.warn(
                f"{run}: its rules cannot be judged: {reasons[0] if reasons else 'events are missing'}", stacklevel=2
            )
        broken = [rule for rule in verdict["rules"] if rule["violations"]]
        lines = [
            f"the run violates {rule['check']} ({', '.join(rule['rules'])}), violations: {rule['violations']}; the first:"
            f" {rule['witness'].partition(': ')[2]}"
            for rule in broken
        ]
        hints = [
            f"The run is in {run}, {UNTIL_REMOVED}" if self.removes else f"The run is kept in {run}",
            f"To see it in a browser: pflab replay {run}",
        ]
        return [*lines, *hints] if lines else []

    def _verdict(self, place: Path) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps([str(place)]) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except OSError:
            answer = ""
        if not answer:
            raise JudgeFailed(f"{place}: the process that judges runs has ended: {self._last_words()}")
        verdict: dict[str, Any] = json.loads(answer)
        if "error" in verdict:
            raise JudgeFailed(verdict["error"])
        return verdict

    def _last_words(self) -> str:
        _, errors = self._process.communicate()
        lines = errors.strip().splitlines()
        return lines[-1] if lines else f"its exit status is {self._process.returncode}"

    def close(self) -> None:
        """End the process."""
        self._process.kill()  # it has nothing to lose, and may still be reading the statements
        self._process.communicate()


def judge_of(config: pytest.Config) -> Judge | None:
    """Return the judge of a test session, which ends with it; None without --pflab-check."""
    if not config.getoption("--pflab-check"):
        return None
    if _JUDGE not in config.stash:
        judge = config.stash[_JUDGE] = Judge(removes=config.getoption("--pflab-traces") is None)
        config.add_cleanup(judge.close)
    return config.stash[_JUDGE]
