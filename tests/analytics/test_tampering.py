"""A few alterations of evidence; `make tamper` makes thousands."""

from __future__ import annotations

from tests.support.judged_traces import Judged


def test_altered_evidence_is_noticed(judged: Judged) -> None:
    """No run is clean in which a field was altered that docs/reference/events/ calls evidence."""
    clean = sorted(path.name for path in (judged.root / "tampered").iterdir())
    assert len(clean) > 10
    broken = {row.trace.rpartition("#")[0] for row in judged.rows("rules", "violations > 0")}
    stays = [
        name for name in clean
        if judged.place(f"tampered/{name}") not in broken and set(judged.verdicts(f"tampered/{name}").values()) == {"converged"}
    ]  # fmt: skip
    assert stays == []
