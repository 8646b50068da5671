"""Defects of tests/mutants that leave a trace: the seed of a campaign that shows each, and the check that must find it."""

from __future__ import annotations

MUTANTS: dict[str, tuple[int, str]] = {}

PLAY = """
import sys
from pathlib import Path
from pflab.campaign import run_plan
from pflab.campaign_draw import draw_plan

run_plan(draw_plan(int(sys.argv[1])), folder=Path(sys.argv[2]), invariants=())
"""
"""A seed on a mutant's tree, with nobody watching, so that the run goes on to its end."""
