"""A store's tables and what reads and writes their rows: identity, folders, replication state table, directory, timers.

Imported by: all folders between `node.objects` and `node.store`.
Public: `context` (class `Context`), `state_table`, `version_profiles`.
"""
