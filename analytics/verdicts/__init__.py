"""Convergence, the results of the rule checks, and the conclusion from them: the verdict with its witnesses in words.

Imported by: `analytics.report`, `analytics.pipeline`.
Public: `convergence`, `evaluate`, `findings`, `conclusion`, `result`.
"""
