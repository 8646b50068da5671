"""The rule checks, one module for each subject.

Imported by: `analytics.verdicts`, `analytics.pipeline`.
Public: `catalogue`, `check`.
"""
