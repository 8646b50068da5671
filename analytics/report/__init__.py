"""The report of a check: the page, its figures, witnesses in words, space-time diagrams.

Imported by: `analytics.pipeline`, `analytics.follow`.
Public: `page`, `words`, `shiviz`.
"""
