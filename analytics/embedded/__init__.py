"""The embedded engine: judges traces in this process with DuckDB, by the statements that `analytics.translate` wrote.

Imported by: `pflab.cli.verbs.analytics`.
Public: `engine`.
"""
