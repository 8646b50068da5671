"""Invariants: what must be true after every step of a campaign, one module for each subject.

Imported by: `pflab.campaign`.
Public: `invariant` (base class), `registry` (all of them).
"""
