"""Campaigns: play many seeds in the simulator, check invariants, and shrink the scenarios that fail.

Imported by: the command line.
Public: `seed`, `seeds`, `player`, `shrinker`.
"""
