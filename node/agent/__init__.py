"""The replication agent: what happens at a start, when a timer is due, and when a mail arrives.

Imported by: `node.administration`, `node.store`.
Public: `agent` (entry points), `incoming`, `store_restore`.
"""
