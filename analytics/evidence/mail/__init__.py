"""Mails: broadcasts, statuses and other replication mails, and their way from server to server.

Imported by: `analytics.evidence`, `analytics.pipeline`.
Public: a function for each table.
"""
