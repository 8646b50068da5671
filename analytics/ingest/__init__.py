"""From segment files to tables: bronze (lines), silver (events), and the Spark session.

Imported by: all of `analytics`.
Public: `bronze`, `silver`, `session`, `tables`.
"""
