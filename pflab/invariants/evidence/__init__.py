"""What invariants reason from: facts out of the trace, kept without asking the stores.

Imported by: `pflab.invariants`, and the coverage of campaigns.
Public: `facts`, `knowledge`, `backups`, `bit_sets`.
"""
