"""Forecasts: what a lab will do if nobody changes it, and what it would do after a change.

Public: `fork`, `what_if`.

Imported by: `pflab.server` and `pflab.cli`. Never imports: a driver.
"""
