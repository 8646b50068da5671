"""Campaigns: many seeds in the simulator, watched by invariants, shrunk when they fail.

Imported by: the command line.
Public: `seed`, `seeds`, `player`, `shrinker`.
"""
