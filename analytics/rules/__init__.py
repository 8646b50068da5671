"""Convergence, and the rule checks with their witnesses.

Imported by: `analytics.report`, `analytics.pipeline`.
Public: `catalogue`, `convergence`, `verdict`.
"""
