"""Backfill: the array of each store, its requests, and the sources that it chose.

Imported by: `analytics.evidence`, `analytics.rules`.
Public: a function for each table.
"""
