"""Translates the plans of the PySpark tables to DuckDB's SQL, when pflab is built.

Imported by: nothing; `make sql` runs it, and `analytics.embedded` reads what it writes.
Public: `record`, `operators`.
"""
