"""Defects planted in the store are caught from the traces that they leave, by nothing else."""

from __future__ import annotations

import pytest

from tests.analytics.conftest import Judged
from tests.analytics.mutants import CONVERGENCE, MUTANTS


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_caught_from_its_trace_alone(judged: Judged, name: str) -> None:
    """The check named for it finds it, or a folder that has not converged."""
    _, by = MUTANTS[name]
    run = judged.runs("mutants")[f"mutants/{name}"]
    assert run["exit_code"] == 1
    if by == CONVERGENCE:
        assert run["not_converged"]
    else:
        rows = judged.table("gold/rules").where(f"trace like '%/mutants/{name}#%' and violations > 0").collect()
        assert by in {row.check for row in rows}
