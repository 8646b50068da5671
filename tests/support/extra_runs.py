"""Runs that end badly or lose something, and so are no scenarios of the suite; they are played as scenarios are."""

from __future__ import annotations

from pathlib import Path

from tests.support.scenario_traces import play_scenario

_HEAD = """
title: {title}
topology:
  organization: Contoso
  domain: contoso.test
  start: 2003-10-21T00:00Z
  sites: [SEA]
  servers: {{A: {{site: SEA{settings}}}, B: {{site: SEA}}, C: {{site: SEA}}}}
  folders: {{Projects: {{replicas: [A, B, C]}}}}
steps:
"""

# The new number is the one that others have for another post: equal sets of numbers, unequal contents (RP-4, CN-1).
_REISSUED = """
  - post: {on: A, folder: Projects, subject: Before}
  - advance: 20 min
  - backup: {on: A, as: nightly}
  - post: {on: A, folder: Projects, subject: After}
  - advance: 15 min
  - restore: {on: A, backup: nightly}
  - post: {on: A, folder: Projects, subject: Anew}
  - advance: 3 d
"""
# What nobody else had goes with the store (DU-1).
_GONE = """
  - backup: {on: A, as: nightly}
  - post: {on: A, folder: Projects, subject: Gone}
  - advance: 1 min
  - restore: {on: A, backup: nightly}
  - advance: 3 d
"""
# A post is missed and a view comes, in whose set the post's number is a hole that A has closed (CN-6, CN-9).
_HOLE_OF_A_POST = """
  - lose: {from: A, to: B, type: content, count: 1}
  - post: {on: A, folder: Projects, subject: Post}
  - advance: 20 min
  - post: {on: A, folder: Projects, subject: View, associated: true}
  - advance: 15 min
  - post: {on: B, folder: Projects, subject: Other}
  - advance: 3 d
"""

SCENARIOS = {
    "reissued": _HEAD.format(title="Reissued", settings=', settings: {New Replica GUID On Restore: "0"}') + _REISSUED,
    "gone": _HEAD.format(title="Gone", settings="") + _GONE,
    "hole": _HEAD.format(title="Hole", settings="") + _HOLE_OF_A_POST,
}


def write_extra_runs(place: Path) -> None:
    """Write `place/<name>/traces` of each run."""
    place.mkdir(parents=True)
    for name, text in SCENARIOS.items():
        file = place / f"{name}.yaml"
        file.write_text(text, encoding="utf-8")
        play_scenario(file, place)
