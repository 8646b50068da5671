"""A store's tables and what reads and writes their rows: identity, folders, replication state table, backfill array, timers.

Imported by: the agent's folders and `node.store`.
Public: `context` (class `Context`), `state_table`, `backfill_array`, `version_profiles`.
"""
