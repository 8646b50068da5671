"""Evidence for invariants: facts from the events of a lab, without questions to its stores.

Imported by: `pflab.invariants`, and the coverage of campaigns.
Public: `facts`, `knowledge`, `backups`, `bit_sets`.
"""
