"""The replication agent: incoming mail, backfill, status, replicas, and the administration of folders and stores.

Imported by: `node.store`.
Public: `agent` (entry points), `incoming`, `backfill`, `status`, `replicas`.
"""
