"""The report of a check: the page, its figures, space-time diagrams.

Imported by: `pflab.cli.verbs.analytics`.
Public: `page`, `shiviz`.
"""
