"""Defects of tests/mutants that show in traces: the seed of a campaign that shows each, and the check that must find it."""

from __future__ import annotations

CONVERGENCE = "convergence"
"""Caught by a folder that has not converged."""

MUTANTS: dict[str, tuple[int, str]] = {
    "associated-conflict": (17, "older versions do not replace later ones"),
    "broadcast-forgets-one": (1, "broadcasts go to all other holders"),
    "delete-does-not-win": (1, "deleted items stay deleted"),
    "failed-counted": (17, CONVERGENCE),
    "first-writer-wins": (4, CONVERGENCE),
    "frozen-queue-forgotten": (10, "frozen mails are not tried"),
    "old-version-applied": (50, "old versions are not applied"),
    "replica-dropped-at-once": (12, "a dropped replica is complete elsewhere"),
    "second-save-replaces": (15, "a change covers only what it replaces"),
    "told-by-all-holders": (1, "the home store or the author reports a lost edit"),
}
"""A handful; docs/how-to/analytics.md lists what the checks find of all."""

PLAY = """
import sys
from pathlib import Path
from pflab.campaign.draw.scenario import draw_scenario
from pflab.campaign.seed import run_document

run_document(draw_scenario(int(sys.argv[1])), folder=Path(sys.argv[2]), invariants=())
"""
"""A seed on a mutant's tree, with nobody watching, so that the run goes on to its end."""
