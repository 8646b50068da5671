"""Plans of campaigns: generated from a seed, written to and read from files, reduced.

Imported by: `pflab.campaign`.
Public: `plan`, `draw`, `file`, `reductions`.
"""
