"""Replication mail that a store sends: its way into the queue, and the division of updates and numbers over mails.

Imported by: `node.backfill`, `node.broadcasts`, `node.status`, `node.replicas`.
Public: `send`, `packing`.
"""
