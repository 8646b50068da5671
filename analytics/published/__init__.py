"""Tables for other programs: their columns, and a folder that keeps them by run.

Imported by: `pflab.cli.verbs.analytics`.
Public: `tables`, `kept`.
"""
