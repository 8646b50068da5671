"""Invariants of the mails of stores: what they contain, to whom they go, and the routes that they take.

Imported by: `pflab.invariants`.
Public: `contents`, `recipients`, `routes`.
"""
