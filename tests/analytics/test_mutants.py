"""Defects planted in the store are found by their traces alone. `make test-long` runs it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.judged_traces import pflab_check, rows_of
from tests.support.mutant_seeds import CONVERGENCE, MUTANTS
from tests.support.scenario_traces import write_mutants

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("mutants")]  # their runs are written once


@dataclass(frozen=True, slots=True)
class Caught:
    """The findings in a mutant's trace.

    checks: those that found a violation.
    """

    exit_code: int
    not_converged: bool
    checks: frozenset[str]


@pytest.fixture(scope="module")
def caught(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Caught]:
    """Judge all mutants' traces in one run of the command."""
    root = tmp_path_factory.mktemp("mutants").resolve()
    write_mutants(root / "mutants")
    tables = tmp_path_factory.mktemp("left") / "tables"
    done = pflab_check(project_root, str(root), "--json", "--tables", str(tables))
    assert done.returncode == 1, done.stderr
    runs = {each["trace"].rpartition("/")[2]: each for each in json.loads(done.stdout)["runs"]}
    violated: dict[str, set[str]] = {}
    for row in rows_of(tables, "rules", "violations > 0"):
        violated.setdefault(row.trace.rpartition("#")[0].rpartition("/")[2], set()).add(row.rule_check)
    return {
        name: Caught(run["exit_code"], bool(run["not_converged"]), frozenset(violated.get(name, ())))
        for name, run in runs.items()
    }


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_caught_from_its_trace_alone(caught: dict[str, Caught], name: str) -> None:
    """The check named for the mutant finds it, or a folder has not converged."""
    _, by = MUTANTS[name]
    run = caught[name]
    assert run.exit_code == 1
    if by == CONVERGENCE:
        assert run.not_converged
    else:
        assert by in run.checks
