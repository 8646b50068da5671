"""From segment files to tables: lines, bronze (lines in Spark), silver (events), and the Spark session.

Imported by: all of `analytics`.
Public: `lines`, `bronze`, `silver`, `session`, `tables`.
"""
