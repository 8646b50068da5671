"""Convergence, and the results of the rule checks with their witnesses.

Imported by: `analytics.report`, `analytics.pipeline`.
Public: `convergence`, `evaluate`, `verdict`.
"""
