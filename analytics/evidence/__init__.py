"""Tables that are computed from events before any rule is checked: histories, holders, mails, claims.

Imported by: `analytics.rules`, `analytics.report`, `analytics.pipeline`.
Public: `tables` (all tables by name).
"""
