"""What is worked out from events before anything is judged: histories, holders, mails, claims.

Imported by: `analytics.rules`, `analytics.report`, `analytics.pipeline`.
Public: `evidence` (all tables by name).
"""
